//! `sparkbar`: a line of bars, as text.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewBuilder};
use arrow::datatypes::UInt64Type;
use basalt_error::{Error, Result};
use basalt_types::DataType;

use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::defaults::bug;
use crate::aggregate::row_log::Sealed;
use crate::aggregate::values::{primitive, to_floats};
use crate::aggregate::{AggregateCall, AggregateFunction, BoundAggregate};

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "sparkbar",
    aliases: &["sparkBar"],
    max_params: 3,
    syntax: "sparkbar(width[, min_x, max_x])(x, y)",
    description: "Bars of the mean of y over x, in Unicode blocks.",
    resolve,
    ..AggregateFunction::BASE
}];

const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const MAX_WIDTH: u64 = 1024;

fn resolve(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(2..=2)?;
    if call.params.len() != 1 {
        call.expect_params(3..=3)?;
    }
    call.expect_type(0, |t| {
        t.is_unsigned() || t.is_date() || matches!(t, DataType::DateTime(_))
    })?;
    call.expect_type(1, |t| t.is_integer() || t.is_float())?;
    let width = call.param_u64(0)?;
    if !(2..=MAX_WIDTH).contains(&width) {
        return Err(call.bad_param(0, &"the width must be from 2 to 1024"));
    }
    let bounds = match call.params.len() {
        3 => Some((call.param_u64(1)?, call.param_u64(2)?)),
        _ => None,
    };
    let function = Sparkbar {
        width: width as usize,
        bounds,
        whole: call.types[1].is_integer(),
    };
    Ok(bind_collected(DataType::String, call.types, function))
}

#[derive(Debug)]
struct Sparkbar {
    width: usize,
    /// Least and greatest x; those of the rows if absent.
    bounds: Option<(u64, u64)>,
    /// Whether y is an integer, and so are the means.
    whole: bool,
}

impl Sparkbar {
    fn line(&self, points: &BTreeMap<u64, f64>, (least, greatest): (u64, u64)) -> String {
        if points.is_empty() || greatest <= least {
            return String::new();
        }
        let step = ((greatest - least) as f64 + 1.0) / self.width as f64;
        let mut cells = vec![(0.0, 0.0); self.width];
        for (x, y) in points {
            let place = ((x - least) as f64 / step) as usize;
            if let Some((sum, count)) = cells.get_mut(place) {
                *sum += y;
                *count += 1.0;
            }
        }
        let floor = |v: f64| if self.whole { v.trunc() } else { v };
        let heights: Vec<f64> = cells
            .into_iter()
            .map(|(sum, count)| if count > 0.0 { floor(sum / count) } else { 0.0 })
            .collect();
        let highest = heights.iter().copied().fold(0.0, f64::max);
        let bar = |height: f64| {
            if height <= 0.0 {
                return BARS[0];
            }
            let level = (height * (BARS.len() - 2) as f64 / highest) as usize + 1;
            BARS[level.min(BARS.len() - 1)]
        };
        heights.into_iter().map(bar).collect()
    }
}

impl RowsFunction for Sparkbar {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let x = arrow::compute::cast(&rows.columns[0], &arrow::datatypes::DataType::UInt64);
        let x = x.map_err(bug)?;
        let x = primitive::<UInt64Type>(&x)?;
        if arrow::array::Array::null_count(x) > 0 {
            return Err(Error::not_implemented("sparkbar of dates before 1970"));
        }
        let y = to_floats(&rows.columns[1])?;
        let mut lines = BinaryViewBuilder::with_capacity(range.len());
        for group in range {
            let mut points: BTreeMap<u64, f64> = BTreeMap::new();
            let mut seen = (u64::MAX, 0);
            for row in rows.rows(group) {
                seen = (seen.0.min(x.value(row)), seen.1.max(x.value(row)));
                let inside = self
                    .bounds
                    .is_none_or(|(least, greatest)| (least..=greatest).contains(&x.value(row)));
                if inside && y[row] > 0.0 {
                    *points.entry(x.value(row)).or_default() += y[row];
                }
            }
            lines.append_value(self.line(&points, self.bounds.unwrap_or(seen)));
        }
        Ok(Arc::new(lines.finish()))
    }
}
