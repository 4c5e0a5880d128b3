//! Parses EXPLAIN, as a statement and in FROM.

use basalt_error::{ErrorCode, Result};

use super::Parser;
use super::from::all_of;
use super::select::QUERY_LEVELS;
use super::statement::output_of;
use crate::ast::{
    Explain, ExplainKind, Expr, ExprKind, FromElement, Literal, OutputOptions, Span, Statement,
    TableExpr, TableFunction, TableSource,
};
use crate::lexer::TokenKind as K;

const KINDS: &[ExplainKind] = &[
    ExplainKind::Ast,
    ExplainKind::Syntax,
    ExplainKind::QueryTree,
    ExplainKind::Plan,
    ExplainKind::Pipeline,
    ExplainKind::Estimate,
    ExplainKind::Analyze,
    ExplainKind::CurrentTransaction,
];

impl Parser<'_> {
    pub(super) fn explain(&mut self) -> Result<Statement> {
        if self.is_word(1, "TABLE") && self.is_word(2, "OVERRIDE") {
            let start = self.mark();
            for _ in 0..3 {
                self.advance();
            }
            self.identifier("table function")?;
            if !self.peek_symbol(K::OpenRound) {
                return Err(self.failure());
            }
            self.back(start);
            return self.tokens("EXPLAIN TABLE OVERRIDE");
        }
        Ok(Statement::Explain(Box::new(self.explain_parts()?)))
    }

    /// EXPLAIN, its kind, settings and statement.
    fn explain_parts(&mut self) -> Result<Explain> {
        self.advance();
        let found = KINDS.iter().find(|kind| self.keyword(kind.words()));
        let kind = found.copied().unwrap_or(ExplainKind::Plan);
        let mut explain = Explain {
            kind,
            settings: Vec::new(),
            statement: None,
            output: OutputOptions::default(),
        };
        if kind == ExplainKind::CurrentTransaction {
            explain.output = self.output_options()?;
            return Ok(explain);
        }
        if self.token(1).kind == K::Equals {
            explain.settings = self.list(Self::setting)?;
        }
        // The tree is that of all that follows; a plan is one statement's.
        let mut statement = match kind {
            ExplainKind::Ast => self.statement()?,
            ExplainKind::QueryTree if !self.at_query_or_parentheses() => {
                return self.fail("SELECT");
            }
            _ if !self.at_query_or_parentheses() && !self.at_explained() => {
                return self.fail("SELECT, INSERT, CREATE or SYSTEM");
            }
            _ => self.one_statement()?,
        };
        if let Some(output) = output_of(&mut statement) {
            explain.output = std::mem::take(output);
        }
        explain.statement = Some(Box::new(statement));
        Ok(explain)
    }

    /// Whether a statement other than a query is next that `EXPLAIN` takes.
    fn at_explained(&mut self) -> bool {
        ["INSERT", "CREATE", "ATTACH", "REPLACE", "SYSTEM"]
            .iter()
            .any(|word| self.is_word(0, word))
    }

    /// Whether `(EXPLAIN` is next, and not a table of that name.
    pub(super) fn at_explain_in_parentheses(&mut self) -> bool {
        let kinds = KINDS.iter().map(|k| k.words().split(' ').next());
        let mut first_words = kinds.flatten().chain(["SELECT", "WITH"]);
        self.is_word(1, "EXPLAIN")
            && (self.token(3).kind == K::Equals || first_words.any(|word| self.is_word(2, word)))
    }

    /// `(EXPLAIN … SELECT …)`: all rows of the table function `viewExplain`.
    pub(super) fn explain_in_parentheses(&mut self, start: Span) -> Result<TableSource> {
        self.enter(QUERY_LEVELS)?;
        self.advance();
        let explain = self.explain_parts()?;
        self.expect_symbol(K::CloseRound)?;
        self.leave(QUERY_LEVELS);
        let span = self.span_from(start);
        let words = if explain.kind == ExplainKind::Plan {
            "EXPLAIN".to_owned()
        } else {
            format!("EXPLAIN {}", explain.kind.words())
        };
        let string = |text: String| {
            let text = Literal::String(text.into_bytes());
            Expr::new(ExprKind::Literal(text), span)
        };
        let mut args = vec![string(words)];
        match explain.statement.map(|s| *s) {
            Some(Statement::Query(query)) => {
                args.push(string(crate::format::settings_text(&explain.settings)));
                args.push(Expr::new(ExprKind::Subquery(query), span));
            }
            Some(_) => {
                let text = "Explain a SELECT: EXPLAIN in FROM supports nothing else".to_owned();
                return Err(self.error_at(start, ErrorCode::BAD_ARGUMENTS, text));
            }
            None => {}
        }
        let function = TableFunction {
            name: "viewExplain".to_owned(),
            args,
            settings: Vec::new(),
            span,
        };
        let table = TableExpr::of(TableSource::Function(function), span);
        let table = FromElement::Table {
            join: None,
            table: Box::new(table),
        };
        self.height += 1;
        Ok(all_of(vec![table], span))
    }
}
