//! Reads the keys of a table on disk, and finds the columns that they need.

use basalt_analyzer::{DeclaredColumn, column_names};
use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{CreateTable, Expr, ExprKind};
use basalt_storage::Layout;

use super::options::number;
use crate::catalog::ColumnDefinition;
use crate::merge_tree::{Computed, Keys};
use crate::session::{RunningQuery, Session};

/// The keys; without ORDER BY rows are sorted by the primary key.
pub(super) fn keys(create: &CreateTable) -> Result<Keys> {
    let storage = &create.storage;
    let items = storage.order_by.as_deref().unwrap_or_default();
    if items.iter().any(|i| i.descending) {
        return Err(Error::not_implemented(
            "ORDER BY … DESC of a MergeTree table",
        ));
    }
    let mut sorting: Vec<Expr> = items.iter().flat_map(|i| elements(&i.expr)).collect();
    let primary = storage.primary_key.as_ref().map(elements);
    if let (None, Some(primary)) = (&storage.order_by, &primary) {
        sorting.clone_from(primary);
    }
    let primary = primary.unwrap_or_else(|| sorting.clone());
    let texts: Vec<String> = sorting.iter().map(text_without_brackets).collect();
    for (i, key) in primary.iter().enumerate() {
        let text = text_without_brackets(key);
        if texts.get(i) != Some(&text) {
            let found = texts.get(i).map_or("missing", String::as_str);
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!(
                    "Primary key must be a prefix of the sorting key, but the column in the \
                     position {i} is {found}, not {text}"
                ),
            ));
        }
    }
    for (i, text) in texts.iter().enumerate() {
        if texts[..i].contains(text) {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!("Remove one of them: the key has {text} twice"),
            ));
        }
        if column_names(&sorting[i]).is_empty() {
            return Err(Error::new(
                ErrorCode::ILLEGAL_COLUMN,
                format!("Sorting key cannot contain constants: {text}"),
            ));
        }
    }
    let engine = storage.engine.iter().flat_map(|e| e.args.iter().flatten());
    Ok(Keys {
        partition: storage.partition_by.iter().flat_map(elements).collect(),
        partition_by: storage.partition_by.clone(),
        sorting,
        primary,
        engine: engine.flat_map(column_names).collect(),
    })
}

/// `(a)` is the key that `a` is.
fn text_without_brackets(key: &Expr) -> String {
    let mut key = key.clone();
    key.span.parenthesised = false;
    basalt_parser::format_expr(&key)
}

/// The elements of a tuple, or the expression alone.
pub(super) fn elements(expr: &Expr) -> Vec<Expr> {
    match &expr.kind {
        ExprKind::Tuple(items) => items.clone(),
        ExprKind::Function(f) if f.name == "tuple" => f.args.clone(),
        _ => vec![expr.clone()],
    }
}

pub(super) fn computed_column(
    session: &Session,
    query: &RunningQuery<'_>,
    columns: &[ColumnDefinition],
    expr: &Expr,
) -> Result<Computed> {
    let names = column_names(expr);
    let mut aliases = columns.iter().filter(|c| c.column.alias.is_some());
    if let Some(alias) = aliases.find(|c| names.contains(&c.column.name)) {
        let message = format!(
            "Write out what ALIAS column `{}` stands for: it has no values",
            alias.column.name
        );
        return Err(Error::new(ErrorCode::UNKNOWN_IDENTIFIER, message));
    }
    let environment = session.environment(query);
    let name = format!("key {}", basalt_parser::format_expr(expr));
    let known = columns.iter().map(|c| DeclaredColumn {
        name: &c.column.name,
        data_type: Some(&c.column.data_type),
        default: c.default.as_ref().and_then(|d| d.expr.as_ref()),
        is_new: false,
    });
    let new = DeclaredColumn {
        name: &name,
        data_type: None,
        default: Some(expr),
        is_new: true,
    };
    let declared: Vec<_> = known.chain([new]).collect();
    let analyzer = query.analyzer(&environment);
    let types = analyzer.types_of_columns(&declared)?;
    let data_type = types.last().cloned();
    let data_type = data_type.ok_or_else(|| Error::bug("a key without type"))?;
    Layout::check_type(&data_type)?;
    let planned = analyzer.expr_over(&declared, expr)?;
    Ok(Computed {
        name,
        data_type,
        expr: expr.clone(),
        planned,
    })
}

pub(super) fn check_key_types(create: &CreateTable, layout: &Layout) -> Result<()> {
    let settings = &create.storage.settings;
    let allows = |name: &str| {
        let mut settings = settings.iter();
        settings.any(|s| s.name == name && number(s) == Some(1))
    };
    let column = |c: &usize| &layout.columns[*c];
    let mut keys = layout.sorting_key.iter().chain(&layout.partition_key);
    if !allows("allow_nullable_key") && keys.any(|c| column(c).data_type.is_nullable()) {
        return Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            "Add SETTINGS allow_nullable_key = 1: the key contains nullable columns",
        ));
    }
    let mut partition = layout.partition_key.iter().map(column);
    let takes_floats = allows("allow_floating_point_partition_key");
    match partition.find(|c| c.data_type.is_float() && !takes_floats) {
        None => Ok(()),
        Some(c) => Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Add SETTINGS allow_floating_point_partition_key = 1: a partition key of floats is not supported: {}",
                c.name
            ),
        )),
    }
}
