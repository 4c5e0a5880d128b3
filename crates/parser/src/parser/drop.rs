//! Parses DROP, DETACH, TRUNCATE, RENAME, EXCHANGE, DELETE and UPDATE.

use basalt_error::Result;

use super::Parser;
use crate::ast::{
    DropStatement, Expr, ObjectKind, ObjectName, OutputOptions, Partition, Rename, RenamePair,
    Statement, Truncate,
};
use crate::lexer::TokenKind as K;

const KINDS: &[(&str, ObjectKind)] = &[
    ("TABLE", ObjectKind::Table),
    ("VIEW", ObjectKind::View),
    ("DICTIONARY", ObjectKind::Dictionary),
    ("DATABASE", ObjectKind::Database),
    ("FUNCTION", ObjectKind::Function),
    ("INDEX", ObjectKind::Index),
];

impl Parser<'_> {
    /// The kind of object that is next, if one is written and a name follows it.
    pub(super) fn object_kind(&mut self) -> Option<ObjectKind> {
        KINDS
            .iter()
            .find(|(word, _)| self.keyword(word))
            .map(|(_, kind)| *kind)
    }

    pub(super) fn drop_statement(&mut self) -> Result<Statement> {
        let detach = self.is_word(0, "DETACH");
        let start = self.mark();
        self.advance();
        let temporary = self.keyword("TEMPORARY");
        let Some(kind) = self.object_kind() else {
            if detach || temporary || self.at_statement_end() {
                return Err(self.failure());
            }
            return self.drop_access_entity(start);
        };
        let mut statement = DropStatement {
            detach,
            kind,
            temporary,
            if_exists: self.keyword("IF EXISTS"),
            if_empty: self.keyword("IF EMPTY"),
            names: Vec::new(),
            on_table: None,
            cluster: None,
            permanently: false,
            sync: false,
            output: OutputOptions::default(),
        };
        let what = match kind {
            ObjectKind::Database => "database",
            ObjectKind::Function => "function",
            ObjectKind::Index => "index",
            _ => "table",
        };
        statement.names = match detach {
            true => vec![self.object_name(what)?],
            false => self.list(|p| p.object_name(what))?,
        };
        if kind == ObjectKind::Index {
            self.expect_keyword("ON")?;
            statement.on_table = Some(self.object_name("table")?);
        }
        statement.cluster = self.on_cluster()?;
        statement.permanently = self.keyword("PERMANENTLY");
        statement.sync = self.keyword("NO DELAY") || self.keyword("SYNC");
        statement.output = self.output_options()?;
        Ok(Statement::Drop(Box::new(statement)))
    }

    /// `DROP USER`, `DROP ROLE` and the like.
    fn drop_access_entity(&mut self, start: usize) -> Result<Statement> {
        if let Some(statement) = self.drop_entity()? {
            return Ok(statement);
        }
        for kind in ["NAMED COLLECTION", "WORKLOAD", "RESOURCE"] {
            if self.keyword(kind) {
                return self.drop_named(kind);
            }
        }
        if self.peek_keyword("MASKING POLICY") {
            self.back(start);
            return self.tokens("DROP MASKING POLICY");
        }
        Err(self.failure())
    }

    pub(super) fn truncate(&mut self) -> Result<Statement> {
        self.advance();
        let temporary = self.keyword("TEMPORARY");
        let is_filtered = self.peek_keyword("TABLES FROM");
        let kind = if self.keyword("ALL TABLES FROM") || self.keyword("TABLES FROM") {
            ObjectKind::AllTables
        } else if self.token(1).kind == K::Dot || self.token(1).kind == K::End {
            ObjectKind::Table
        } else {
            self.object_kind().unwrap_or(ObjectKind::Table)
        };
        let if_exists = self.keyword("IF EXISTS");
        let name = self.object_name("table")?;
        let filter = if kind == ObjectKind::AllTables {
            self.show_filter()?
        } else {
            None
        };
        let cluster = self.on_cluster()?;
        let sync = self.keyword("SYNC");
        let output = self.output_options()?;
        let truncate = Truncate {
            kind,
            temporary,
            is_filtered,
            if_exists,
            name,
            filter,
            cluster,
            sync,
            output,
        };
        Ok(Statement::Truncate(Box::new(truncate)))
    }

    pub(super) fn rename(&mut self) -> Result<Statement> {
        let exchange = self.is_word(0, "EXCHANGE");
        self.advance();
        let kind = if exchange {
            match self.keyword_of(&["TABLES", "DICTIONARIES"]) {
                Some(0) => ObjectKind::Table,
                Some(_) => ObjectKind::Dictionary,
                None => return Err(self.failure()),
            }
        } else {
            match self.keyword_of(&["TABLE", "DATABASE", "DICTIONARY"]) {
                Some(1) => ObjectKind::Database,
                Some(2) => ObjectKind::Dictionary,
                Some(_) => ObjectKind::Table,
                None if self.token(1).kind == K::Dot || self.is_word(1, "TO") => ObjectKind::Table,
                None => return Err(self.failure()),
            }
        };
        let pairs = self.list(|p| {
            let if_exists = p.keyword("IF EXISTS");
            let from = p.object_name("name")?;
            p.expect_keyword(if exchange { "AND" } else { "TO" })?;
            Ok(RenamePair {
                if_exists,
                from,
                to: p.object_name("name")?,
            })
        })?;
        let cluster = self.on_cluster()?;
        let output = self.output_options()?;
        Ok(Statement::Rename(Box::new(Rename {
            kind,
            exchange,
            pairs,
            cluster,
            output,
        })))
    }

    /// `DELETE FROM t WHERE ..`
    pub(super) fn delete(&mut self) -> Result<Statement> {
        self.expect_keyword("DELETE FROM")?;
        let (table, cluster) = self.table_on_cluster()?;
        let partition = self.in_partition()?.map(Box::new);
        self.expect_keyword("WHERE")?;
        let where_ = Box::new(self.expr()?);
        let settings = if self.keyword("SETTINGS") {
            self.list(Self::setting)?
        } else {
            Vec::new()
        };
        Ok(Statement::Delete {
            table,
            cluster,
            partition,
            where_,
            settings,
        })
    }

    /// `UPDATE t SET a = 1 WHERE ..`
    pub(super) fn update(&mut self) -> Result<Statement> {
        self.advance();
        let (table, cluster) = self.table_on_cluster()?;
        self.expect_keyword("SET")?;
        let assignments = self.list(Self::assignment)?;
        let partition = self.in_partition()?.map(Box::new);
        self.expect_keyword("WHERE")?;
        let where_ = Box::new(self.expr()?);
        let settings = if self.keyword("SETTINGS") {
            self.list(Self::setting)?
        } else {
            Vec::new()
        };
        Ok(Statement::Update {
            table,
            cluster,
            assignments,
            partition,
            where_,
            settings,
        })
    }

    fn table_on_cluster(&mut self) -> Result<(ObjectName, Option<String>)> {
        Ok((self.object_name("table")?, self.on_cluster()?))
    }

    /// `IN PARTITION x`
    pub(super) fn in_partition(&mut self) -> Result<Option<Partition>> {
        if !self.peek_keyword("IN PARTITION") {
            return Ok(None);
        }
        self.advance();
        self.partition()
    }

    /// `column = expr`
    pub(super) fn assignment(&mut self) -> Result<(String, Expr)> {
        let column = self.compound_identifier("column")?.join(".");
        self.expect_symbol(K::Equals)?;
        Ok((column, self.expr()?))
    }
}
