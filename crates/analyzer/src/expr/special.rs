//! Lists what is called like a function but is resolved by the analyzer itself, for `system.functions`.

/// A name with how to call it and what it gives.
#[derive(Clone, Copy, Debug)]
pub struct SpecialFunction {
    /// Name as users write it.
    pub name: &'static str,
    /// How to call it.
    pub syntax: &'static str,
    /// What it returns, in one sentence.
    pub description: &'static str,
}

const fn entry(
    name: &'static str,
    syntax: &'static str,
    description: &'static str,
) -> SpecialFunction {
    SpecialFunction {
        name,
        syntax,
        description,
    }
}

/// Functions that need more than the values of their arguments.
#[rustfmt::skip]
pub const SPECIAL_FUNCTIONS: &[SpecialFunction] = &[
    entry("arrayJoin", "arrayJoin(arr)", "A row for each element of an array."),
    entry("unnest", "unnest(arr)", "As arrayJoin."),
    entry("caseWithExpr", "caseWithExpr(x, value1, then1, …, else)", "As caseWithExpression."),
    entry("caseWithoutExpression", "caseWithoutExpression(condition1, then1, …, else)", "As multiIf."),
    entry("caseWithoutExpr", "caseWithoutExpr(condition1, then1, …, else)", "As multiIf."),
    entry("caseWithExpression", "caseWithExpression(x, value1, then1, …, else)", "What stands behind the value that x is: CASE x WHEN …."),
    entry("in", "x IN (…)", "Whether a value is in a set."),
    entry("notIn", "x NOT IN (…)", "Whether a value is not in a set."),
    entry("globalIn", "x GLOBAL IN (…)", "As in."),
    entry("globalNotIn", "x GLOBAL NOT IN (…)", "As notIn."),
    entry("nullIn", "nullIn(x, (…))", "As in, where NULL is a value like others."),
    entry("notNullIn", "notNullIn(x, (…))", "As notIn, where NULL is a value like others."),
    entry("globalNullIn", "globalNullIn(x, (…))", "As nullIn."),
    entry("globalNotNullIn", "globalNotNullIn(x, (…))", "As notNullIn."),
    entry("getSubcolumn", "getSubcolumn(x, 'name')", "A part of a value by its name."),
    entry("formatRow", "formatRow(format, x, …)", "The values as a row of a format."),
    entry("formatRowNoNewline", "formatRowNoNewline(format, x, …)", "As formatRow, without the end of the line."),
    entry("formatQuery", "formatQuery(query)", "The query laid out on several lines."),
    entry("formatQueryOrNull", "formatQueryOrNull(query)", "As formatQuery, NULL for what is no query."),
    entry("formatQuerySingleLine", "formatQuerySingleLine(query)", "The query on one line."),
    entry("formatQuerySingleLineOrNull", "formatQuerySingleLineOrNull(query)", "As formatQuerySingleLine, NULL for what is no query."),
    entry("normalizeQuery", "normalizeQuery(query)", "The query with ? in place of literals and generated names."),
    entry("normalizeQueryKeepNames", "normalizeQueryKeepNames(query)", "The query with ? in place of literals."),
    entry("normalizedQueryHash", "normalizedQueryHash(query)", "A hash that queries share which differ in literals."),
    entry("normalizedQueryHashKeepNames", "normalizedQueryHashKeepNames(query)", "As normalizedQueryHash, where names count."),
    entry("row_number", "row_number() OVER (…)", "Number of the row within its partition."),
    entry("rank", "rank() OVER (…)", "Place of the row, with gaps behind equal ones."),
    entry("dense_rank", "dense_rank() OVER (…)", "Place of the row, without gaps."),
    entry("percent_rank", "percent_rank() OVER (…)", "Place of the row from 0 to 1."),
    entry("cume_dist", "cume_dist() OVER (…)", "Part of the rows that come no later."),
    entry("ntile", "ntile(n) OVER (…)", "Number of the bucket of n equal ones."),
    entry("nth_value", "nth_value(x, n) OVER (…)", "Value of the n-th row of the frame."),
    entry("lag", "lag(x[, offset[, default]]) OVER (…)", "Value of an earlier row."),
    entry("lead", "lead(x[, offset[, default]]) OVER (…)", "Value of a later row."),
    entry("lagInFrame", "lagInFrame(x[, offset[, default]]) OVER (…)", "Value of an earlier row of the frame."),
    entry("leadInFrame", "leadInFrame(x[, offset[, default]]) OVER (…)", "Value of a later row of the frame."),
    entry("nonNegativeDerivative", "nonNegativeDerivative(x, time[, interval]) OVER (…)", "Growth since the row before, at least 0."),
];
