//! `groupArraySample`: some of the values of a group, each as likely as another.

use std::ops::Range;

use arrow::array::{ArrayRef, UInt64Array};
use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::physical::item_field;

use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::defaults::bug;
use crate::aggregate::row_log::{Sealed, list_of};
use crate::aggregate::{AggregateCall, AggregateFunction, AggregateNulls, BoundAggregate};

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "groupArraySample",
    nulls: AggregateNulls::SkipNotNull,
    max_params: 2,
    syntax: "groupArraySample(size[, seed])(x)",
    description: "An array of at most size values, chosen at random.",
    resolve,
    ..AggregateFunction::BASE
}];

fn resolve(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_params(1..=2)?;
    call.expect_args(1..=1)?;
    let size = match call.param_u64(0)? {
        0 => return Err(call.bad_param(0, &"the size must be positive")),
        size => usize::try_from(size).unwrap_or(usize::MAX),
    };
    let seed = match call.params.len() {
        2 => call.param_u64(1)?,
        _ => 0,
    };
    let element = call.types[0].clone();
    let function = Sample {
        size,
        seed,
        element: element.clone(),
    };
    Ok(bind_collected(
        DataType::array(element),
        call.types,
        function,
    ))
}

#[derive(Debug)]
struct Sample {
    size: usize,
    seed: u64,
    element: DataType,
}

impl RowsFunction for Sample {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let mut taken: Vec<u64> = Vec::new();
        let mut offsets = vec![0];
        let mut counter = self.seed;
        for group in range {
            let first = taken.len();
            // Reservoir sampling: row i replaces one of the sample with probability size / i.
            for (i, row) in rows.rows(group).enumerate() {
                if i < self.size {
                    taken.push(row as u64);
                    continue;
                }
                counter = counter.wrapping_add(1);
                let random = xxhash_rust::xxh3::xxh3_64(&counter.to_le_bytes());
                let place = (random % (i as u64 + 1)) as usize;
                if place < self.size {
                    taken[first + place] = row as u64;
                }
            }
            offsets.push(taken.len());
        }
        let taken = UInt64Array::from(taken);
        let values = arrow::compute::take(&rows.columns[0], &taken, None).map_err(bug)?;
        list_of(&values, &offsets, item_field(&self.element))
    }
}
