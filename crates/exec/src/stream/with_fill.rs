//! Runs ORDER BY … WITH FILL: inserts rows where the sorted values leave gaps.
//!
//! The sorted columns before the filled one cut the rows into runs, and each run is filled from FROM
//! to TO for itself. Without such columns (by far the usual case) all rows are one run.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, UInt32Array};
use arrow::compute::{cast, concat, interleave};
use arrow::datatypes::{DataType, Float64Type, Int64Type, SchemaRef};
use basalt_analyzer::plan::{FillColumn, FillStep, Interpolated};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::calendar::{CivilDate, days_in_month};

use super::Step;
use super::interpolate::Interpolation;

/// More rows than this are not filled in: a step of a second over a century is an accident.
const MAX_FILLED_ROWS: usize = 100_000_000;

/// For each row of the result 0 and its row of the input, or 1 and its place among inserted values.
pub(super) type Order = Vec<(usize, usize)>;

/// The step of WITH FILL; it needs all rows, which are sorted.
pub(super) struct WithFillStep {
    schema: SchemaRef,
    column: usize,
    fill: FillColumn,
    prefix: Vec<usize>,
    interpolation: Interpolation,
    batches: Vec<RecordBatch>,
}

impl WithFillStep {
    pub(super) fn try_new(
        input: &SchemaRef,
        columns: &[FillColumn],
        prefix: &[String],
        interpolated: &[Interpolated],
    ) -> Result<Self> {
        let prefix = super::stream_exec::positions(input, prefix)?;
        let [fill] = columns else {
            return Err(Error::not_implemented("WITH FILL of several columns"));
        };
        let column = input
            .index_of(&fill.name)
            .map_err(|e| Error::bug(e.to_string()))?;
        let schema = Arc::clone(input);
        Ok(Self {
            schema,
            column,
            fill: fill.clone(),
            prefix,
            interpolation: Interpolation::try_new(input, interpolated)?,
            batches: Vec::new(),
        })
    }

    /// The values to insert before each row, and behind the last.
    fn fill<T: Axis>(&self, values: &[T]) -> Result<(Vec<T>, Order)> {
        let forward = |a: T, b: T| if self.fill.descending { b < a } else { a < b };
        let parse = |text: &Option<String>| text.as_ref().map(|t| T::parse(t)).transpose();
        let (from, to) = (parse(&self.fill.from)?, parse(&self.fill.to)?);
        let mut next = from.or_else(|| values.first().copied());
        let (mut filled, mut order) = (Vec::new(), Vec::with_capacity(values.len()));
        let mut insert_until = |limit: T, next: &mut Option<T>, order: &mut Order| -> Result<()> {
            while let Some(value) = *next
                && forward(value, limit)
            {
                if filled.len() >= MAX_FILLED_ROWS {
                    return Err(Error::new(
                        ErrorCode::TOO_MANY_ROWS,
                        format!(
                            "Use a longer STEP: WITH FILL would insert more than {MAX_FILLED_ROWS} rows"
                        ),
                    ));
                }
                order.push((1, filled.len()));
                filled.push(value);
                *next = value.advance(&self.fill.step)?;
            }
            Ok(())
        };
        let mut stale = None;
        let nearer = |limit: T, stale: Option<T>| match stale {
            Some(stale) if forward(stale, limit) => stale,
            _ => limit,
        };
        for (row, value) in values.iter().enumerate() {
            let limit = match to {
                Some(to) if forward(to, *value) => to,
                _ => *value,
            };
            insert_until(nearer(limit, stale), &mut next, &mut order)?;
            if let Some(staleness) = &self.fill.staleness {
                stale = value.advance(staleness)?;
            }
            order.push((0, row));
            if next.is_none_or(|n| !forward(*value, n)) {
                next = value.advance(&self.fill.step)?;
            }
        }
        if let Some(to) = to {
            insert_until(nearer(to, stale), &mut next, &mut order)?;
        } else if let Some(stale) = stale {
            insert_until(stale, &mut next, &mut order)?;
        }
        Ok((filled, order))
    }

