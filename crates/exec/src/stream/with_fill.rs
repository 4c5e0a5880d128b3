//! Runs ORDER BY … WITH FILL: inserts rows where the sorted values leave gaps.
//!
//! The sorted columns before the filled ones cut the rows into runs, and each run is filled from FROM
//! to TO for itself. Without such columns (by far the usual case) all rows are one run. Rows come out
//! batch by batch as they are filled in: a forgotten TO may ask for more than fits anywhere.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, UInt64Array};
use arrow::compute::{cast, concat, interleave, partition};
use arrow::datatypes::{DataType, Float64Type, Int64Type, SchemaRef, UInt64Type};
use basalt_analyzer::plan::{FillColumn, FillDefault, Interpolated};
use basalt_analyzer::plan_error;
use basalt_error::Result;

use super::fill_cursor::{Axis, Cursor, Point, Row};
use super::interpolate::Interpolation;
use super::stream_exec::MAX_BATCH_ROWS;
use super::{Step, bug, positions};

/// What WITH FILL is told.
pub(super) struct Filling<'a> {
    pub columns: &'a [FillColumn],
    pub prefix: &'a [String],
    pub interpolated: &'a [Interpolated],
    pub defaults: &'a [FillDefault],
}

/// The step of WITH FILL over sorted rows.
pub(super) struct WithFillStep {
    schema: SchemaRef,
    axes: Vec<Axis>,
    columns: Vec<usize>,
    prefix: Vec<usize>,
    /// A value of each column for inserted rows.
    defaults: Vec<ArrayRef>,
    interpolation: Interpolation,
    input: Input,
    run: Option<Run>,
    at: At,
    has_ended: bool,
}

/// A batch of the input.
struct Input {
    rows: RecordBatch,
    keys: Vec<Row>,
    /// Whether a row has other prefix columns than the one before.
    starts: Vec<bool>,
    next: usize,
}

/// Rows with the same prefix columns, which are kept for inserted rows.
struct Run {
    cursor: Cursor,
    prefix: Vec<ArrayRef>,
}

/// Between which rows values are inserted.
#[derive(Clone, Copy, PartialEq)]
enum At {
    /// Nowhere yet.
    Start,
    /// Before the next row of the input.
    Row,
    /// Behind the last row of a run.
    RunEnd,
}

/// The rows of a batch of output.
#[derive(Default)]
pub(super) struct Filled {
    /// For each row 0 and its row of the input, or 1 and its place among inserted rows.
    pub order: Vec<(usize, usize)>,
    inserted: Vec<Row>,
    /// The run of each inserted row.
    run_idx: Vec<usize>,
    prefixes: Vec<Vec<ArrayRef>>,
}

impl WithFillStep {
    pub(super) fn try_new(
        input: &SchemaRef,
        schema: SchemaRef,
        filling: &Filling<'_>,
    ) -> Result<Self> {
        let names: Vec<String> = filling.columns.iter().map(|c| c.name.clone()).collect();
        let columns = positions(input, &names)?;
        let axis = |(column, idx): (&FillColumn, &usize)| {
            Axis::try_new(column, input.field(*idx).data_type().is_floating())
        };
        let axes = filling.columns.iter().zip(&columns).map(axis);
        let default = |field: &Arc<arrow::datatypes::Field>| {
            let given = filling.defaults.iter().find(|d| d.name == *field.name());
            match given {
                Some(given) => given.value.to_array().map_err(plan_error),
                None => Ok(zero(field.data_type())),
            }
        };
        let defaults = input.fields().iter().map(default);
        let defaults = defaults.collect::<Result<Vec<_>>>()?;
        Ok(Self {
            axes: axes.collect::<Result<_>>()?,
            columns,
            prefix: positions(input, filling.prefix)?,
            interpolation: Interpolation::try_new(&schema, filling.interpolated, &defaults)?,
            defaults,
            input: Input {
                rows: RecordBatch::new_empty(Arc::clone(input)),
                keys: Vec::new(),
                starts: Vec::new(),
                next: 0,
            },
            schema,
            run: None,
            at: At::Start,
            has_ended: false,
        })
    }

