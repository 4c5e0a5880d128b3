//! Tells the engines of tables on disk apart, and what they make of rows with the same key.

use std::sync::Arc;

use basalt_analyzer::column_names;
use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{CreateTable, Expr, ExprKind};
use basalt_storage::Layout;
use basalt_storage::merge_tree::{Combine, Replacing};
use basalt_types::DataType;

use super::keys::elements;
use crate::catalog::ColumnDefinition;
use crate::merge_tree::{Aggregating, Measure};

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Replacing,
    Summing,
    Aggregating,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [
        Self::Plain,
        Self::Replacing,
        Self::Summing,
        Self::Aggregating,
    ];

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The engine that a statement names, which is that of a table on disk.
    pub(super) fn of(create: &CreateTable) -> Self {
        let engine = create.storage.engine.as_ref();
        engine
            .and_then(|e| Self::parse(&e.name))
            .unwrap_or(Self::Plain)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Plain => "MergeTree",
            Self::Replacing => "ReplacingMergeTree",
            Self::Summing => "SummingMergeTree",
            Self::Aggregating => "AggregatingMergeTree",
        }
    }

    fn max_args(self) -> usize {
        match self {
            Self::Plain | Self::Aggregating => 0,
            Self::Summing => 1,
            Self::Replacing => 2,
        }
    }
}

/// What the engine does with rows of the same key; nothing for MergeTree.
pub(super) fn combine(
    kind: Kind,
    create: &CreateTable,
    columns: &[ColumnDefinition],
    layout: &Layout,
) -> Result<Option<Arc<dyn Combine>>> {
    let args = create.storage.engine.as_ref().and_then(|e| e.args.clone());
    let args = args.unwrap_or_default();
    if args.len() > kind.max_args() {
        return Err(Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            format!(
                "Write ORDER BY and other clauses behind ENGINE = {}: it takes {} arguments at most",
                kind.name(),
                kind.max_args()
            ),
        ));
    }
    Ok(match kind {
        Kind::Plain => None,
        Kind::Replacing => Some(Arc::new(replacing(&args, layout)?)),
        Kind::Summing => {
            let wanted = args.first().map(elements);
            let keys = key_columns(create);
            let columns = (columns, keys.as_slice());
            Some(Arc::new(summing(wanted.as_deref(), columns, layout)?))
        }
        Kind::Aggregating => Some(Arc::new(aggregating(
            columns,
            &key_columns(create),
            layout,
        )?)),
    })
}

/// The columns that ORDER BY and PARTITION BY are made of: those of expressions, too.
fn key_columns(create: &CreateTable) -> Vec<String> {
    let order_by = create.storage.order_by.iter().flatten();
    let exprs = order_by.map(|item| &item.expr);
    let exprs = exprs.chain(&create.storage.partition_by);
    exprs.flat_map(column_names).collect()
}

/// The place of a column that an engine names.
fn place(expr: &Expr, what: &str, layout: &Layout) -> Result<usize> {
    let name = match &expr.kind {
        ExprKind::Identifier(parts) => parts.join("."),
        _ => basalt_parser::format_expr(expr),
    };
    let mut visible = layout.columns.iter().take(layout.num_visible);
    visible.position(|c| c.name == name).ok_or_else(|| {
        Error::new(
            ErrorCode::NO_SUCH_COLUMN_IN_TABLE,
            format!("{what} column {name} does not exist in table declaration"),
        )
    })
}

/// `ReplacingMergeTree([version[, is_deleted]])`
fn replacing(args: &[Expr], layout: &Layout) -> Result<Replacing> {
    let version = args.first().map(|a| place(a, "Version", layout));
    let version = version.transpose()?;
    let is_deleted = args.get(1).map(|a| place(a, "is_deleted", layout));
    let is_deleted = is_deleted.transpose()?;
    let type_of = |place: usize| &layout.columns[place].data_type;
    let refuse = |place: usize, expected: &str| {
        let column = &layout.columns[place];
        Error::new(
            ErrorCode::BAD_TYPE_OF_FIELD,
            format!(
                "Column {} of ReplacingMergeTree must be {expected}, not {}",
                column.name, column.data_type
            ),
        )
    };
    let is_version = |t: &DataType| {
        t.is_integer()
            || t.is_float()
            || matches!(t, DataType::Date | DataType::Date32 | DataType::DateTime(_))
            || matches!(t, DataType::DateTime64(..))
    };
    if let Some(version) = version.filter(|v| !is_version(type_of(*v)) || type_of(*v).is_nullable())
    {
        return Err(refuse(version, "a number, a date or a time"));
    }
    if let Some(flag) = is_deleted.filter(|f| *type_of(*f) != DataType::UInt8) {
        return Err(refuse(flag, "a UInt8"));
    }
    Ok(Replacing::new(version, is_deleted))
}

