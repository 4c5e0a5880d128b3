//! Makes columns of a table as CREATE and ALTER declare them, and checks them.

use std::collections::HashSet;

use basalt_analyzer::{DeclaredColumn, TableColumn};
use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::registry::unknown_function;
use basalt_functions::{Context, aggregate};
use basalt_parser::ast::{self, ColumnDef, DefaultKind, ExprKind, Span};
use basalt_types::DataType;

use super::create::text;
use crate::catalog::ColumnDefinition;
use crate::session::{RunningQuery, Session};
use crate::settings::Settings;

/// Columns whose values are stored: all but ALIAS and EPHEMERAL ones.
pub(crate) fn stored(columns: &[ColumnDefinition]) -> impl Iterator<Item = &ColumnDefinition> {
    columns.iter().filter(|c| {
        let kind = c.default.as_ref().map(|d| d.kind);
        !matches!(kind, Some(DefaultKind::Alias | DefaultKind::Ephemeral))
    })
}

/// Columns as declared, beside `others` that the table has already.
pub(super) fn declared_columns(
    session: &Session,
    query: &RunningQuery<'_>,
    columns: &[ColumnDef],
    others: &[ColumnDefinition],
) -> Result<Vec<ColumnDefinition>> {
    let environment = session.environment(query);
    let analyzer = query.analyzer(&environment);
    let numbered = columns.iter().find(|c| c.auto_increment);
    if let Some(numbered) = numbered.filter(|_| !session.loads_definitions) {
        let hint = "Leave AUTO_INCREMENT out: columns do not count their rows";
        let error = Error::new(ErrorCode::SYNTAX_ERROR, hint);
        return Err(query.placed(error, numbered.span));
    }
    let columns = &flattened(columns);
    let types = columns.iter().map(|c| {
        let place = || query.position(c.span.start as usize);
        declared_type(c, query).map_err(|e| e.at(place()))
    });
    let types: Vec<Option<DataType>> = types.collect::<Result<_>>()?;
    let new = columns
        .iter()
        .zip(&types)
        .map(|(c, data_type)| DeclaredColumn {
            name: &c.name,
            data_type: data_type.as_ref(),
            default: c.default.as_ref().and_then(|d| d.expr.as_ref()),
            is_new: true,
        });
    let declared: Vec<DeclaredColumn<'_>> = new.chain(others.iter().map(known_column)).collect();
    let types = analyzer.types_of_columns(&declared)?;
    let columns = columns.iter().zip(types);
    Ok(columns.map(|(c, t)| definition(c, t)).collect())
}

/// A column that the table has.
fn known_column(column: &ColumnDefinition) -> DeclaredColumn<'_> {
    DeclaredColumn {
        name: &column.column.name,
        data_type: Some(&column.column.data_type),
        default: column.default.as_ref().and_then(|d| d.expr.as_ref()),
        is_new: false,
    }
}

fn definition(column: &ColumnDef, data_type: DataType) -> ColumnDefinition {
    let default = column.default.clone();
    let kind = default.as_ref().map(|d| d.kind);
    let alias = match &default {
        Some(ast::ColumnDefault {
            kind: DefaultKind::Alias,
            expr,
        }) => expr.clone(),
        _ => None,
    };
    let hidden = matches!(
        kind,
        Some(DefaultKind::Alias | DefaultKind::Materialized | DefaultKind::Ephemeral)
    );
    let ttl = column.ttl.as_ref().map(basalt_parser::format_expr);
    ColumnDefinition {
        column: TableColumn {
            name: column.name.clone(),
            data_type,
            alias,
            hidden,
        },
        default,
        comment: column.comment.as_deref().map(text).unwrap_or_default(),
        codec: column.codec.as_deref().map(codec_text).unwrap_or_default(),
        ttl: ttl.unwrap_or_default(),
        simple_aggregate: simple_aggregate(column),
    }
}

/// The function of `SimpleAggregateFunction(function, type)`.
fn simple_aggregate(column: &ColumnDef) -> Option<String> {
    let written = column.data_type.as_ref()?;
    if written.name != "SimpleAggregateFunction" {
        return None;
    }
    let text = basalt_parser::format_data_type(written);
    let args = text.strip_prefix("SimpleAggregateFunction(")?;
    args.split_once(',')
        .map(|(function, _)| function.to_owned())
}

