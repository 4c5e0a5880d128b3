//! Parses CREATE DICTIONARY.
//!
//! Nothing runs it, so that its tree is its canonical text, with the line breaks of ClickHouse's formatter.

use basalt_error::Result;

use super::Parser;
use crate::ast::{ExprKind, Statement, TokenStatement};
use crate::format::{backticked, format_data_type, format_expr, identifier, quoted};
use crate::lexer::TokenKind as K;

/// Levels of depth that a nested list of pairs counts as.
const PAIRS_LEVELS: u32 = 5;

/// The clauses behind the attributes, in the order in which they are written out.
#[derive(Debug, Default)]
struct Clauses {
    primary_key: Option<String>,
    source: Option<String>,
    lifetime: Option<String>,
    layout: Option<String>,
    range: Option<String>,
    settings: Option<String>,
}

impl Parser<'_> {
    /// `[CREATE] [OR] REPLACE DICTIONARY …`, if that is what stands here.
    pub(super) fn create_dictionary(&mut self) -> Result<Option<Statement>> {
        const BEGINNINGS: &[&str] = &[
            "CREATE DICTIONARY",
            "CREATE OR REPLACE DICTIONARY",
            "REPLACE DICTIONARY",
        ];
        let Some(words) = BEGINNINGS.iter().find(|words| self.keyword(words)) else {
            return Ok(None);
        };
        let mut text = (*words).to_owned();
        if self.keyword("IF NOT EXISTS") {
            text += " IF NOT EXISTS";
        }
        text += &format!(" {}", self.dotted_name("dictionary")?);
        if let Some(uuid) = self.uuid()? {
            text += &format!(" UUID {}", quoted(uuid.as_bytes()));
        }
        if let Some(cluster) = self.on_cluster()? {
            text += &format!(" ON CLUSTER {}", identifier(&cluster));
        }
        let attributes = self.attributes()?;
        text += &format!("\n(\n    {}\n)", attributes.join(",\n    "));
        let mut clauses = Clauses::default();
        while self.dictionary_clause(&mut clauses)? {}
        let Clauses {
            primary_key,
            source,
            lifetime,
            layout,
            range,
            settings,
        } = clauses;
        let in_order = [primary_key, source, lifetime, layout, range, settings];
        for clause in in_order.into_iter().flatten() {
            text += &format!("\n{clause}");
        }
        if let Some(comment) = self.comment()? {
            text += &format!("\nCOMMENT {}", quoted(&comment));
        }
        let output = self.output_options()?;
        if !self.at_statement_end() {
            return self.fail("end of query");
        }
        Ok(Some(Statement::Tokens(Box::new(TokenStatement {
            output,
            ..TokenStatement::new("CREATE DICTIONARY", text)
        }))))
    }

    /// `name`, `db.name`
    pub(super) fn dotted_name(&mut self, what: &'static str) -> Result<String> {
        let mut name = identifier(&self.identifier(what)?);
        if self.symbol(K::Dot) {
            name = format!("{name}.{}", identifier(&self.identifier(what)?));
        }
        Ok(name)
    }

    fn attributes(&mut self) -> Result<Vec<String>> {
        self.expect_symbol(K::OpenRound)?;
        let mut attributes = Vec::new();
        loop {
            attributes.push(self.attribute()?);
            if !self.symbol(K::Comma) || self.kind() == K::CloseRound {
                break;
            }
        }
        self.expect_symbol(K::CloseRound)?;
        Ok(attributes)
    }

    /// `name Type [DEFAULT value] [EXPRESSION e] [HIERARCHICAL] [BIDIRECTIONAL] [INJECTIVE] [IS_OBJECT_ID]`
    fn attribute(&mut self) -> Result<String> {
        const FLAGS: [&str; 4] = ["HIERARCHICAL", "BIDIRECTIONAL", "INJECTIVE", "IS_OBJECT_ID"];
        let name = backticked(&self.identifier("attribute")?);
        let data_type = format_data_type(&self.data_type()?);
        let mut text = format!("{name} {data_type}");
        let (mut default, mut expression) = (None, None);
        let mut flags = [false; 4];
        loop {
            if default.is_none() && self.keyword("DEFAULT") {
                let value = self.expr_above(super::operator::precedence::UNARY)?;
                default = Some(format!(" DEFAULT {}", format_expr(&value)));
            } else if expression.is_none() && self.keyword("EXPRESSION") {
                expression = Some(format!(" EXPRESSION {}", format_expr(&self.expr()?)));
            } else if let Some(flag) = self.keyword_of(&FLAGS) {
                flags[flag] = true;
            } else {
                break;
            }
        }
        text.extend([default, expression].into_iter().flatten());
        for (flag, is_set) in FLAGS.iter().zip(flags) {
            if is_set {
                text += &format!(" {flag}");
            }
        }
        Ok(text)
    }

    fn dictionary_clause(&mut self, clauses: &mut Clauses) -> Result<bool> {
        if clauses.primary_key.is_none() && self.keyword("PRIMARY KEY") {
            let mut keys = self.list(Self::expr)?;
            for key in &mut keys {
                key.span.parenthesised = false;
            }
            let keys = keys.iter().flat_map(|key| match &key.kind {
                ExprKind::Tuple(items) => items.iter().map(format_expr).collect(),
                _ => vec![format_expr(key)],
            });
            let keys: Vec<String> = keys.collect();
            clauses.primary_key = Some(format!("PRIMARY KEY {}", keys.join(", ")));
        } else if clauses.source.is_none() && self.keyword("SOURCE") {
            clauses.source = Some(format!("SOURCE({})", self.named_pairs(true)?));
        } else if clauses.layout.is_none() && self.keyword("LAYOUT") {
            clauses.layout = Some(format!("LAYOUT({})", self.named_pairs(false)?));
        } else if clauses.lifetime.is_none() && self.keyword("LIFETIME") {
            let (min, max) = self.bounds(|p| p.whole_number(), Some("0"))?;
            clauses.lifetime = Some(format!("LIFETIME(MIN {min} MAX {max})"));
        } else if clauses.range.is_none() && self.keyword("RANGE") {
            let name = |p: &mut Self| Ok(identifier(&p.identifier("attribute")?));
            let (min, max) = self.bounds(name, None)?;
            clauses.range = Some(format!("RANGE(MIN {min} MAX {max})"));
        } else if clauses.settings.is_none() && self.keyword("SETTINGS") {
            self.expect_symbol(K::OpenRound)?;
            let settings = self.list(Self::setting)?;
            self.expect_symbol(K::CloseRound)?;
            let settings = crate::format::settings_text(&settings);
            clauses.settings = Some(format!("SETTINGS({settings})"));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// `(NAME(pairs))`; the inner brackets may be left out where they need not be.
    fn named_pairs(&mut self, needs_brackets: bool) -> Result<String> {
        self.expect_symbol(K::OpenRound)?;
        let mut text = self.identifier("name")?.to_ascii_uppercase();
        if needs_brackets || self.kind() == K::OpenRound {
            text += &format!("({})", self.pairs()?);
        }
        self.expect_symbol(K::CloseRound)?;
        Ok(text)
    }

    /// `(key value key (key value) …)`, without the brackets.
    fn pairs(&mut self) -> Result<String> {
        self.enter(PAIRS_LEVELS)?;
        self.expect_symbol(K::OpenRound)?;
        let mut pairs = Vec::new();
        while !self.symbol(K::CloseRound) {
            let key = self.identifier("key")?.to_ascii_uppercase();
            let value = match self.kind() {
                K::OpenRound => format!("({})", self.pairs()?),
                _ => format_expr(&self.expr_above(super::operator::precedence::UNARY)?),
            };
            pairs.push(format!("{key} {value}"));
        }
        self.leave(PAIRS_LEVELS);
        Ok(pairs.join(" "))
    }

    /// `(MIN a MAX b)`, in any order, or a single value, which is the greatest then.
    fn bounds(
        &mut self,
        value: impl Fn(&mut Self) -> Result<String>,
        least: Option<&str>,
    ) -> Result<(String, String)> {
        self.expect_symbol(K::OpenRound)?;
        let bounds = if self.keyword("MIN") {
            let min = value(self)?;
            self.expect_keyword("MAX")?;
            (min, value(self)?)
        } else if self.keyword("MAX") {
            let max = value(self)?;
            self.expect_keyword("MIN")?;
            (value(self)?, max)
        } else {
            match least {
                Some(least) => (least.to_owned(), value(self)?),
                None => return Err(self.failure()),
            }
        };
        self.expect_symbol(K::CloseRound)?;
        Ok(bounds)
    }

    fn whole_number(&mut self) -> Result<String> {
        match self.try_number(false)? {
            Some(crate::ast::Literal::UInt(n)) => Ok(n.to_string()),
            _ => self.fail("whole number"),
        }
    }
}
