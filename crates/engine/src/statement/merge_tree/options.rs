//! Reads the SETTINGS of a table on disk.

use std::time::Duration;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ExprKind, Literal};
use basalt_storage::Options;

use crate::session::RunningQuery;

/// Settings of the engine that have no use here, as parts have one layout.
const TUNING: [&str; 8] = [
    "index_granularity",
    "index_granularity_bytes",
    "min_bytes_for_wide_part",
    "min_rows_for_wide_part",
    "allow_nullable_key",
    "allow_floating_point_partition_key",
    "storage_policy",
    "merge_tree_clear_old_temporary_directories_interval_seconds",
];

/// The limits and times that the settings ask for.
pub(super) fn options(query: &RunningQuery<'_>, settings: &[ast::Setting]) -> Result<Options> {
    let mut options = Options::default();
    for setting in settings {
        set(&mut options, setting).map_err(|e| query.placed(e, setting.span))?;
    }
    Ok(options)
}

fn set(options: &mut Options, setting: &ast::Setting) -> Result<()> {
    let name = setting.name.as_str();
    let value = || {
        number(setting).ok_or_else(|| {
            let message = format!("Give setting {name} a number");
            Error::new(ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED, message)
        })
    };
    match name {
        "parts_to_delay_insert" => options.parts_to_delay_insert = value()?,
        "parts_to_throw_insert" => options.parts_to_throw_insert = value()?,
        "max_bytes_to_merge_at_max_space_in_pool" => options.max_bytes_to_merge = value()?,
        "max_delay_to_insert" => options.max_delay_to_insert = Duration::from_secs(value()?),
        "min_delay_to_insert_ms" => {
            options.min_delay_to_insert = Duration::from_millis(value()?);
        }
        "old_parts_lifetime" => options.old_parts_lifetime = Duration::from_secs(value()?),
        "merge_with_ttl_timeout" => options.ttl_timeout = Duration::from_secs(value()?),
        "index_granularity" if number(setting) == Some(0) => {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "index_granularity: value 0 makes no sense",
            ));
        }
        known if TUNING.contains(&known) => {}
        unknown => {
            return Err(Error::new(
                ErrorCode::UNKNOWN_SETTING,
                format!("Leave it out: unknown setting '{unknown}' of storage MergeTree"),
            ));
        }
    }
    Ok(())
}

/// The value of a setting, where it is a number.
pub(super) fn number(setting: &ast::Setting) -> Option<u64> {
    match setting.value.as_ref().map(|v| &v.kind) {
        Some(ExprKind::Literal(Literal::UInt(number))) => Some(*number),
        Some(ExprKind::Literal(Literal::Bool(flag))) => Some(u64::from(*flag)),
        _ => None,
    }
}
