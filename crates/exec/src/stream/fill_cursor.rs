//! Walks along the values that WITH FILL inserts between the rows of one run.
//!
//! The filled columns are the digits of a counter, the last one the fastest. A column counts up to its TO,
//! or, without one, only up to the value of the next row; a column without FROM has no value in rows that
//! are inserted because a column before it moved.

use std::cmp::Ordering;

use basalt_analyzer::plan::{FillColumn, FillStep};
use basalt_error::{Error, Result};
use basalt_types::calendar::{CivilDate, days_in_month};

/// A value of a filled column, in the column's own unit.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Point {
    /// Of an integer or date.
    Int(i128),
    /// Of a float.
    Float(f64),
}

/// The values of the filled columns in one row; NULL and NaN, which have no neighbours, are `None`.
pub(super) type Row = Vec<Option<Point>>;

/// How the values of one column follow each other.
pub(super) struct Axis {
    descending: bool,
    from: Option<Point>,
    to: Option<Point>,
    step: Stride,
    staleness: Option<Stride>,
}

#[derive(Clone, Copy)]
enum Stride {
    Int(i128),
    Float(f64),
    Months { count: i64, ticks_per_day: i64 },
}

impl Axis {
    pub(super) fn try_new(column: &FillColumn, is_float: bool) -> Result<Self> {
        let bound = |text: &Option<String>| match text {
            Some(text) => Stride::parse(text, is_float)?.point().map(Some),
            None => Ok(None),
        };
        let stride = |step: &FillStep| match step {
            FillStep::Number(text) => Stride::parse(text, is_float),
            FillStep::Months {
                count,
                ticks_per_day,
            } => Ok(Stride::Months {
                count: *count,
                ticks_per_day: *ticks_per_day,
            }),
        };
        Ok(Self {
            descending: column.descending,
            from: bound(&column.from)?,
            to: bound(&column.to)?,
            step: stride(&column.step)?,
            staleness: column.staleness.as_ref().map(stride).transpose()?,
        })
    }

    /// Whether `a` comes before `b`.
    fn before(&self, a: Point, b: Point) -> bool {
        let before = if self.descending {
            Ordering::Greater
        } else {
            Ordering::Less
        };
        a.partial_cmp(&b) == Some(before)
    }

    /// The first value of the grid through `at` that is not before `value`.
    fn first_from(&self, at: Point, value: Point) -> Option<Point> {
        let mut next = match (self.step, at, value) {
            (Stride::Int(step), Point::Int(at), Point::Int(value)) => {
                let steps = value.checked_sub(at)?.checked_div(step)?;
                Point::Int(at.checked_add(steps.checked_mul(step)?)?)
            }
            (Stride::Float(step), Point::Float(at), Point::Float(value)) => {
                Point::Float(at + ((value - at) / step).floor() * step)
            }
            _ => at,
        };
        while self.before(next, value) {
            let after = self.step.after(next)?;
            if !self.before(next, after) {
                return None;
            }
            next = after;
        }
        Some(next)
    }

    fn nearer(&self, a: Option<Point>, b: Option<Point>) -> Option<Point> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if self.before(b, a) { b } else { a }),
            (a, b) => a.or(b),
        }
    }
}

impl Stride {
    fn parse(text: &str, is_float: bool) -> Result<Self> {
        let wrong = || Error::bug(format!("fill bound {text}"));
        if is_float {
            return text.parse().map(Stride::Float).map_err(|_| wrong());
        }
        text.parse().map(Stride::Int).map_err(|_| wrong())
    }

    fn point(self) -> Result<Point> {
        match self {
            Stride::Int(n) => Ok(Point::Int(n)),
            Stride::Float(f) => Ok(Point::Float(f)),
            Stride::Months { .. } => Err(Error::bug("months as a bound")),
        }
    }

