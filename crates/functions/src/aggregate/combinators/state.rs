//! `-State`, `-Merge`, `-SimpleState`: states as values of type `AggregateFunction(…)`.
//!
//! Of the functions that [`StateBytes`] knows, a value is the same bytes as in ClickHouse. Of others it is the
//! state columns of a row in Arrow's row format behind four bytes of checksum, so that damaged bytes are
//! an error and never reach the decoder.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryViewBuilder, new_empty_array};
use arrow::datatypes::DataType as ArrowType;
use arrow::row::{RowConverter, SortField};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{AggregateType, DataType};

use super::state_bytes::StateBytes;
use super::state_layout;
use crate::aggregate::defaults::bug;
use crate::aggregate::grouped::damaged;
use crate::aggregate::of_inner::of_inner;
use crate::aggregate::rows::Rows;
use crate::aggregate::values::{column, wrong_array};
use crate::aggregate::{AggregateCall, Aggregator, BoundAggregate, Groups, binding};
use crate::{Arg, Context};

const CHECKSUM_BYTES: usize = 4;

/// Binds `-State`.
pub(super) fn bind_state(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    let bound = binding::bind(call)?;
    let merged = call.name.strip_suffix("Merge").is_some();
    let return_type = match call.types {
        [state @ DataType::AggregateFunction(_)] if merged => state.clone(),
        types => DataType::AggregateFunction(Arc::new(AggregateType {
            name: binding::canonical_name(call.name),
            params: binding::param_texts(call.params),
            args: types.to_vec(),
        })),
    };
    let codec = Arc::new(StateCodec::of(&return_type, &bound.state_types)?);
    let factory = Arc::clone(&bound.factory);
    Ok(BoundAggregate {
        return_type,
        shortcut: None,
        factory: Arc::new(move || {
            Box::new(State {
                inner: factory(),
                codec: Arc::clone(&codec),
            })
        }),
        ..bound
    })
}

/// The aggregate in two steps: the first gives packed states, the second takes them.
///
/// # Errors
/// `LOGICAL_ERROR` if Arrow cannot pack the states.
pub(in crate::aggregate) fn in_two_steps(
    bound: &BoundAggregate,
) -> Result<(BoundAggregate, BoundAggregate)> {
    let codec = Arc::new(StateCodec::new(&bound.state_types)?);
    let (first, second) = (Arc::clone(&bound.factory), Arc::clone(&bound.factory));
    let (packs, unpacks) = (Arc::clone(&codec), codec);
    let states = BoundAggregate {
        return_type: DataType::String,
        shortcut: None,
        factory: Arc::new(move || {
            Box::new(State {
                inner: first(),
                codec: Arc::clone(&packs),
            })
        }),
        ..bound.clone()
    };
    let merged = BoundAggregate {
        shortcut: None,
        skips_nulls: true,
        factory: Arc::new(move || {
            Box::new(Merge {
                inner: second(),
                codec: Arc::clone(&unpacks),
            })
        }),
        ..bound.clone()
    };
    Ok((states, merged))
}

/// Binds `-SimpleState`: the state is the value.
pub(super) fn bind_simple_state(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    const ALLOWED: [&str; 15] = [
        "any",
        "any_respect_nulls",
        "anyLast",
        "anyLast_respect_nulls",
        "min",
        "max",
        "sum",
        "sumWithOverflow",
        "groupBitAnd",
        "groupBitOr",
        "groupBitXor",
        "sumMap",
        "minMap",
        "maxMap",
        "groupUniqArrayArray",
    ];
    let name = binding::canonical_name(call.name);
    if !ALLOWED.contains(&name.as_str()) && name != "groupArrayArray" {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Unsupported aggregate function {name}, supported functions are {}",
                ALLOWED.join(",")
            ),
        ));
    }
    binding::bind(call)
}

