//! Names of what the session has: schemas, roles, profiles; its place among shards.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewArray};
use arrow::buffer::OffsetBuffer;
use basalt_error::Result;
use basalt_types::DataType;

use super::entry;
use crate::scalar::arrays::lists::list_of;
use crate::scalar::core::numeric::array_of;
use crate::{Call, Column, Purity, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        case_insensitive: true,
        ..entry(
            &["currentSchemas", "current_schemas"],
            Purity::PerQuery,
            (
                "currentSchemas(with_implicit)",
                "The current database as an array of one.",
            ),
            |call| {
                call.expect_args(1..=1)?;
                call.expect_type(0, |t| *t == DataType::Bool)?;
                names(&[&call.context.database])
            },
        )
    },
    none("currentRoles", "currentRoles()"),
    none("enabledRoles", "enabledRoles()"),
    none("defaultRoles", "defaultRoles()"),
    profiles("currentProfiles", "currentProfiles()"),
    profiles("enabledProfiles", "enabledProfiles()"),
    profiles("defaultProfiles", "defaultProfiles()"),
    zero("shardNum", "shardNum()"),
    zero("shardCount", "shardCount()"),
];

const fn base(
    name: &'static str,
    syntax: &'static str,
    description: &'static str,
    resolve: fn(&Call<'_>) -> Result<Resolved>,
) -> ScalarFunction {
    ScalarFunction {
        name,
        purity: Purity::PerQuery,
        syntax,
        description,
        resolve,
        ..ScalarFunction::BASE
    }
}

const fn none(name: &'static str, syntax: &'static str) -> ScalarFunction {
    base(name, syntax, "Roles of the user: there are none.", |call| {
        call.expect_args(0..=0)?;
        names(&[])
    })
}

const fn profiles(name: &'static str, syntax: &'static str) -> ScalarFunction {
    base(name, syntax, "Settings profiles of the user.", |call| {
        call.expect_args(0..=0)?;
        names(&["default"])
    })
}

const fn zero(name: &'static str, syntax: &'static str) -> ScalarFunction {
    let description = "Place among the shards of a distributed query, of which there are none.";
    base(name, syntax, description, |call| {
        call.expect_args(0..=0)?;
        Resolved::new(DataType::UInt32, |_, num_rows| {
            Ok(array_of(vec![0_u32; num_rows]))
        })
    })
}

/// The same array of texts in all rows.
fn names(names: &[&str]) -> Result<Resolved> {
    let list = DataType::array(DataType::String);
    let values: ArrayRef = Arc::new(BinaryViewArray::from_iter_values(
        names.iter().map(|n| n.as_bytes()),
    ));
    let offsets = OffsetBuffer::from_lengths([names.len()]);
    let array = list_of(&list, offsets, values)?;
    Resolved::new(list, move |_, num_rows| {
        Column::constant(Arc::clone(&array)).expand(num_rows)
    })
}
