//! Runs SHOW, DESCRIBE and EXISTS; most of SHOW is a query of the tables of `system`.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{
    self, Describe, Exists, ObjectKind, Show, ShowFilter, ShowKind, TableSource,
};
use basalt_types::DataType;

use super::create::no_statement;
use super::query;
use super::result::{one_number, strings, write_rows};
use crate::catalog::{ColumnDefinition, SYSTEM_DATABASES};
use crate::session::{Io, RunningQuery, Session, Summary};
use crate::system::information_schema;

/// `SHOW …`
pub(crate) fn show(
    session: &Session,
    query: &RunningQuery<'_>,
    show: &Show,
    io: Io<'_>,
) -> Result<Summary> {
    if let ShowKind::Create { object, name, .. } = &show.kind {
        let column = (
            "statement",
            DataType::String,
            strings([create_sql(session, *object, name)?]),
        );
        return write_rows(session, query, vec![column], &show.output, io);
    }
    let Listing {
        columns,
        from,
        condition,
    } = listing(session, &show.kind)?;
    let conditions = condition
        .into_iter()
        .chain(show.filter.as_ref().map(filter_condition));
    let conditions: Vec<String> = conditions.collect();
    let mut sql = format!("SELECT {columns} FROM {from}");
    if !conditions.is_empty() {
        sql.push_str(&format!(" WHERE {}", conditions.join(" AND ")));
    }
    sql.push_str(" ORDER BY 1");
    if let Some(limit) = &show.limit {
        sql.push_str(&format!(" LIMIT {}", basalt_parser::format_expr(limit)));
    }
    let mut select = query::parse_query(&sql)?;
    select.output = show.output.clone();
    query::run(session, query, &select, io)
}

/// The query of a table of `system` that a `SHOW` stands for.
struct Listing {
    columns: &'static str,
    from: &'static str,
    condition: Option<String>,
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn listing(session: &Session, kind: &ShowKind) -> Result<Listing> {
    let (columns, from, condition) = match kind {
        ShowKind::Databases => ("name", "system.databases", None),
        ShowKind::Tables {
            full,
            temporary,
            database,
            ..
        } => {
            let columns = if *full {
                "name, engine AS table_type"
            } else {
                "name"
            };
            let condition = if *temporary {
                "is_temporary".to_owned()
            } else {
                let database = database.as_deref().unwrap_or(&session.current_database);
                if !session.database.catalog.has_database(database) {
                    return Err(session.database.catalog.unknown_database(database));
                }
                format!("database = {}", quoted(database))
            };
            (columns, "system.tables", Some(condition))
        }
        ShowKind::Columns { table, .. } => {
            let condition = format!(
                "database = {} AND table = {}",
                quoted(&session.database_of(table)),
                quoted(&table.name)
            );
            let columns = "name AS field, type, if(startsWith(type, 'Nullable'), 'YES', 'NO') AS null, \
                           concat(if(is_in_primary_key, 'PRI', ''), if(is_in_primary_key AND is_in_sorting_key, ' ', ''), \
                           if(is_in_sorting_key, 'SOR', '')) AS key, nullIf(default_expression, '') AS default, '' AS extra";
            (columns, "system.columns", Some(condition))
        }
        ShowKind::Functions => ("*", "system.functions", None),
        ShowKind::Settings { changed } => (
            "name, type, value",
            "system.settings",
            changed.then(|| "changed".to_owned()),
        ),
        ShowKind::Setting(name) => (
            "value",
            "system.settings",
            Some(format!("name = {}", quoted(name))),
        ),
        ShowKind::ProcessList => ("*", "system.processes", None),
        ShowKind::Engines => ("*", "system.table_engines", None),
        other => return empty_listing(other),
    };
    Ok(Listing {
        columns,
        from,
        condition,
    })
}

/// The query of what Basalt has none of.
fn empty_listing(kind: &ShowKind) -> Result<Listing> {
    let (columns, from, condition) = match kind {
        ShowKind::Dictionaries { .. } => ("name", "system.dictionaries", None),
        ShowKind::Clusters => ("cluster", "system.clusters", None),
        ShowKind::Cluster(name) => (
            "cluster, shard_num, replica_num, host_name, host_address, port",
            "system.clusters",
            Some(format!("cluster = {}", quoted(name))),
        ),
        ShowKind::Merges => (
            "table, database, NULL::Nullable(Float64) AS estimate_complete, elapsed, progress, \
             is_mutation, '' AS size_compressed, '' AS memory_usage",
            "system.merges",
            None,
        ),
        unsupported => return Err(Error::not_implemented(construct(unsupported))),
    };
    Ok(Listing {
        columns,
        from,
        condition,
    })
}

/// What an error calls a kind of `SHOW` that lists nothing here.
fn construct(kind: &ShowKind) -> &str {
    match kind {
        ShowKind::Indexes { .. } => "SHOW INDEXES",
        ShowKind::Other(tokens) => &tokens.construct,
        _ => "SHOW",
    }
}

/// `LIKE`, `WHERE` of a `SHOW` as a condition on its listing.
fn filter_condition(filter: &ShowFilter) -> String {
    match filter {
        ShowFilter::Like {
            not,
            case_insensitive,
            pattern,
        } => {
            let operator = match (not, case_insensitive) {
                (false, false) => "LIKE",
                (true, false) => "NOT LIKE",
                (false, true) => "ILIKE",
                (true, true) => "NOT ILIKE",
            };
            let pattern = String::from_utf8_lossy(pattern);
            format!("name {operator} {}", quoted(&pattern))
        }
        ShowFilter::Where(expr) => format!("({})", basalt_parser::format_expr(expr)),
    }
}

/// The statement that makes an object.
fn create_sql(session: &Session, object: ObjectKind, name: &ast::ObjectName) -> Result<String> {
    if object != ObjectKind::Database {
        let database = session.database_of(name);
        let is_own = name.database.is_none() && session.temporary.contains_key(&name.name);
        if is_own || !SYSTEM_DATABASES.contains(&database.as_str()) {
            let table = session.find_table(name).map_err(no_statement)?;
            return Ok(table.create_sql.clone());
        }
        if database == "system" {
            return Err(Error::new(
                ErrorCode::UNKNOWN_TABLE,
                format!("Use DESCRIBE: no statement made {}.{}", database, name.name),
            ));
        }
        let statement = information_schema::create_statement(&database, &name.name)?;
        return Ok(basalt_parser::format_statement(&statement));
    }
    if !session.database.catalog.has_database(&name.name) {
        return Err(session.database.catalog.unknown_database(&name.name));
    }
    // The first database was there before any statement.
    let engine = if name.name == "default" {
        ""
    } else {
        "\nENGINE = Memory"
    };
    let comment = match session.database.catalog.comment(&name.name) {
        none if none.is_empty() => String::new(),
        comment => {
            let literal = ast::Expr::string(&comment);
            format!("\nCOMMENT {}", basalt_parser::format_expr(&literal))
        }
    };
    Ok(format!("CREATE DATABASE {}{engine}{comment}", name.name))
}

/// `DESCRIBE TABLE …`: exactly ClickHouse's seven columns.
pub(crate) fn describe(
    session: &Session,
    query: &RunningQuery<'_>,
    describe: &Describe,
    io: Io<'_>,
) -> Result<Summary> {
    let columns = described_columns(session, query, describe)?;
    let of = |f: &dyn Fn(&ColumnDefinition) -> String| strings(columns.iter().map(f));
    let rows = vec![
        ("name", DataType::String, of(&|c| c.column.name.clone())),
        ("type", DataType::String, of(&|c| c.declared_type())),
        (
            "default_type",
            DataType::String,
            of(&|c| default_kind(c).to_owned()),
        ),
        (
            "default_expression",
            DataType::String,
            of(&|c| c.default_expression()),
        ),
        ("comment", DataType::String, of(&|c| c.comment.clone())),
        (
            "codec_expression",
            DataType::String,
            of(&|c| {
                let steps = c.codec.strip_prefix("CODEC(");
                let steps = steps.and_then(|s| s.strip_suffix(')'));
                steps.unwrap_or_default().to_owned()
            }),
        ),
        ("ttl_expression", DataType::String, of(&|c| c.ttl.clone())),
    ];
    let num_columns = if query.settings.flag("describe_compact_output") {
        2
    } else {
        rows.len()
    };
    let rows = rows.into_iter().take(num_columns).collect();
    write_rows(session, query, rows, &describe.output, io)
}

/// `DEFAULT`, `MATERIALIZED`, … or nothing.
pub(crate) fn default_kind(column: &ColumnDefinition) -> &'static str {
    match column.default.as_ref().map(|d| d.kind) {
        None => "",
        Some(ast::DefaultKind::Default) => "DEFAULT",
        Some(ast::DefaultKind::Materialized) => "MATERIALIZED",
        Some(ast::DefaultKind::Alias) => "ALIAS",
        Some(ast::DefaultKind::Ephemeral) => "EPHEMERAL",
    }
}

