//! Parses what stands between the parentheses of CREATE TABLE.

use basalt_error::Result;

use super::Parser;
use crate::ast::{
    ColumnDef, ColumnDefault, Constraint, ConstraintKind, DefaultKind, Expr, ExprKind, Function,
    IndexDef, ProjectionBody, ProjectionDef, Setting, Storage, TableSchema,
};
use crate::lexer::TokenKind as K;

/// Words after a column's name that are no type.
const NOT_TYPES: &[&str] = &[
    "DEFAULT",
    "MATERIALIZED",
    "ALIAS",
    "EPHEMERAL",
    "AUTO_INCREMENT",
    "COMMENT",
    "CODEC",
    "STATISTICS",
    "TTL",
    "COLLATE",
    "PRIMARY",
    "SETTINGS",
    "NOT",
    "NULL",
    "REMOVE",
    "MODIFY",
    "RESET",
];

impl Parser<'_> {
    /// `(columns, indexes, ..)`; a PRIMARY KEY among them goes to `storage`. Columns of a view need no
    /// types: `is_typed` is not set.
    pub(super) fn table_schema(
        &mut self,
        storage: &mut Storage,
        is_typed: bool,
    ) -> Result<TableSchema> {
        self.expect_symbol(K::OpenRound)?;
        let mut schema = TableSchema::default();
        while !self.symbol(K::CloseRound) {
            self.schema_element(&mut schema, storage, is_typed)?;
            if !self.symbol(K::Comma) {
                self.expect_symbol(K::CloseRound)?;
                break;
            }
        }
        if schema == TableSchema::default() {
            return self.fail("column");
        }
        let is_named = |column: &ColumnDef| column.data_type.is_none() && column.default.is_none();
        if !is_typed && schema.names().is_none() && schema.columns.iter().any(is_named) {
            return self.fail("types of all columns, or of none");
        }
        Ok(schema)
    }

    fn schema_element(
        &mut self,
        schema: &mut TableSchema,
        storage: &mut Storage,
        is_typed: bool,
    ) -> Result<()> {
        // In a list of names alone these words are names, too.
        let named = is_typed || !matches!(self.token(1).kind, K::Comma | K::CloseRound);
        if named && self.keyword("INDEX") {
            schema.indexes.push(self.index_def()?);
        } else if named && self.keyword("CONSTRAINT") {
            schema.constraints.push(self.constraint()?);
        } else if named && self.keyword("PROJECTION") {
            schema.projections.push(self.projection()?);
        } else if self.keyword("FOREIGN KEY") {
            // ClickHouse reads it for the sake of other dialects, and keeps nothing of it.
            self.foreign_key()?;
        } else if self.keyword("PRIMARY KEY") {
            storage.primary_key = Some(self.expr()?);
        } else {
            let (column, is_key) = self.column_with_key()?;
            if is_typed {
                self.expect_type_of(&column)?;
            }
            if is_key {
                add_key_column(storage, &column);
            }
            schema.columns.push(column);
        }
        Ok(())
    }

    /// `[name] (columns) REFERENCES table (columns) [ON DELETE | UPDATE action]`
    fn foreign_key(&mut self) -> Result<()> {
        self.try_identifier("name of the key")?;
        self.parenthesised(Self::expr)?;
        self.expect_keyword("REFERENCES")?;
        self.object_name("table")?;
        self.parenthesised(Self::expr)?;
        while self.keyword_of(&["ON DELETE", "ON UPDATE"]).is_some() {
            let actions = [
                "RESTRICT",
                "CASCADE",
                "SET NULL",
                "NO ACTION",
                "SET DEFAULT",
            ];
            if self.keyword_of(&actions).is_none() {
                return Err(self.failure());
            }
        }
        Ok(())
    }

    /// `name [type] [NULL] [DEFAULT ..] [COMMENT ..] [CODEC ..] ..`
    pub(super) fn column_def(&mut self) -> Result<ColumnDef> {
        let name = self.compound_identifier("column name")?.join(".");
        // `ALTER COLUMN a TYPE T` is `MODIFY COLUMN a T`.
        let is_type = matches!(self.token(1).kind, K::Word | K::QuotedIdentifier);
        if is_type && self.is_word(0, "TYPE") {
            self.advance();
        }
        self.column_called(name, &mut None)
    }

    /// A column of a new table; tells whether PRIMARY KEY stands with it.
    fn column_with_key(&mut self) -> Result<(ColumnDef, bool)> {
        let name = self.identifier("column name")?;
        let mut is_key = Some(false);
        let column = self.column_called(name, &mut is_key)?;
        Ok((column, is_key == Some(true)))
    }

    /// What follows a column's name. Properties that tell of its values come first, the others in any order;
    /// PRIMARY KEY is among them if `is_key` is some.
    fn column_called(&mut self, name: String, is_key: &mut Option<bool>) -> Result<ColumnDef> {
        let start = self.last_span();
        let mut column = ColumnDef::named(name);
        let typed = matches!(self.kind(), K::Word | K::QuotedIdentifier)
            && !NOT_TYPES.iter().any(|word| self.is_word(0, word));
        if typed {
            column.data_type = Some(self.data_type()?);
        } else {
            self.note("data type");
        }
        if column.data_type.is_some() && self.keyword("COLLATE") {
            column.collate = Some(self.identifier("collation")?);
        }
        self.nullability(&mut column);
        if self.keyword("AUTO_INCREMENT") {
            column.auto_increment = true;
        } else {
            column.default = self.column_default()?;
            if column.nullable.is_none() && column.default.is_some() {
                self.nullability(&mut column);
            }
        }
        while self.column_property(&mut column, is_key)? {}
        column.span = self.span_from(start);
        Ok(column)
    }

    fn nullability(&mut self, column: &mut ColumnDef) {
        let choice = self.keyword_of(&["NOT NULL", "NULL"]);
        column.nullable = choice.map(|choice| choice == 1);
    }

    /// A new column has a type, or a value that tells it.
    pub(super) fn expect_type_of(&mut self, column: &ColumnDef) -> Result<()> {
        let is_known =
            column.data_type.is_some() || column.default.is_some() || column.auto_increment;
        match is_known {
            true => Ok(()),
            false => self.fail("data type"),
        }
    }

    fn column_property(
        &mut self,
        column: &mut ColumnDef,
        is_key: &mut Option<bool>,
    ) -> Result<bool> {
        if column.comment.is_none() && self.keyword("COMMENT") {
            column.comment = Some(self.string("comment in single quotes")?);
        } else if column.codec.is_none() && self.keyword("CODEC") {
            column.codec = Some(self.one_or_more_in_parentheses()?);
        } else if column.statistics.is_none() && self.keyword("STATISTICS") {
            column.statistics = Some(self.one_or_more_in_parentheses()?);
        } else if column.ttl.is_none() && self.keyword("TTL") {
            column.ttl = Some(self.expr()?);
        } else if *is_key == Some(false) && self.keyword("PRIMARY KEY") {
            *is_key = Some(true);
        } else if column.settings.is_empty()
            && self.token(1).kind == K::OpenRound
            && self.keyword("SETTINGS")
        {
            self.expect_symbol(K::OpenRound)?;
            column.settings = self.list(Self::setting)?;
            self.expect_symbol(K::CloseRound)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// `(a, b)`, not empty.
    fn one_or_more_in_parentheses(&mut self) -> Result<Vec<Expr>> {
        self.expect_symbol(K::OpenRound)?;
        let items = self.list(Self::expr)?;
        self.expect_symbol(K::CloseRound)?;
        Ok(items)
    }

    fn column_default(&mut self) -> Result<Option<ColumnDefault>> {
        let kinds = ["DEFAULT", "MATERIALIZED", "ALIAS", "EPHEMERAL"];
        let kind = match self.keyword_of(&kinds) {
            Some(0) => DefaultKind::Default,
            Some(1) => DefaultKind::Materialized,
            Some(2) => DefaultKind::Alias,
            Some(_) => DefaultKind::Ephemeral,
            None => return Ok(None),
        };
        let alone = kind == DefaultKind::Ephemeral
            && (matches!(
                self.kind(),
                K::Comma | K::CloseRound | K::End | K::Semicolon
            ) || NOT_TYPES.iter().any(|word| self.is_word(0, word)));
        let expr = if alone { None } else { Some(self.expr()?) };
        Ok(Some(ColumnDefault { kind, expr }))
    }

    /// After INDEX.
    pub(super) fn index_def(&mut self) -> Result<IndexDef> {
        let name = self.identifier("index name")?;
        let mut expr = self.expr()?;
        expr.span.parenthesised = false;
        self.expect_keyword("TYPE")?;
        let index_type = self.engine_like("index type")?;
        let granularity = self.index_granularity(Some(&index_type))?;
        Ok(IndexDef {
            name,
            expr,
            index_type,
            granularity,
        })
    }

    /// `GRANULARITY n`, or what an index of that type has without it.
    pub(super) fn index_granularity(&mut self, index_type: Option<&Expr>) -> Result<u64> {
        if !self.keyword("GRANULARITY") {
            return Ok(index_type.map_or(1, default_granularity));
        }
        match self.expr()?.as_u64() {
            Some(n) => Ok(n),
            None => self.fail("number"),
        }
    }

    /// `name` or `name(args)` as an expression.
    pub(super) fn engine_like(&mut self, what: &'static str) -> Result<Expr> {
        let start = self.start_span();
        let name = self.identifier(what)?;
        if self.kind() != K::OpenRound {
            return Ok(Expr::new(
                ExprKind::Identifier(vec![name]),
                self.span_from(start),
            ));
        }
        self.advance();
        let args = self.items_until(K::CloseRound)?;
        Ok(self.call_expr(&name, args, start))
    }

    /// After CONSTRAINT.
    pub(super) fn constraint(&mut self) -> Result<Constraint> {
        let name = self.identifier("constraint name")?;
        let kind = match self.keyword_of(&["CHECK", "ASSUME"]) {
            Some(0) => ConstraintKind::Check,
            Some(_) => ConstraintKind::Assume,
            None => return Err(self.failure()),
        };
        Ok(Constraint {
            name,
            kind,
            expr: self.expr()?,
        })
    }

    /// After PROJECTION.
    pub(super) fn projection(&mut self) -> Result<ProjectionDef> {
        let name = self.identifier("projection name")?;
        let body = if self.keyword("INDEX") {
            let expr = self.expr()?;
            self.expect_keyword("TYPE")?;
            let index_type = self.engine_like("index type")?;
            ProjectionBody::Index { expr, index_type }
        } else {
            self.expect_symbol(K::OpenRound)?;
            let query = Box::new(self.projection_query()?);
            self.expect_symbol(K::CloseRound)?;
            ProjectionBody::Query(query)
        };
        let settings = if self.keyword("WITH SETTINGS") {
            self.parenthesised(Self::setting)?
        } else {
            Vec::<Setting>::new()
        };
        Ok(ProjectionDef {
            name,
            body,
            settings,
        })
    }
}

/// Granules of an index mark: indexes of texts and vectors have one for a part.
fn default_granularity(index_type: &Expr) -> u64 {
    let name = match &index_type.kind {
        ExprKind::Function(f) => f.name.as_str(),
        ExprKind::Identifier(parts) => parts.first().map_or("", String::as_str),
        _ => "",
    };
    match name {
        "text" | "vector_similarity" => 100_000_000,
        _ => 1,
    }
}

/// Appends a column that has PRIMARY KEY after its type to the key `tuple(..)`.
fn add_key_column(storage: &mut Storage, column: &ColumnDef) {
    let name = Expr::new(ExprKind::Identifier(vec![column.name.clone()]), column.span);
    match storage.primary_key.as_mut().map(|key| &mut key.kind) {
        Some(ExprKind::Tuple(keys)) => keys.push(name),
        Some(ExprKind::Function(key)) if key.name == "tuple" => {
            let mut keys = std::mem::take(&mut key.args);
            keys.push(name);
            storage.primary_key = Some(Expr::new(ExprKind::Tuple(keys), column.span));
        }
        _ => {
            let key = ExprKind::Function(Box::new(Function::call("tuple", vec![name])));
            storage.primary_key = Some(Expr::new(key, column.span));
        }
    }
}