    /// Does one step; whether there was one to do.
    fn advance(&mut self, out: &mut Filled) -> bool {
        if self.at == At::Start {
            return self.choose();
        }
        let Some(run) = &mut self.run else {
            self.at = At::Start;
            return true;
        };
        if let Some(row) = run.cursor.next(&self.axes) {
            out.insert(row, &run.prefix);
            return true;
        }
        if self.at == At::RunEnd {
            self.run = None;
        } else {
            out.order.push((0, self.input.next));
            if let Some(row) = self.input.keys.get(self.input.next) {
                run.cursor.pass(&self.axes, row);
            }
            self.input.next += 1;
        }
        self.at = At::Start;
        true
    }

    /// Looks what is to be filled next.
    fn choose(&mut self) -> bool {
        let next = self.input.next;
        let row = self.input.keys.get(next);
        let begins = self.input.starts.get(next).copied().unwrap_or(true);
        match (&mut self.run, row) {
            (Some(run), Some(row)) if !begins => {
                run.cursor.approach(&self.axes, row);
                self.at = At::Row;
            }
            (None, Some(row)) => {
                let prefix = self.prefix.iter();
                let prefix = prefix.map(|p| self.input.rows.column(*p).slice(next, 1));
                self.run = Some(Run {
                    cursor: Cursor::new(&self.axes, Some(row)),
                    prefix: prefix.collect(),
                });
                if let Some(begins) = self.input.starts.get_mut(next) {
                    *begins = false;
                }
            }
            (Some(run), row) if row.is_some() || self.has_ended => {
                run.cursor.approach_end();
                self.at = At::RunEnd;
            }
            _ => return false,
        }
        true
    }

    fn assemble(&mut self, filled: &Filled) -> Result<RecordBatch> {
        let pick = |(source, row): &(usize, usize)| match source {
            0 => (0, *row),
            _ => (1, 0),
        };
        let picks: Vec<(usize, usize)> = filled.order.iter().map(pick).collect();
        let mut columns = Vec::with_capacity(self.schema.fields().len());
        let sources = self.input.rows.columns().iter().zip(&self.defaults);
        for (idx, (column, default)) in sources.enumerate() {
            let column = if let Some(key) = self.columns.iter().position(|c| *c == idx) {
                let inserted = filled.values(key, default)?;
                interleave(&[column.as_ref(), inserted.as_ref()], &filled.order)
            } else if let Some(key) = self.prefix.iter().position(|p| *p == idx) {
                filled.prefixed(key, column)
            } else {
                interleave(&[column.as_ref(), default.as_ref()], &picks)
            };
            columns.push(column.map_err(bug)?);
        }
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(bug)?;
        self.interpolation.apply(rows, filled)
    }
}

impl Step for WithFillStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let mut keys = vec![Vec::with_capacity(self.columns.len()); batch.num_rows()];
        for column in &self.columns {
            append_points(batch.column(*column), &mut keys)?;
        }
        let mut starts = vec![false; batch.num_rows()];
        if !self.prefix.is_empty() && batch.num_rows() > 0 {
            let prefix = self.prefix.iter().map(|p| Arc::clone(batch.column(*p)));
            let prefix: Vec<ArrayRef> = prefix.collect();
            for run in partition(&prefix).map_err(bug)?.ranges() {
                if let Some(begins) = starts.get_mut(run.start) {
                    *begins = true;
                }
            }
            if let (Some(run), Some(first)) = (&self.run, starts.first_mut()) {
                *first = !are_equal(&run.prefix, &prefix)?;
            }
        }
        self.input = Input {
            rows: batch,
            keys,
            starts,
            next: 0,
        };
        Ok(RecordBatch::new_empty(Arc::clone(&self.schema)))
    }

    fn ready(&mut self) -> Result<Option<RecordBatch>> {
        let mut filled = Filled::default();
        while filled.order.len() < MAX_BATCH_ROWS && self.advance(&mut filled) {}
        if filled.order.is_empty() {
            return Ok(None);
        }
        self.assemble(&filled).map(Some)
    }

    fn finish(&mut self) -> Result<Option<RecordBatch>> {
        self.has_ended = true;
        if self.run.is_none() && self.prefix.is_empty() {
            // Without any row FROM and TO alone say what comes.
            self.run = Some(Run {
                cursor: Cursor::new(&self.axes, None),
                prefix: Vec::new(),
            });
        }
        Ok(None)
    }
}