fn described_columns(
    session: &Session,
    query: &RunningQuery<'_>,
    describe: &Describe,
) -> Result<Vec<ColumnDefinition>> {
    if let TableSource::Table(name) = &describe.table.source
        && !SYSTEM_DATABASES.contains(&session.database_of(name).as_str())
    {
        return Ok(session.find_table(name)?.columns.clone());
    }
    let select = ast::Select {
        columns: vec![all_columns()],
        from: vec![ast::FromElement::Table {
            join: None,
            table: Box::new(describe.table.clone()),
        }],
        ..ast::Select::default()
    };
    let select = ast::Query::new(ast::SetExpr::Select(Box::new(select)));
    let environment = session.environment(query);
    let planned = query.analyzer(&environment).plan(&select)?;
    let column = |c: basalt_analyzer::OutputColumn| {
        ColumnDefinition::new(basalt_analyzer::TableColumn::new(c.name, c.data_type))
    };
    Ok(planned.columns.into_iter().map(column).collect())
}

fn all_columns() -> ast::Expr {
    let matcher = ast::ColumnMatcher {
        qualifier: None,
        pattern: ast::MatcherPattern::All,
        transformers: Vec::new(),
    };
    ast::Expr::new(
        ast::ExprKind::Matcher(Box::new(matcher)),
        ast::Span::default(),
    )
}

/// `EXISTS TABLE | DATABASE …`: 1 or 0.
pub(crate) fn exists(
    session: &Session,
    query: &RunningQuery<'_>,
    exists: &Exists,
    io: Io<'_>,
) -> Result<Summary> {
    let is_there = match exists.kind {
        ObjectKind::Database => session.database.catalog.has_database(&exists.name.name),
        ObjectKind::Table if exists.temporary => session.temporary.contains_key(&exists.name.name),
        ObjectKind::View if session.has_table(&exists.name) => {
            use basalt_analyzer::{Environment, TableEntry};
            let entry = session.environment(query).table(&exists.name, None)?;
            matches!(entry, TableEntry::View(_))
        }
        ObjectKind::Table => session.has_table(&exists.name),
        _ => false,
    };
    let column = ("result", DataType::UInt8, one_number(u8::from(is_there)));
    write_rows(session, query, vec![column], &exists.output, io)
}
