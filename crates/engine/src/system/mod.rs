//! Makes the tables of the database `system`, fresh for every query.
//!
//! | module | owns |
//! |---|---|
//! | [`objects`] | databases, tables, columns |
//! | [`functions`] | functions, table functions, combinators |
//! | [`adaptation`] | the processor, and what was chosen for it |
//! | [`facts`] | settings, formats, types, build options and other lists |

pub mod adaptation;
pub mod facts;
pub mod functions;
pub mod objects;

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, RecordBatch, UInt8Array, UInt64Array};
use arrow::datatypes::Schema;
use basalt_analyzer::{TableColumn, TableEntry};
use basalt_error::{Error, Result};
use basalt_exec::scan::NumbersKind;
use basalt_functions::registry::nearest;
use basalt_types::DataType;

use crate::catalog::unknown_table;
use crate::environment::QueryEnvironment;
use crate::statement::result::strings;
use crate::table_function;

/// Makes one table.
type MakeTable = fn(&QueryEnvironment<'_>) -> Result<TableEntry>;

/// Every table of `system`, by name.
pub(crate) const TABLES: &[(&str, MakeTable)] = &[
    ("adaptive_choices", adaptation::adaptive_choices),
    ("aggregate_function_combinators", functions::combinators),
    ("build_options", facts::build_options),
    ("columns", objects::columns),
    ("contributors", facts::contributors),
    ("cpu", adaptation::cpu),
    ("data_type_families", facts::data_type_families),
    ("databases", objects::databases),
    ("errors", facts::errors),
    ("formats", facts::formats),
    ("functions", functions::functions),
    ("keywords", facts::keywords),
    ("numbers", |_| Ok(numbers(false))),
    ("numbers_mt", |_| Ok(numbers(true))),
    ("one", |_| one()),
    ("settings", facts::settings),
    ("table_engines", facts::table_engines),
    ("table_functions", functions::table_functions),
    ("tables", objects::tables),
    ("time_zones", facts::time_zones),
    ("zeros", |_| Ok(zeros(false))),
    ("zeros_mt", |_| Ok(zeros(true))),
];

/// The table of that name.
pub(crate) fn table(
    environment: &QueryEnvironment<'_>,
    database: &str,
    name: &str,
) -> Result<TableEntry> {
    let found = TABLES
        .iter()
        .find(|(n, _)| *n == name && database == "system");
    match found {
        Some((_, make)) => make(environment),
        None => {
            let near = nearest(name, TABLES.iter().map(|(n, _)| *n));
            Err(unknown_table(database, name, &near))
        }
    }
}

fn numbers(is_parallel: bool) -> TableEntry {
    let kind = NumbersKind::Numbers { start: 0, step: 1 };
    table_function::numbers(kind, u64::MAX, is_parallel, "number")
}

fn zeros(is_parallel: bool) -> TableEntry {
    table_function::numbers(NumbersKind::Zeros, u64::MAX, is_parallel, "zero")
}

/// The columns of a table under construction, all of the same length.
#[derive(Default)]
pub(crate) struct Rows {
    columns: Vec<TableColumn>,
    arrays: Vec<ArrayRef>,
}

impl Rows {
    /// Adds a `String` column.
    pub(crate) fn text<S: AsRef<[u8]>>(
        mut self,
        name: &str,
        values: impl IntoIterator<Item = S>,
    ) -> Self {
        self.columns.push(TableColumn::new(name, DataType::String));
        self.arrays.push(strings(values));
        self
    }

    /// Adds a `UInt8` column of flags.
    pub(crate) fn flag(mut self, name: &str, values: impl IntoIterator<Item = bool>) -> Self {
        self.columns.push(TableColumn::new(name, DataType::UInt8));
        self.arrays.push(Arc::new(UInt8Array::from_iter_values(
            values.into_iter().map(u8::from),
        )));
        self
    }

    /// Adds a `UInt64` column.
    pub(crate) fn number(mut self, name: &str, values: impl IntoIterator<Item = u64>) -> Self {
        self.columns.push(TableColumn::new(name, DataType::UInt64));
        self.arrays
            .push(Arc::new(UInt64Array::from_iter_values(values)));
        self
    }

    /// Adds a `Nullable(Float64)` column.
    pub(crate) fn measure(
        mut self,
        name: &str,
        values: impl IntoIterator<Item = Option<f64>>,
    ) -> Self {
        let data_type = DataType::Float64.to_nullable();
        self.columns.push(TableColumn::new(name, data_type));
        self.arrays.push(Arc::new(Float64Array::from_iter(values)));
        self
    }

    /// Adds a `Nullable(UInt64)` column.
    pub(crate) fn maybe(
        mut self,
        name: &str,
        values: impl IntoIterator<Item = Option<u64>>,
    ) -> Self {
        let data_type = DataType::UInt64.to_nullable();
        self.columns.push(TableColumn::new(name, data_type));
        self.arrays.push(Arc::new(UInt64Array::from_iter(values)));
        self
    }

    /// The table.
    pub(crate) fn table(self) -> Result<TableEntry> {
        let fields: Vec<_> = self
            .columns
            .iter()
            .map(|c| c.data_type.field(&c.name))
            .collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), self.arrays)
            .map_err(|e| Error::bug(e.to_string()))?;
        Ok(table_function::batches(self.columns, vec![batch]))
    }
}

fn one() -> Result<TableEntry> {
    Rows::default().flag("dummy", [false]).table()
}