impl Filled {
    fn insert(&mut self, row: &Row, prefix: &[ArrayRef]) {
        self.order.push((1, self.inserted.len()));
        self.inserted.push(row.clone());
        if prefix.is_empty() {
            return;
        }
        let known = self.prefixes.last().is_some_and(|last| {
            let pairs = last.iter().zip(prefix);
            pairs.into_iter().all(|(a, b)| Arc::ptr_eq(a, b))
        });
        if !known {
            self.prefixes.push(prefix.to_vec());
        }
        self.run_idx.push(self.prefixes.len());
    }

    /// The inserted values of the filled column number `key`.
    fn values(&self, key: usize, default: &ArrayRef) -> Result<ArrayRef> {
        let points = self
            .inserted
            .iter()
            .map(|row| row.get(key).copied().flatten());
        let data_type = default.data_type();
        let empty = if default.is_null(0) { None } else { Some(()) };
        let values: ArrayRef = match data_type {
            t if t.is_floating() => Arc::new(Float64Array::from_iter(points.map(|p| match p {
                Some(Point::Float(f)) => Some(f),
                _ => empty.map(|()| 0.0),
            }))),
            DataType::UInt64 => Arc::new(UInt64Array::from_iter(points.map(|p| match p {
                Some(Point::Int(n)) => Some(n as u64),
                _ => empty.map(|()| 0),
            }))),
            _ => Arc::new(Int64Array::from_iter(points.map(|p| match p {
                Some(Point::Int(n)) => Some(n as i64),
                _ => empty.map(|()| 0),
            }))),
        };
        cast(&values, data_type).map_err(bug)
    }

    /// A prefix column: inserted rows have the value of their run.
    fn prefixed(
        &self,
        key: usize,
        column: &ArrayRef,
    ) -> std::result::Result<ArrayRef, arrow::error::ArrowError> {
        let of_runs = self.prefixes.iter().filter_map(|p| p.get(key));
        let sources: Vec<&dyn Array> = std::iter::once(column)
            .chain(of_runs)
            .map(AsRef::as_ref)
            .collect();
        let pick = |(source, row): &(usize, usize)| match source {
            0 => (0, *row),
            _ => (self.run_idx.get(*row).copied().unwrap_or(0), 0),
        };
        let picks: Vec<(usize, usize)> = self.order.iter().map(pick).collect();
        interleave(&sources, &picks)
    }
}

/// Appends the value of a filled column to each row.
fn append_points(column: &ArrayRef, rows: &mut [Row]) -> Result<()> {
    let is_valid = |idx: usize| column.is_valid(idx);
    match column.data_type() {
        t if t.is_floating() => {
            let values = cast(column, &DataType::Float64).map_err(bug)?;
            let values = values.as_primitive::<Float64Type>().values();
            for (idx, (row, value)) in rows.iter_mut().zip(values).enumerate() {
                row.push((is_valid(idx) && !value.is_nan()).then_some(Point::Float(*value)));
            }
        }
        DataType::UInt64 => {
            let values = column.as_primitive::<UInt64Type>().values();
            for (idx, (row, value)) in rows.iter_mut().zip(values).enumerate() {
                row.push(is_valid(idx).then_some(Point::Int(i128::from(*value))));
            }
        }
        _ => {
            let values = cast(column, &DataType::Int64).map_err(bug)?;
            let values = values.as_primitive::<Int64Type>().values();
            for (idx, (row, value)) in rows.iter_mut().zip(values).enumerate() {
                row.push(is_valid(idx).then_some(Point::Int(i128::from(*value))));
            }
        }
    }
    Ok(())
}

/// Whether a run's columns are those of the first row of a batch.
fn are_equal(run: &[ArrayRef], batch: &[ArrayRef]) -> Result<bool> {
    let both = run
        .iter()
        .zip(batch)
        .map(|(run, batch)| concat(&[run.as_ref(), batch.slice(0, 1).as_ref()]));
    let both = both.collect::<std::result::Result<Vec<_>, _>>();
    Ok(partition(&both.map_err(bug)?).map_err(bug)?.len() == 1)
}

/// The zero of a physical type.
fn zero(data_type: &DataType) -> ArrayRef {
    let null = arrow::array::new_null_array(data_type, 1);
    let zero = null.to_data().into_builder().nulls(None).build();
    zero.map_or(null, arrow::array::make_array)
}
