//! `groupConcat`: the values of a group as one text.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewBuilder};
use basalt_error::Result;
use basalt_types::DataType;

use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::row_log::Sealed;
use crate::aggregate::{AggregateCall, AggregateFunction, BoundAggregate};
use crate::{Arg, BoundFunction, Column, StringColumn, registry};

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "groupConcat",
    aliases: &["group_concat", "string_agg"],
    max_params: 2,
    syntax: "groupConcat[(delimiter[, limit])](x[, delimiter])",
    description: "The values as text, one after the other, with the delimiter between them.",
    resolve,
    ..AggregateFunction::BASE
}];

fn resolve(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(1..=2)?;
    if call.types.len() == 2 {
        call.expect_type(1, DataType::is_string)?;
    }
    let delimiter = match call.params.len() {
        0 => Vec::new(),
        _ => call.param_bytes(0)?,
    };
    let limit = match call.params.len() {
        0 | 1 => None,
        _ => match call.param_u64(1)? {
            0 => return Err(call.bad_param(1, &"the limit must be positive")),
            limit => Some(limit),
        },
    };
    let to_string = if call.types[0].is_string() {
        None
    } else {
        let function = registry::get_scalar("toString")?;
        let args = [Arg::new(call.types[0].clone())];
        Some(BoundFunction::bind(function, &args, call.context)?)
    };
    let function = Concat {
        delimiter,
        limit,
        to_string,
    };
    Ok(bind_collected(DataType::String, call.types, function))
}

#[derive(Debug)]
struct Concat {
    delimiter: Vec<u8>,
    limit: Option<u64>,
    /// Turns values that are no strings into text.
    to_string: Option<BoundFunction>,
}

impl RowsFunction for Concat {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let values = &rows.columns[0];
        let texts = match &self.to_string {
            None => Arc::clone(values),
            Some(function) => function.call(&[Column::new(Arc::clone(values))], values.len())?,
        };
        let texts = StringColumn::of_array(&texts, false)?;
        // A second argument is the delimiter, the same in every row.
        let delimiters = rows.columns.get(1);
        let delimiters = delimiters.map(|d| StringColumn::of_array(d, false));
        let delimiters = delimiters.transpose()?;
        let mut builder = BinaryViewBuilder::with_capacity(range.len());
        let mut joined = Vec::new();
        for group in range {
            joined.clear();
            let first = rows.rows(group).start;
            let delimiter = match &delimiters {
                Some(delimiters) if first < rows.rows(group).end => delimiters.value(first),
                _ => self.delimiter.as_slice(),
            };
            // States that were merged may have more rows together.
            let limit = self.limit.map_or(usize::MAX, |l| l as usize);
            for (i, row) in rows.rows(group).take(limit).enumerate() {
                if i > 0 {
                    joined.extend_from_slice(delimiter);
                }
                joined.extend_from_slice(texts.value(row));
            }
            builder.append_value(&joined);
        }
        Ok(Arc::new(builder.finish()))
    }

    fn limit(&self) -> Option<u64> {
        self.limit
    }
}
