//! Reads the structure that a table function is given: columns, and what is computed where a row has
//! no value of its own.

use std::collections::HashSet;

use basalt_analyzer::{TableColumn, TableEntry, given_name, given_or_default};
use basalt_error::{Error, ErrorCode, Result};
use basalt_formats::omitted_name;
use basalt_parser::ast::{ColumnDef, DefaultKind};
use basalt_types::DataType;
use basalt_types::parse::parse_structure;

/// Columns to read, and what queries see of them.
#[derive(Clone, Debug)]
pub(super) struct Structure {
    /// Name and type of each column that is read.
    pub(super) header: Vec<(String, DataType)>,
    /// Those of `header` that have a DEFAULT.
    pub(super) tracked: Vec<usize>,
    /// The columns of queries. Those without an expression are the columns of `header`, in order, and
    /// behind them flags of where the tracked ones have no value.
    pub(super) columns: Vec<TableColumn>,
}

impl Structure {
    /// Columns without defaults.
    pub(super) fn plain(header: Vec<(String, DataType)>) -> Self {
        let columns = header.iter().map(|(n, t)| TableColumn::new(n, t.clone()));
        Self {
            columns: columns.collect(),
            header,
            tracked: Vec::new(),
        }
    }

    /// Reads the text of a structure.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let structure = Self::of(text)?;
        let mut names = HashSet::with_capacity(structure.columns.len());
        match structure
            .columns
            .iter()
            .find(|c| !names.insert(c.name.as_str()))
        {
            None => Ok(structure),
            Some(twice) => Err(Error::new(
                ErrorCode::ILLEGAL_COLUMN,
                format!(
                    "Name it differently: column `{}` is twice in the structure",
                    twice.name
                ),
            )),
        }
    }

    fn of(text: &str) -> Result<Self> {
        let plain = parse_structure(text);
        let (Err(e), Ok(columns)) = (&plain, basalt_parser::parse_structure(text)) else {
            return plain.map(Self::plain);
        };
        let has_more = columns.iter().any(|c| {
            c.default.is_some() || c.codec.is_some() || c.comment.is_some() || c.ttl.is_some()
        });
        if !has_more {
            return Err(e.clone());
        }
        let mut structure = Self::plain(Vec::new());
        for column in &columns {
            structure.add(column)?;
        }
        let tracked = structure.tracked.iter().map(|i| &structure.header[*i].0);
        let flags: Vec<TableColumn> = tracked
            .map(|name| hidden(omitted_name(name), DataType::UInt8))
            .collect();
        structure.columns.extend(flags);
        Ok(structure)
    }

    fn add(&mut self, column: &ColumnDef) -> Result<()> {
        let name = column.name.clone();
        let data_type = column.data_type.as_ref().ok_or_else(|| {
            Error::new(
                ErrorCode::SYNTAX_ERROR,
                format!("Give column `{name}` of the structure a type"),
            )
        })?;
        let text = basalt_parser::format_data_type(data_type);
        let data_type = basalt_types::parse_data_type(&text)?;
        let kind = column.default.as_ref().map(|d| d.kind);
        let expr = column.default.as_ref().and_then(|d| d.expr.as_ref());
        match (kind, expr) {
            (Some(DefaultKind::Ephemeral), _) => {}
            (Some(DefaultKind::Alias), Some(expr)) => self.columns.push(TableColumn {
                alias: Some(expr.clone()),
                ..hidden(name, data_type)
            }),
            (Some(kind), Some(expr)) => {
                self.tracked.push(self.header.len());
                self.header.push((name.clone(), data_type.clone()));
                self.columns
                    .push(hidden(given_name(&name), data_type.clone()));
                self.columns.push(TableColumn {
                    alias: Some(given_or_default(&name, expr, &data_type)),
                    hidden: kind == DefaultKind::Materialized,
                    ..TableColumn::new(name, data_type)
                });
            }
            _ => {
                self.header.push((name.clone(), data_type.clone()));
                self.columns.push(TableColumn::new(name, data_type));
            }
        }
        Ok(())
    }

    /// Fields of the batches that a reader of these columns gives.
    pub(super) fn fields(&self) -> Vec<arrow::datatypes::FieldRef> {
        let stored = self.columns.iter().filter(|c| c.alias.is_none());
        stored.map(|c| c.data_type.field(&c.name)).collect()
    }

    /// Batches of a reader as a table.
    pub(super) fn table(self, batches: Vec<arrow::array::RecordBatch>) -> TableEntry {
        let schema = arrow::datatypes::Schema::new(self.fields());
        super::stored_batches(self.columns, std::sync::Arc::new(schema), batches)
    }
}

fn hidden(name: String, data_type: DataType) -> TableColumn {
    TableColumn {
        hidden: true,
        ..TableColumn::new(name, data_type)
    }
}
