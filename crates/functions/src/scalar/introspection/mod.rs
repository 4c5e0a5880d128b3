//! Functions that look at the session, the query and its blocks, and a few that act.
//!
//! | module | owns |
//! |---|---|
//! | [`session`] | version, host, user, database, query, settings |
//! | [`names`] | schemas, roles, profiles, shards |
//! | [`block`] | numbers of blocks and rows |
//! | [`effect`] | `sleep`, `throwIf` |
//! | [`dictionary`] | `lowCardinalityKeys`, `lowCardinalityIndices` |
//! | [`digits`] | `countDigits`, `isDecimalOverflow` |
//! | [`structure`] | `dumpColumnStructure` |
//! | [`states`] | `finalizeAggregation`, `initializeAggregation`, `runningAccumulate` |
//! | [`transform`] | `transform`: values replaced by a table of pairs |

pub mod block;
pub mod dictionary;
pub mod digits;
pub mod effect;
pub mod names;
pub mod session;
pub mod states;
pub mod structure;
pub mod transform;

use basalt_error::Result;

use crate::{Call, Purity, Resolved, ScalarFunction};

/// A table entry.
const fn entry(
    names: &'static [&'static str],
    purity: Purity,
    (syntax, description): (&'static str, &'static str),
    resolve: fn(&Call<'_>) -> Result<Resolved>,
) -> ScalarFunction {
    let (name, aliases) = match names {
        [name, aliases @ ..] => (*name, aliases),
        [] => ("", names),
    };
    ScalarFunction {
        name,
        aliases,
        purity,
        syntax,
        description,
        resolve,
        ..ScalarFunction::BASE
    }
}
