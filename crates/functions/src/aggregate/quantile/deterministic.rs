//! `quantileDeterministic`: a sample that depends on the determinators only, not on the order.

use arrow::array::ArrayRef;
use basalt_error::Result;
use basalt_types::DataType;

use super::Levels;
use super::reservoir::{interpolate, result_type};
use crate::aggregate::average::from_floats;
use crate::aggregate::grouped::{ByteReader, StateFunction, bind_grouped, damaged};
use crate::aggregate::rows::Rows;
use crate::aggregate::uniq::mix64;
use crate::aggregate::values::{
    Primitive, PrimitiveVisitor, Value, column, primitive, to_floats, visit_primitive, wrong_array,
};
use crate::aggregate::{AggregateCall, BoundAggregate};

/// Most values that a group keeps.
const SAMPLE_LEN: usize = 8192;

/// `quantileDeterministic`.
pub(super) fn resolve(call: &AggregateCall<'_>, levels: Levels) -> Result<BoundAggregate> {
    call.expect_args(2..=2)?;
    call.expect_type(1, DataType::is_unsigned)?;
    let data_type = result_type(call)?;
    let return_type = levels.return_type(data_type.clone());
    Ok(bind_grouped(return_type, Sampled { levels, data_type }))
}

#[derive(Debug)]
struct Sampled {
    levels: Levels,
    data_type: DataType,
}

/// Values whose determinators' hashes end in `degree` zero bits.
#[derive(Debug, Default)]
struct Sample {
    values: Vec<(f64, u32)>,
    degree: u8,
}

impl Sample {
    fn offer(&mut self, value: f64, hash: u32) {
        if hash.trailing_zeros() < u32::from(self.degree) {
            return;
        }
        self.values.push((value, hash));
        while self.values.len() > SAMPLE_LEN && self.degree < 32 {
            self.degree += 1;
            self.thin_out();
        }
    }

    fn thin_out(&mut self) {
        let degree = u32::from(self.degree);
        self.values.retain(|v| v.1.trailing_zeros() >= degree);
    }
}

struct Bits<'a>(&'a ArrayRef);

impl PrimitiveVisitor for Bits<'_> {
    type Output = Result<Vec<u64>>;

    fn visit<T: Primitive>(self) -> Result<Vec<u64>> {
        let values = primitive::<T>(self.0)?.values().iter();
        Ok(values.map(|v| v.key() as u64).collect())
    }
}

impl StateFunction for Sampled {
    type State = Sample;

    fn new_state(&self) -> Sample {
        Sample::default()
    }

    fn update(&self, states: &mut [Sample], args: &[ArrayRef], rows: &Rows<'_>) -> Result<usize> {
        let values = to_floats(column(args, 0)?)?;
        let determinators = column(args, 1)?;
        let bits = visit_primitive(determinators.data_type(), Bits(determinators))
            .ok_or_else(|| wrong_array(determinators))??;
        let mut grown = 0;
        rows.for_each(|row, group| {
            if !values[row].is_nan() {
                let state = &mut states[group];
                let before = state.values.capacity();
                state.offer(values[row], mix64(bits[row]) as u32);
                grown += state.values.capacity() - before;
            }
        });
        Ok(grown * size_of::<(f64, u32)>())
    }

    fn merge(&self, state: &mut Sample, other: Sample) -> Result<usize> {
        let before = state.values.capacity();
        if other.degree > state.degree {
            state.degree = other.degree;
            state.thin_out();
        }
        for (value, hash) in other.values {
            state.offer(value, hash);
        }
        Ok((state.values.capacity() - before) * size_of::<(f64, u32)>())
    }

    fn write(&self, state: &Sample, out: &mut Vec<u8>) {
        out.push(state.degree);
        out.extend_from_slice(&(state.values.len() as u64).to_le_bytes());
        for (value, hash) in &state.values {
            out.extend_from_slice(&value.to_le_bytes());
            out.extend_from_slice(&hash.to_le_bytes());
        }
    }

    fn read(&self, bytes: &mut ByteReader<'_>) -> Result<Sample> {
        let degree = bytes.u8()?;
        if degree > 32 {
            return Err(damaged());
        }
        let len = bytes.len(12)?;
        let values = (0..len)
            .map(|_| Ok((bytes.f64()?, bytes.u32()?)))
            .collect::<Result<_>>()?;
        Ok(Sample { values, degree })
    }

    fn finish(&self, states: &mut [Sample]) -> Result<ArrayRef> {
        let mut quantiles = Vec::new();
        for state in states {
            let mut sorted: Vec<f64> = state.values.iter().map(|v| v.0).collect();
            sorted.sort_unstable_by(f64::total_cmp);
            let levels = self.levels.levels.iter();
            quantiles.extend(levels.map(|level| interpolate(&sorted, *level)));
        }
        let values = from_floats(quantiles, &self.data_type)?;
        self.levels.assemble(values, &self.data_type)
    }
}
