//! Builds the tables of `system` column by column.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, Float64Array, RecordBatch, UInt8Array, UInt64Array, new_null_array,
};
use arrow::datatypes::Schema;
use basalt_analyzer::{TableColumn, TableEntry};
use basalt_error::{Error, Result};
use basalt_parser::ast::Expr;
use basalt_types::parse::parse_structure;
use basalt_types::{ColumnBuilder, DataType};

use crate::statement::result::strings;
use crate::table_function;

/// The columns of a table under construction, all of the same length.
#[derive(Default)]
pub(crate) struct Rows {
    columns: Vec<TableColumn>,
    arrays: Vec<ArrayRef>,
}

impl Rows {
    /// Adds a `String` column.
    pub(crate) fn text<S: AsRef<[u8]>>(
        self,
        name: &str,
        values: impl IntoIterator<Item = S>,
    ) -> Self {
        self.column(name, DataType::String, strings(values))
    }

    /// Adds a `UInt8` column of flags.
    pub(crate) fn flag(self, name: &str, values: impl IntoIterator<Item = bool>) -> Self {
        let flags = UInt8Array::from_iter_values(values.into_iter().map(u8::from));
        self.column(name, DataType::UInt8, Arc::new(flags))
    }

    /// Adds a `Nullable(UInt8)` column of flags.
    pub(crate) fn maybe_flag(
        self,
        name: &str,
        values: impl IntoIterator<Item = Option<bool>>,
    ) -> Self {
        let flags = UInt8Array::from_iter(values.into_iter().map(|v| v.map(u8::from)));
        self.column(name, DataType::UInt8.to_nullable(), Arc::new(flags))
    }

    /// Adds a `UInt64` column.
    pub(crate) fn number(self, name: &str, values: impl IntoIterator<Item = u64>) -> Self {
        let numbers = UInt64Array::from_iter_values(values);
        self.column(name, DataType::UInt64, Arc::new(numbers))
    }

    /// Adds a `Nullable(UInt64)` column.
    pub(crate) fn maybe(self, name: &str, values: impl IntoIterator<Item = Option<u64>>) -> Self {
        let numbers = UInt64Array::from_iter(values);
        self.column(name, DataType::UInt64.to_nullable(), Arc::new(numbers))
    }

    /// Adds a `Nullable(Float64)` column.
    pub(crate) fn measure(self, name: &str, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let numbers = Float64Array::from_iter(values);
        self.column(name, DataType::Float64.to_nullable(), Arc::new(numbers))
    }

    /// Adds a column from the text form of its values; its type is the one in a structure.
    pub(crate) fn read<S: AsRef<[u8]>>(
        self,
        name: &str,
        structure: &str,
        values: impl IntoIterator<Item = S>,
    ) -> Result<Self> {
        let declared = parse_structure(structure)?;
        let declared = declared.into_iter().find(|(n, _)| n == name);
        let (_, data_type) =
            declared.ok_or_else(|| Error::bug(format!("no column {name} in the structure")))?;
        let mut builder = ColumnBuilder::new(&data_type, 0)?;
        for value in values {
            builder.append_text(value.as_ref())?;
        }
        let array = builder.finish()?;
        Ok(self.column(name, data_type, array))
    }

    /// Adds a column of any type.
    pub(crate) fn column(mut self, name: &str, data_type: DataType, array: ArrayRef) -> Self {
        self.columns.push(TableColumn::new(name, data_type));
        self.arrays.push(array);
        self
    }

    /// Adds the columns of a structure that are not there yet, all of their types' defaults, and
    /// puts all columns in its order.
    pub(crate) fn filled(mut self, structure: &str) -> Result<Self> {
        let num_rows = self.arrays.first().map_or(0, |a| a.len());
        let (mut columns, mut arrays) = (Vec::new(), Vec::new());
        for (name, data_type) in parse_structure(structure)? {
            let given = self.columns.iter().position(|c| c.name == name);
            match given {
                Some(at) => {
                    columns.push(self.columns.remove(at));
                    arrays.push(self.arrays.remove(at));
                }
                None => {
                    arrays.push(defaults(&data_type, num_rows)?);
                    columns.push(TableColumn::new(name, data_type));
                }
            }
        }
        columns.append(&mut self.columns);
        arrays.append(&mut self.arrays);
        Ok(Self { columns, arrays })
    }

    /// Adds another name for a column, which `*` leaves out.
    pub(crate) fn alias(mut self, name: &str, of: &str) -> Self {
        let known = self.columns.iter().find(|c| c.name == of);
        let data_type = known.map_or(DataType::String, |c| c.data_type.clone());
        self.columns.push(TableColumn {
            name: name.to_owned(),
            data_type,
            alias: Some(Expr::column(of)),
            hidden: true,
        });
        self
    }

    /// The table.
    pub(crate) fn table(self) -> Result<TableEntry> {
        let stored = self.columns.iter().filter(|c| c.alias.is_none());
        let fields: Vec<_> = stored.map(|c| c.data_type.field(&c.name)).collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), self.arrays)
            .map_err(|e| Error::bug(e.to_string()))?;
        let schema = batch.schema();
        Ok(table_function::stored_batches(
            self.columns,
            schema,
            vec![batch],
        ))
    }
}

fn defaults(data_type: &DataType, num_rows: usize) -> Result<ArrayRef> {
    if data_type.is_nullable() {
        return Ok(new_null_array(&data_type.physical(), num_rows));
    }
    let mut builder = ColumnBuilder::new(data_type, num_rows)?;
    for _ in 0..num_rows {
        builder.append_default();
    }
    builder.finish()
}
