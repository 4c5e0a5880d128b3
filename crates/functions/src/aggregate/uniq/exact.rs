//! `uniqExact`: the exact number of distinct values.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, UInt64Array};
use basalt_error::Result;
use basalt_types::DataType;

use crate::StringColumn;
use crate::aggregate::distinct_set::DistinctSet;
use crate::aggregate::row_keys::{SetKey, bytes_key, key_bytes, row_keys};
use crate::aggregate::rows::Rows;
use crate::aggregate::values::{Primitive, PrimitiveVisitor, Value, primitive, visit_primitive};
use crate::aggregate::{
    AggregateCall, AggregateFunction, AggregateNulls, Aggregator, BoundAggregate, Groups,
    OnlyNulls, Shortcut,
};

/// The functions of this family.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "uniqExact",
    aliases: &["countDistinct"],
    nulls: AggregateNulls::SkipNotNull,
    only_nulls: OnlyNulls::Zero,
    syntax: "uniqExact(x[, ...])",
    description: "Exact number of distinct values (or combinations of values).",
    resolve,
    ..AggregateFunction::BASE
}];

fn resolve(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(1..=usize::MAX)?;
    let physical: Vec<_> = call.types.iter().map(DataType::physical).collect();
    Ok(match key_bytes(&physical) {
        4 => bound::<u32>(),
        8 => bound::<u64>(),
        _ => bound::<u128>(),
    })
}

fn bound<K: SetKey>() -> BoundAggregate {
    let state_types = vec![DistinctSet::<K>::state_type()];
    let bound = BoundAggregate::new(DataType::UInt64, state_types, || UniqExact {
        set: DistinctSet::<K>::new(),
    });
    bound.with_shortcut(Shortcut::UniqExact {
        bits: 8 * size_of::<K>() as u32,
    })
}

#[derive(Debug)]
struct UniqExact<K> {
    set: DistinctSet<K>,
}

struct Insert<'a, K> {
    set: &'a mut DistinctSet<K>,
    array: &'a ArrayRef,
    rows: &'a Rows<'a>,
    key: PhantomData<K>,
}

impl<K: SetKey> PrimitiveVisitor for Insert<'_, K> {
    type Output = Result<()>;

    fn visit<T: Primitive>(self) -> Result<()> {
        let values = primitive::<T>(self.array)?.values();
        let set = self.set;
        self.rows.for_each(|row, group| {
            set.insert(group, K::from_bits(values[row].key()));
        });
        Ok(())
    }
}

impl<K: SetKey> Aggregator for UniqExact<K> {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.set.resize(groups.num_groups)?;
        let rows = Rows::new(args, groups)?;
        let set = &mut self.set;
        if let [array] = args {
            let insert = Insert {
                set,
                array,
                rows: &rows,
                key: PhantomData,
            };
            if let Some(done) = visit_primitive(array.data_type(), insert) {
                return done;
            }
            if let Ok(strings) = StringColumn::of_array(array, false) {
                let set = &mut self.set;
                rows.for_each(|row, group| {
                    set.insert(group, K::from_bits(bytes_key(strings.value(row))));
                });
                return Ok(());
            }
        }
        let keys = row_keys(args)?;
        let set = &mut self.set;
        rows.for_each(|row, group| {
            set.insert(group, K::from_bits(keys[row]));
        });
        Ok(())
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.set.merge(states, groups)
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.set.resize(range.end)?;
        let counts = self.set.counts(range).iter().copied();
        Ok(Arc::new(UInt64Array::from_iter_values(counts)))
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.set.resize(range.end)?;
        Ok(vec![self.set.states(range)?])
    }

    fn size_bytes(&self) -> usize {
        self.set.size_bytes()
    }
}
