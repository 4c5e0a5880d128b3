//! Takes Arrow's messages apart and checks their lengths, before memory of these lengths is wanted.
//!
//! A message is a word that says so, the length of its description, the description, and a body.

use std::ops::Range;
use std::sync::Arc;

use ::arrow::datatypes::SchemaRef;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::{CompressionType, Message, RecordBatch, Schema, root_as_footer, root_as_message};
use basalt_error::{Error, Result};

use super::Source;
use super::arrow::cannot_read;
use super::arrow_strings::{apply, bytes_for_utf8};
use super::binary::too_short;

/// Stands before the length of a message since version 0.15 of the format.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Stands behind the last message.
pub(super) const END_OF_STREAM: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// Stands at both ends of a file.
const MAGIC: &[u8] = b"ARROW1";

/// Bytes at the end of a file: the footer's length and the magic word.
const TRAILER_BYTES: usize = 4 + MAGIC.len();

/// How much longer decompressed bytes may be than compressed ones: repetitions of one byte, in blocks
/// as each format has them.
const MAX_LZ4_RATIO: u64 = 255;
const MAX_ZSTD_RATIO: u64 = 1 << 15;

/// Bytes that a block takes beside what it holds.
const BLOCK_SLACK: u64 = 1 << 17;

/// Reads the next message whole; `None` at the end. No more is allocated than is there.
pub(super) fn next_message(source: &mut Source) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    extend(source, 4, &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes == CONTINUATION {
        extend(source, 4, &mut bytes)?;
    }
    let start = bytes.len();
    let len = bytes.last_chunk().copied().map(u32::from_le_bytes);
    let len = len.ok_or_else(too_short)?;
    if len == 0 {
        return Ok(None);
    }
    extend(source, u64::from(len), &mut bytes)?;
    let described = bytes.get(start..).unwrap_or_default();
    if described.len() < len as usize {
        return Err(too_short());
    }
    let body_len = root_as_message(described)
        .map_err(cannot_read)?
        .bodyLength();
    let body_len = u64::try_from(body_len).map_err(|_| wrong_length(body_len))?;
    let body_start = bytes.len();
    extend(source, body_len, &mut bytes)?;
    let body = bytes.get(body_start..).unwrap_or_default();
    if (body.len() as u64) < body_len {
        return Err(too_short());
    }
    let described = bytes.get(start..body_start).unwrap_or_default();
    check_message(&root_as_message(described).map_err(cannot_read)?, body)?;
    Ok(Some(bytes))
}

/// The schema that the first message of a stream is, whose strings become bytes.
pub(super) fn schema_of(message: &mut [u8]) -> Result<SchemaRef> {
    let start = match message.starts_with(&CONTINUATION) {
        true => 8,
        false => 4,
    };
    let changes = {
        let described = message.get(start..).unwrap_or_default();
        bytes_for_utf8(&described_schema(described)?)
    };
    apply(&changes, start, message);
    let described = message.get(start..).unwrap_or_default();
    Ok(Arc::new(fb_to_schema(described_schema(described)?)))
}

fn described_schema(described: &[u8]) -> Result<Schema<'_>> {
    let message = root_as_message(described).map_err(cannot_read)?;
    let schema = message.header_as_schema();
    schema.ok_or_else(|| cannot_read("it does not begin with a schema"))
}

fn extend(source: &mut Source, len: u64, bytes: &mut Vec<u8>) -> Result<()> {
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    basalt_profile::read_behind(source, bytes, len)?;
    Ok(())
}

fn wrong_length(len: impl std::fmt::Display) -> Error {
    cannot_read(format!("a length in it is wrong ({len})"))
}

/// Checks that the parts that a file's footer names lie in the file, and makes the strings of its schema bytes.
pub(super) fn prepare_file(file: &mut [u8]) -> Result<()> {
    let footer = footer_of(file)?;
    check_blocks(file, &footer)?;
    let start = footer.start;
    let schema = root_as_footer(&file[footer]).map_err(cannot_read)?.schema();
    let changes = schema.map_or_else(Vec::new, |schema| bytes_for_utf8(&schema));
    apply(&changes, start, file);
    Ok(())
}

/// Where the footer of a file is.
fn footer_of(file: &[u8]) -> Result<Range<usize>> {
    let footer_end = file.len().checked_sub(TRAILER_BYTES);
    let footer_end = footer_end.filter(|_| file.starts_with(MAGIC) && file.ends_with(MAGIC));
    let footer_end = footer_end.ok_or_else(|| cannot_read("it does not end as an Arrow file"))?;
    let len = file.get(footer_end..).and_then(<[u8]>::first_chunk);
    let len = len.map_or(0, |len| i32::from_le_bytes(*len));
    let footer_start = usize::try_from(len)
        .ok()
        .and_then(|len| footer_end.checked_sub(len));
    Ok(footer_start.ok_or_else(|| wrong_length(len))?..footer_end)
}

fn check_blocks(file: &[u8], footer: &Range<usize>) -> Result<()> {
    let footer = root_as_footer(&file[footer.clone()]).map_err(cannot_read)?;
    let dictionaries = footer.dictionaries().into_iter().flatten();
    let batches = footer.recordBatches().into_iter().flatten();
    for block in dictionaries.chain(batches) {
        let (offset, described) = (block.offset(), i64::from(block.metaDataLength()));
        let part = |start: i64, len: i64| {
            let (start, len) = (usize::try_from(start).ok()?, usize::try_from(len).ok()?);
            file.get(start..start.checked_add(len)?)
        };
        let body_start = offset.saturating_add(described);
        let message = part(offset, described).ok_or_else(|| wrong_length(described))?;
        let body = part(body_start, block.bodyLength());
        let body = body.ok_or_else(|| wrong_length(block.bodyLength()))?;
        let message = message.strip_prefix(&CONTINUATION).unwrap_or(message);
        let message = root_as_message(message.get(4..).unwrap_or_default());
        check_message(&message.map_err(cannot_read)?, body)?;
    }
    Ok(())
}

/// Checks the lengths that the compressed buffers of a message begin with.
fn check_message(message: &Message<'_>, body: &[u8]) -> Result<()> {
    let batch = message
        .header_as_record_batch()
        .or_else(|| message.header_as_dictionary_batch()?.data());
    batch.map_or(Ok(()), |batch| check_buffers(&batch, body))
}

fn check_buffers(batch: &RecordBatch<'_>, body: &[u8]) -> Result<()> {
    let Some(compression) = batch.compression() else {
        return Ok(());
    };
    let ratio = match compression.codec() {
        CompressionType::LZ4_FRAME => MAX_LZ4_RATIO,
        _ => MAX_ZSTD_RATIO,
    };
    for buffer in batch.buffers().into_iter().flatten() {
        let start = usize::try_from(buffer.offset()).ok();
        let bytes = start.and_then(|start| body.get(start..)?.first_chunk());
        let len = bytes.map_or(0, |len| i64::from_le_bytes(*len));
        let stored = u64::try_from(buffer.length()).unwrap_or(0);
        let allowed = stored.saturating_mul(ratio).saturating_add(BLOCK_SLACK);
        if stored > 0 && u64::try_from(len).is_ok_and(|len| len > allowed) {
            return Err(wrong_length(len));
        }
    }
    Ok(())
}
