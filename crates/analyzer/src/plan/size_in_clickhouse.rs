//! Tells how many bytes rows and tables of keys take in ClickHouse, whose limits count these.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};

/// Bytes of the values of a batch: strings with the number of their bytes in 8 more.
pub fn batch_bytes(batch: &RecordBatch) -> u64 {
    let bytes = |column: &ArrayRef| match column.as_binary_view_opt() {
        Some(strings) => strings.lengths().map(|len| u64::from(len) + 8).sum(),
        None => {
            let size = column.to_data().get_slice_memory_size();
            size.map_or(0, |size| size as u64)
        }
    };
    batch.columns().iter().map(bytes).sum()
}

/// Bytes of the strings of a table's keys, which lie beside the table.
pub fn text_bytes(keys: &[ArrayRef]) -> u64 {
    let [key] = keys else {
        // Of several keys the table has only a hash.
        return 0;
    };
    let strings = key.as_binary_view_opt();
    strings.map_or(0, |strings| strings.lengths().map(u64::from).sum())
}

/// Bytes of a hash table of so many different keys.
pub fn table_bytes(keys: &[ArrayRef], num_keys: u64) -> u64 {
    let widths = keys.iter().map(|key| key.data_type().primitive_width());
    let width: Option<usize> = widths.sum();
    let cell_bytes = match (width, keys) {
        (Some(1), _) => return 256,
        (Some(2), _) => return 65_536,
        (Some(width @ 0..=8), _) => width.next_power_of_two().max(4) as u64,
        (Some(9..=16), _) => 16,
        (Some(17..=32), _) => 32,
        // A pointer, a length and a hash.
        (None, [key]) if key.as_binary_view_opt().is_some() => 24,
        _ => 16,
    };
    num_cells(num_keys).saturating_mul(cell_bytes)
}

/// Cells of a table that is at most half full: it begins with 256, grows to four times as many, and to twice
/// as many where it is large.
fn num_cells(num_keys: u64) -> u64 {
    const FIRST: u64 = 1 << 8;
    const LARGE: u64 = 1 << 23;
    let mut cells = FIRST;
    while num_keys > cells / 2 {
        cells = cells.saturating_mul(if cells >= LARGE { 2 } else { 4 });
    }
    cells
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{ArrayRef, BinaryViewArray, UInt64Array};

    use super::{num_cells, table_bytes, text_bytes};

    #[test]
    fn tables_grow_as_those_of_clickhouse() {
        let numbers: ArrayRef = Arc::new(UInt64Array::from(vec![1]));
        let bytes = |num_keys| table_bytes(std::slice::from_ref(&numbers), num_keys);
        assert_eq!([bytes(10), bytes(128), bytes(129)], [2048, 2048, 8192]);
        assert_eq!(bytes(10_000), 512 << 10);
        assert_eq!(num_cells(1 << 24), 1 << 25);
    }

    #[test]
    fn strings_lie_beside_their_table() {
        let strings: ArrayRef = Arc::new(BinaryViewArray::from_iter_values([b"ab", b"cd"]));
        assert_eq!(text_bytes(std::slice::from_ref(&strings)), 4);
        assert_eq!(text_bytes(&[Arc::clone(&strings), strings]), 0);
    }
}
