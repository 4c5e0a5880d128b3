//! `argMin` and `argMax`.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, StructArray};
use arrow::datatypes::{DataType as ArrowType, Fields};
use basalt_error::Result;
use basalt_types::DataType;

use super::byte_arena::{ByteArena, ByteCodec};
use super::defaults::bug;
use super::extreme::{Direction, Greatest, Least};
use super::of_inner::of_inner;
use super::rows::Rows;
use super::slots::{Slots, gather_as, slots_for};
use super::values::{
    Primitive, PrimitiveVisitor, Value, column, primitive, primitive_array, visit_primitive,
};
use super::{AggregateCall, AggregateFunction, Aggregator, BoundAggregate, Groups};

/// The functions of this family.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "argMin",
        aliases: &["min_by"],
        syntax: "argMin(arg, val)",
        description: "The value of arg in the first row with the least val.",
        resolve: resolve::<Least>,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "argMax",
        aliases: &["max_by"],
        syntax: "argMax(arg, val)",
        description: "The value of arg in the first row with the greatest val.",
        resolve: resolve::<Greatest>,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "argAndMin",
        syntax: "argAndMin(arg, val)",
        description: "arg and val of the first row with the least val.",
        resolve: resolve_pair::<Least>,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "argAndMax",
        syntax: "argAndMax(arg, val)",
        description: "arg and val of the first row with the greatest val.",
        resolve: resolve_pair::<Greatest>,
        ..AggregateFunction::BASE
    },
];

/// The pair of arg and val is the argument of `argMin` and `argMax`.
fn resolve_pair<D: Direction>(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(2..=2)?;
    let pair = DataType::tuple(call.types.to_vec());
    let ArrowType::Struct(fields) = pair.physical() else {
        return Err(call.illegal_type(0));
    };
    let bound = resolve::<D>(&AggregateCall {
        types: &[pair, call.types[1].clone()],
        ..*call
    })?;
    let factory = Arc::clone(&bound.factory);
    Ok(BoundAggregate {
        factory: Arc::new(move || {
            Box::new(Paired {
                inner: factory(),
                fields: fields.clone(),
            })
        }),
        ..bound
    })
}

/// Feeds pairs of the arguments.
#[derive(Debug)]
struct Paired {
    inner: Box<dyn Aggregator>,
    fields: Fields,
}

impl Aggregator for Paired {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        let val = column(args, 1)?;
        let plain = args.iter().map(|a| {
            let values = a.to_data().into_builder().nulls(None).build();
            values.map(arrow::array::make_array).map_err(bug)
        });
        let nulls = arrow::buffer::NullBuffer::union(
            column(args, 0)?.logical_nulls().as_ref(),
            val.logical_nulls().as_ref(),
        );
        let plain = plain.collect::<Result<Vec<_>>>()?;
        let pairs = StructArray::try_new(self.fields.clone(), plain, nulls).map_err(bug)?;
        self.inner
            .update(&[Arc::new(pairs), Arc::clone(val)], groups)
    }

    of_inner!(states_and_results);
}

fn resolve<D: Direction>(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(2..=2)?;
    call.expect_type(1, |t| {
        !matches!(t, DataType::AggregateFunction(_)) && !t.has_variant()
    })?;
    let (argument, key) = (call.types[0].clone(), call.types[1].physical());
    let arrow = argument.physical();
    // Checked here, so that making the states cannot fail.
    slots_for(&arrow)?;
    keys_for::<D>(&key)?;
    let state_types = vec![arrow.clone(), key.clone()];
    Ok(BoundAggregate::new(
        argument.clone(),
        state_types,
        move || ArgExtreme {
            values: slots_for(&arrow),
            keys: keys_for::<D>(&key),
            data_type: argument.clone(),
            pairs: Vec::new(),
        },
    ))
}

/// The best key of each group so far.
pub(super) trait BestKeys: std::fmt::Debug + Send {
    /// Makes room for that many groups.
    fn resize(&mut self, num_groups: usize);

    /// Takes over better keys and pushes the `(group, row)` of each.
    fn offer(
        &mut self,
        keys: &ArrayRef,
        rows: &Rows<'_>,
        pairs: &mut Vec<(usize, usize)>,
    ) -> Result<()>;

    /// Pushes the `(group, row)` of the rows whose key is their group's best.
    fn equal(
        &self,
        keys: &ArrayRef,
        rows: &Rows<'_>,
        pairs: &mut Vec<(usize, usize)>,
    ) -> Result<()>;

    /// The keys of the groups in `range`, NULL for those without rows.
    fn gather(&self, range: Range<usize>) -> Result<ArrayRef>;

    /// Memory held, in bytes.
    fn size_bytes(&self) -> usize;
}

struct MakeKeys<'a, D>(&'a ArrowType, PhantomData<D>);

impl<D: Direction> PrimitiveVisitor for MakeKeys<'_, D> {
    type Output = Box<dyn BestKeys>;

    fn visit<T: Primitive>(self) -> Box<dyn BestKeys> {
        Box::new(PrimitiveKeys::<T, D> {
            best: Vec::new(),
            arrow: self.0.clone(),
            direction: PhantomData,
        })
    }
}

/// The best keys of a physical type.
pub(super) fn keys_for<D: Direction>(arrow: &ArrowType) -> Result<Box<dyn BestKeys>> {
    match visit_primitive(arrow, MakeKeys::<D>(arrow, PhantomData)) {
        Some(keys) => Ok(keys),
        None => Ok(Box::new(ByteKeys::<D> {
            best: ByteArena::default(),
            codec: ByteCodec::with_nulls(arrow, D::NULLS_FIRST)?,
            direction: PhantomData,
        })),
    }
}

