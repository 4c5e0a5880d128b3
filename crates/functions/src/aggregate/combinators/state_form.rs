//! Where the bytes of a state end, for formats that write states without their length.

use std::sync::Arc;

use basalt_error::Result;
use basalt_types::AggregateType;
use basalt_types::states::StateForm;

use super::state::state_of_no_rows;
use super::state_bytes::{Part, Value, read_varint, take};
use super::state_layout::{self, Layout};
use crate::aggregate::binding;
use crate::aggregate::grouped::damaged;

/// The form of a function's states; `None` if their bytes do not tell where they end.
pub fn state_form(function: &AggregateType) -> Option<Arc<dyn StateForm>> {
    let layout = state_layout::layout(&binding::canonical_name(&function.name), function)?;
    Some(Arc::new(Form {
        layout,
        function: function.clone(),
    }))
}

#[derive(Debug)]
struct Form {
    layout: Layout,
    function: AggregateType,
}

impl StateForm for Form {
    fn len_of(&self, bytes: &[u8]) -> Option<usize> {
        let mut rest = bytes;
        self.skip(&mut rest).ok()?;
        Some(bytes.len() - rest.len())
    }

    fn empty(&self) -> Result<Vec<u8>> {
        state_of_no_rows(&self.function)
    }
}

impl Form {
    fn skip(&self, bytes: &mut &[u8]) -> Result<()> {
        for (_, part) in &self.layout.parts {
            match part {
                Part::Number(value) => skip_value(value, bytes)?,
                Part::Count => {
                    read_varint(bytes)?;
                }
                Part::Optional(value) | Part::Flagged(value) => skip_single(value, bytes)?,
                Part::List(value) => {
                    for _ in 0..read_varint(bytes)? {
                        skip_value(value, bytes)?;
                    }
                }
                Part::Flag => {
                    let is_there = take(bytes, 1)?[0] != 0;
                    if self.layout.stops_without_rows && !is_there {
                        return Ok(());
                    }
                }
                Part::Absent => {}
            }
        }
        Ok(())
    }
}

fn skip_value(value: &Value, bytes: &mut &[u8]) -> Result<()> {
    let len = match value {
        Value::Fixed { width, .. } => *width,
        Value::Uuid => 16,
        Value::String => usize::try_from(read_varint(bytes)?).map_err(|_| damaged())?,
    };
    take(bytes, len).map(|_| ())
}

/// A value that may be missing.
fn skip_single(value: &Value, bytes: &mut &[u8]) -> Result<()> {
    if *value != Value::String {
        return match take(bytes, 1)?[0] {
            0 => Ok(()),
            _ => skip_value(value, bytes),
        };
    }
    let len = take(bytes, 4)?.try_into().map_err(|_| damaged())?;
    match i32::from_le_bytes(len) {
        -1 => Ok(()),
        len => take(bytes, usize::try_from(len).map_err(|_| damaged())?).map(|_| ()),
    }
}
