//! Reads the skipping indexes of a table.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{Expr, ExprKind, IndexDef, Literal};
use basalt_storage::merge_tree::{Index, IndexKind};
use basalt_storage::{Layout, StoredColumn};

use crate::session::RunningQuery;

/// False answers of a Bloom filter without an argument.
const DEFAULT_SHARE: f64 = 0.025;

/// Types of ClickHouse that are not here.
const UNKNOWN: [&str; 6] = [
    "hypothesis",
    "text",
    "vector_similarity",
    "sparse_grams",
    "tokenbf_v1",
    "ngrambf_v1",
];

/// The indexes that a statement declares.
pub(super) fn indexes(
    query: &RunningQuery<'_>,
    declared: &[IndexDef],
    layout: &Layout,
) -> Result<Vec<Index>> {
    for (i, index) in declared.iter().enumerate() {
        if declared[..i].iter().any(|other| other.name == index.name) {
            let e = Error::new(
                ErrorCode::ILLEGAL_INDEX,
                format!("Use another name: there is an index {} already", index.name),
            );
            return Err(query.placed(e, index.expr.span));
        }
    }
    let index = |declared: &IndexDef| {
        let column = column(declared, layout);
        let kind = || kind(declared).map_err(|e| query.placed(e, declared.index_type.span));
        Ok(Index {
            name: declared.name.clone(),
            column: column.map_err(|e| query.placed(e, declared.expr.span))?,
            kind: kind()?,
        })
    };
    declared.iter().map(index).collect()
}

fn column(declared: &IndexDef, layout: &Layout) -> Result<usize> {
    for name in basalt_analyzer::column_names(&declared.expr) {
        let of_nested = format!("{name}.");
        let is_known = |c: &StoredColumn| c.name == name || c.name.starts_with(&of_nested);
        if !layout.columns.iter().any(is_known) {
            return Err(Error::new(
                ErrorCode::UNKNOWN_IDENTIFIER,
                format!("Missing columns: '{name}' of index {}", declared.name),
            ));
        }
    }
    let found = match &declared.expr.kind {
        ExprKind::Identifier(parts) => {
            let name = parts.join(".");
            let mut visible = layout.columns.iter().take(layout.num_visible);
            visible.position(|c| c.name == name)
        }
        _ => None,
    };
    found.ok_or_else(|| {
        Error::not_implemented("INDEX of an expression that is no column of a MergeTree table")
    })
}

/// Name and arguments of an index's type.
fn name_and_args(index_type: &Expr) -> (String, &[Expr]) {
    match &index_type.kind {
        ExprKind::Identifier(parts) => (parts.join("."), &[]),
        ExprKind::Function(function) => (function.name.clone(), &function.args),
        _ => (basalt_parser::format_expr(index_type), &[]),
    }
}

fn kind(declared: &IndexDef) -> Result<IndexKind> {
    let wrong = |message: String| Err(Error::new(ErrorCode::INCORRECT_QUERY, message));
    let (name, args) = name_and_args(&declared.index_type);
    let number = |expr: &Expr| match &expr.kind {
        ExprKind::Literal(Literal::UInt(number)) => Some(*number as f64),
        ExprKind::Literal(Literal::Float(float)) => float.text.parse().ok(),
        _ => None,
    };
    match (name.as_str(), args) {
        ("minmax", []) => Ok(IndexKind::MinMax),
        ("minmax", _) => wrong("Remove the arguments of minmax: it has none".to_owned()),
        ("set", [max]) => match &max.kind {
            ExprKind::Literal(Literal::UInt(max)) => Ok(IndexKind::Set(*max)),
            _ => wrong("Write set(number): its argument is a number of values".to_owned()),
        },
        ("set", _) => wrong("Write set(number): it must have exactly one argument".to_owned()),
        ("bloom_filter", []) => Ok(IndexKind::BloomFilter(DEFAULT_SHARE)),
        ("bloom_filter", [share]) => match number(share).filter(|s| *s > 0.0 && *s < 1.0) {
            Some(share) => Ok(IndexKind::BloomFilter(share)),
            None => wrong("Write bloom_filter(0.025): a share between 0 and 1".to_owned()),
        },
        ("bloom_filter", _) => wrong("Write bloom_filter(0.025): one argument".to_owned()),
        (known, _) if UNKNOWN.contains(&known) => {
            Err(Error::not_implemented(format!("INDEX of type {known}")))
        }
        (unknown, _) => wrong(format!(
            "Use minmax, set(number) or bloom_filter: unknown Index type '{unknown}'"
        )),
    }
}
