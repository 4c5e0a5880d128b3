//! Numbers the different keys of rows, for steps that have groups and are no GROUP BY.

use arrow::array::ArrayRef;
use arrow::datatypes::DataType as ArrowType;
pub(crate) use basalt_hashtable::NOT_FOUND;
use basalt_hashtable::{Fold, Word256};
use datafusion::common::internal_err;
use datafusion::error::Result;

use super::bytes_form::{BytesForm, RowForm};
use super::key_form::{Form, GroupTable, KeyForm};
use super::packed_rows::PackedRowForm;
use super::word_form::WordForm;

/// A number from 0 up for each different key so far.
pub(crate) struct KeyNumbers(Box<dyn Table>);

/// A table of keys of some form.
trait Table: Send {
    fn intern(&mut self, columns: Vec<ArrayRef>, numbers: &mut Vec<u32>) -> Result<()>;

    fn find(&self, columns: Vec<ArrayRef>, numbers: &mut Vec<u32>) -> Result<()>;

    fn len(&self) -> usize;

    fn size_bytes(&self) -> usize;
}

struct TableOf<F: KeyForm> {
    form: F,
    table: F::Table,
}

impl<F: KeyForm> Table for TableOf<F> {
    fn intern(&mut self, columns: Vec<ArrayRef>, numbers: &mut Vec<u32>) -> Result<()> {
        let keys = self.form.encode(columns)?;
        let num_rows = F::Table::num_rows(&keys);
        self.table.intern(&keys, 0..num_rows, numbers)
    }

    fn find(&self, columns: Vec<ArrayRef>, numbers: &mut Vec<u32>) -> Result<()> {
        self.table.find(&self.form.encode(columns)?, numbers);
        Ok(())
    }

    fn len(&self) -> usize {
        self.table.len()
    }

    fn size_bytes(&self) -> usize {
        self.table.size_bytes()
    }
}

impl KeyNumbers {
    /// No keys yet, of columns of these types, each with whether it may have NULLs.
    ///
    /// # Errors
    /// If there are no columns, or if rows of them cannot be compared.
    pub(crate) fn try_new(keys: &[(ArrowType, bool)]) -> Result<Self> {
        Ok(match Form::of(keys) {
            Form::NoKeys => return internal_err!("numbers of keys without columns"),
            Form::Direct { bits, places } => {
                Self::of(WordForm::<u32, Fold>::new(&places, Some(bits)))
            }
            Form::Words { bits: 32, places } => Self::of(WordForm::<u32, Fold>::new(&places, None)),
            Form::Words { bits: 64, places } => Self::of(WordForm::<u64, Fold>::new(&places, None)),
            Form::Words { bits: 128, places } => {
                Self::of(WordForm::<u128, Fold>::new(&places, None))
            }
            Form::Words { places, .. } => Self::of(WordForm::<Word256, Fold>::new(&places, None)),
            Form::Bytes => Self::of(BytesForm::<Fold>::default()),
            Form::PackedRows(layout) => Self::of(PackedRowForm::<Fold>::new(&layout)),
            Form::Rows(types) => Self::of(RowForm::<Fold>::try_new(&types)?),
        })
    }

    fn of<F: KeyForm>(form: F) -> Self {
        let table = form.table();
        Self(Box::new(TableOf { form, table }))
    }

    /// Appends the number of each row's key; keys that are new get the next ones.
    ///
    /// # Errors
    /// `TOO_MANY_ROWS` if numbers run out.
    pub(crate) fn intern(&mut self, columns: Vec<ArrayRef>, numbers: &mut Vec<u32>) -> Result<()> {
        self.0.intern(columns, numbers)
    }

    /// Appends the number of each row's key, [`NOT_FOUND`] for those that are new.
    ///
    /// # Errors
    /// If the columns are of other types.
    pub(crate) fn find(&self, columns: Vec<ArrayRef>, numbers: &mut Vec<u32>) -> Result<()> {
        self.0.find(columns, numbers)
    }

    /// How many different keys there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Memory held, in bytes.
    pub(crate) fn size_bytes(&self) -> usize {
        self.0.size_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use arrow::array::{ArrayRef, BinaryViewArray, Int8Array, Int64Array, ListArray};
    use arrow::datatypes::Int32Type;

    use super::{KeyNumbers, NOT_FOUND};

    /// Columns of every form, of whose rows those are equal that have the same remainder by 7.
    fn columns(rows: std::ops::Range<i64>) -> Vec<ArrayRef> {
        let keys = || rows.clone().map(|row| (row % 7 != 3).then_some(row % 7));
        let texts: Vec<_> = keys()
            .map(|key| key.map(|key| format!("the key of the number {key}")))
            .collect();
        let lists = keys().map(|key| key.map(|key| vec![Some(key as i32); 2]));
        vec![
            Arc::new(keys().map(|k| k.map(|k| k as i8)).collect::<Int8Array>()),
            Arc::new(keys().collect::<Int64Array>()),
            Arc::new(
                texts
                    .iter()
                    .map(Option::as_deref)
                    .collect::<BinaryViewArray>(),
            ),
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists)),
        ]
    }

    #[test]
    fn equal_keys_have_equal_numbers() {
        let all = columns(0..1);
        for chosen in 1..1 << all.len() {
            let of = |rows| {
                let columns = columns(rows).into_iter().enumerate();
                let columns = columns.filter(|(i, _)| chosen >> i & 1 == 1);
                columns.map(|(_, column)| column).collect::<Vec<ArrayRef>>()
            };
            let types: Vec<_> = of(0..1)
                .iter()
                .map(|column| (column.data_type().clone(), true))
                .collect();
            let mut keys = KeyNumbers::try_new(&types).unwrap();
            let mut numbers = Vec::new();
            keys.intern(of(0..5), &mut numbers).unwrap();
            keys.intern(of(5..300), &mut numbers).unwrap();
            assert_eq!(keys.len(), 7, "{types:?}");
            let mut of_keys = HashMap::new();
            for (row, number) in numbers.iter().enumerate() {
                assert!(*number < 7);
                assert_eq!(of_keys.entry(row % 7).or_insert(*number), number);
            }
            assert_eq!(of_keys.len(), 7);
            let mut found = Vec::new();
            keys.find(of(5..300), &mut found).unwrap();
            assert_eq!(found, numbers[5..]);
            let mut empty = KeyNumbers::try_new(&types).unwrap();
            empty.find(of(0..2), &mut found).unwrap();
            assert_eq!(found[295..], [NOT_FOUND; 2]);
            empty.intern(of(0..0), &mut found).unwrap();
            assert_eq!(empty.len(), 0);
            assert!(keys.size_bytes() > 0);
        }
    }
}