/// `SummingMergeTree([columns])`: those columns are summed, or all numbers that are no keys.
fn summing(
    wanted: Option<&[Expr]>,
    (columns, keys): (&[ColumnDefinition], &[String]),
    layout: &Layout,
) -> Result<Aggregating> {
    let wanted = wanted.map(|exprs| {
        let places = exprs.iter().map(|e| place(e, "Summed", layout));
        places.collect::<Result<Vec<_>>>()
    });
    let wanted = wanted.transpose()?;
    if let Some(key) = wanted.iter().flatten().find(|c| is_key(layout, **c)) {
        let name = &layout.columns[*key].name;
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Leave {name} out: a column of the sorting key cannot be summed"),
        ));
    }
    let mut measures = aggregates(columns, layout)?;
    for (place, column) in layout.columns.iter().take(layout.num_visible).enumerate() {
        let is_wanted = wanted.as_ref().is_none_or(|wanted| wanted.contains(&place));
        let data_type = column.data_type.base();
        let is_number = data_type.is_integer() || data_type.is_float() || data_type.is_decimal();
        let is_measure = measures.iter().any(|m| m.columns().contains(&place));
        let is_in_key = keys.contains(&column.name);
        if is_wanted && is_number && !is_key(layout, place) && !is_measure && !is_in_key {
            measures.push(Measure::sum(place, &column.data_type)?);
        }
    }
    for map in maps(layout) {
        if wanted.is_none() {
            measures.push(Measure::sum_map(map, layout)?);
        }
    }
    Ok(Aggregating::new(measures))
}

/// Nested columns whose name ends with `Map`, each with its columns.
fn maps(layout: &Layout) -> Vec<Vec<usize>> {
    let mut maps: Vec<(&str, Vec<usize>)> = Vec::new();
    for (place, column) in layout.columns.iter().take(layout.num_visible).enumerate() {
        let Some((name, _)) = column.name.split_once('.') else {
            continue;
        };
        let is_map = name.ends_with("Map") && matches!(column.data_type, DataType::Array(_));
        if is_map && !is_key(layout, place) {
            match maps.last_mut() {
                Some((last, places)) if *last == name => places.push(place),
                _ => maps.push((name, vec![place])),
            }
        }
    }
    let maps = maps.into_iter().map(|(_, places)| places);
    maps.filter(|places| places.len() > 1).collect()
}

/// `AggregatingMergeTree`
fn aggregating(
    columns: &[ColumnDefinition],
    keys: &[String],
    layout: &Layout,
) -> Result<Aggregating> {
    let measures = aggregates(columns, layout)?;
    let other = (0..layout.num_visible).find(|place| {
        let is_measure = measures.iter().any(|m| m.columns().contains(place));
        let is_in_key = keys.contains(&layout.columns[*place].name);
        !is_measure && !is_key(layout, *place) && !is_in_key
    });
    if let Some(other) = other.filter(|_| !measures.is_empty()) {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Declare column {} as SimpleAggregateFunction or AggregateFunction, or add it to \
                 ORDER BY: AggregatingMergeTree would keep one of its values for each key",
                layout.columns[other].name
            ),
        ));
    }
    Ok(Aggregating::new(measures))
}

/// The columns that are states of aggregate functions.
fn aggregates(columns: &[ColumnDefinition], layout: &Layout) -> Result<Vec<Measure>> {
    let mut measures = Vec::new();
    for (place, column) in layout.columns.iter().take(layout.num_visible).enumerate() {
        let declared = columns.iter().find(|c| c.column.name == column.name);
        let simple = declared.and_then(|c| c.simple_aggregate.as_deref());
        if is_key(layout, place) {
            continue;
        }
        match (&column.data_type, simple) {
            (data_type, Some(function)) => {
                measures.push(Measure::simple(place, function, data_type)?);
            }
            (DataType::AggregateFunction(state), None) => {
                measures.push(Measure::states(place, &column.data_type, state)?);
            }
            _ => {}
        }
    }
    Ok(measures)
}

fn is_key(layout: &Layout, place: usize) -> bool {
    layout.sorting_key.contains(&place)
}
