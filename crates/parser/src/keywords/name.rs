//! Lists the keywords that are no names or no aliases.

use super::contains;

/// Words that a clause or operator behind an expression may begin with.
const FOLLOWERS: &[&str] = &[
    "ALL",
    "AND",
    "ANTI",
    "ANY",
    "APPLY",
    "ARRAY",
    "AS",
    "ASC",
    "ASCENDING",
    "ASOF",
    "BETWEEN",
    "COLLATE",
    "CROSS",
    "DESC",
    "DESCENDING",
    "DISTINCT",
    "DIV",
    "ELSE",
    "END",
    "ESCAPE",
    "EXCEPT",
    "FETCH",
    "FILTER",
    "FINAL",
    "FORMAT",
    "FROM",
    "FULL",
    "GLOBAL",
    "GROUP",
    "HAVING",
    "ILIKE",
    "IN",
    "INNER",
    "INTERPOLATE",
    "INTERSECT",
    "INTO",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "MOD",
    "NATURAL",
    "NOT",
    "NULLS",
    "OFFSET",
    "ON",
    "ONLY",
    "OR",
    "ORDER",
    "OVER",
    "PASTE",
    "PREWHERE",
    "QUALIFY",
    "REGEXP",
    "REPLACE",
    "RIGHT",
    "SAMPLE",
    "SELECT",
    "SEMI",
    "SETTINGS",
    "STREAM",
    "THEN",
    "UNION",
    "USING",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
];

/// Words of [`FOLLOWERS`] that are aliases without AS all the same.
const ALIASES: &[&str] = &[
    "APPLY",
    "ASC",
    "ASCENDING",
    "COLLATE",
    "DESC",
    "DESCENDING",
    "DISTINCT",
    "END",
    "ESCAPE",
    "FETCH",
    "FILTER",
    "INTERPOLATE",
    "IS",
    "NULLS",
    "OVER",
    "REPLACE",
    "THEN",
    "WHEN",
];

/// Words that are no name of a column without quotes.
const NO_NAME: &[&str] = &[
    "AND", "AS", "BETWEEN", "FROM", "GROUP", "HAVING", "ILIKE", "INTO", "LIKE", "NOT", "OR",
    "ORDER", "PREWHERE", "QUALIFY", "SELECT", "SETTINGS", "THEN", "UNION", "USING", "WHEN",
    "WHERE", "WITH",
];

/// Words of [`NO_NAME`] that ClickHouse writes as any other name.
const PLAIN_NAMES: &[&str] = &[
    "GROUP", "HAVING", "ORDER", "PREWHERE", "SETTINGS", "USING", "WHERE",
];

/// Whether a clause or operator behind an expression may begin with `word`.
pub(crate) fn is_follower(word: &[u8]) -> bool {
    contains(FOLLOWERS, word)
}

/// Whether `word` cannot be an alias without AS.
pub(crate) fn is_reserved_alias(word: &[u8]) -> bool {
    contains(FOLLOWERS, word) && !contains(ALIASES, word)
}

/// Whether `word` cannot be a column's name without quotes.
pub(crate) fn is_reserved_name(word: &[u8]) -> bool {
    contains(NO_NAME, word)
}

/// Whether `word` is written without quotes as a name, although it begins a clause.
pub(crate) fn is_plain_name(word: &[u8]) -> bool {
    contains(PLAIN_NAMES, word)
}
