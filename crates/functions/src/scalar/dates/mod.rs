//! Functions of dates and times.
//!
//! | module | owns |
//! |---|---|
//! | [`moment`] | reading columns of dates and times in pieces; clocks of time zones |
//! | [`component`] | year, month, hour, numbers of units since the epoch |
//! | [`week`] | ISO weeks and MySQL's modes |
//! | [`start`] | `toStartOf…`, `toLastDayOf…`, `timeSlot` |
//! | [`interval`] | rounding to any number of units: `toStartOfInterval`, `dateTrunc` |
//! | [`origin`] | rounding to units that begin at a given moment |
//! | [`shift`] | `addDays`, `subtractMonths` and kin |
//! | [`difference`] | `dateDiff`, `age` |
//! | [`now`] | the present, and time zones |
//! | [`make`] | dates and times from numbers |
//! | [`names`] | names of months and days |
//! | [`julian`] | modified Julian days |
//! | [`unix`] | Unix times of any precision, snowflake identifiers |
//! | [`format`] | times to text by a pattern |
//! | [`parse`] | text to times by a pattern |
//! | [`parse_item`], [`parsed`] | what each code reads, and the moment that it adds up to |
//! | [`pattern`] | patterns of MySQL and of Joda as one sequence of parts |
//! | [`best_effort`] | text to times, whatever the layout |
//! | [`slots`] | `timeSlots` |
//! | [`change`] | `changeYear` and kin |
//! | [`window`] | `tumble`, `hop` |
//! | [`uuid`] | the times in UUIDs of version 7 |

use basalt_error::Result;

use crate::{Call, Fails, Resolved, ScalarFunction};

pub mod best_effort;
pub mod change;
pub mod component;
pub mod difference;
pub mod format;
pub mod interval;
pub mod julian;
pub mod make;
mod moment;
pub mod names;
pub mod now;
mod origin;
pub mod parse;
mod parse_item;
mod parsed;
mod pattern;
pub mod shift;
pub mod slots;
pub mod start;
pub mod unix;
pub mod uuid;
pub mod week;
pub mod window;

/// A table entry: its name and aliases, how to call it, what it returns.
const fn entry(
    names: &'static [&'static str],
    syntax: &'static str,
    description: &'static str,
    resolve: fn(&Call<'_>) -> Result<Resolved>,
) -> ScalarFunction {
    let (name, aliases) = match names {
        [name, aliases @ ..] => (*name, aliases),
        [] => ("", names),
    };
    ScalarFunction {
        name,
        aliases,
        syntax,
        description,
        fails: Fails::Texts,
        resolve,
        ..ScalarFunction::BASE
    }
}

/// As [`entry`], of a function that reports some of the numbers that it is given.
const fn fallible_entry(
    names: &'static [&'static str],
    syntax: &'static str,
    description: &'static str,
    resolve: fn(&Call<'_>) -> Result<Resolved>,
) -> ScalarFunction {
    ScalarFunction {
        fails: Fails::Values,
        ..entry(names, syntax, description, resolve)
    }
}

/// The entry, found in any case.
const fn any_case(function: ScalarFunction) -> ScalarFunction {
    ScalarFunction {
        case_insensitive: true,
        ..function
    }
}
