//! `any`, `anyLast`, their forms that respect NULLs, `singleValueOrNull`.

use std::ops::Range;

use arrow::array::{ArrayRef, AsArray, UInt8Array};
use arrow::datatypes::{DataType as ArrowType, UInt8Type};
use basalt_error::Result;
use basalt_types::DataType;

use super::row_keys::row_keys;
use super::rows::Rows;
use super::slots::{Slots, gather_as, slots_for};
use super::values::{column, wrong_array};
use super::{AggregateCall, AggregateFunction, AggregateNulls, Aggregator, BoundAggregate, Groups};

/// The functions of this family.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "any",
        aliases: &["any_value", "first_value"],
        syntax: "any(x)",
        description: "The first value that is met.",
        resolve: |call| resolve(call, Keep::First),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "anyLast",
        aliases: &["last_value"],
        syntax: "anyLast(x)",
        description: "The last value that is met.",
        resolve: |call| resolve(call, Keep::Last),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "any_respect_nulls",
        aliases: &[
            "anyRespectNulls",
            "firstValueRespectNulls",
            "first_value_respect_nulls",
            "anyValueRespectNulls",
            "any_value_respect_nulls",
        ],
        nulls: AggregateNulls::Own,
        syntax: "any_respect_nulls(x)",
        description: "The first value that is met, even if NULL.",
        resolve: |call| resolve(call, Keep::First),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "anyLast_respect_nulls",
        aliases: &[
            "anyLastRespectNulls",
            "lastValueRespectNulls",
            "last_value_respect_nulls",
        ],
        nulls: AggregateNulls::Own,
        syntax: "anyLast_respect_nulls(x)",
        description: "The last value that is met, even if NULL.",
        resolve: |call| resolve(call, Keep::Last),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "singleValueOrNull",
        nulls: AggregateNulls::Own,
        syntax: "singleValueOrNull(x)",
        description: "The only distinct value, NULL if there are none or several.",
        resolve: resolve_single,
        ..AggregateFunction::BASE
    },
];

/// Which value stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    First,
    Last,
    /// The only one: a second one that differs leaves NULL.
    Single,
}

fn resolve(call: &AggregateCall<'_>, keep: Keep) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    bind(call.types[0].clone(), call.types[0].clone(), keep)
}

fn resolve_single(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    if *call.types[0].base() == DataType::Nothing {
        return bind(call.types[0].clone(), call.types[0].clone(), Keep::First);
    }
    let return_type = call.types[0].clone().to_nullable();
    bind(call.types[0].clone(), return_type, Keep::Single)
}

fn bind(data_type: DataType, return_type: DataType, keep: Keep) -> Result<BoundAggregate> {
    let arrow = data_type.physical();
    // Checked here, so that making the states cannot fail.
    slots_for(&arrow)?;
    let state_types = vec![arrow.clone(), ArrowType::UInt8];
    Ok(BoundAggregate::new(
        return_type.clone(),
        state_types,
        move || Any {
            values: slots_for(&arrow),
            flags: Vec::new(),
            keys: Vec::new(),
            data_type: return_type.clone(),
            keep,
            last_batch: Vec::new(),
            num_batches: 0,
        },
    ))
}

/// No row yet.
const EMPTY: u8 = 0;
/// Has a value, which may be NULL.
const FILLED: u8 = 1;
/// Had values that differ.
const MIXED: u8 = 2;

#[derive(Debug)]
struct Any {
    values: Result<Box<dyn Slots>>,
    /// `EMPTY`, `FILLED` or `MIXED` for each group.
    flags: Vec<u8>,
    /// Keys of the values, for `Keep::Single`.
    keys: Vec<u128>,
    data_type: DataType,
    keep: Keep,
    /// Number of the last batch that each group had a row in, for `Keep::Last`.
    last_batch: Vec<u32>,
    num_batches: u32,
}

impl Any {
    fn slots(&mut self, num_groups: usize) -> Result<&mut Box<dyn Slots>> {
        if num_groups > self.flags.len() {
            self.flags.resize(num_groups, EMPTY);
            match self.keep {
                Keep::First => {}
                Keep::Last => self.last_batch.resize(num_groups, 0),
                Keep::Single => self.keys.resize(num_groups, 0),
            }
        }
        let values = self.values.as_mut().map_err(|e| e.clone())?;
        values.resize(num_groups);
        Ok(values)
    }

