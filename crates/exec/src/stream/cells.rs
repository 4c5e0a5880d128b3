//! Counts the cells that a row of a nested column has.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::DataType;

/// Bytes of text that take about as much as a number in a column.
const CELL_BYTES: usize = 8;

/// Cells of the longest row: 1 for a column of numbers, more for lists and long texts.
pub(super) fn most_cells(column: &ArrayRef) -> usize {
    if !column.data_type().is_nested() && !is_text(column.data_type()) {
        return 1;
    }
    let rows = 0..=column.len();
    let ends: Vec<usize> = rows.map(|row| cells_before(column, row)).collect();
    let of_rows = ends.windows(2).map(|ends| ends[1] - ends[0]);
    of_rows.max().unwrap_or(1).max(1)
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Binary | DataType::Utf8)
}

/// Cells of all rows before this one, which may be the one behind the last.
fn cells_before(column: &ArrayRef, row: usize) -> usize {
    let offset = |offsets: &[i32]| usize::try_from(offsets[row]).unwrap_or(0);
    match column.data_type() {
        DataType::List(_) => {
            let list = column.as_list::<i32>();
            row + cells_before(list.values(), offset(list.value_offsets()))
        }
        DataType::Map(..) => {
            let map = column.as_map();
            let entry = offset(map.value_offsets());
            row + cells_before(map.keys(), entry) + cells_before(map.values(), entry)
        }
        DataType::Struct(_) => {
            let elements = column.as_struct().columns().iter();
            elements.map(|element| cells_before(element, row)).sum()
        }
        DataType::Binary => row + offset(column.as_binary::<i32>().value_offsets()) / CELL_BYTES,
        DataType::Utf8 => row + offset(column.as_string::<i32>().value_offsets()) / CELL_BYTES,
        // Views are copied without what they show.
        _ => row,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{BinaryArray, Int64Array, ListArray, StructArray};
    use arrow::buffer::OffsetBuffer;
    use arrow::datatypes::{Field, Int64Type};

    use super::*;

    fn lists(rows: Vec<Vec<i64>>) -> ListArray {
        let rows = rows.into_iter().map(|r| Some(r.into_iter().map(Some)));
        ListArray::from_iter_primitive::<Int64Type, _, _>(rows)
    }

    #[test]
    fn numbers_are_one_cell() {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        assert_eq!(most_cells(&column), 1);
    }

    #[test]
    fn the_longest_list_counts() {
        let column: ArrayRef = Arc::new(lists(vec![vec![1], vec![1; 9], vec![]]));
        assert_eq!(most_cells(&column), 10);
        assert_eq!(most_cells(&column.slice(2, 1)), 1);
    }

    #[test]
    fn lists_in_lists_and_tuples_count() {
        let inner = lists(vec![vec![1; 100], vec![1; 100], vec![1]]);
        let field = Arc::new(Field::new_list_field(inner.data_type().clone(), true));
        let offsets = OffsetBuffer::from_lengths([2, 1]);
        let outer: ArrayRef = Arc::new(ListArray::new(field, offsets, Arc::new(inner), None));
        assert_eq!(most_cells(&outer), 203);
        let field = Arc::new(Field::new("a", outer.data_type().clone(), true));
        let tuple: ArrayRef = Arc::new(StructArray::from(vec![(field, outer)]));
        assert_eq!(most_cells(&tuple), 203);
    }

    #[test]
    fn long_texts_count_as_their_bytes() {
        let column: ArrayRef = Arc::new(BinaryArray::from(vec![b"a".as_slice(), &[b'b'; 800]]));
        assert_eq!(most_cells(&column), 101);
    }
}
