//! Answers what the analyzer asks while it plans a query of a session.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use basalt_analyzer::{ConstantArg, Environment, QuerySettings, TableColumn, TableEntry};
use basalt_error::{Error, ErrorCode, Result};
use basalt_exec::scan::{BatchesTable, FinalTable, MappedTable, MergeTreeTable, SourceTable};
use basalt_functions::Context;
use basalt_parser::ast;
use basalt_storage::MemoryRows;
use datafusion::logical_expr::LogicalPlan;

use crate::catalog::{Engine, SYSTEM_DATABASES, Table};
use crate::database::Database;
use crate::execution::Execution;
use crate::settings::Settings;
use crate::{system, table_function};

/// A session's side of one query.
pub(crate) struct QueryEnvironment<'a> {
    pub(crate) database: &'a Arc<Database>,
    pub(crate) settings: &'a Settings,
    pub(crate) context: Context,
    pub(crate) parameters: &'a BTreeMap<String, String>,
    pub(crate) temporary: &'a BTreeMap<String, Arc<Table>>,
    pub(crate) execution: Execution,
}

impl Environment for QueryEnvironment<'_> {
    fn table(&self, name: &ast::ObjectName, own: Option<&QuerySettings>) -> Result<TableEntry> {
        if let Some(own) = own {
            let settings = changed_settings(&own.changed)?;
            return self.under(&settings, own).table(name, None);
        }
        if name.database.is_none()
            && let Some(table) = self.temporary.get(&name.name)
        {
            return self.entry(table);
        }
        let database = name.database.as_deref().unwrap_or(&self.context.database);
        if SYSTEM_DATABASES.contains(&database) {
            return system::table(self, database, &name.name);
        }
        let table = self.database.catalog.table(database, &name.name)?;
        self.entry(&table)
    }

    fn final_table(&self, name: &ast::ObjectName) -> Result<Option<TableEntry>> {
        let temporary = self.temporary.get(&name.name);
        let temporary = temporary
            .filter(|_| name.database.is_none())
            .map(Arc::clone);
        let database = name.database.as_deref().unwrap_or(&self.context.database);
        let table = match temporary {
            Some(table) => table,
            None if SYSTEM_DATABASES.contains(&database) => return Ok(None),
            None => self.database.catalog.table(database, &name.name)?,
        };
        let Some(on_disk) = table.merge_tree() else {
            return Ok(None);
        };
        if on_disk.storage.layout().combine.is_none() {
            return Ok(None);
        }
        let storage = &on_disk.storage;
        let keys = on_disk.key_exprs();
        let rows = FinalTable::new(Arc::clone(storage), storage.parts()?, keys);
        Ok(Some(self.with_shown(TableEntry::Table {
            provider: Arc::new(SourceTable(rows)),
            columns: readable(&table),
        })))
    }

    fn table_function(
        &self,
        name: &str,
        args: &[ConstantArg],
        own: Option<&QuerySettings>,
    ) -> Result<TableEntry> {
        let Some(own) = own else {
            return table_function::call(self, name, args);
        };
        let settings = changed_settings(&own.changed)?;
        table_function::call(&self.under(&settings, own), name, args)
    }

    fn explain(&self, words: &str, settings: &str, query: &ast::Query) -> Result<TableEntry> {
        let text = format!("{words} {settings} SELECT 1");
        // What takes no statement has none behind it.
        let parsed = basalt_parser::parse_statement(&text)
            .or_else(|_| basalt_parser::parse_statement(words))?;
        let ast::Statement::Explain(mut explain) = parsed.statement else {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!("Begin with EXPLAIN: '{words}' explains nothing"),
            ));
        };
        if explain.statement.is_some() {
            let query = ast::Statement::Query(Box::new(query.clone()));
            explain.statement = Some(Box::new(query));
        }
        crate::statement::explain::table(self, &explain)
    }

    fn run(&self, plan: LogicalPlan) -> Result<Vec<RecordBatch>> {
        self.execution.collect(&plan)
    }

    fn sql_function(&self, name: &str) -> Option<Arc<ast::Lambda>> {
        self.database.sql_functions.read().get(name).map(Arc::clone)
    }

    fn has_prewhere(&self, name: &ast::ObjectName) -> bool {
        let temporary = self.temporary.get(&name.name);
        let temporary = temporary
            .filter(|_| name.database.is_none())
            .map(Arc::clone);
        let database = name.database.as_deref().unwrap_or(&self.context.database);
        let table = temporary.or_else(|| self.database.catalog.find(database, &name.name));
        table.is_some_and(|table| table.merge_tree().is_some())
    }

    fn parameter(&self, name: &str) -> Option<String> {
        self.parameters.get(name).cloned()
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn settings(&self) -> &BTreeMap<String, String> {
        self.settings.changed()
    }

    fn own_settings(
        &self,
        around: &BTreeMap<String, String>,
        own: &[ast::Setting],
    ) -> Result<QuerySettings> {
        let mut settings = changed_settings(around)?;
        for setting in own {
            crate::statement::set::apply(&mut settings, setting)?;
        }
        Ok(QuerySettings {
            changed: settings.changed().clone(),
            context: Context {
                settings: settings.values(),
                ..self.context.clone()
            },
        })
    }

    fn flag(&self, setting: &str) -> bool {
        self.settings.flag(setting)
    }

    fn number(&self, setting: &str) -> u64 {
        self.settings.number(setting)
    }
}