/// The columns with each `n Nested(a A, …)` as arrays `n.a Array(A)`, ….
fn flattened(columns: &[ColumnDef]) -> Vec<ColumnDef> {
    let mut flat = Vec::with_capacity(columns.len());
    for column in columns {
        let elements = match &column.data_type {
            Some(t) if t.name == "Nested" => t.args.as_deref().unwrap_or_default(),
            _ => &[],
        };
        for element in elements {
            if let ast::TypeArg::Named(name, element) = element {
                let array = ast::DataType {
                    name: "Array".to_owned(),
                    args: Some(vec![ast::TypeArg::Type(element.clone())]),
                };
                let name = format!("{}.{name}", column.name);
                flat.push(ColumnDef {
                    name,
                    data_type: Some(array),
                    ..column.clone()
                });
            }
        }
        if elements.is_empty() {
            flat.push(column.clone());
        }
    }
    flat
}

fn declared_type(column: &ColumnDef, query: &RunningQuery<'_>) -> Result<Option<DataType>> {
    let Some(written) = &column.data_type else {
        return Ok(None);
    };
    let data_type = basalt_types::parse_data_type(&basalt_parser::format_data_type(written))?;
    let nullable = match column.nullable {
        Some(nullable) => nullable,
        None => query.settings.flag("data_type_default_nullable"),
    };
    if nullable && column.nullable == Some(true) && data_type.is_nullable() {
        return Err(Error::new(
            ErrorCode::ILLEGAL_SYNTAX_FOR_DATA_TYPE,
            format!(
                "Can't use [NOT] NULL modifier with Nullable type of column `{}`",
                column.name
            ),
        ));
    }
    Ok(Some(if nullable {
        data_type.to_nullable()
    } else {
        data_type
    }))
}

pub(super) fn codec_text(codec: &[ast::Expr]) -> String {
    let parts: Vec<String> = codec.iter().map(basalt_parser::format_expr).collect();
    format!("CODEC({})", parts.join(", "))
}

/// Refuses columns that no table can have.
///
/// # Errors
/// What is wrong with one, at its place in `spans`, if it has one.
pub(super) fn check_columns(
    query: &RunningQuery<'_>,
    columns: &[ColumnDefinition],
    spans: &[Span],
) -> Result<()> {
    let mut names = HashSet::with_capacity(columns.len());
    for (i, column) in columns.iter().enumerate() {
        let is_new = names.insert(column.column.name.as_str());
        check_column(column, is_new, query.settings)
            .map_err(|e| query.placed(e, spans.get(i).copied().unwrap_or_default()))?;
    }
    Ok(())
}

/// Refuses new tables into whose columns nothing can be inserted; ALTER may have left such of one that is
/// loaded.
///
/// # Errors
/// `EMPTY_LIST_OF_COLUMNS_PASSED`.
pub(super) fn check_insertable(session: &Session, columns: &[ColumnDefinition]) -> Result<()> {
    let is_insertable = |column: &ColumnDefinition| {
        let kind = column.default.as_ref().map(|d| d.kind);
        matches!(kind, None | Some(DefaultKind::Default))
    };
    if session.loads_definitions || columns.iter().any(is_insertable) {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::EMPTY_LIST_OF_COLUMNS_PASSED,
        "Add a column without ALIAS, MATERIALIZED and EPHEMERAL: nothing can be inserted into these",
    ))
}

fn check_column(column: &ColumnDefinition, is_new: bool, settings: &Settings) -> Result<()> {
    let name = &column.column.name;
    if !is_new {
        return Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            format!("Name it differently: column `{name}` is declared twice"),
        ));
    }
    if *column.column.data_type.base() == DataType::Nothing {
        return Err(Error::new(
            ErrorCode::DATA_TYPE_CANNOT_BE_USED_IN_TABLES,
            format!(
                "Cast column `{name}` to a type: values of type {} cannot be stored",
                column.column.data_type
            ),
        ));
    }
    check_codec(column)?;
    check_states(&column.column.data_type)?;
    if !settings.flag("allow_suspicious_low_cardinality_types") {
        check_dictionaries(&column.column.data_type)?;
    }
    Ok(())
}

/// Where the columns stand that a statement declares, those of a Nested each.
pub(super) fn places(columns: &[ColumnDef]) -> Vec<Span> {
    flattened(columns).iter().map(|c| c.span).collect()
}

