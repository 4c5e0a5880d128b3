//! Resolves the frame of a window: ROWS, RANGE or GROUPS between two bounds.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, FrameBound, FrameUnit, WindowSpec};
use basalt_types::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;

use super::Resolver;
use super::window::bad_arguments;
use crate::Typed;
use crate::plan::{Bound, Frame, Unit};

impl Resolver<'_> {
    /// The frame of a window with these sort keys; without one, all rows up to those that are
    /// equal to the current one. A RANGE with offsets gets its key's column when it is planned.
    pub(super) fn frame(&self, spec: &WindowSpec, keys: &[Typed]) -> Result<Frame> {
        let Some(frame) = &spec.frame else {
            return Ok(Frame {
                unit: Unit::Range(None),
                start: Bound::UnboundedPreceding,
                end: Bound::CurrentRow,
            });
        };
        let start = self.bound(&frame.start)?;
        let end = self.bound(&frame.end)?;
        check_bounds(start, end)?;
        let offsets = [start, end].into_iter().filter_map(offset);
        let unit = match frame.unit {
            FrameUnit::Rows => Unit::Rows,
            FrameUnit::Groups => Unit::Groups,
            FrameUnit::Range => {
                let largest = offsets.max();
                if let Some(largest) = largest {
                    check_range_key(keys, largest)?;
                }
                Unit::Range(largest.map(|_| String::new()))
            }
        };
        Ok(Frame { unit, start, end })
    }

    fn bound(&self, bound: &FrameBound) -> Result<Bound> {
        let offset = |expr: &ast::Expr| -> Result<u64> {
            let typed = self.resolve(expr)?;
            let value = if typed.data_type.is_integer() {
                self.constant_u64(&typed)?
            } else {
                None
            };
            value.ok_or_else(|| bad_arguments("A frame's offset must be a constant from 0 up"))
        };
        Ok(match bound {
            FrameBound::CurrentRow => Bound::CurrentRow,
            FrameBound::UnboundedPreceding => Bound::UnboundedPreceding,
            FrameBound::UnboundedFollowing => Bound::UnboundedFollowing,
            FrameBound::Preceding(expr) => Bound::Preceding(offset(expr)?),
            FrameBound::Following(expr) => Bound::Following(offset(expr)?),
        })
    }

    /// The value of an integer constant that is not below 0.
    pub(super) fn constant_u64(&self, typed: &Typed) -> Result<Option<u64>> {
        let Some(array) = &typed.constant else {
            return Ok(None);
        };
        let wide = datafusion::arrow::compute::cast(
            array,
            &datafusion::arrow::datatypes::DataType::UInt64,
        );
        let wide = wide.map_err(|e| Error::bug(e.to_string()))?;
        match Typed::constant(wide, DataType::UInt64)?.expr {
            Expr::Literal(ScalarValue::UInt64(value), _) => Ok(value),
            _ => Err(Error::bug("constant offset")),
        }
    }
}

fn offset(bound: Bound) -> Option<u64> {
    match bound {
        Bound::Preceding(n) | Bound::Following(n) => Some(n),
        _ => None,
    }
}

/// Checks that a frame does not end before it starts.
fn check_bounds(start: Bound, end: Bound) -> Result<()> {
    let place = |bound: Bound| match bound {
        Bound::UnboundedPreceding => 0,
        Bound::Preceding(_) => 1,
        Bound::CurrentRow => 2,
        Bound::Following(_) => 3,
        Bound::UnboundedFollowing => 4,
    };
    let inverted = match (start, end) {
        (Bound::UnboundedFollowing, _) | (_, Bound::UnboundedPreceding) => true,
        (Bound::Preceding(from), Bound::Preceding(to)) => from < to,
        (Bound::Following(from), Bound::Following(to)) => from > to,
        _ => place(start) > place(end),
    };
    if inverted {
        return Err(bad_arguments("The frame of a window ends before it starts"));
    }
    Ok(())
}

/// Checks that the distances of a RANGE frame can be taken between values of the sort key.
fn check_range_key(keys: &[Typed], largest: u64) -> Result<()> {
    let [key] = keys else {
        return Err(bad_arguments(format!(
            "Give the window exactly one ORDER BY column for a RANGE frame with an offset, not {}",
            keys.len()
        )));
    };
    let most = match key.data_type.base() {
        DataType::UInt8 => u64::from(u8::MAX),
        DataType::Int8 => i8::MAX as u64,
        DataType::UInt16 | DataType::Date => u64::from(u16::MAX),
        DataType::Int16 => i16::MAX as u64,
        DataType::UInt32 | DataType::DateTime(_) => u64::from(u32::MAX),
        DataType::Int32 | DataType::Date32 => i32::MAX as u64,
        DataType::Int64 => i64::MAX as u64,
        DataType::UInt64 | DataType::Float32 | DataType::Float64 => u64::MAX,
        other => {
            return Err(Error::not_implemented(format!(
                "A RANGE frame with an offset over an ORDER BY column of type {other}"
            )));
        }
    };
    if largest > most {
        return Err(Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            format!(
                "The frame's offset {largest} is no value of the ORDER BY column's type {}",
                key.data_type
            ),
        ));
    }
    Ok(())
}
