//! Parses statements about workloads and resources, and UNDROP.
//!
//! Nothing runs them, so that their tree is their canonical text.

use basalt_error::Result;

use super::Parser;
use crate::ast::{Expr, ExprKind, Span, Statement, TokenStatement};
use crate::format::{identifier, quoted, setting_text};

impl Parser<'_> {
    /// Behind `CREATE [OR REPLACE]`, if WORKLOAD or RESOURCE is next.
    pub(super) fn create_workload(&mut self, replace: bool) -> Result<Option<Statement>> {
        let kinds = ["WORKLOAD", "RESOURCE"];
        let Some(choice) = self.keyword_of(&kinds) else {
            return Ok(None);
        };
        let kind = kinds[choice];
        let or_replace = if replace { "OR REPLACE " } else { "" };
        let mut text = format!("CREATE {or_replace}{kind} ");
        if self.keyword("IF NOT EXISTS") {
            text += "IF NOT EXISTS ";
        }
        let name = self.identifier("name")?;
        text += &identifier(&name);
        let mut subjects = vec![name_expr(name)];
        self.cluster_into(&mut text)?;
        if kind == "RESOURCE" {
            let operations = self.parenthesised(Self::resource_operation)?;
            text += &format!(" ({})", operations.join(", "));
        } else {
            if self.keyword("IN") {
                let parent = self.identifier("workload")?;
                text += &format!(" IN {}", identifier(&parent));
                subjects.push(name_expr(parent));
            }
            if self.keyword("SETTINGS") {
                let settings = self.list(Self::workload_setting)?;
                text += &format!(" SETTINGS {}", settings.join(", "));
            }
        }
        let construct = format!("CREATE {kind}");
        Ok(Some(statement(construct, text, subjects)))
    }

    /// `READ DISK d`, `WRITE ANY DISK`, `MASTER THREAD`, `QUERY`, `MEMORY RESERVATION`
    fn resource_operation(&mut self) -> Result<String> {
        const WHOLE: &[&str] = &[
            "READ ANY DISK",
            "WRITE ANY DISK",
            "MASTER THREAD",
            "WORKER THREAD",
            "QUERY",
            "MEMORY RESERVATION",
        ];
        if let Some(choice) = self.keyword_of(WHOLE) {
            return Ok(WHOLE[choice].to_owned());
        }
        let of_disk = ["READ DISK", "WRITE DISK"];
        let Some(choice) = self.keyword_of(&of_disk) else {
            return Err(self.failure());
        };
        let disk = self.identifier("disk")?;
        Ok(format!("{} {}", of_disk[choice], identifier(&disk)))
    }

    /// `name = value [FOR resource]`
    fn workload_setting(&mut self) -> Result<String> {
        let setting = self.setting()?;
        let value = setting.value.as_ref().map(setting_text).unwrap_or_default();
        let mut text = format!("{} = {value}", identifier(&setting.name));
        if self.keyword("FOR") {
            text += &format!(" FOR {}", identifier(&self.identifier("resource")?));
        }
        Ok(text)
    }

    /// `DROP WORKLOAD | RESOURCE | NAMED COLLECTION [IF EXISTS] name`, the first word consumed.
    pub(super) fn drop_named(&mut self, kind: &str) -> Result<Statement> {
        let mut text = format!("DROP {kind} ");
        if self.keyword("IF EXISTS") {
            text += "IF EXISTS ";
        }
        text += &identifier(&self.identifier("name")?);
        self.cluster_into(&mut text)?;
        Ok(statement(format!("DROP {kind}"), text, Vec::new()))
    }

    /// `UNDROP TABLE t [UUID 'x'] [ON CLUSTER c]`
    pub(super) fn undrop(&mut self) -> Result<Statement> {
        self.expect_keyword("UNDROP TABLE")?;
        let table = self.object_name("table")?;
        let mut text = String::from("UNDROP TABLE ");
        let parts: Vec<&String> = table.database.iter().chain([&table.name]).collect();
        let shown: Vec<String> = parts.iter().map(|part| identifier(part)).collect();
        text += &shown.join(".");
        if let Some(uuid) = self.uuid()? {
            text += &format!(" UUID {}", quoted(uuid.as_bytes()));
        }
        self.cluster_into(&mut text)?;
        let subjects = parts
            .into_iter()
            .map(|part| name_expr(part.clone()))
            .collect();
        let Statement::Tokens(mut statement) = statement("UNDROP".to_owned(), text, subjects)
        else {
            return self.fail("table");
        };
        statement.output = self.output_options()?;
        Ok(Statement::Tokens(statement))
    }

    fn cluster_into(&mut self, text: &mut String) -> Result<()> {
        if let Some(cluster) = self.on_cluster()? {
            *text += &format!(" ON CLUSTER {}", identifier(&cluster));
        }
        Ok(())
    }
}

fn name_expr(name: String) -> Expr {
    Expr::new(ExprKind::Identifier(vec![name]), Span::default())
}

fn statement(construct: String, text: String, subjects: Vec<Expr>) -> Statement {
    Statement::Tokens(Box::new(TokenStatement {
        subjects,
        ..TokenStatement::new(construct, text)
    }))
}
