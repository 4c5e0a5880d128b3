//! Makes the strings of an Arrow schema bytes, by changing its description before it is read.
//!
//! ClickHouse writes strings of any bytes as UTF-8, and both types lie in a file in the same way. A file whose
//! schema says bytes is read without a check that would refuse such strings, and that costs time.

use arrow_ipc::{Field, Schema, Type};

/// Where a schema's description says that a field is of UTF-8, and what is to stand there.
pub(super) fn bytes_for_utf8(schema: &Schema<'_>) -> Vec<(usize, u8)> {
    let mut changes = Vec::new();
    for field in schema.fields().into_iter().flatten() {
        collect(&field, &mut changes);
    }
    changes
}

fn collect(field: &Field<'_>, changes: &mut Vec<(usize, u8)>) {
    let bytes = match field.type_type() {
        Type::Utf8 => Some(Type::Binary),
        Type::LargeUtf8 => Some(Type::LargeBinary),
        Type::Utf8View => Some(Type::BinaryView),
        _ => None,
    };
    let place = field._tab.vtable().get(Field::VT_TYPE_TYPE);
    if let Some(bytes) = bytes.filter(|_| place > 0) {
        changes.push((field._tab.loc() + usize::from(place), bytes.0));
    }
    for child in field.children().into_iter().flatten() {
        collect(&child, changes);
    }
}

/// Makes the changes in a description that begins at `start`.
pub(super) fn apply(changes: &[(usize, u8)], start: usize, bytes: &mut [u8]) {
    for (place, value) in changes {
        if let Some(byte) = bytes.get_mut(start + place) {
            *byte = *value;
        }
    }
}