    fn assemble(
        &self,
        batch: &RecordBatch,
        filled: &ArrayRef,
        order: &[(usize, usize)],
    ) -> Result<RecordBatch> {
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (i, column) in batch.columns().iter().enumerate() {
            let inserted: ArrayRef = if i == self.column {
                Arc::clone(filled)
            } else if self.prefix.contains(&i) && batch.num_rows() > 0 {
                let first = UInt32Array::from_value(0, filled.len());
                arrow::compute::take(column, &first, None).map_err(bug)?
            } else {
                defaults(column, filled.len())?
            };
            let sources: [&dyn Array; 2] = [column, &inserted];
            columns.push(interleave(&sources, order).map_err(bug)?);
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(bug)
    }
}

impl Step for WithFillStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        self.batches.push(batch);
        Ok(RecordBatch::new_empty(Arc::clone(&self.schema)))
    }

    fn finish(&mut self) -> Result<Option<RecordBatch>> {
        let batch = arrow::compute::concat_batches(&self.schema, &self.batches).map_err(bug)?;
        self.batches.clear();
        if self.prefix.is_empty() {
            return self.filled(&batch).map(Some);
        }
        let keys: Vec<ArrayRef> = self
            .prefix
            .iter()
            .map(|p| Arc::clone(batch.column(*p)))
            .collect();
        let runs = arrow::compute::partition(&keys).map_err(bug)?;
        let mut filled = Vec::new();
        for run in runs.ranges() {
            filled.push(self.filled(&batch.slice(run.start, run.len()))?);
        }
        arrow::compute::concat_batches(&self.schema, &filled)
            .map_err(bug)
            .map(Some)
    }
}

impl WithFillStep {
    /// The rows of one run with those between them.
    fn filled(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let keys = batch.column(self.column);
        let data_type = keys.data_type().clone();
        let (filled, order): (ArrayRef, _) = if data_type.is_floating() {
            let keys = cast(keys, &DataType::Float64).map_err(bug)?;
            let (filled, order) = self.fill(keys.as_primitive::<Float64Type>().values())?;
            (Arc::new(Float64Array::from(filled)), order)
        } else {
            let keys = cast(keys, &DataType::Int64).map_err(bug)?;
            let (filled, order) = self.fill(keys.as_primitive::<Int64Type>().values())?;
            (Arc::new(Int64Array::from(filled)), order)
        };
        let filled = cast(&filled, &data_type).map_err(bug)?;
        let result = self.assemble(batch, &filled, &order)?;
        self.interpolation.apply(result, &order)
    }
}

/// A kind of number that can be stepped along.
trait Axis: Copy + PartialOrd {
    fn parse(text: &str) -> Result<Self>;
    /// The next value; `None` behind the last that the type has.
    fn advance(self, step: &FillStep) -> Result<Option<Self>>;
}

impl Axis for i64 {
    fn parse(text: &str) -> Result<Self> {
        text.parse()
            .map_err(|_| Error::bug(format!("fill bound {text}")))
    }

    fn advance(self, step: &FillStep) -> Result<Option<Self>> {
        match step {
            FillStep::Number(n) => Ok(self.checked_add(Self::parse(n)?)),
            FillStep::Months {
                count,
                ticks_per_day,
            } => Ok(Some(add_months(self, *count, *ticks_per_day))),
        }
    }
}

impl Axis for f64 {
    fn parse(text: &str) -> Result<Self> {
        text.parse()
            .map_err(|_| Error::bug(format!("fill bound {text}")))
    }

    fn advance(self, step: &FillStep) -> Result<Option<Self>> {
        match step {
            FillStep::Number(n) => Ok(Some(self + Self::parse(n)?)),
            FillStep::Months { .. } => Err(Error::bug("months on a float")),
        }
    }
}

fn add_months(ticks: i64, count: i64, ticks_per_day: i64) -> i64 {
    let (days, rest) = (
        ticks.div_euclid(ticks_per_day),
        ticks.rem_euclid(ticks_per_day),
    );
    let date = CivilDate::from_days(i32::try_from(days).unwrap_or(i32::MAX));
    let months = i64::from(date.year) * 12 + i64::from(date.month) - 1 + count;
    let year = i32::try_from(months.div_euclid(12)).unwrap_or(i32::MAX);
    let month = u32::try_from(months.rem_euclid(12) + 1).unwrap_or(1);
    let day = date.day.min(days_in_month(year, month));
    i64::from(CivilDate { year, month, day }.to_days()) * ticks_per_day + rest
}

/// `num_rows` defaults of a column's physical type: NULL where it may be NULL, else zeros.
pub(super) fn defaults(column: &ArrayRef, num_rows: usize) -> Result<ArrayRef> {
    let nulls = arrow::array::new_null_array(column.data_type(), num_rows);
    if column.null_count() > 0 {
        return Ok(nulls);
    }
    let zeros = nulls.to_data().into_builder().nulls(None).build();
    match zeros {
        Ok(zeros) => Ok(arrow::array::make_array(zeros)),
        Err(_) => {
            let indices = UInt32Array::from_value(0, num_rows);
            let first = column.slice(0, column.len().min(1));
            let parts: [&dyn Array; 1] = [&first];
            let first = concat(&parts).map_err(bug)?;
            arrow::compute::take(&first, &indices, None).map_err(bug)
        }
    }
}

fn bug(e: arrow::error::ArrowError) -> Error {
    Error::bug(e.to_string())
}