/// Binds `-Merge`.
pub(super) fn bind_merge(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    let [argument] = call.types else {
        return Err(Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            format!("Aggregate function {}Merge takes one state", call.name),
        ));
    };
    let DataType::AggregateFunction(state) = argument else {
        return Err(illegal_state(call, argument));
    };
    let bound = bind_type_as(call.name, call.params, state, call)?;
    let own = bind_type_as(&state.name, &[], state, call)?;
    let same = stem(&binding::canonical_name(call.name)) == stem(&state.name);
    if !same || own.state_types != bound.state_types {
        return Err(illegal_state(call, argument));
    }
    let codec = Arc::new(StateCodec::of(argument, &bound.state_types)?);
    let factory = Arc::clone(&bound.factory);
    Ok(BoundAggregate {
        shortcut: None,
        skips_nulls: true,
        factory: Arc::new(move || {
            Box::new(Merge {
                inner: factory(),
                codec: Arc::clone(&codec),
            })
        }),
        ..bound
    })
}

/// `quantile` and `quantiles` have the same states.
fn stem(name: &str) -> String {
    name.replacen("quantiles", "quantile", 1)
}

fn illegal_state(call: &AggregateCall<'_>, argument: &DataType) -> Error {
    Error::new(
        ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
        format!(
            "Illegal type {argument} of argument of aggregate function {}Merge, it must be \
             AggregateFunction({}, ...)",
            call.name, call.name
        ),
    )
}

fn bind_type_as(
    name: &str,
    params: &[Arg],
    state: &AggregateType,
    call: &AggregateCall<'_>,
) -> Result<BoundAggregate> {
    let own: Vec<Arg> = state
        .params
        .iter()
        .map(|p| binding::parse_param(p))
        .collect::<Result<_>>()?;
    binding::bind(&AggregateCall {
        name,
        params: if params.is_empty() { &own } else { params },
        types: &state.args,
        context: call.context,
    })
}

/// Packs the state columns of a row into bytes.
#[derive(Debug)]
pub(in crate::aggregate) struct StateCodec {
    converter: RowConverter,
    /// What checksums begin with.
    salt: Vec<u8>,
    /// The form that others read, too, of functions that have one.
    open: Option<StateBytes>,
}

impl StateCodec {
    pub(in crate::aggregate) fn new(state_types: &[ArrowType]) -> Result<Self> {
        let fields = state_types.iter().cloned().map(SortField::new).collect();
        let converter = RowConverter::new(fields).map_err(bug)?;
        Ok(Self {
            converter,
            salt: salt(state_types),
            open: None,
        })
    }

    fn checksum(&self, packed: &[u8]) -> [u8; CHECKSUM_BYTES] {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        hash.update(&self.salt);
        hash.update(packed);
        let hash = hash.digest().to_le_bytes();
        [hash[0], hash[1], hash[2], hash[3]]
    }

    /// The codec of values of a type `AggregateFunction(…)`.
    fn of(data_type: &DataType, state_types: &[ArrowType]) -> Result<Self> {
        let open = match data_type {
            DataType::AggregateFunction(function) => StateBytes::of(function, state_types),
            _ => None,
        };
        Ok(Self {
            open,
            ..Self::new(state_types)?
        })
    }

    /// One value of bytes for each row of `states`.
    pub(in crate::aggregate) fn pack(&self, states: &[ArrayRef], len: usize) -> Result<ArrayRef> {
        let mut builder = BinaryViewBuilder::with_capacity(len);
        if let Some(open) = &self.open {
            let mut bytes = Vec::new();
            for row in 0..len {
                bytes.clear();
                open.write(states, row, &mut bytes)?;
                builder.append_value(&bytes);
            }
            return Ok(Arc::new(builder.finish()));
        }
        if states.is_empty() {
            (0..len).for_each(|_| builder.append_value(self.checksum(&[])));
            return Ok(Arc::new(builder.finish()));
        }
        let rows = self.converter.convert_columns(states).map_err(bug)?;
        let mut bytes = Vec::new();
        for row in &rows {
            let packed = row.data();
            bytes.clear();
            bytes.extend_from_slice(&self.checksum(packed));
            bytes.extend_from_slice(packed);
            builder.append_value(&bytes);
        }
        Ok(Arc::new(builder.finish()))
    }

