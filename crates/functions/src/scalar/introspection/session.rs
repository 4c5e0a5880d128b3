//! Tells about the server, the session and the query.

use std::sync::LazyLock;
use std::time::Instant;

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::entry;
use crate::scalar::core::numeric::{Native, array_of};
use crate::scalar::dates::now::text;
use crate::scalar::random::source::Source;
use crate::{Call, Nulls, Purity, Resolved, ScalarFunction, SettingKind};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    any_case(entry(
        &["version"],
        Purity::PerQuery,
        ("version()", "The ClickHouse version whose dialect this is."),
        |call| constant_text(call, VERSION),
    )),
    any_case(entry(
        &["revision"],
        Purity::PerQuery,
        (
            "revision()",
            "Revision of ClickHouse's protocol that goes with the version.",
        ),
        |call| constant::<u32>(call, 54_515),
    )),
    entry(
        &["displayName"],
        Purity::PerQuery,
        ("displayName()", "Name of the server that users see."),
        |call| constant_text(call, &host_name()),
    ),
    entry(
        &["hostName", "hostname"],
        Purity::PerQuery,
        ("hostName()", "Name of the machine."),
        |call| constant_text(call, &host_name()),
    ),
    any_case(entry(
        &["FQDN", "fullHostName"],
        Purity::PerQuery,
        ("FQDN()", "Full name of the machine."),
        |call| constant_text(call, &host_name()),
    )),
    any_case(entry(
        &["serverUUID"],
        Purity::PerQuery,
        ("serverUUID()", "Random identifier of the running process."),
        |call| {
            call.expect_args(0..=0)?;
            Resolved::new(DataType::Uuid, |_, num_rows| {
                let ids = vec![SERVER.as_bytes().as_slice(); num_rows];
                let ids = arrow::array::FixedSizeBinaryArray::try_from_iter(ids.into_iter());
                match ids {
                    Ok(ids) if num_rows > 0 => Ok(std::sync::Arc::new(ids)),
                    _ => Ok(arrow::array::new_empty_array(&DataType::Uuid.physical())),
                }
            })
        },
    )),
    entry(
        &["uptime"],
        Purity::PerQuery,
        ("uptime()", "Seconds since the engine started."),
        |call| constant::<u32>(call, STARTED.elapsed().as_secs() as u32),
    ),
    any_case(entry(
        &["currentDatabase", "current_database", "DATABASE", "SCHEMA"],
        Purity::PerQuery,
        ("currentDatabase()", "Name of the current database."),
        |call| constant_text(call, &call.context.database),
    )),
    any_case(entry(
        &["currentUser", "user", "current_user", "session_user"],
        Purity::PerQuery,
        ("currentUser()", "Name of the current user."),
        |call| constant_text(call, &call.context.user),
    )),
    entry(
        &["authenticatedUser", "authUser"],
        Purity::PerQuery,
        ("authenticatedUser()", "Name of the user who logged in."),
        |call| constant_text(call, &call.context.user),
    ),
    any_case(entry(
        &["queryID", "query_id", "currentQueryID", "current_query_id"],
        Purity::PerQuery,
        ("queryID()", "Identifier of the query."),
        |call| constant_text(call, &call.context.query_id),
    )),
    any_case(entry(
        &["initialQueryID", "initial_query_id"],
        Purity::PerQuery,
        (
            "initialQueryID()",
            "Identifier of the query that this one is part of.",
        ),
        |call| constant_text(call, &call.context.query_id),
    )),
    any_case(entry(
        &["connectionId", "connection_id"],
        Purity::PerQuery,
        (
            "connectionId()",
            "Number of the connection; 0 for an embedded engine.",
        ),
        |call| constant::<u64>(call, 0),
    )),
    entry(
        &["tcpPort"],
        Purity::PerQuery,
        ("tcpPort()", "Port of the native protocol."),
        |call| constant::<u16>(call, 9000),
    ),
    entry(
        &["getSetting"],
        Purity::PerQuery,
        ("getSetting('name')", "Value of a setting in this session."),
        |call| setting(call, 1),
    ),
    ScalarFunction {
        nulls: Nulls::Own,
        ..entry(
            &["getSettingOrDefault"],
            Purity::PerQuery,
            (
                "getSettingOrDefault('name', default)",
                "Value of a setting, or a default if there is none.",
            ),
            |call| setting(call, 2),
        )
    },
    entry(
        &["errorCodeToName"],
        Purity::Pure,
        (
            "errorCodeToName(number)",
            "Name of the error with a number.",
        ),
        error_name,
    ),
];

