//! Makes buffers of arrays: those of a slice begin at its first value, and strings have one buffer.

use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, ListArray, make_view};
use arrow::buffer::{Buffer, NullBuffer, ScalarBuffer};
use arrow::datatypes::DataType;
use basalt_error::{Error, ErrorCode, Result};

/// An array as it is written, with the arrays inside it.
pub(super) struct EncodedNode {
    pub(super) num_values: usize,
    /// The validity first, of no bytes if nothing is NULL.
    pub(super) buffers: Vec<Buffer>,
    pub(super) children: Vec<EncodedNode>,
}

/// Bytes that a batch's strings have at most in a column; their places have 31 bits.
pub(super) const MAX_STRING_BYTES: usize = 1 << 28;

impl EncodedNode {
    /// # Errors
    /// `TOO_LARGE_STRING_SIZE` if the strings of the array have 2 GiB or more.
    pub(super) fn of(array: &dyn Array) -> Result<Self> {
        let (buffers, children) = match array.data_type() {
            DataType::Null => (Vec::new(), Vec::new()),
            DataType::BinaryView => (strings(array.as_binary_view())?, Vec::new()),
            DataType::List(_) => {
                let (offsets, values) = lists(array.as_list::<i32>());
                (vec![offsets], vec![Self::of(values.as_ref())?])
            }
            DataType::Struct(_) => {
                let fields = array.as_struct().columns().iter();
                let fields = fields.map(|field| Self::of(field.as_ref()));
                (Vec::new(), fields.collect::<Result<_>>()?)
            }
            _ => (vec![fixed(array)?], Vec::new()),
        };
        let validity = validity(array.nulls());
        Ok(Self {
            num_values: array.len(),
            buffers: [validity].into_iter().chain(buffers).collect(),
            children,
        })
    }
}

/// Bytes of the strings of an array, those inside it included.
pub(super) fn string_bytes(array: &ArrayRef) -> usize {
    match array.data_type() {
        DataType::BinaryView => {
            let lengths = array.as_binary_view().lengths();
            lengths.map(|length| length as usize).sum()
        }
        DataType::List(_) => string_bytes(&list_values(array.as_list())),
        DataType::Struct(_) => array.as_struct().columns().iter().map(string_bytes).sum(),
        _ => 0,
    }
}

fn validity(nulls: Option<&NullBuffer>) -> Buffer {
    match nulls.filter(|nulls| nulls.null_count() > 0) {
        Some(nulls) => nulls.inner().sliced(),
        None => Buffer::default(),
    }
}

/// Values of one width.
fn fixed(array: &dyn Array) -> Result<Buffer> {
    let data = array.to_data();
    let width = match array.data_type() {
        DataType::FixedSizeBinary(width) => usize::try_from(*width).ok(),
        other => other.primitive_width(),
    };
    match (width, data.buffers()) {
        (Some(width), [values]) => {
            Ok(values.slice_with_length(data.offset() * width, data.len() * width))
        }
        _ => Err(Error::bug(format!(
            "a column of Arrow's type {} in a table",
            array.data_type()
        ))),
    }
}

/// Views, and the bytes of the long strings; what stands behind NULL is empty.
fn strings(array: &BinaryViewArray) -> Result<Vec<Buffer>> {
    let mut bytes = Vec::new();
    let mut views = Vec::with_capacity(array.len());
    for row in 0..array.len() {
        let value = match array.is_null(row) {
            true => &[],
            false => array.value(row),
        };
        let place = i32::try_from(bytes.len()).ok();
        let place = place.and_then(|place| u32::try_from(place).ok());
        let place = place.ok_or_else(too_large)?;
        let view = make_view(value, 0, place);
        if value.len() > INLINE_BYTES {
            bytes.extend_from_slice(value);
        }
        views.push(view);
    }
    if i32::try_from(bytes.len()).is_err() {
        return Err(too_large());
    }
    let views = ScalarBuffer::<u128>::from(views).into_inner();
    Ok(vec![views, Buffer::from_vec(bytes)])
}

/// Bytes of a string that stands in its view.
const INLINE_BYTES: usize = 12;

fn too_large() -> Error {
    Error::new(
        ErrorCode::TOO_LARGE_STRING_SIZE,
        "Insert shorter strings: those of a row have 2 GiB or more",
    )
}

/// Offsets that begin at 0, and the elements between them.
fn lists(lists: &ListArray) -> (Buffer, ArrayRef) {
    let offsets = lists.value_offsets();
    let first = offsets.first().copied().unwrap_or_default();
    let offsets: Vec<i32> = offsets.iter().map(|offset| offset - first).collect();
    (Buffer::from_vec(offsets), list_values(lists))
}

/// The elements of lists, without those before and behind.
fn list_values(lists: &ListArray) -> ArrayRef {
    let offsets = lists.value_offsets();
    let (first, last) = (offsets[0], offsets[lists.len()]);
    let [first, last] = [first, last].map(|o| usize::try_from(o).unwrap_or(0));
    lists.values().slice(first, last - first)
}