/// The settings with those that are not at their defaults.
fn changed_settings(changed: &BTreeMap<String, String>) -> Result<Settings> {
    let mut settings = Settings::default();
    for (name, value) in changed {
        settings.set(name, value)?;
    }
    Ok(settings)
}

impl QueryEnvironment<'_> {
    /// The same for a subquery with settings of its own.
    fn under<'b>(&'b self, settings: &'b Settings, own: &QuerySettings) -> QueryEnvironment<'b> {
        QueryEnvironment {
            database: self.database,
            settings,
            context: own.context.clone(),
            parameters: self.parameters,
            temporary: self.temporary,
            execution: self.execution.clone(),
        }
    }

    /// A table of the catalog, by the settings.
    fn entry(&self, table: &Table) -> Result<TableEntry> {
        let is_cached = self.settings.flag("use_uncompressed_cache");
        entry(table, is_cached).map(|entry| self.with_shown(entry))
    }

    /// The table with the columns that `*` shows by settings.
    fn with_shown(&self, mut entry: TableEntry) -> TableEntry {
        let materialized = self.settings.flag("asterisk_include_materialized_columns");
        let aliases = self.settings.flag("asterisk_include_alias_columns");
        if let TableEntry::Table { columns, .. } = &mut entry {
            for column in columns.iter_mut().filter(|c| c.hidden) {
                column.hidden = match column.alias {
                    Some(_) => !aliases,
                    None => !materialized,
                };
            }
        }
        entry
    }
}

/// The columns that queries see.
fn readable(table: &Table) -> Vec<TableColumn> {
    // An EPHEMERAL column has a value only while rows are inserted.
    let readable = table.columns.iter().filter(|c| {
        let kind = c.default.as_ref().map(|d| d.kind);
        kind != Some(ast::DefaultKind::Ephemeral)
    });
    readable.map(|c| c.column.clone()).collect()
}

/// What a table of the catalog is to a query.
fn entry(table: &Table, is_cached: bool) -> Result<TableEntry> {
    let columns = readable(table);
    Ok(match &table.engine {
        Engine::Memory(memory) => {
            let MemoryRows { batches, extremes } = memory.rows();
            let table = BatchesTable {
                schema: Arc::clone(memory.schema()),
                batches,
                extremes: Some(extremes),
            };
            TableEntry::Table {
                provider: Arc::new(SourceTable(table)),
                columns,
            }
        }
        Engine::MergeTree(table) => TableEntry::Table {
            provider: Arc::new(SourceTable(MergeTreeTable::new(
                Arc::clone(&table.storage),
                table.storage.parts()?,
                table.key_exprs(),
                is_cached,
            ))),
            columns,
        },
        Engine::Mmap(table) => TableEntry::Table {
            provider: Arc::new(SourceTable(MappedTable(table.storage.snapshot()?))),
            columns,
        },
        Engine::Null => {
            let fields: Vec<_> = columns
                .iter()
                .filter(|c| c.alias.is_none())
                .map(|c| c.data_type.field(&c.name))
                .collect();
            let schema = Arc::new(arrow::datatypes::Schema::new(fields));
            let table = BatchesTable {
                schema,
                batches: Arc::default(),
                extremes: None,
            };
            TableEntry::Table {
                provider: Arc::new(SourceTable(table)),
                columns,
            }
        }
        Engine::View(query) => TableEntry::View(Arc::clone(query)),
        Engine::Function(table) => TableEntry::View(Arc::clone(&table.query)),
    })
}