/// The version of ClickHouse whose dialect is spoken.
const VERSION: &str = "26.9.1.1";

/// Made at the first question for it.
static SERVER: LazyLock<uuid::Uuid> = LazyLock::new(|| {
    let mut source = Source::new();
    let bits = u128::from(source.bits()) << 64 | u128::from(source.bits());
    uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid()
});

static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

const fn any_case(function: ScalarFunction) -> ScalarFunction {
    ScalarFunction {
        case_insensitive: true,
        ..function
    }
}

fn constant<T: Native>(call: &Call<'_>, value: T) -> Result<Resolved> {
    call.expect_args(0..=0)?;
    Resolved::new(T::NUM.data_type(), move |_, num_rows| {
        Ok(array_of(vec![value; num_rows]))
    })
}

fn constant_text(call: &Call<'_>, value: &str) -> Result<Resolved> {
    call.expect_args(0..=0)?;
    text(value)
}

/// The machine's name as the kernel has it.
fn host_name() -> String {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/hostname");
    let name = kernel.ok().or_else(|| std::env::var("HOSTNAME").ok());
    name.map(|n| n.trim().to_owned())
        .filter(|n| !n.is_empty())
        .unwrap_or_else(|| "localhost".to_owned())
}

/// A setting: numbers in the least type that holds them, other values as text.
fn setting(call: &Call<'_>, num_args: usize) -> Result<Resolved> {
    call.expect_args(num_args..=num_args)?;
    call.expect_type(0, DataType::is_string)?;
    let name = call.constant_str(0)?;
    let Some(value) = call.context.settings.get(&name) else {
        if num_args == 2 {
            return Resolved::new(call.data_type(1).clone(), |columns, num_rows| {
                columns[1].expand(num_rows)
            });
        }
        return Err(Error::new(
            ErrorCode::UNKNOWN_SETTING,
            format!("Unknown setting '{name}'"),
        ));
    };
    let kind = (call.context.setting_kind)(&name);
    let kind = kind.unwrap_or_else(|| match value.parse::<u64>() {
        Ok(_) => SettingKind::Integer,
        Err(_) => SettingKind::Text,
    });
    match kind {
        SettingKind::Flag => {
            let is_on = u8::from(value == "1");
            let array = move |num_rows| array_of(vec![is_on; num_rows]);
            Resolved::new(DataType::Bool, move |_, num_rows| Ok(array(num_rows)))
        }
        SettingKind::Integer => smallest(value.parse().unwrap_or(0)),
        SettingKind::Number => constant_of::<f64>(value.parse().unwrap_or(0.0)),
        SettingKind::Text => text(value),
    }
}

/// A number in the smallest type that holds it.
fn smallest(number: u64) -> Result<Resolved> {
    if let Ok(number) = u8::try_from(number) {
        constant_of(number)
    } else if let Ok(number) = u16::try_from(number) {
        constant_of(number)
    } else if let Ok(number) = u32::try_from(number) {
        constant_of(number)
    } else {
        constant_of(number)
    }
}

fn constant_of<T: Native>(value: T) -> Result<Resolved> {
    Resolved::new(T::NUM.data_type(), move |_, num_rows| {
        Ok(array_of(vec![value; num_rows]))
    })
}

/// The name of an error's number; empty for numbers that are none.
fn error_name(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    if !call.data_type(0).is_integer() {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            "The argument of function errorCodeToName must be an integer",
        ));
    }
    let result = DataType::LowCardinality(std::sync::Arc::new(DataType::String));
    Resolved::new(result, |columns, num_rows| {
        let numbers = crate::scalar::strings::shapes::Ints::new(&columns[0])?;
        let names = (0..num_rows).map(|row| {
            let number = numbers.value(row);
            let known = ErrorCode::ALL
                .iter()
                .find(|c| i64::from(c.number) == number);
            match known {
                Some(code) => code.name,
                None if number == 0 => "OK",
                None => "",
            }
        });
        let names = arrow::array::BinaryViewArray::from_iter_values(names);
        Ok(std::sync::Arc::new(names))
    })
}
