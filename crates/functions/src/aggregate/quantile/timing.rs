//! `quantileTiming`: times in milliseconds, exact for small groups, a histogram for large ones.

use arrow::array::ArrayRef;
use basalt_error::Result;
use basalt_types::DataType;

use super::exact::position;
use super::{Levels, check_weight, weights};
use crate::aggregate::average::from_floats;
use crate::aggregate::grouped::{ByteReader, StateFunction, bind_grouped, damaged};
use crate::aggregate::rows::Rows;
use crate::aggregate::uniq::mix32;
use crate::aggregate::values::{column, to_floats};
use crate::aggregate::{AggregateCall, BoundAggregate};

/// Times up to here have a cell each, later ones share one with `STEP - 1` others.
const FINE: u64 = 1024;
const STEP: u64 = 16;
/// Later times count as this one.
const MAX_TIME: u64 = 30_000;
const NUM_CELLS: usize = (FINE + (MAX_TIME - FINE) / STEP + 1) as usize;
/// Beyond it a list of times takes more memory than the cells.
const MAX_LIST_LEN: usize = 5670;

/// `quantileTiming`.
pub(super) fn resolve(call: &AggregateCall<'_>, levels: Levels) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    bind(call, levels, false)
}

/// `quantileTimingWeighted`.
pub(super) fn resolve_weighted(call: &AggregateCall<'_>, levels: Levels) -> Result<BoundAggregate> {
    check_weight(call)?;
    bind(call, levels, true)
}

fn bind(call: &AggregateCall<'_>, levels: Levels, weighted: bool) -> Result<BoundAggregate> {
    let is_moment = |t: &DataType| matches!(t, DataType::Date | DataType::DateTime(_));
    call.expect_type(0, |t| t.is_integer() || t.is_float() || is_moment(t))?;
    let return_type = levels.return_type(DataType::Float32);
    Ok(bind_grouped(return_type, Timed { levels, weighted }))
}

#[derive(Debug)]
struct Timed {
    levels: Levels,
    weighted: bool,
}

/// The times of a group.
#[derive(Debug)]
enum Times {
    List(Vec<u16>),
    Cells(Box<[u64]>),
}

fn cell_of(time: u64) -> usize {
    if time < FINE {
        time as usize
    } else {
        (FINE + (time - FINE) / STEP) as usize
    }
}

/// A time that stands for a cell: in the middle, shifted a little so that not all are even.
fn time_of(cell: usize) -> f64 {
    let cell = cell as u64;
    if cell < FINE {
        return cell as f64;
    }
    let idx = cell - FINE;
    let shift = u64::from(mix32(idx)) % STEP;
    (idx * STEP + FINE) as f64 + shift as f64 - (STEP / 2) as f64
}

impl Times {
    fn add(&mut self, time: u16, weight: u64) -> usize {
        match self {
            Times::Cells(cells) => {
                let cell = &mut cells[cell_of(u64::from(time))];
                *cell = cell.wrapping_add(weight);
                0
            }
            Times::List(list) => {
                let len = usize::try_from(weight).unwrap_or(usize::MAX);
                if len <= MAX_LIST_LEN - list.len().min(MAX_LIST_LEN) {
                    let before = list.capacity();
                    list.extend(std::iter::repeat_n(time, len));
                    return (list.capacity() - before) * size_of::<u16>();
                }
                let mut cells = vec![0; NUM_CELLS].into_boxed_slice();
                list.iter().for_each(|t| cells[cell_of(u64::from(*t))] += 1);
                *self = Times::Cells(cells);
                self.add(time, weight) + NUM_CELLS * size_of::<u64>()
            }
        }
    }

    fn quantile(&mut self, level: f64) -> f64 {
        match self {
            Times::List(list) if list.is_empty() => f64::NAN,
            Times::List(list) => {
                let position = position(level, list.len()).min(list.len() - 1);
                f64::from(*list.select_nth_unstable(position).1)
            }
            Times::Cells(cells) => {
                let total: u64 = cells.iter().fold(0, |sum, c| sum.wrapping_add(*c));
                let wanted = (level * total as f64).ceil() as u64;
                let mut sum = 0u64;
                let reaches = cells.iter().position(|c| {
                    sum = sum.wrapping_add(*c);
                    sum >= wanted && sum > 0
                });
                time_of(reaches.unwrap_or(NUM_CELLS - 1))
            }
        }
    }
}

impl StateFunction for Timed {
    type State = Times;

    fn new_state(&self) -> Times {
        Times::List(Vec::new())
    }

    fn update(&self, states: &mut [Times], args: &[ArrayRef], rows: &Rows<'_>) -> Result<usize> {
        let values = to_floats(column(args, 0)?)?;
        let weights = weights(args, self.weighted)?;
        let mut grown = 0;
        rows.for_each(|row, group| {
            if values[row] >= 0.0 {
                let time = values[row].min(MAX_TIME as f64) as u16;
                grown += states[group].add(time, weights[row]);
            }
        });
        Ok(grown)
    }

    fn merge(&self, state: &mut Times, other: Times) -> Result<usize> {
        match (&mut *state, other) {
            (_, Times::List(list)) => Ok(list.into_iter().map(|t| state.add(t, 1)).sum()),
            (Times::Cells(cells), Times::Cells(others)) => {
                cells
                    .iter_mut()
                    .zip(&others)
                    .for_each(|(c, o)| *c = c.wrapping_add(*o));
                Ok(0)
            }
            (Times::List(list), Times::Cells(mut cells)) => {
                list.iter().for_each(|t| cells[cell_of(u64::from(*t))] += 1);
                *state = Times::Cells(cells);
                Ok(NUM_CELLS * size_of::<u64>())
            }
        }
    }

    fn write(&self, state: &Times, out: &mut Vec<u8>) {
        match state {
            Times::List(list) => {
                out.push(0);
                out.extend_from_slice(&(list.len() as u64).to_le_bytes());
                list.iter()
                    .for_each(|t| out.extend_from_slice(&t.to_le_bytes()));
            }
            Times::Cells(cells) => {
                out.push(1);
                cells
                    .iter()
                    .for_each(|c| out.extend_from_slice(&c.to_le_bytes()));
            }
        }
    }

    fn read(&self, bytes: &mut ByteReader<'_>) -> Result<Times> {
        match bytes.u8()? {
            0 => {
                let len = bytes.len(size_of::<u16>())?;
                let time = |bytes: &mut ByteReader<'_>| match u16::from_le_bytes(bytes.array()?) {
                    time if u64::from(time) <= MAX_TIME => Ok(time),
                    _ => Err(damaged()),
                };
                Ok(Times::List(
                    (0..len).map(|_| time(bytes)).collect::<Result<_>>()?,
                ))
            }
            1 => Ok(Times::Cells(
                (0..NUM_CELLS).map(|_| bytes.u64()).collect::<Result<_>>()?,
            )),
            _ => Err(damaged()),
        }
    }

    fn finish(&self, states: &mut [Times]) -> Result<ArrayRef> {
        let mut quantiles = Vec::new();
        for state in states {
            let levels = self.levels.levels.iter();
            quantiles.extend(levels.map(|level| state.quantile(*level)));
        }
        let values = from_floats(quantiles, &DataType::Float32)?;
        self.levels.assemble(values, &DataType::Float32)
    }
}
