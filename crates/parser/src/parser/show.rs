//! Parses SHOW and EXISTS.

use basalt_error::Result;

use super::Parser;
use crate::ast::{
    Exists, ObjectKind, ObjectName, OutputOptions, Show, ShowFilter, ShowKind, Statement,
};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    pub(super) fn show(&mut self) -> Result<Statement> {
        self.advance();
        let kind = self.show_kind()?;
        if matches!(kind, ShowKind::Other(_)) {
            let (filter, limit, output) = (None, None, OutputOptions::default());
            return Ok(Statement::Show(Box::new(Show {
                kind,
                filter,
                limit,
                output,
            })));
        }
        let filter = self.show_filter()?;
        let limit = if self.keyword("LIMIT") {
            Some(self.expr()?)
        } else {
            None
        };
        let output = self.output_options()?;
        Ok(Statement::Show(Box::new(Show {
            kind,
            filter,
            limit,
            output,
        })))
    }

    fn show_kind(&mut self) -> Result<ShowKind> {
        let mark = self.mark();
        let simple = [
            ("DATABASES", ShowKind::Databases),
            ("FUNCTIONS", ShowKind::Functions),
            ("PROCESSLIST", ShowKind::ProcessList),
            ("ENGINES", ShowKind::Engines),
            ("MERGES", ShowKind::Merges),
            ("CLUSTERS", ShowKind::Clusters),
        ];
        for (word, kind) in simple {
            if self.keyword(word) {
                return Ok(kind);
            }
        }
        if self.keyword("CLUSTER") {
            return Ok(ShowKind::Cluster(self.name_or_string("cluster")?));
        }
        if self.keyword("SETTING") {
            return Ok(ShowKind::Setting(self.identifier("setting")?));
        }
        if self.token(1).kind != K::Word || !self.is_word(1, "PROFILES") {
            let changed = self.keyword("CHANGED");
            if self.keyword("SETTINGS") {
                return Ok(ShowKind::Settings { changed });
            }
        }
        self.back(mark);
        if let Some(kind) = self.show_tables()? {
            return Ok(kind);
        }
        self.back(mark);
        if self.keyword("CREATE") {
            if let Some(kind) = self.show_create()? {
                return Ok(kind);
            }
            self.back(mark);
        }
        self.keyword("TEMPORARY");
        let is_object = ["TABLE", "VIEW", "DICTIONARY", "DATABASE"]
            .iter()
            .any(|word| self.peek_keyword(word));
        self.back(mark);
        if is_object && let Some(kind) = self.show_create()? {
            return Ok(kind);
        }
        self.show_other()
    }

    /// TABLES, DICTIONARIES, COLUMNS, INDEXES with FULL, EXTENDED, TEMPORARY.
    fn show_tables(&mut self) -> Result<Option<ShowKind>> {
        let extended = self.keyword("EXTENDED");
        let full = self.keyword("FULL");
        let temporary = self.keyword("TEMPORARY");
        if self.keyword("TABLES") {
            let database = self.database_clause()?;
            return Ok(Some(ShowKind::Tables {
                full,
                temporary,
                database,
                span: self.last_span(),
            }));
        }
        if self.keyword("DICTIONARIES") {
            return Ok(Some(ShowKind::Dictionaries {
                database: self.database_clause()?,
            }));
        }
        if self.keyword("COLUMNS") || self.keyword("FIELDS") {
            return Ok(Some(ShowKind::Columns {
                extended,
                full,
                table: self.table_clause()?,
            }));
        }
        if self
            .keyword_of(&["INDEXES", "INDICES", "INDEX", "KEYS"])
            .is_some()
        {
            return Ok(Some(ShowKind::Indexes {
                extended,
                table: self.table_clause()?,
            }));
        }
        Ok(None)
    }

    fn database_clause(&mut self) -> Result<Option<String>> {
        if self.keyword("FROM") || self.keyword("IN") {
            return self.identifier("database").map(Some);
        }
        Ok(None)
    }

    /// `FROM [database.]table`, `FROM table FROM database`
    fn table_clause(&mut self) -> Result<ObjectName> {
        if self.keyword_of(&["FROM", "IN"]).is_none() {
            return Err(self.failure());
        }
        let mut table = self.object_name("table")?;
        if table.database.is_none() {
            table.database = self.database_clause()?;
        }
        Ok(table)
    }

    /// `SHOW CREATE [TEMPORARY] [TABLE | VIEW | DICTIONARY | DATABASE] name`
    fn show_create(&mut self) -> Result<Option<ShowKind>> {
        const ENTITIES: &[&str] = &[
            "USER", "USERS", "ROLE", "ROLES", "POLICY", "POLICIES", "ROW", "QUOTA", "QUOTAS",
            "PROFILE", "PROFILES", "SETTINGS",
        ];
        let name_follows = matches!(self.token(1).kind, K::Word | K::QuotedIdentifier);
        if ENTITIES.iter().any(|word| self.is_word(0, word))
            && (name_follows || self.token(1).kind != K::Dot)
            && let Some(statement) = self.show_create_entity()?
        {
            return Ok(Some(ShowKind::Other(statement)));
        }
        let temporary = self.keyword("TEMPORARY");
        let object = self.object_kind().unwrap_or(ObjectKind::Table);
        let name = self.object_name("name")?;
        Ok(Some(ShowKind::Create {
            object,
            temporary,
            name,
        }))
    }

    fn show_other(&mut self) -> Result<ShowKind> {
        const OTHERS: &[&str] = &[
            "ACCESS",
            "GRANTS",
            "USERS",
            "ROLES",
            "CURRENT",
            "ENABLED",
            "PRIVILEGES",
            "QUOTAS",
            "QUOTA",
            "POLICIES",
            "ROW",
            "PROFILES",
            "SETTINGS PROFILES",
            "FILESYSTEM CACHES",
            "CREATE",
            "FILESYSTEM",
            "NAMED COLLECTIONS",
            "RESOURCES",
            "WORKLOADS",
        ];
        let Some(words) = OTHERS.iter().find(|words| self.peek_keyword(words)) else {
            return Err(self.failure());
        };
        let mut statement = self.rest_as_text(&format!("SHOW {words}"))?;
        for (short, whole) in [
            ("POLICIES", "ROW POLICIES"),
            ("PROFILES", "SETTINGS PROFILES"),
            ("QUOTA", "CURRENT QUOTA"),
            ("QUOTAS", "QUOTAS"),
        ] {
            if *words == short {
                statement.text.replace_range(..short.len(), whole);
            }
        }
        for whole in [
            "ROW POLICIES",
            "SETTINGS PROFILES",
            "CURRENT QUOTA",
            "CURRENT ROLES",
            "ENABLED ROLES",
        ] {
            if let Some(words) = statement.text.get_mut(..whole.len())
                && words.eq_ignore_ascii_case(whole)
            {
                words.make_ascii_uppercase();
                statement.construct = format!("SHOW {whole}");
            }
        }
        Ok(ShowKind::Other(statement))
    }

    /// `[NOT] LIKE | ILIKE 'pattern'`, `WHERE condition`
    pub(super) fn show_filter(&mut self) -> Result<Option<ShowFilter>> {
        if self.keyword("WHERE") {
            return Ok(Some(ShowFilter::Where(self.expr()?)));
        }
        let choices = ["LIKE", "ILIKE", "NOT LIKE", "NOT ILIKE"];
        let Some(choice) = self.keyword_of(&choices) else {
            return Ok(None);
        };
        let pattern = self.string("pattern in single quotes")?;
        let (not, case_insensitive) = (choice >= 2, choice % 2 == 1);
        Ok(Some(ShowFilter::Like {
            not,
            case_insensitive,
            pattern,
        }))
    }

    pub(super) fn exists_statement(&mut self) -> Result<Statement> {
        self.advance();
        let temporary = self.keyword("TEMPORARY");
        let name_follows = matches!(
            self.token(1).kind,
            K::Word | K::QuotedIdentifier | K::OpenCurly
        );
        let kind = if name_follows {
            self.object_kind()
        } else {
            None
        };
        let kind = kind.unwrap_or(ObjectKind::Table);
        let name = self.object_name("name")?;
        let output = self.output_options()?;
        Ok(Statement::Exists(Box::new(Exists {
            kind,
            temporary,
            name,
            output,
        })))
    }
}
