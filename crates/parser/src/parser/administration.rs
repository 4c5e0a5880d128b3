//! Parses OPTIMIZE, CHECK and KILL.

use basalt_error::Result;

use super::Parser;
use crate::ast::{
    Check, Kill, ObjectName, Optimize, OutputOptions, Partition, Statement, TokenStatement,
};
use crate::format::{identifier, quoted};

impl Parser<'_> {
    pub(super) fn optimize(&mut self) -> Result<Statement> {
        self.expect_keyword("OPTIMIZE TABLE")?;
        let table = self.object_name("table")?;
        let cluster = self.on_cluster()?;
        if self.keyword("DRY RUN PARTS") {
            return self.dry_run(&table, cluster.as_deref());
        }
        let partition = self.partition()?;
        let final_ = self.keyword("FINAL") || self.keyword("FORCE");
        let deduplicate = self.keyword("DEDUPLICATE");
        let deduplicate_by = if deduplicate && self.keyword("BY") {
            self.list(Self::expr)?
        } else {
            Vec::new()
        };
        let cleanup = self.keyword("CLEANUP");
        let output = self.output_options()?;
        Ok(Statement::Optimize(Box::new(Optimize {
            table,
            cluster,
            partition,
            final_,
            deduplicate,
            deduplicate_by,
            cleanup,
            output,
        })))
    }

    /// `OPTIMIZE TABLE t DRY RUN PARTS 'a', 'b'`, up to PARTS consumed.
    fn dry_run(&mut self, table: &ObjectName, cluster: Option<&str>) -> Result<Statement> {
        let parts = self.list(|p| p.string("part's name"))?;
        let parts: Vec<String> = parts.iter().map(|part| quoted(part)).collect();
        let names = table.database.iter().chain([&table.name]);
        let names: Vec<String> = names.map(|part| identifier(part)).collect();
        let mut text = format!("OPTIMIZE TABLE {}", names.join("."));
        if let Some(cluster) = cluster {
            text += &format!(" ON CLUSTER {}", identifier(cluster));
        }
        text += &format!(" DRY RUN PARTS {}", parts.join(", "));
        let statement = TokenStatement {
            output: self.output_options()?,
            ..TokenStatement::new("OPTIMIZE TABLE DRY RUN", text)
        };
        Ok(Statement::Tokens(Box::new(statement)))
    }

    pub(super) fn check(&mut self) -> Result<Statement> {
        if self.peek_keyword("CHECK GRANT") {
            return self.check_grant();
        }
        if self.peek_keyword("CHECK DATABASE") {
            return self.tokens("CHECK DATABASE");
        }
        self.advance();
        let mut check = Check {
            table: None,
            partition: None,
            output: OutputOptions::default(),
        };
        if !self.keyword("ALL TABLES") {
            self.expect_keyword("TABLE")?;
            check.table = Some(self.object_name("table")?);
            check.partition = self.partition()?;
        }
        check.output = self.output_options()?;
        Ok(Statement::Check(Box::new(check)))
    }

    /// `PARTITION x`, `PART 'x'`, if one is next.
    pub(super) fn partition(&mut self) -> Result<Option<Partition>> {
        if self.keyword("PARTITION ID") {
            return Ok(Some(Partition::Id(self.string("partition's ID")?)));
        }
        if self.keyword("PARTITION ALL") {
            return Ok(Some(Partition::All));
        }
        if self.keyword("PARTITION") {
            let mut value = self.expr()?;
            value.span.parenthesised = false;
            return Ok(Some(Partition::Value(value)));
        }
        if self.keyword("PART") {
            return Ok(Some(Partition::Part(self.string("part's name")?)));
        }
        Ok(None)
    }

    /// `KILL TRANSACTION | PART_MOVE_TO_SHARD WHERE condition [mode]`, KILL consumed.
    fn kill_other(&mut self) -> Result<Statement> {
        let kind = String::from_utf8_lossy(self.token_text(0)).to_ascii_uppercase();
        self.advance();
        self.expect_keyword("WHERE")?;
        let condition = self.expr()?;
        let mode = match self.keyword_of(&["SYNC", "ASYNC", "TEST"]) {
            Some(0) => "SYNC",
            Some(2) => "TEST",
            _ => "ASYNC",
        };
        let construct = format!("KILL {kind}");
        let subject = condition;
        let condition = crate::format::format_expr(&subject);
        let text = format!("{construct} WHERE {condition} {mode}");
        let statement = TokenStatement {
            output: self.output_options()?,
            subjects: vec![subject],
            ..TokenStatement::new(construct, text)
        };
        Ok(Statement::Tokens(Box::new(statement)))
    }

    pub(super) fn kill(&mut self) -> Result<Statement> {
        self.advance();
        let mutation = match self.keyword_of(&["QUERY", "MUTATION"]) {
            Some(choice) => choice == 1,
            None if self.peek_keyword("TRANSACTION") || self.peek_keyword("PART_MOVE_TO_SHARD") => {
                return self.kill_other();
            }
            None => return Err(self.failure()),
        };
        let cluster = self.on_cluster()?;
        self.expect_keyword("WHERE")?;
        let where_ = self.expr()?;
        let mode = self.keyword_of(&["SYNC", "ASYNC", "TEST"]);
        let output = self.output_options()?;
        let (sync, test) = (mode == Some(0), mode == Some(2));
        Ok(Statement::Kill(Box::new(Kill {
            mutation,
            cluster,
            where_,
            sync,
            test,
            output,
        })))
    }
}
