//! Tells how much memory the values of arrays take.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};

/// Bytes of the values of columns, as [`array_bytes`] counts them.
pub fn values_bytes(columns: &[ArrayRef]) -> usize {
    columns.iter().map(array_bytes).sum()
}

/// Bytes of an array's values; of strings also those that its buffer shares with other arrays, if they
/// are this one's.
pub fn array_bytes(array: &ArrayRef) -> usize {
    let elements = |offsets: &[i32]| {
        let offset = |i: Option<&i32>| i.and_then(|i| usize::try_from(*i).ok()).unwrap_or(0);
        let start = offset(offsets.first());
        (start, offset(offsets.last()) - start)
    };
    if let Some(strings) = array.as_binary_view_opt() {
        let views = strings.len() * size_of::<u128>();
        if strings.data_buffers().is_empty() {
            return views;
        }
        let long = strings.lengths().filter(|len| *len > 12);
        return views + long.map(|len| len as usize).sum::<usize>();
    }
    if let Some(list) = array.as_list_opt::<i32>() {
        let (start, len) = elements(list.value_offsets());
        return size_of_val(list.value_offsets()) + array_bytes(&list.values().slice(start, len));
    }
    if let Some(map) = array.as_map_opt() {
        let (start, len) = elements(map.value_offsets());
        let entries: ArrayRef = Arc::new(map.entries().slice(start, len));
        return size_of_val(map.value_offsets()) + array_bytes(&entries);
    }
    if let Some(tuple) = array.as_struct_opt() {
        return tuple.columns().iter().map(array_bytes).sum();
    }
    array.to_data().get_slice_memory_size().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, BinaryViewArray, ListArray, StructArray, UInt64Array};
    use arrow::buffer::OffsetBuffer;
    use arrow::datatypes::Field;

    use super::array_bytes;

    fn strings() -> ArrayRef {
        Arc::new(BinaryViewArray::from_iter_values([
            b"short".as_slice(),
            &[b'x'; 1000],
            &[b'y'; 100],
        ]))
    }

    fn named(array: &ArrayRef) -> Arc<Field> {
        Arc::new(Field::new("item", array.data_type().clone(), true))
    }

    #[test]
    fn long_strings_count_where_they_are_used() {
        assert_eq!(array_bytes(&strings()), 3 * 16 + 1100);
        assert_eq!(array_bytes(&strings().slice(0, 1)), 16);
        assert_eq!(array_bytes(&strings().slice(1, 1)), 16 + 1000);
    }

    #[test]
    fn strings_in_lists_and_tuples_count() {
        let tuple: ArrayRef = Arc::new(StructArray::from(vec![(named(&strings()), strings())]));
        assert_eq!(array_bytes(&tuple), 3 * 16 + 1100);
        let offsets = OffsetBuffer::from_lengths([2, 1]);
        let list = ListArray::new(named(&tuple), offsets, tuple, None);
        let lists: ArrayRef = Arc::new(list);
        assert_eq!(array_bytes(&lists), 3 * 4 + 3 * 16 + 1100);
        assert_eq!(array_bytes(&lists.slice(1, 1)), 2 * 4 + 16 + 100);
    }

    #[test]
    fn numbers_count_without_the_rest_of_their_buffer() {
        let numbers: ArrayRef = Arc::new(UInt64Array::from(vec![1, 2, 3]));
        assert_eq!(array_bytes(&numbers.slice(0, 2)), 16);
    }
}
