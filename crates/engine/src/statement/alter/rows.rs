//! Rows as a table under a name that nobody writes: of a part, or none, to see what expressions over a table make of them.

use std::sync::Arc;

use arrow::datatypes::Schema;
use basalt_error::Result;
use basalt_parser::ast::{Expr, ObjectName};
use basalt_storage::MemoryTable;

use super::{select, set_alias};
use crate::catalog::{ColumnDefinition, Engine, Table};
use crate::session::{RunningQuery, Session};
use crate::statement::columns::stored;
use crate::statement::query;

const NAME: &str = "rows of a table";

/// Calls `use_rows` while the session has a table of such rows, with its name.
pub(in crate::statement) fn with_rows<T>(
    session: &mut Session,
    (memory, columns): (MemoryTable, Vec<ColumnDefinition>),
    use_rows: impl FnOnce(&Session, &ObjectName) -> Result<T>,
) -> Result<T> {
    let rows = Table {
        columns,
        engine: Engine::Memory(Arc::new(memory)),
        create_sql: String::new(),
        comment: String::new(),
        is_temporary: true,
    };
    let replaced = session.temporary.insert(NAME.to_owned(), Arc::new(rows));
    let result = use_rows(session, &ObjectName::bare(NAME));
    session.temporary.remove(NAME);
    if let Some(replaced) = replaced {
        session.temporary.insert(NAME.to_owned(), replaced);
    }
    result
}

/// The same while it has no rows.
pub(in crate::statement) fn with_no_rows<T>(
    session: &mut Session,
    columns: &[ColumnDefinition],
    use_rows: impl FnOnce(&Session, &ObjectName) -> Result<T>,
) -> Result<T> {
    let fields = stored(columns).map(|c| c.column.data_type.field(&c.column.name));
    let memory = MemoryTable::new(Arc::new(Schema::new(fields.collect::<Vec<_>>())));
    with_rows(session, (memory, columns.to_vec()), use_rows)
}

/// Finds what is wrong with expressions over a table of such a name and columns, also if it has no rows.
pub(in crate::statement) fn planned_over(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, columns): (&ObjectName, &[ColumnDefinition]),
    exprs: Vec<Expr>,
) -> Result<()> {
    with_no_rows(session, columns, |session, rows| {
        let mut select = select(rows, exprs, None);
        set_alias(&mut select, &name.name);
        query::plan(session, query, &select).map(|_| ())
    })
}
