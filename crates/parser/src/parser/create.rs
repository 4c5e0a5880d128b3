//! Parses CREATE, ATTACH and REPLACE of tables, databases and functions.

use basalt_error::Result;

use super::Parser;
use crate::ast::{
    CreateDatabase, CreateFunction, CreateIndex, CreateTable, Expr, ExprKind, ObjectName,
    OutputOptions, Query, Statement, Storage, TableOverride,
};
use crate::lexer::TokenKind as K;

/// The words before the kind of what is created.
#[derive(Clone, Debug)]
pub(super) struct CreateStart {
    pub(super) attach: bool,
    pub(super) or_replace: bool,
    pub(super) replace_only: bool,
    pub(super) temporary: bool,
    /// `DEFINER` and `SQL SECURITY` of a view.
    pub(super) security: Option<String>,
}

/// Objects that keep their tokens.
const TOKEN_OBJECTS: &[&str] = &[
    "USER",
    "ROLE",
    "ROW POLICY",
    "POLICY",
    "QUOTA",
    "SETTINGS PROFILE",
    "PROFILE",
    "NAMED COLLECTION",
    "DICTIONARY",
    "MASKING POLICY",
    "HANDLER",
];

impl Parser<'_> {
    pub(super) fn create(&mut self) -> Result<Statement> {
        if let Some(statement) = self.access_statement()? {
            return Ok(statement);
        }
        if let Some(statement) = self.create_dictionary()? {
            return Ok(statement);
        }
        let mark = self.mark();
        let attach = self.keyword("ATTACH");
        let create = !attach && self.keyword("CREATE");
        let replace = if create {
            self.keyword("OR REPLACE")
        } else {
            self.keyword("REPLACE")
        };
        let start = CreateStart {
            attach,
            or_replace: create && replace,
            replace_only: !create && replace,
            temporary: self.keyword("TEMPORARY"),
            security: match self.at_security(0) {
                true => Some(self.sql_security()?),
                false => None,
            },
        };
        if start.security.is_some() {
            return match self.view_kind() {
                Some(kind) => self.create_view(start, kind),
                None => Err(self.failure()),
            };
        }
        if self.keyword("TABLE") {
            return self.create_table(start);
        }
        if !start.or_replace && !start.replace_only && self.keyword("DATABASE") {
            return self.create_database(start);
        }
        if self.keyword("FUNCTION") {
            return self.create_function(start);
        }
        if !start.attach && !start.replace_only && !start.temporary {
            if let Some(statement) = self.create_workload(start.or_replace)? {
                return Ok(statement);
            }
            let unique = self.keyword("UNIQUE INDEX");
            if unique || self.keyword("INDEX") {
                return self.create_index(unique);
            }
        }
        if let Some(kind) = self.view_kind() {
            return self.create_view(start, kind);
        }
        for words in TOKEN_OBJECTS {
            if self.peek_keyword(words) {
                self.back(mark);
                return self.tokens(&format!("CREATE {words}"));
            }
        }
        Err(self.failure())
    }

    fn create_table(&mut self, start: CreateStart) -> Result<Statement> {
        let if_not_exists = self.keyword("IF NOT EXISTS");
        let name = self.object_name("table name")?;
        let mut table = CreateTable {
            attach: start.attach,
            or_replace: start.or_replace,
            replace_only: start.replace_only,
            temporary: start.temporary,
            if_not_exists,
            name,
            uuid: self.uuid()?,
            cluster: None,
            attach_from: None,
            schema: None,
            as_table: None,
            clone_as: false,
            as_function: None,
            storage: Storage::default(),
            empty: false,
            query: None,
            comment: None,
            output: OutputOptions::default(),
        };
        table.cluster = self.on_cluster()?;
        if start.attach && self.keyword("FROM") {
            table.attach_from = Some(self.text_string("path")?);
        }
        if self.kind() == K::OpenRound && !self.at_query_or_parentheses() {
            table.schema = Some(self.table_schema(&mut table.storage, true)?);
        }
        self.storage(&mut table.storage)?;
        table.comment = self.comment()?;
        self.table_source_clause(&mut table)?;
        if table.comment.is_none() {
            table.comment = self.comment()?;
        }
        table.output = self.output_options()?;
        // FORMAT and SETTINGS of `AS SELECT` are the statement's.
        Ok(Statement::CreateTable(Box::new(table)))
    }

    /// `AS table`, `AS function(..)`, `AS SELECT ..`, `CLONE AS table`, `EMPTY AS SELECT ..`
    fn table_source_clause(&mut self, table: &mut CreateTable) -> Result<()> {
        if table.schema.is_none() && self.keyword("CLONE AS") {
            table.clone_as = true;
            table.as_table = Some(self.object_name("table")?);
            return self.storage(&mut table.storage);
        }
        table.empty = self.keyword("EMPTY");
        if table.empty {
            self.expect_keyword("AS")?;
        } else if !self.keyword("AS") && !self.at_query_or_parentheses() {
            return Ok(());
        }
        if self.at_query_or_parentheses() {
            table.query = Some(Box::new(Query::new(self.query_body()?)));
            return Ok(());
        }
        let start = self.start_span();
        let name = self.object_name("table, table function or SELECT")?;
        if name.database.is_none() && self.kind() == K::OpenRound {
            table.as_function = Some(self.table_function(name.name, start)?);
            return Ok(());
        }
        if table.schema.is_some() {
            return self.fail("table function or SELECT, as the columns are given");
        }
        table.as_table = Some(name);
        self.storage(&mut table.storage)
    }

    pub(super) fn uuid(&mut self) -> Result<Option<String>> {
        if !self.keyword("UUID") {
            return Ok(None);
        }
        self.text_string("UUID in single quotes").map(Some)
    }

    pub(super) fn comment(&mut self) -> Result<Option<Vec<u8>>> {
        if !self.keyword("COMMENT") {
            return Ok(None);
        }
        self.string("comment in single quotes").map(Some)
    }

    fn create_database(&mut self, start: CreateStart) -> Result<Statement> {
        let if_not_exists = self.keyword("IF NOT EXISTS");
        let (name, name_is_parameter) = self.name_or_parameter("database name")?;
        let name = ObjectName {
            name,
            name_is_parameter,
            span: self.last_span(),
            ..ObjectName::default()
        };
        let uuid = self.uuid()?;
        let cluster = self.on_cluster()?;
        let mut storage = Storage::default();
        self.storage(&mut storage)?;
        let table_overrides = match self.peek_keyword("TABLE OVERRIDE") {
            true => self.list(Self::table_override)?,
            false => Vec::new(),
        };
        let comment = self.comment()?;
        let output = self.output_options()?;
        let attach = start.attach;
        let database = CreateDatabase {
            attach,
            if_not_exists,
            name,
            uuid,
            cluster,
            storage,
            table_overrides,
            comment,
            output,
        };
        Ok(Statement::CreateDatabase(Box::new(database)))
    }

    /// `TABLE OVERRIDE t ([COLUMNS (..)] [ORDER BY ..] ..)`
    fn table_override(&mut self) -> Result<TableOverride> {
        self.expect_keyword("TABLE OVERRIDE")?;
        let name = self.identifier("table")?;
        self.expect_symbol(K::OpenRound)?;
        let mut storage = Storage::default();
        let schema = match self.keyword("COLUMNS") {
            true => Some(self.table_schema(&mut storage, true)?),
            false => None,
        };
        self.storage(&mut storage)?;
        self.expect_symbol(K::CloseRound)?;
        Ok(TableOverride {
            name,
            schema,
            storage,
        })
    }

    /// `[IF NOT EXISTS] i ON t (a, b) [TYPE x] [GRANULARITY n]`
    fn create_index(&mut self, unique: bool) -> Result<Statement> {
        let if_not_exists = self.keyword("IF NOT EXISTS");
        let name = self.identifier("index name")?;
        let mut cluster = self.on_cluster()?;
        self.expect_keyword("ON")?;
        let table = self.object_name("table")?;
        if cluster.is_none() {
            cluster = self.on_cluster()?;
        }
        let expr = self.indexed_expr()?;
        let index_type = match self.keyword("TYPE") {
            true => Some(self.engine_like("index type")?),
            false => None,
        };
        let granularity = self.index_granularity(index_type.as_ref())?;
        Ok(Statement::CreateIndex(Box::new(CreateIndex {
            unique,
            if_not_exists,
            name,
            table,
            cluster,
            expr,
            index_type,
            granularity,
            output: self.output_options()?,
        })))
    }

    /// `a`, `(a)`, `(a ASC, b DESC)`: directions are read and mean nothing.
    fn indexed_expr(&mut self) -> Result<Expr> {
        if self.kind() != K::OpenRound {
            return self.expr();
        }
        let start = self.start_span();
        let mut items = self.parenthesised(|p| {
            let mut item = p.expr()?;
            item.span.parenthesised = false;
            p.keyword_of(&["ASC", "DESC"]);
            Ok(item)
        })?;
        if items.len() == 1
            && let Some(only) = items.pop()
        {
            return Ok(only);
        }
        self.height += 1;
        Ok(Expr::new(ExprKind::Tuple(items), self.span_from(start)))
    }

    fn create_function(&mut self, start: CreateStart) -> Result<Statement> {
        let if_not_exists = self.keyword("IF NOT EXISTS");
        let name = self.identifier("function name")?;
        let span = self.last_span();
        let cluster = self.on_cluster()?;
        self.expect_keyword("AS")?;
        let body = self.expr()?;
        let lambda = match body.kind {
            ExprKind::Lambda(lambda) => *lambda,
            _ => return self.fail("lambda, such as (x, y) -> x + y"),
        };
        let or_replace = start.or_replace;
        let function = CreateFunction {
            or_replace,
            if_not_exists,
            name,
            cluster,
            lambda,
            span,
        };
        Ok(Statement::CreateFunction(Box::new(function)))
    }
}
