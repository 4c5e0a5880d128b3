//! Numbers strings from 0 up in the order in which a query meets them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, DictionaryArray, UInt32Array};
use arrow::buffer::{Buffer, ScalarBuffer};
use arrow::compute::take;
use arrow::datatypes::UInt16Type;
use basalt_error::{Error, Result};
use basalt_hashtable::{BytesTable, TableFull, Views};
use parking_lot::Mutex;

/// Rows for each string of a dictionary from which on all of its strings are numbered, without looking which occur.
const ROWS_PER_STRING: usize = 8;

/// The strings of a query's column and their numbers, which all threads share.
#[derive(Debug, Default)]
pub struct StringNumbers {
    table: Mutex<BytesTable>,
    /// Strings by their numbers, as far as anybody has asked.
    strings: Mutex<Option<Arc<BinaryViewArray>>>,
}

impl StringNumbers {
    /// The numbers of strings, which may come with a dictionary; NULL has none.
    ///
    /// # Errors
    /// If there are too many.
    pub(crate) fn numbers_of(&self, strings: &ArrayRef) -> Result<UInt32Array> {
        if let Some(strings) = strings.as_dictionary_opt::<UInt16Type>() {
            return self.of_dictionary(strings);
        }
        let strings = strings.as_binary_view_opt();
        let strings = strings.ok_or_else(|| Error::bug("numbers of what are no strings"))?;
        let numbers = self.intern(strings.views(), strings.data_buffers())?;
        Ok(UInt32Array::new(numbers.into(), strings.nulls().cloned()))
    }

    fn of_dictionary(&self, strings: &DictionaryArray<UInt16Type>) -> Result<UInt32Array> {
        let values = strings.values().as_binary_view_opt();
        let values = values.ok_or_else(|| Error::bug("a dictionary of what are no strings"))?;
        let codes = strings.keys().values();
        let numbers = match values.len() * ROWS_PER_STRING <= codes.len() {
            true => self.intern(values.views(), values.data_buffers())?,
            false => self.of_occurring(values, codes)?,
        };
        // What stands for a NULL may be no code.
        let number = |code: &u16| numbers.get(usize::from(*code)).copied().unwrap_or(0);
        let numbers: Vec<u32> = codes.iter().map(number).collect();
        Ok(UInt32Array::new(numbers.into(), strings.nulls().cloned()))
    }

    /// The numbers of those values that rows have; the others' are 0.
    fn of_occurring(&self, values: &BinaryViewArray, codes: &[u16]) -> Result<Vec<u32>> {
        let mut occurs = vec![false; values.len()];
        for code in codes {
            if let Some(occurs) = occurs.get_mut(usize::from(*code)) {
                *occurs = true;
            }
        }
        let occurring = values.views().iter().zip(&occurs);
        let occurring = occurring.filter_map(|(view, occurs)| occurs.then_some(*view));
        let views: Vec<u128> = occurring.collect();
        let mut found = self.intern(&views, values.data_buffers())?.into_iter();
        let number = |occurs: bool| if occurs { found.next() } else { None };
        let numbers = occurs.into_iter().map(number);
        Ok(numbers.map(Option::unwrap_or_default).collect())
    }

    fn intern(&self, views: &[u128], buffers: &[Buffer]) -> Result<Vec<u32>> {
        let mut numbers = Vec::with_capacity(views.len());
        let views = Views { views, buffers };
        let interned = self.table.lock().intern(&views, &mut numbers);
        let full = |_: TableFull| Error::bug("more than 2^32 different strings");
        interned.map_err(full).map(|()| numbers)
    }

    /// The strings of numbers that were given.
    ///
    /// # Errors
    /// If they cannot be gathered.
    pub(crate) fn strings_of(&self, numbers: &UInt32Array) -> Result<ArrayRef> {
        let strings = self.strings()?;
        take(strings.as_ref(), numbers, None).map_err(|e| Error::bug(e.to_string()))
    }

    /// All strings so far.
    fn strings(&self) -> Result<Arc<BinaryViewArray>> {
        let mut strings = self.strings.lock();
        let table = self.table.lock();
        if let Some(strings) = strings.as_ref()
            && strings.len() == table.len()
        {
            return Ok(Arc::clone(strings));
        }
        let views = ScalarBuffer::from(table.keys().to_vec());
        let buffers = table.arena().buffers().iter();
        let buffers = buffers.map(|buffer| Buffer::from_vec(buffer.clone()));
        let all = BinaryViewArray::try_new(views, buffers.collect::<Vec<_>>(), None);
        let all = Arc::new(all.map_err(|e| Error::bug(e.to_string()))?);
        Ok(Arc::clone(strings.insert(all)))
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::UInt16Array;

    use super::*;

    const LONG: &str = "longer than what lies in a view";

    fn strings(values: &[Option<&str>]) -> BinaryViewArray {
        let values = values.iter().map(|v| v.map(str::as_bytes));
        values.collect()
    }

    fn dictionary(codes: Vec<Option<u16>>, values: &[&str]) -> ArrayRef {
        let values = BinaryViewArray::from_iter_values(values);
        let codes = UInt16Array::from(codes);
        Arc::new(DictionaryArray::try_new(codes, Arc::new(values)).unwrap())
    }

    #[test]
    fn a_string_has_one_number_whatever_it_comes_in() {
        let numbers = StringNumbers::default();
        let first: ArrayRef = Arc::new(strings(&[Some("a"), None, Some(LONG), Some("a")]));
        let found = numbers.numbers_of(&first).unwrap();
        assert_eq!(found.value(0), found.value(3));
        assert_ne!(found.value(0), found.value(2));
        assert!(found.is_null(1));

        let few = dictionary(vec![Some(2), None, Some(0)], &[LONG, "never", ""]);
        let again = numbers.numbers_of(&few).unwrap();
        assert_eq!(again.value(2), found.value(2));
        assert!(again.is_null(1));
        let given = numbers.strings_of(&again).unwrap();
        assert_eq!(
            given.as_binary_view(),
            &strings(&[Some(""), None, Some(LONG)])
        );

        // All of a dictionary that many rows share.
        let many = dictionary((0..40).map(|i| Some(i % 2)).collect(), &["a", "new"]);
        let again = numbers.numbers_of(&many).unwrap();
        assert_eq!(again.value(0), found.value(0));
        let given = numbers.strings_of(&again.slice(0, 2)).unwrap();
        assert_eq!(given.as_binary_view(), &strings(&[Some("a"), Some("new")]));
        // `a`, what stands for NULL, the long one, `new`.
        assert_eq!(numbers.table.lock().len(), 4);
    }
}