    fn after(self, point: Point) -> Option<Point> {
        match (self, point) {
            (Stride::Int(step), Point::Int(n)) => n.checked_add(step).map(Point::Int),
            (Stride::Float(step), Point::Float(f)) => Some(Point::Float(f + step)),
            (
                Stride::Months {
                    count,
                    ticks_per_day,
                },
                Point::Int(n),
            ) => {
                let ticks = i64::try_from(n).ok()?;
                let ticks = add_months(ticks, count, ticks_per_day);
                Some(Point::Int(i128::from(ticks)))
            }
            _ => None,
        }
    }
}

fn add_months(ticks: i64, count: i64, ticks_per_day: i64) -> i64 {
    let (days, rest) = (
        ticks.div_euclid(ticks_per_day),
        ticks.rem_euclid(ticks_per_day),
    );
    let date = CivilDate::from_days(i32::try_from(days).unwrap_or(i32::MAX));
    let months = (i64::from(date.year) * 12 + i64::from(date.month) - 1).saturating_add(count);
    let year = i32::try_from(months.div_euclid(12)).unwrap_or(i32::MAX);
    let month = u32::try_from(months.rem_euclid(12) + 1).unwrap_or(1);
    let day = date.day.min(days_in_month(year, month));
    i64::from(CivilDate { year, month, day }.to_days()) * ticks_per_day + rest
}

/// Where filling stands in a run of rows.
pub(super) struct Cursor {
    /// The last row of the grid that was reached.
    at: Row,
    /// Whether `at` is to be inserted before it moves.
    is_due: bool,
    /// Whether `at` is the FROM before the first row, which is inserted even where it is the TO.
    is_start: bool,
    /// Whether `at` was inserted or is a row of the input.
    is_done: bool,
    /// Where filling stops for now: the next row, or the TO of all columns.
    goal: Row,
    /// What inserted values stay before.
    ends: Row,
}

impl Cursor {
    /// Stands at the start of a run: at its first row, or at FROM where that is before it.
    pub(super) fn new(axes: &[Axis], first: Option<&Row>) -> Self {
        let mut at: Row = axes.iter().map(|a| a.from).collect();
        let mut is_due = first.is_none() && at.iter().any(Option::is_some);
        let mut is_row = first.is_some();
        for (i, (axis, value)) in axes.iter().zip(first.into_iter().flatten()).enumerate() {
            if let (Some(from), Some(value)) = (axis.from, value)
                && from != *value
            {
                is_due = axis.before(from, *value);
                is_row = false;
                break;
            }
            if let Some(at) = at.get_mut(i) {
                *at = *value;
            }
        }
        Self {
            at,
            is_due,
            is_start: is_due && first.is_some(),
            is_done: is_row,
            goal: Vec::new(),
            ends: axes.iter().map(|a| a.to).collect(),
        }
    }

    /// Fills up to a row of the input.
    pub(super) fn approach(&mut self, axes: &[Axis], row: &Row) {
        let clipped = axes.iter().zip(row).zip(&self.ends);
        self.goal = clipped
            .map(|((axis, value), end)| value.and_then(|v| axis.nearer(Some(v), *end)))
            .collect();
    }

    /// Fills from a row of the input on.
    pub(super) fn pass(&mut self, axes: &[Axis], row: &Row) {
        for ((axis, value), end) in axes.iter().zip(row).zip(&mut self.ends) {
            if let (Some(staleness), Some(value)) = (axis.staleness, value) {
                *end = axis.nearer(axis.to, staleness.after(*value));
            }
        }
        if axes.iter().any(|a| a.staleness.is_some()) && is_before(axes, &self.at, row) {
            self.skip_to(axes, row);
        }
    }