#[derive(Debug)]
struct PrimitiveKeys<T: Primitive, D> {
    best: Vec<Option<T::Native>>,
    arrow: ArrowType,
    direction: PhantomData<D>,
}

impl<T: Primitive, D: Direction> BestKeys for PrimitiveKeys<T, D> {
    fn resize(&mut self, num_groups: usize) {
        if num_groups > self.best.len() {
            self.best.resize(num_groups, None);
        }
    }

    fn offer(
        &mut self,
        keys: &ArrayRef,
        rows: &Rows<'_>,
        pairs: &mut Vec<(usize, usize)>,
    ) -> Result<()> {
        let keys = primitive::<T>(keys)?.values();
        rows.for_each(|row, group| {
            let key = keys[row];
            let best = &mut self.best[group];
            if best.is_none_or(|best| D::better(key, best)) {
                *best = Some(key);
                pairs.push((group, row));
            }
        });
        Ok(())
    }

    fn equal(
        &self,
        keys: &ArrayRef,
        rows: &Rows<'_>,
        pairs: &mut Vec<(usize, usize)>,
    ) -> Result<()> {
        let keys = primitive::<T>(keys)?.values();
        rows.for_each(|row, group| {
            let key = keys[row];
            let same = |best: T::Native| best == key || (best.is_nan() && key.is_nan());
            if self.best[group].is_some_and(same) {
                pairs.push((group, row));
            }
        });
        Ok(())
    }

    fn gather(&self, range: Range<usize>) -> Result<ArrayRef> {
        let best = &self.best[range];
        let nulls = best.iter().map(Option::is_some).collect();
        let keys = best.iter().map(|k| k.unwrap_or_default()).collect();
        Ok(primitive_array::<T>(keys, Some(nulls), &self.arrow))
    }

    fn size_bytes(&self) -> usize {
        self.best.capacity() * size_of::<Option<T::Native>>()
    }
}

#[derive(Debug)]
struct ByteKeys<D> {
    best: ByteArena,
    codec: ByteCodec,
    direction: PhantomData<D>,
}

impl<D: Direction> BestKeys for ByteKeys<D> {
    fn resize(&mut self, num_groups: usize) {
        self.best.resize(num_groups);
    }

    fn offer(
        &mut self,
        keys: &ArrayRef,
        rows: &Rows<'_>,
        pairs: &mut Vec<(usize, usize)>,
    ) -> Result<()> {
        let encoded = self.codec.encode(keys)?;
        rows.try_for_each(|row, group| {
            let key = encoded.value(row);
            match self.best.get(group) {
                Some(best) if !D::better_bytes(key, best) => Ok(()),
                _ => {
                    pairs.push((group, row));
                    self.best.set(group, Some(key))
                }
            }
        })
    }

    fn equal(
        &self,
        keys: &ArrayRef,
        rows: &Rows<'_>,
        pairs: &mut Vec<(usize, usize)>,
    ) -> Result<()> {
        let encoded = self.codec.encode(keys)?;
        rows.for_each(|row, group| {
            if self.best.get(group) == Some(encoded.value(row)) {
                pairs.push((group, row));
            }
        });
        Ok(())
    }

    fn gather(&self, range: Range<usize>) -> Result<ArrayRef> {
        self.codec.decode(range.map(|group| self.best.get(group)))
    }

    fn size_bytes(&self) -> usize {
        self.best.size_bytes()
    }
}

#[derive(Debug)]
struct ArgExtreme {
    values: Result<Box<dyn Slots>>,
    keys: Result<Box<dyn BestKeys>>,
    data_type: DataType,
    pairs: Vec<(usize, usize)>,
}

impl ArgExtreme {
    fn parts(&mut self, num_groups: usize) -> Result<(&mut dyn Slots, &mut dyn BestKeys)> {
        let values = self.values.as_mut().map_err(|e| e.clone())?;
        let keys = self.keys.as_mut().map_err(|e| e.clone())?;
        values.resize(num_groups);
        keys.resize(num_groups);
        Ok((values.as_mut(), keys.as_mut()))
    }

    fn add(&mut self, columns: &[ArrayRef], num_groups: usize, rows: &Rows<'_>) -> Result<()> {
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.clear();
        let (values, keys) = self.parts(num_groups)?;
        keys.offer(column(columns, 1)?, rows, &mut pairs)?;
        values.assign(column(columns, 0)?, &pairs)?;
        self.pairs = pairs;
        Ok(())
    }
}

impl Aggregator for ArgExtreme {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.add(args, groups.num_groups, &Rows::new(args, groups)?)
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.add(states, groups.num_groups, &Rows::new(states, groups)?)
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        let data_type = self.data_type.clone();
        let (values, _) = self.parts(range.end)?;
        gather_as(values, range, &data_type)
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        let (values, keys) = self.parts(range.end)?;
        Ok(vec![values.gather(range.clone())?, keys.gather(range)?])
    }

    fn size_bytes(&self) -> usize {
        let values = self.values.as_ref().map_or(0, |v| v.size_bytes());
        let keys = self.keys.as_ref().map_or(0, |k| k.size_bytes());
        values + keys + self.pairs.capacity() * size_of::<(usize, usize)>()
    }
}
