//! Makes arrays of the bytes of a column's file, where they lie.

use std::fmt::Display;
use std::io::ErrorKind;
use std::path::Path;

use arrow::array::{ArrayData, ArrayRef, make_array};
use arrow::buffer::Buffer;
use arrow::datatypes::DataType as ArrowType;
use arrow::error::ArrowError;

use basalt_error::{Error, ErrorCode};
use bytes::Bytes;

use super::extent::{Node, Piece, child_types};
use crate::disk::Disk;
use crate::mapping::MappedFile;

/// The array of a node. Offsets and views are checked, which reads all of them: a damaged file is an error.
///
/// # Errors
/// What is wrong with the bytes.
pub(super) fn array(
    node: &Node,
    data_type: &ArrowType,
    bytes: &dyn Fn(&Piece) -> Result<Buffer, ArrowError>,
) -> Result<ArrayRef, ArrowError> {
    Ok(make_array(parts(node, data_type, bytes)?))
}

fn parts(
    node: &Node,
    data_type: &ArrowType,
    bytes: &dyn Fn(&Piece) -> Result<Buffer, ArrowError>,
) -> Result<ArrayData, ArrowError> {
    let buffers = node.buffers.iter().map(bytes);
    let children = node.children.iter().zip(child_types(data_type));
    let children = children.map(|(child, data_type)| parts(child, data_type, bytes));
    let validity = node.validity.as_ref().map(bytes).transpose()?;
    ArrayData::builder(data_type.clone())
        .len(node.len as usize)
        .buffers(buffers.collect::<Result<_, _>>()?)
        .child_data(children.collect::<Result<_, _>>()?)
        .null_bit_buffer(validity)
        .align_buffers(true)
        .build()
}

/// A column's file to read from.
pub(super) struct ColumnBytes<'a> {
    disk: &'a dyn Disk,
    path: &'a Path,
    /// None if it cannot be mapped.
    map: Option<MappedFile>,
}

impl<'a> ColumnBytes<'a> {
    pub(super) fn open(disk: &'a dyn Disk, path: &'a Path) -> Self {
        let map = disk.map(path).ok();
        Self { disk, path, map }
    }

    pub(super) fn of(&self, piece: &Piece) -> Result<Buffer, ArrowError> {
        let external = |e: std::io::Error| ArrowError::ExternalError(Box::new(e));
        let [start, num_bytes] = [piece.offset, piece.num_bytes].map(usize::try_from);
        let (Ok(start), Ok(num_bytes)) = (start, num_bytes) else {
            return Err(external(ErrorKind::UnexpectedEof.into()));
        };
        let bytes: Bytes = match &self.map {
            Some(map) => map.slice(start..start + num_bytes).map_err(external)?,
            None => {
                let mut bytes = vec![0; num_bytes];
                let read = self.disk.read_range(self.path, piece.offset, &mut bytes);
                read.map_err(external)?;
                return Ok(Buffer::from_vec(bytes));
            }
        };
        Ok(Buffer::from(bytes))
    }
}

/// The error for a column whose file has not what was written.
pub(super) fn damaged(column: &str, path: &Path, why: impl Display) -> Error {
    let message = format!("Column `{column}` is damaged: {}: {why}", path.display());
    Error::new(ErrorCode::CORRUPTED_DATA, message)
}
