//! Says which calls give the same whatever settings and time zone a session has, so that what one session has computed
//! and kept is what another would compute.

use basalt_types::DataType;

/// Functions of integers alone.
const OF_INTEGERS: &[&str] = &[
    "abs",
    "bitAnd",
    "bitNot",
    "bitOr",
    "bitShiftLeft",
    "bitShiftRight",
    "bitXor",
    "intDiv",
    "minus",
    "modulo",
    "multiply",
    "negate",
    "plus",
    "positiveModulo",
    "toInt16",
    "toInt32",
    "toInt64",
    "toInt8",
    "toUInt16",
    "toUInt32",
    "toUInt64",
    "toUInt8",
];

/// Functions of the bytes of any value.
const OF_BYTES: &[&str] = &[
    "cityHash64",
    "farmHash64",
    "intHash32",
    "intHash64",
    "metroHash64",
    "murmurHash2_64",
    "murmurHash3_64",
    "sipHash64",
    "xxHash32",
    "xxHash64",
    "xxh3",
];

/// Functions of strings and numbers.
const OF_STRINGS: &[&str] = &[
    "empty",
    "left",
    "length",
    "lower",
    "lowerUTF8",
    "notEmpty",
    "reverse",
    "right",
    "substring",
    "upper",
    "upperUTF8",
];

/// Functions of dates, and of times whose zone their type names.
const OF_MOMENTS: &[&str] = &[
    "toDate",
    "toDayOfMonth",
    "toDayOfWeek",
    "toDayOfYear",
    "toHour",
    "toISOWeek",
    "toISOYear",
    "toMinute",
    "toMonday",
    "toMonth",
    "toQuarter",
    "toRelativeDayNum",
    "toRelativeMonthNum",
    "toRelativeWeekNum",
    "toRelativeYearNum",
    "toStartOfDay",
    "toStartOfFiveMinutes",
    "toStartOfHour",
    "toStartOfInterval",
    "toStartOfMinute",
    "toStartOfMonth",
    "toStartOfQuarter",
    "toStartOfTenMinutes",
    "toStartOfWeek",
    "toStartOfYear",
    "toWeek",
    "toYYYYMM",
    "toYYYYMMDD",
    "toYear",
    "toYearWeek",
];

/// Whether a function of values of these types is known to be so.
pub(crate) fn is_steady(function: &str, types: &[DataType]) -> bool {
    let mut types = types.iter().map(DataType::base);
    if OF_INTEGERS.contains(&function) {
        return types.all(DataType::is_integer);
    }
    if OF_STRINGS.contains(&function) {
        return types.all(|t| t.is_string() || t.is_integer());
    }
    if OF_MOMENTS.contains(&function) {
        let is_zoned = |t: &DataType| matches!(t, DataType::Date | DataType::DateTime(Some(_)));
        let is_first = types.next().is_some_and(is_zoned);
        return is_first && types.all(|t| t.is_integer() || matches!(t, DataType::Interval(_)));
    }
    OF_BYTES.contains(&function)
}
