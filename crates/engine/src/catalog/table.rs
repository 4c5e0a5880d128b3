//! Knows tables, views and their columns as the catalog names them.

use std::sync::Arc;

use basalt_analyzer::TableColumn;
use basalt_parser::ast;
use basalt_storage::MemoryTable;

use crate::merge_tree::MergeTreeTable;
use crate::on_disk::{MmapTable, OnDisk};

/// A table or view.
#[derive(Clone, Debug)]
pub struct Table {
    /// Columns as declared or as the query gave them.
    pub columns: Vec<ColumnDefinition>,
    /// What holds the rows.
    pub engine: Engine,
    /// The statement that made it, for SHOW CREATE.
    pub create_sql: String,
    /// COMMENT of the table.
    pub comment: String,
    /// Whether only its session sees it.
    pub is_temporary: bool,
}

impl Table {
    /// Number of rows, where the table knows it.
    pub fn num_rows(&self) -> Option<usize> {
        match &self.engine {
            Engine::Memory(memory) => Some(memory.num_rows()),
            Engine::MergeTree(table) => table.storage.num_rows(),
            Engine::Mmap(table) => table.storage.num_rows(),
            Engine::Null => Some(0),
            Engine::View(_) | Engine::Function(_) => None,
        }
    }

    /// Whether it keeps rows that outlive the process.
    pub(crate) fn has_own_data(&self) -> bool {
        self.on_disk().is_some()
    }

    /// The table with another name in the statement that makes it.
    pub(super) fn renamed(&self, (database, name): (&str, &str)) -> Self {
        let mut table = self.clone();
        let Ok(parsed) = basalt_parser::parse_statement(&self.create_sql) else {
            return table;
        };
        let mut statement = parsed.statement;
        let object = match &mut statement {
            ast::Statement::CreateTable(create) => &mut create.name,
            ast::Statement::CreateView(create) => &mut create.name,
            _ => return table,
        };
        object.database = Some(database.to_owned());
        name.clone_into(&mut object.name);
        table.create_sql = basalt_parser::format_statement(&statement);
        table
    }

    /// Whether another definition is of the same table.
    pub(super) fn is_same(&self, other: &Table) -> bool {
        let uuid = |table| OnDisk::of(table).map(OnDisk::uuid);
        self.create_sql == other.create_sql && uuid(self) == uuid(other)
    }

    /// The table as one with a folder of its own, if it has one.
    pub(crate) fn on_disk(&self) -> Option<OnDisk<'_>> {
        OnDisk::of(self)
    }

    /// The MergeTree table, if it is one.
    pub(crate) fn merge_tree(&self) -> Option<&Arc<MergeTreeTable>> {
        match &self.engine {
            Engine::MergeTree(table) => Some(table),
            _ => None,
        }
    }
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct ColumnDefinition {
    /// Name, type and ALIAS expression, as queries see it.
    pub column: TableColumn,
    /// DEFAULT, MATERIALIZED, ALIAS or EPHEMERAL with its expression.
    pub default: Option<ast::ColumnDefault>,
    /// COMMENT of the column.
    pub comment: String,
    /// CODEC as written.
    pub codec: String,
    /// TTL as written.
    pub ttl: String,
    /// The function of a SimpleAggregateFunction.
    pub simple_aggregate: Option<String>,
}

impl ColumnDefinition {
    /// The type as it was declared.
    pub fn declared_type(&self) -> String {
        let data_type = self.column.data_type.pretty_name();
        match &self.simple_aggregate {
            Some(function) => format!("SimpleAggregateFunction({function}, {data_type})"),
            None => data_type,
        }
    }

    /// The expression of its default; EPHEMERAL alone has the type's.
    pub fn default_expression(&self) -> String {
        let Some(default) = &self.default else {
            return String::new();
        };
        match &default.expr {
            Some(expr) => basalt_parser::format_expr(expr),
            None => {
                let name = self.column.data_type.to_string();
                let name = name.replace('\\', "\\\\").replace('\'', "\\'");
                format!("defaultValueOfTypeName('{name}')")
            }
        }
    }

    /// A column without default.
    pub fn new(column: TableColumn) -> Self {
        Self {
            column,
            default: None,
            comment: String::new(),
            codec: String::new(),
            ttl: String::new(),
            simple_aggregate: None,
        }
    }
}

/// What holds a table's rows.
#[derive(Clone, Debug)]
pub enum Engine {
    /// Batches in memory.
    Memory(Arc<MemoryTable>),
    /// Sorted parts on disk.
    MergeTree(Arc<MergeTreeTable>),
    /// Raw columns in files that are mapped.
    Mmap(Arc<MmapTable>),
    /// Nothing: what is inserted is gone.
    Null,
    /// A view's query.
    View(Arc<ast::Query>),
    /// A table function, run at each read.
    Function(Arc<FunctionTable>),
}

/// A table that is a table function.
#[derive(Debug)]
pub struct FunctionTable {
    /// The call.
    pub function: ast::TableFunction,
    /// The query of its rows.
    pub query: Arc<ast::Query>,
}

impl FunctionTable {
    /// The name of the engine behind the function.
    fn engine_name(&self) -> &'static str {
        match self.function.name.as_str() {
            "numbers" | "numbers_mt" | "generateSeries" | "generate_series" => "SystemNumbers",
            "zeros" | "zeros_mt" => "SystemZeros",
            "primes" => "SystemPrimes",
            "generateRandom" => "GenerateRandom",
            "values" => "Values",
            "file" => "File",
            _ => "Proxy",
        }
    }
}

impl Engine {
    /// Name as `system.tables` shows it.
    pub fn name(&self) -> &'static str {
        match self {
            Engine::Memory(_) => "Memory",
            Engine::MergeTree(table) => table.kind,
            Engine::Mmap(_) => "Mmap",
            Engine::Null => "Null",
            Engine::View(_) => "View",
            Engine::Function(table) => table.engine_name(),
        }
    }
}