    /// The rows that go into slots.
    fn choose(&mut self, value: &ArrayRef, rows: &Rows<'_>) -> Result<Vec<(usize, usize)>> {
        let mut pairs = Vec::new();
        match self.keep {
            Keep::First if rows.ids.is_none() => {
                let first = rows.valid_rows().next();
                if let (Some(row), Some(flag @ &mut EMPTY)) = (first, self.flags.first_mut()) {
                    *flag = FILLED;
                    pairs.push((0, row));
                }
            }
            Keep::First => rows.for_each(|row, group| {
                if self.flags[group] == EMPTY {
                    self.flags[group] = FILLED;
                    pairs.push((group, row));
                }
            }),
            Keep::Last => self.choose_last(rows, &mut pairs),
            Keep::Single => {
                let keys = row_keys(std::slice::from_ref(value))?;
                rows.for_each(|row, group| {
                    let flag = &mut self.flags[group];
                    if *flag == EMPTY {
                        *flag = FILLED;
                        self.keys[group] = keys[row];
                        pairs.push((group, row));
                    } else if self.keys[group] != keys[row] {
                        *flag = MIXED;
                    }
                });
            }
        }
        Ok(pairs)
    }

    /// Walks backwards and takes the first row of each group, so that each is copied once.
    fn choose_last(&mut self, rows: &Rows<'_>, pairs: &mut Vec<(usize, usize)>) {
        self.num_batches = self.num_batches.wrapping_add(1);
        let valid = rows.valid.as_ref();
        for row in (0..rows.len).rev() {
            if valid.is_some_and(|v| v.is_null(row)) {
                continue;
            }
            let group = rows.ids.map_or(0, |ids| ids[row] as usize);
            if self.last_batch[group] != self.num_batches {
                self.last_batch[group] = self.num_batches;
                self.flags[group] = FILLED;
                pairs.push((group, row));
            }
            if rows.ids.is_none() {
                break;
            }
        }
    }

    fn add(&mut self, value: &ArrayRef, rows: &Rows<'_>) -> Result<()> {
        let pairs = self.choose(value, rows)?;
        self.slots(0)?.assign(value, &pairs)
    }
}

impl Aggregator for Any {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.slots(groups.num_groups)?;
        let respects_nulls = self.data_type.is_nullable() && self.keep != Keep::Single;
        let rows = if respects_nulls {
            Rows::all(args, groups)?
        } else {
            Rows::new(args, groups)?
        };
        self.add(column(args, 0)?, &rows)
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.slots(groups.num_groups)?;
        let flags = column(states, 1)?;
        let flags = flags
            .as_primitive_opt::<UInt8Type>()
            .ok_or_else(|| wrong_array(flags))?;
        let mut rows = Rows::all(states, groups)?;
        let filled = arrow::buffer::BooleanBuffer::collect_bool(flags.len(), |row| {
            flags.value(row) != EMPTY
        });
        rows.valid = Some(arrow::buffer::NullBuffer::new(filled));
        self.add(column(states, 0)?, &rows)?;
        rows.for_each(|row, group| {
            if flags.value(row) == MIXED {
                self.flags[group] = MIXED;
            }
        });
        Ok(())
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        let data_type = self.data_type.clone();
        let slots = self.slots(range.end)?.as_mut();
        let values = gather_as(slots, range.clone(), &data_type)?;
        if self.keep != Keep::Single {
            return Ok(values);
        }
        let single = self.flags[range].iter().map(|f| *f == FILLED).collect();
        crate::function::with_nulls(&values, Some(single))
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        let values = self.slots(range.end)?.gather(range.clone())?;
        let flags = self.flags[range].iter().copied();
        let flags = UInt8Array::from_iter_values(flags);
        Ok(vec![values, std::sync::Arc::new(flags)])
    }

    fn size_bytes(&self) -> usize {
        let values = self.values.as_ref().map_or(0, |v| v.size_bytes());
        values + self.flags.capacity() + self.last_batch.capacity() * 4 + self.keys.capacity() * 16
    }
}
