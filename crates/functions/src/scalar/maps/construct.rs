//! Makes maps from keys and values.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, supertype_or_variant};

use crate::scalar::arrays::construct::{equal_offsets, interleave_rows};
use crate::scalar::arrays::lists::map_of;
use crate::scalar::arrays::unify::Unify;
use crate::{Call, Nulls, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "map",
    nulls: Nulls::Raw,
    syntax: "map(key, value, ...)",
    description: "A map of the keys to the values behind them.",
    resolve: resolve_map,
    ..ScalarFunction::BASE
}];

/// Checks that a type may be a map's key.
///
/// # Errors
/// `BAD_ARGUMENTS`.
pub fn check_key(key: &DataType) -> Result<()> {
    if !key.is_nullable() {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::BAD_ARGUMENTS,
        format!("Map cannot have a key of type {key}"),
    ))
}

fn resolve_map(call: &Call<'_>) -> Result<Resolved> {
    if !call.args.len().is_multiple_of(2) {
        return Err(Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            format!(
                "Function map requires even number of arguments, but {} given",
                call.args.len()
            ),
        ));
    }
    let types = call.data_types();
    let every_second =
        |first: usize| -> Vec<DataType> { types.iter().skip(first).step_by(2).cloned().collect() };
    let key = supertype_or_variant(&every_second(0))?;
    let value = supertype_or_variant(&every_second(1))?;
    check_key(&key)?;
    let key_casts = Unify::all(&every_second(0), &key, call.context)?;
    let value_casts = Unify::all(&every_second(1), &value, call.context)?;
    let map = DataType::map(key.clone(), value.clone());
    Resolved::new(map.clone(), move |columns, num_rows| {
        let side = |first: usize, casts: &[Unify], t: &DataType| {
            let columns = columns.iter().skip(first).step_by(2).zip(casts);
            let columns = columns.map(|(column, cast)| cast.column(column));
            interleave_rows(&columns.collect::<Result<Vec<_>>>()?, num_rows, t)
        };
        let keys = side(0, &key_casts, &key)?;
        let values = side(1, &value_casts, &value)?;
        let offsets = equal_offsets(num_rows, columns.len() / 2)?;
        map_of(&map, offsets, keys, values)
    })
}
