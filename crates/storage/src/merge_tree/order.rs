//! Puts rows in the order of their keys, and finds where partitions end.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::compute::concat;
use arrow::row::Rows;
use basalt_error::{Error, Result};
use basalt_types::DataType;
use basalt_types::text::{ColumnText, Style, TextOptions};
use xxhash_rust::xxh3::xxh3_128;

use super::key_converter::KeyConverter;
use super::packed_order::{PackedOrder, SortMemory, packed_order};
use super::permutation::Permutation;
use super::row_order::row_order;

/// Rows in the order of some columns; equal ones stay as they are.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) permutation: Permutation,
    /// The columns in that order, as far as they are known.
    pub(super) keys: Vec<Option<ArrayRef>>,
}

/// The order of rows by `columns`, each of which is in pieces; NULL comes last.
pub(super) fn order_of(columns: &[&[ArrayRef]], memory: &mut SortMemory) -> Result<Order> {
    let num_rows = columns
        .first()
        .map_or(0, |pieces| pieces.iter().map(|piece| piece.len()).sum());
    let as_it_is = |keys| Order {
        permutation: Permutation::Identity,
        keys,
    };
    if num_rows < 2 {
        return Ok(as_it_is(vec![None; columns.len()]));
    }
    let count = u32::try_from(num_rows).map_err(|_| Error::bug("too many rows for a part"))?;
    if let Some(order) = packed_order(columns, count, memory) {
        let PackedOrder { permutation, keys } = order;
        return Ok(Order { permutation, keys });
    }
    let whole = columns.iter().map(|pieces| in_one_piece(pieces));
    let whole = whole.collect::<Result<Vec<_>>>()?;
    let rows = comparable(&whole)?;
    let is_sorted = (1..num_rows).all(|i| rows.row(i - 1) <= rows.row(i));
    if is_sorted {
        return Ok(as_it_is(whole.into_iter().map(Some).collect()));
    }
    Ok(Order {
        permutation: Permutation::Rows(row_order(&rows, count, memory).into()),
        keys: vec![None; columns.len()],
    })
}

/// Pieces of a column one behind the other.
pub(super) fn in_one_piece(pieces: &[ArrayRef]) -> Result<ArrayRef> {
    match pieces {
        [piece] => Ok(Arc::clone(piece)),
        _ => {
            let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
            concat(&pieces).map_err(|e| Error::bug(e.to_string()))
        }
    }
}

fn comparable(columns: &[ArrayRef]) -> Result<Rows> {
    KeyConverter::new(columns.iter().map(|c| c.data_type().clone()))?.rows(columns)
}

/// Where runs of equal rows begin, and the end of the last.
pub(super) fn boundaries(columns: &[ArrayRef], num_rows: usize) -> Result<Vec<usize>> {
    let mut starts = vec![0];
    if !columns.is_empty() {
        let rows = comparable(columns)?;
        starts.extend((1..num_rows).filter(|i| rows.row(i - 1) != rows.row(*i)));
    }
    starts.push(num_rows);
    Ok(starts)
}

/// A partition as text and as it is called in names of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    pub(super) text: String,
    pub(super) id: String,
}

/// The partition of a row of the partition key's columns.
pub(super) fn partition(columns: &[(ArrayRef, &DataType)], row: usize) -> Result<Partition> {
    if columns.is_empty() {
        return Ok(Partition {
            text: "tuple()".to_owned(),
            id: "all".to_owned(),
        });
    }
    let style = match columns {
        [_] => Style::Plain,
        _ => Style::Quoted,
    };
    let mut texts = Vec::with_capacity(columns.len());
    let mut ids = Vec::with_capacity(columns.len());
    for (array, data_type) in columns {
        let mut text = Vec::new();
        ColumnText::new(data_type, array, TextOptions::default())?.write(row, style, &mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        let is_short = matches!(data_type, DataType::Date) || data_type.is_integer();
        let plain = match data_type {
            DataType::Date => text.replace(['-', '\''], ""),
            _ => text.clone(),
        };
        ids.push(Some(plain).filter(|_| is_short && !data_type.is_nullable()));
        texts.push(text);
    }
    let text = match &texts[..] {
        [text] => text.clone(),
        texts => format!("({})", texts.join(",")),
    };
    let id = match ids.into_iter().collect::<Option<Vec<_>>>() {
        Some(ids) => ids.join("-"),
        None => format!("{:032x}", xxh3_128(text.as_bytes())),
    };
    Ok(Partition { text, id })
}

/// What a partition is called in names of parts, by the values of its key, one row each.
///
/// # Errors
/// `LOGICAL_ERROR` for values that have no text.
pub fn partition_of(columns: &[(ArrayRef, &DataType)]) -> Result<String> {
    partition(columns, 0).map(|partition| partition.id)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, BinaryViewArray, Float64Array, Int32Array, UInt32Array};

    use super::{SortMemory, order_of};

    #[test]
    fn rows_are_sorted_stably_whatever_the_keys() {
        let short: ArrayRef = Arc::new(Int32Array::from(vec![3, -1, 3, 0]));
        let text = ["long enough for a row of its own", "a", "c", "b"];
        let text: ArrayRef = Arc::new(BinaryViewArray::from_iter_values(text));
        let indices = |columns: &[ArrayRef]| {
            let pieces: Vec<&[ArrayRef]> = columns.iter().map(std::slice::from_ref).collect();
            let order = order_of(&pieces, &mut SortMemory::default()).unwrap();
            order.permutation.rows().cloned()
        };
        let expected = |rows: &[u32]| Some(UInt32Array::from(rows.to_vec()));
        assert_eq!(indices(&[Arc::clone(&short)]), expected(&[1, 3, 0, 2]));
        assert_eq!(indices(&[Arc::clone(&text)]), expected(&[1, 3, 2, 0]));
        assert_eq!(indices(&[short, text]), expected(&[1, 3, 2, 0]));
        let sorted: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(1), Some(2), None]));
        assert_eq!(indices(&[sorted]), None);
        let zeros: ArrayRef = Arc::new(Float64Array::from(vec![0.0, -0.0, 0.0, -1.0]));
        assert_eq!(indices(&[zeros]), expected(&[3, 0, 1, 2]));
    }
}