    /// Leaves out what became stale before a row of the input: the first values of the grid that are
    /// not before it come next.
    fn skip_to(&mut self, axes: &[Axis], row: &Row) {
        for (idx, (axis, value)) in axes.iter().zip(row).enumerate() {
            let at = self.at.get(idx).copied().flatten();
            let (Some(at), Some(value)) = (at, *value) else {
                continue;
            };
            if at == value {
                continue;
            }
            let Some(next) = axis.first_from(at, value) else {
                break;
            };
            self.set(axes, idx, next);
            if next != value {
                (self.is_due, self.is_done) = (true, false);
                return;
            }
        }
        // The grid has the row itself, or ends before it.
        self.at.clone_from(row);
        (self.is_due, self.is_done) = (false, true);
    }

    /// Fills behind the last row of the run.
    pub(super) fn approach_end(&mut self) {
        self.goal.clone_from(&self.ends);
    }

    /// The next row to insert, if one is due before the goal.
    pub(super) fn next(&mut self, axes: &[Axis]) -> Option<&Row> {
        let was_due = std::mem::take(&mut self.is_due);
        let is_start = std::mem::take(&mut self.is_start);
        let starts = was_due && (is_start || is_before(axes, &self.at, &self.goal));
        if starts || self.advance(axes) {
            self.is_done = true;
            return Some(&self.at);
        }
        // What lies behind the goal is due before the next one.
        self.is_due = !self.is_done && is_before(axes, &self.goal, &self.at);
        None
    }

    fn advance(&mut self, axes: &[Axis]) -> bool {
        let differs = |(at, goal): (&Option<Point>, &Option<Point>)| matches!((at, goal), (Some(a), Some(g)) if a != g);
        let Some(pos) = self.at.iter().zip(&self.goal).position(differs) else {
            return false;
        };
        if is_before(axes, &self.goal, &self.at) {
            return false;
        }
        for idx in (pos + 1..axes.len()).rev() {
            if self.ends.get(idx).is_some_and(Option::is_some)
                && let Some(next) = self.step(axes, idx)
            {
                self.set(axes, idx, next);
                return true;
            }
        }
        let (Some(axis), Some(Some(goal))) = (axes.get(pos), self.goal.get(pos).copied()) else {
            return false;
        };
        match self.step(axes, pos) {
            Some(next) if next == goal => self.meet(axes, pos, next),
            Some(next) if axis.before(next, goal) => {
                self.set(axes, pos, next);
                true
            }
            _ => false,
        }
    }

    /// The value after the present one of a column, if it is before the end of inserted values.
    fn step(&self, axes: &[Axis], idx: usize) -> Option<Point> {
        let axis = axes.get(idx)?;
        let next = axis.step.after((*self.at.get(idx)?)?)?;
        match self.ends.get(idx) {
            Some(Some(end)) if !axis.before(next, *end) => None,
            _ => Some(next),
        }
    }

    /// Moves a column on; those behind it begin anew.
    fn set(&mut self, axes: &[Axis], idx: usize, value: Point) {
        for (i, (at, axis)) in self.at.iter_mut().zip(axes).enumerate().skip(idx) {
            *at = if i == idx { Some(value) } else { axis.from };
        }
    }

    /// Moves a column to that of the goal; whether columns behind it have values before the goal's.
    fn meet(&mut self, axes: &[Axis], idx: usize, value: Point) -> bool {
        self.is_done = false;
        let mut is_before = false;
        for (i, (at, axis)) in self.at.iter_mut().zip(axes).enumerate().skip(idx) {
            let goal = self.goal.get(i).copied().flatten();
            *at = match (axis.from, goal) {
                _ if i == idx => Some(value),
                (Some(from), Some(goal)) => {
                    is_before |= axis.before(from, goal);
                    Some(from)
                }
                _ => goal,
            };
        }
        is_before
    }
}

/// Whether a row comes before another; columns without a value in one of them say nothing.
fn is_before(axes: &[Axis], a: &Row, b: &Row) -> bool {
    for (axis, (a, b)) in axes.iter().zip(a.iter().zip(b)) {
        match (a, b) {
            (Some(a), Some(b)) if a != b => return axis.before(*a, *b),
            _ => {}
        }
    }
    false
}
