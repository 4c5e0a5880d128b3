//! Writes batches in pieces, so that the text of a large one never lies in memory as a whole.

use ::arrow::record_batch::RecordBatch;
use basalt_error::Result;
use basalt_profile::{check_limit, check_room};
use basalt_types::values_bytes;

use super::RowSink;

/// Bytes of the values of a piece, about.
const PIECE_BYTES: usize = 4 << 20;

/// Writes a batch, and calls `flush` for what it has become, piece by piece where the format has no blocks
/// of its own.
///
/// # Errors
/// As [`RowSink::write_batch`]; `MEMORY_LIMIT_EXCEEDED` if the query cannot hold a block as text, too.
pub fn write_in_pieces(
    sink: &mut dyn RowSink,
    batch: &RecordBatch,
    buffer: &mut Vec<u8>,
    mut flush: impl FnMut(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let num_bytes = values_bytes(batch.columns());
    let num_rows = batch.num_rows();
    let num_pieces = match sink.is_by_rows() {
        true => (num_bytes / PIECE_BYTES).clamp(1, num_rows.max(1)),
        false => 1,
    };
    let piece_bytes = num_bytes / num_pieces;
    if piece_bytes > buffer.capacity() {
        check_room(piece_bytes)?;
    }
    if num_pieces == 1 {
        sink.write_batch(batch, buffer)?;
        return flush(buffer);
    }
    let piece_rows = num_rows.div_ceil(num_pieces);
    for start in (0..num_rows).step_by(piece_rows) {
        let piece = batch.slice(start, piece_rows.min(num_rows - start));
        sink.write_batch(&piece, buffer)?;
        flush(buffer)?;
        check_limit()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ::arrow::array::{ArrayRef, BinaryViewArray};
    use ::arrow::record_batch::RecordBatch;
    use basalt_types::DataType;

    use super::{PIECE_BYTES, write_in_pieces};
    use crate::output::output;
    use crate::{FormatSettings, Statistics};

    #[test]
    fn pieces_are_the_whole() {
        let text = vec![b'x'; PIECE_BYTES / 3];
        let column: ArrayRef = Arc::new(BinaryViewArray::from_iter_values(vec![text; 10]));
        let batch = RecordBatch::try_from_iter([("s", column)]).expect("a batch");
        let header = vec![("s".to_owned(), DataType::String)];
        let settings = FormatSettings::default();
        for (format, pieces) in [("JSON", 3), ("CSV", 3), ("RowBinary", 3), ("Native", 1)] {
            let mut sink = output(format, &header, &settings).expect(format);
            let (mut written, mut num_flushed) = (Vec::new(), 0);
            write_in_pieces(sink.as_mut(), &batch, &mut Vec::new(), |bytes| {
                num_flushed += 1;
                written.append(bytes);
                Ok(())
            })
            .expect(format);
            let mut sink = output(format, &header, &settings).expect(format);
            let mut whole = Vec::new();
            sink.write_batch(&batch, &mut whole).expect(format);
            assert!(written == whole, "{format}");
            assert_eq!(num_flushed, pieces, "{format}");
            let end = sink.finish(&Statistics::default(), &mut whole);
            end.expect(format);
        }
    }
}