    /// The state columns of packed values.
    ///
    /// # Errors
    /// `INCORRECT_DATA` if a value is damaged.
    pub(in crate::aggregate) fn unpack<'a>(
        &self,
        values: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Vec<ArrayRef>> {
        if let Some(open) = &self.open {
            return open.read(values);
        }
        let parser = self.converter.parser();
        let mut rows = Vec::new();
        for value in values {
            let (sum, packed) = value
                .split_first_chunk::<CHECKSUM_BYTES>()
                .ok_or_else(damaged)?;
            if self.checksum(packed) != *sum {
                return Err(damaged());
            }
            rows.push(parser.parse(packed));
        }
        self.converter.convert_rows(rows).map_err(bug)
    }
}

/// Whether ClickHouse reads and writes the states of a function in the same bytes.
pub(crate) fn has_open_states(function: &AggregateType) -> bool {
    state_layout::layout(&binding::canonical_name(&function.name), function).is_some()
}

/// The bytes of the state that a function has before its first row.
pub(super) fn state_of_no_rows(function: &AggregateType) -> Result<Vec<u8>> {
    let params: Vec<Arg> = function
        .params
        .iter()
        .map(|p| binding::parse_param(p))
        .collect::<Result<_>>()?;
    let bound = bind_state(&AggregateCall {
        name: &function.name,
        params: &params,
        types: &function.args,
        context: &Context::default(),
    })?;
    let args: Vec<ArrayRef> = function
        .args
        .iter()
        .map(|t| new_empty_array(&t.physical()))
        .collect();
    let mut states = (bound.factory)();
    let one_group = Groups {
        ids: None,
        num_groups: 1,
        num_rows: 0,
    };
    states.update(&args, one_group)?;
    let state = states.finish(0..1)?;
    let bytes = state.as_binary_view_opt();
    Ok(bytes.ok_or_else(|| wrong_array(&state))?.value(0).to_vec())
}

/// What tells states with sums of floats, which have a rest beside each sum, from those of the time when they had none:
/// the bytes of these would be taken for others.
fn salt(state_types: &[ArrowType]) -> Vec<u8> {
    fn is_float(data_type: &ArrowType) -> bool {
        match data_type {
            ArrowType::List(field) => is_float(field.data_type()),
            other => *other == ArrowType::Float64,
        }
    }
    let mut pairs = state_types.windows(2);
    match pairs.any(|pair| pair[0] == pair[1] && is_float(&pair[0])) {
        true => b"twofold".to_vec(),
        false => Vec::new(),
    }
}

#[derive(Debug)]
struct State {
    inner: Box<dyn Aggregator>,
    codec: Arc<StateCodec>,
}

impl Aggregator for State {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.inner.update(args, groups)
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        let states = self.inner.states(range.clone())?;
        self.codec.pack(&states, range.len())
    }

    of_inner!(merge, states, size_bytes, ordering_bytes, exports_parts);
}

#[derive(Debug)]
struct Merge {
    inner: Box<dyn Aggregator>,
    codec: Arc<StateCodec>,
}

impl Aggregator for Merge {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        let packed = column(args, 0)?;
        let values = packed
            .as_binary_view_opt()
            .ok_or_else(|| wrong_array(packed))?;
        let rows = Rows::new(args, groups)?;
        let mut taken = Vec::with_capacity(rows.num_valid());
        let mut ids = Vec::with_capacity(rows.num_valid());
        // Empty bytes are the default of the type: the state of no rows.
        rows.for_each(|row, group| {
            let value = values.value(row);
            if !value.is_empty() {
                taken.push(value);
                ids.push(group as u32);
            }
        });
        let states = self.codec.unpack(taken.iter().copied())?;
        self.inner.merge(
            &states,
            Groups {
                ids: Some(&ids),
                num_groups: groups.num_groups,
                num_rows: ids.len(),
            },
        )
    }

    of_inner!(states_and_results);
}
