//! Reads times by a pattern: `parseDateTime`, `parseDateTimeInJodaSyntax` and their variants.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::text::Cursor;
use basalt_types::text::parse_time::LocalClock;
use basalt_types::{DataType, Tz};

use super::best_effort::{OnError, read_rows};
use super::moment::zone_argument;
use super::now::checked_precision;
use super::parse_item::{Item, compile};
use super::parsed::Parsed;
use super::pattern::{Syntax, Token, split};
use super::{any_case, entry};
use crate::{Call, Resolved, ScalarFunction};

/// Functions that read times by a pattern.
pub const FUNCTIONS: &[&[ScalarFunction]] = &[&VARIANTS, ALIASED];

macro_rules! variants {
    ($($name:literal)*) => {
        [$(pattern_function(&[$name], concat!($name, "(s[, pattern[, time_zone]])")),)*]
    };
}

const fn pattern_function(names: &'static [&'static str], syntax: &'static str) -> ScalarFunction {
    entry(
        names,
        syntax,
        "Reads a time by a pattern; a text of another layout is an error, NULL or 1970-01-01.",
        resolve,
    )
}

const VARIANTS: [ScalarFunction; 10] = variants! {
    "parseDateTimeOrZero" "parseDateTime64" "parseDateTime64OrNull" "parseDateTime64OrZero"
    "parseDateTimeInJodaSyntax" "parseDateTimeInJodaSyntaxOrNull"
    "parseDateTimeInJodaSyntaxOrZero" "parseDateTime64InJodaSyntax"
    "parseDateTime64InJodaSyntaxOrNull" "parseDateTime64InJodaSyntaxOrZero"
};

const ALIASED: &[ScalarFunction] = &[
    any_case(pattern_function(
        &["parseDateTime", "TO_UNIXTIME"],
        "parseDateTime(s[, pattern[, time_zone]])",
    )),
    any_case(pattern_function(
        &["parseDateTimeOrNull", "str_to_date"],
        "parseDateTimeOrNull(s[, pattern[, time_zone]])",
    )),
];

/// The pattern of texts when none is given.
fn default_pattern(syntax: Syntax, is_wide: bool) -> &'static [u8] {
    match (syntax, is_wide) {
        (Syntax::MySql, false) => b"%Y-%m-%d %H:%i:%s",
        (Syntax::MySql, true) => b"%Y-%m-%d %H:%i:%s.%f",
        (Syntax::Joda, _) => b"yyyy-MM-dd HH:mm:ss",
    }
}

fn resolve(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=3)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    let (name, on_error) = OnError::of_name(call.name);
    let syntax = if name.ends_with("InJodaSyntax") {
        Syntax::Joda
    } else {
        Syntax::MySql
    };
    let is_wide = name.starts_with("parseDateTime64");
    let pattern = match call.args.len() {
        1 => default_pattern(syntax, is_wide).to_vec(),
        _ => call.constant_bytes(1)?,
    };
    let tokens = split(&pattern, syntax)?;
    let precision = match (is_wide, syntax) {
        (false, _) => None,
        (true, Syntax::MySql) => Some(6),
        (true, Syntax::Joda) => Some(fraction_digits(&tokens)?),
    };
    let items = compile(tokens, syntax)?;
    let zone = zone_argument(call, 2)?.unwrap_or(call.context.time_zone);
    let data_type = match precision {
        Some(precision) => DataType::DateTime64(precision, Some(zone)),
        None => DataType::DateTime(Some(zone)),
    };
    Resolved::new(on_error.result(data_type), move |columns, num_rows| {
        let mut reader = Reader {
            items: &items,
            is_wide,
            clock: LocalClock::new(zone),
        };
        read_rows(columns, num_rows, (precision, on_error), |text| {
            reader.read(text)
        })
    })
}

/// Digits of the fraction that a Joda pattern asks for, which are the precision of the result.
fn fraction_digits(tokens: &[Token]) -> Result<u8> {
    let digits = tokens.iter().find_map(|token| match token {
        Token::Code(b'S', count) => Some(*count),
        _ => None,
    });
    checked_precision(i64::try_from(digits.unwrap_or(0)).unwrap_or(i64::MAX))
}

struct Reader<'a> {
    items: &'a [Item],
    is_wide: bool,
    clock: LocalClock,
}

impl Reader<'_> {
    /// Seconds in UTC and nanoseconds of a text.
    fn read(&mut self, text: &[u8]) -> Result<(i64, i64)> {
        let mut cursor = Cursor::new(text);
        let mut parsed = Parsed::default();
        for item in self.items {
            if !item.read(&mut cursor, &mut parsed)? {
                return Err(no_match(text));
            }
        }
        if !cursor.is_at_end() || !parsed.has_valid_year(self.is_wide) {
            return Err(no_match(text));
        }
        let local = parsed.local_seconds().ok_or_else(|| no_match(text))?;
        let seconds = match (parsed.offset_seconds, parsed.zone) {
            (Some(offset), _) => local - offset,
            (None, Some(zone)) => zone_seconds(zone, local),
            (None, None) => self.clock.to_utc_seconds(local),
        };
        if self.is_wide {
            return Ok((seconds, parsed.nanoseconds));
        }
        if seconds < 0 {
            return Err(Error::new(
                ErrorCode::VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE,
                "A time before 1970 is out of the range of DateTime",
            ));
        }
        // What is beyond 32 bits wraps around, as in ClickHouse.
        Ok((seconds & i64::from(u32::MAX), 0))
    }
}

fn zone_seconds(zone: Tz, local: i64) -> i64 {
    basalt_types::calendar::from_local_seconds(zone, local)
}

fn no_match(text: &[u8]) -> Error {
    Error::new(
        ErrorCode::CANNOT_PARSE_DATETIME,
        format!(
            "Unable to parse '{}' by the pattern",
            basalt_types::text::cursor::excerpt(text)
        ),
    )
}