/// Refuses states of functions that there are not, or not for these arguments.
fn check_states(data_type: &DataType) -> Result<()> {
    match data_type {
        DataType::AggregateFunction(state) if !aggregate::is_aggregate(&state.name) => {
            let error = unknown_function(&state.name);
            Err(Error::new(
                ErrorCode::UNKNOWN_AGGREGATE_FUNCTION,
                error.message(),
            ))
        }
        DataType::AggregateFunction(state) => {
            let merge = format!("{}Merge", state.name);
            let types = std::slice::from_ref(data_type);
            aggregate::bind(&merge, &[], types, &Context::default()).map(|_| ())
        }
        DataType::Nullable(inner) | DataType::Array(inner) => check_states(inner),
        DataType::Tuple(tuple) => tuple.types.iter().try_for_each(check_states),
        DataType::Map(_, value) => check_states(value),
        _ => Ok(()),
    }
}

/// Dictionaries of numbers are larger than the numbers.
fn check_dictionaries(data_type: &DataType) -> Result<()> {
    match data_type {
        DataType::LowCardinality(inner) if !inner.base().is_string() => Err(Error::new(
            ErrorCode::SUSPICIOUS_TYPE_FOR_LOW_CARDINALITY,
            format!(
                "Use {inner}, or the setting allow_suspicious_low_cardinality_types: columns of \
                 type {data_type} are slower"
            ),
        )),
        DataType::Nullable(inner) | DataType::Array(inner) => check_dictionaries(inner),
        DataType::Tuple(tuple) => tuple.types.iter().try_for_each(check_dictionaries),
        DataType::Map(_, value) => check_dictionaries(value),
        _ => Ok(()),
    }
}

/// ClickHouse's codecs, and the encodings that only Basalt has.
const CODECS: [&str; 22] = [
    "AES_128_GCM_SIV",
    "AES_256_GCM_SIV",
    "ALP",
    "Auto",
    "Constant",
    "Default",
    "DEFLATE_QPL",
    "Delta",
    "Dictionary",
    "DoubleDelta",
    "FPC",
    "FrameOfReference",
    "GCD",
    "Gorilla",
    "LZ4",
    "LZ4HC",
    "NONE",
    "Plain",
    "RunLength",
    "T64",
    "ZSTD",
    "ZSTD_QAT",
];

fn check_codec(column: &ColumnDefinition) -> Result<()> {
    let list = column.codec.strip_prefix("CODEC(");
    let list = list.and_then(|c| c.strip_suffix(')')).unwrap_or_default();
    // Arguments of codecs are numbers and quoted words: between quotes is every second piece.
    let names = list.split('\'').step_by(2);
    let names = names.flat_map(|l| l.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    let mut named = names.filter(|n| n.starts_with(|c: char| c.is_ascii_alphabetic()));
    let unknown = named.find(|n| !CODECS.iter().any(|c| c.eq_ignore_ascii_case(n)));
    let Some(unknown) = unknown else {
        return Ok(());
    };
    let near = basalt_functions::registry::nearest(unknown, CODECS.into_iter());
    let hint = near.first().map(|n| format!("Maybe you meant {n}? "));
    Err(Error::new(
        ErrorCode::UNKNOWN_CODEC,
        format!(
            "{}Unknown codec family: {unknown}",
            hint.unwrap_or_default()
        ),
    ))
}

/// Whether a column is computed from another.
pub(super) fn uses(column: &ColumnDefinition, other: &str) -> bool {
    let default = column.default.as_ref().and_then(|d| d.expr.as_ref());
    let names = default.map(basalt_analyzer::column_names);
    names.is_some_and(|names| column.column.name != other && names.iter().any(|n| n == other))
}

/// Has a column's expression follow the new name of another column.
pub(super) fn rename_in_default(column: &mut ColumnDefinition, from: &str, to: &str) {
    if let Some(expr) = column.default.as_mut().and_then(|d| d.expr.as_mut()) {
        rename(expr, from, to);
        if column.column.alias.is_some() {
            column.column.alias = Some(expr.clone());
        }
    }
}

/// Has an expression follow the new name of a column.
pub(super) fn rename(expr: &mut ast::Expr, from: &str, to: &str) {
    match &mut expr.kind {
        ExprKind::Identifier(parts) if parts.join(".") == from => *parts = vec![to.to_owned()],
        ExprKind::Array(items) | ExprKind::Tuple(items) => {
            items.iter_mut().for_each(|i| rename(i, from, to));
        }
        ExprKind::Function(f) => f.args.iter_mut().for_each(|a| rename(a, from, to)),
        ExprKind::Lambda(lambda) if !lambda.params.iter().any(|p| p == from) => {
            rename(&mut lambda.body, from, to);
        }
        ExprKind::Alias { expr, .. } => rename(expr, from, to),
        _ => {}
    }
}
