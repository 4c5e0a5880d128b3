//! Parses FROM: tables, joins, ARRAY JOIN.

use basalt_error::{ErrorCode, Result};

use super::Parser;
use super::select::QUERY_LEVELS;
use crate::ast::{
    ColumnMatcher, Expr, ExprKind, FromElement, Join, JoinConstraint, JoinKind, JoinLocality,
    JoinStrictness, MatcherPattern, Query, Sample, Select, SetExpr, Span, TableExpr, TableFunction,
    TableSource, takes_bare_query,
};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    /// Tables and joins after FROM.
    pub(super) fn table_list(&mut self) -> Result<Vec<FromElement>> {
        let table = self.table_expr()?;
        self.tables_from(table)
    }

    /// What joins a table that is parsed already.
    fn tables_from(&mut self, first: TableExpr) -> Result<Vec<FromElement>> {
        let table = Box::new(first);
        let mut elements = vec![FromElement::Table { join: None, table }];
        while let Some(element) = self.joined_element()? {
            elements.push(element);
        }
        Ok(elements)
    }

    fn joined_element(&mut self) -> Result<Option<FromElement>> {
        for (words, left) in [("ARRAY JOIN", false), ("LEFT ARRAY JOIN", true)] {
            if self.keyword(words) {
                return Ok(Some(FromElement::ArrayJoin {
                    left,
                    exprs: self.list(Self::aliased_expr)?,
                }));
            }
        }
        if self.keyword("INNER ARRAY JOIN") {
            let exprs = self.list(Self::aliased_expr)?;
            return Ok(Some(FromElement::ArrayJoin { left: false, exprs }));
        }
        let Some(mut join) = self.join_kind()? else {
            return Ok(None);
        };
        let table = Box::new(self.table_expr()?);
        let has_constraint = !join.natural
            && !matches!(
                join.kind,
                JoinKind::Cross | JoinKind::Comma | JoinKind::Paste
            );
        if has_constraint {
            join.constraint = Some(self.join_constraint()?);
        }
        Ok(Some(FromElement::Table {
            join: Some(join),
            table,
        }))
    }

    /// `,` or the words up to JOIN.
    fn join_kind(&mut self) -> Result<Option<Join>> {
        let mut join = Join {
            locality: JoinLocality::Unspecified,
            strictness: JoinStrictness::Unspecified,
            kind: JoinKind::Comma,
            natural: false,
            constraint: None,
        };
        if self.symbol(K::Comma) {
            return Ok(Some(join));
        }
        let mark = self.mark();
        match self.keyword_of(&["GLOBAL", "LOCAL"]) {
            Some(0) => join.locality = JoinLocality::Global,
            Some(_) => join.locality = JoinLocality::Local,
            None => {}
        }
        join.natural = self.keyword("NATURAL");
        self.join_strictness(&mut join);
        let kinds = ["INNER", "LEFT", "RIGHT", "FULL", "CROSS", "PASTE"];
        let written = self.keyword_of(&kinds);
        join.kind = match written {
            Some(1) => JoinKind::Left,
            Some(2) => JoinKind::Right,
            Some(3) => JoinKind::Full,
            Some(4) => JoinKind::Cross,
            Some(5) => JoinKind::Paste,
            _ => JoinKind::Inner,
        };
        self.join_strictness(&mut join);
        if written.is_none()
            && matches!(join.strictness, JoinStrictness::Semi | JoinStrictness::Anti)
        {
            join.kind = JoinKind::Left;
        }
        if matches!(join.kind, JoinKind::Left | JoinKind::Right | JoinKind::Full) {
            self.keyword("OUTER");
        }
        if self.keyword("JOIN") {
            if let Some(wrong) = misfit(&join) {
                let span = self.start_span();
                return Err(self.error_at(span, ErrorCode::SYNTAX_ERROR, wrong.to_owned()));
            }
            return Ok(Some(join));
        }
        if self.mark() > mark {
            return Err(self.failure());
        }
        Ok(None)
    }

    fn join_strictness(&mut self, join: &mut Join) {
        if join.strictness != JoinStrictness::Unspecified {
            return;
        }
        join.strictness = match self.keyword_of(&["ANY", "ALL", "SEMI", "ANTI", "ASOF", "ONLY"]) {
            Some(0) => JoinStrictness::Any,
            Some(1) => JoinStrictness::All,
            Some(2 | 5) => JoinStrictness::Semi,
            Some(3) => JoinStrictness::Anti,
            Some(4) => JoinStrictness::Asof,
            _ => JoinStrictness::Unspecified,
        };
    }

    fn join_constraint(&mut self) -> Result<JoinConstraint> {
        if self.keyword("ON") {
            return Ok(JoinConstraint::On(self.expr()?));
        }
        self.expect_keyword("USING")?;
        if !self.peek_symbol(K::OpenRound) {
            return Ok(JoinConstraint::Using(self.list(Self::aliased_expr)?));
        }
        self.advance();
        let columns = self.list(Self::aliased_expr)?;
        self.expect_symbol(K::CloseRound)?;
        Ok(JoinConstraint::Using(columns))
    }

    /// A table, function, subquery or file with alias, FINAL and SAMPLE.
    pub(super) fn table_expr(&mut self) -> Result<TableExpr> {
        let start = self.start_span();
        let source = self.table_source()?;
        self.table_modifiers(source, start)
    }

    /// Alias, FINAL and SAMPLE behind a table.
    fn table_modifiers(&mut self, source: TableSource, start: Span) -> Result<TableExpr> {
        let mut table = TableExpr {
            source,
            alias: None,
            column_aliases: Vec::new(),
            final_: false,
            sample: None,
            stream: false,
            span: start,
        };
        table.alias = if self.keyword("AS") {
            Some(self.identifier("alias")?)
        } else if is_named_from(&table.source) {
            // `FROM FROM t` is a FROM too many.
            None
        } else {
            self.implicit_alias()?
        };
        if table.alias.is_some() && self.symbol(K::OpenRound) {
            table.column_aliases = self.list(|p| p.identifier("column"))?;
            self.expect_symbol(K::CloseRound)?;
        }
        table.final_ = self.keyword("FINAL");
        if self.keyword("SAMPLE") {
            let ratio = self.ratio()?;
            let offset = if self.keyword("OFFSET") {
                Some(self.ratio()?)
            } else {
                None
            };
            table.sample = Some(Box::new(Sample { ratio, offset }));
        }
        table.stream = self.keyword("STREAM");
        table.span = self.span_from(start);
        Ok(table)
    }

    fn table_source(&mut self) -> Result<TableSource> {
        let start = self.start_span();
        match self.kind() {
            K::String => return Ok(TableSource::File(self.text_string("file")?)),
            K::OpenRound => return self.parenthesised_table(start),
            _ => {}
        }
        let name = self.object_name("table, function, subquery or file")?;
        let is_parameter = name.name_is_parameter || name.database_is_parameter;
        if !is_parameter && self.kind() == K::OpenRound {
            let parts = name.database.iter().chain([&name.name]);
            let parts: Vec<&str> = parts.map(String::as_str).collect();
            return Ok(TableSource::Function(
                self.table_function(parts.join("."), start)?,
            ));
        }
        Ok(TableSource::Table(name))
    }

    /// `(SELECT ..)`, or joined tables.
    fn parenthesised_table(&mut self, start: Span) -> Result<TableSource> {
        if self.at_query_or_parentheses() {
            self.advance();
            let inner = self.start_span();
            let is_parenthesised = self.kind() == K::OpenRound;
            let body = self.query_body()?;
            let is_one = matches!(&body, SetExpr::Select(_) | SetExpr::Nested(_));
            let source = TableSource::Subquery(Box::new(Query::new(unnested(body))));
            if is_parenthesised && is_one && self.kind() != K::CloseRound {
                // The subquery was the first of joined tables.
                let first = self.table_modifiers(source, inner)?;
                let from = self.tables_from(first)?;
                self.expect_end_of_joined(&from)?;
                self.height += 1;
                return Ok(all_of(from, self.span_from(start)));
            }
            self.expect_symbol(K::CloseRound)?;
            return Ok(source);
        }
        if self.at_rows_in_parentheses() {
            self.advance();
            let body = self.rows_as_query(start)?;
            self.expect_symbol(K::CloseRound)?;
            return Ok(TableSource::Subquery(Box::new(Query::new(body))));
        }
        if self.at_explain_in_parentheses() {
            return self.explain_in_parentheses(start);
        }
        self.enter(QUERY_LEVELS)?;
        self.advance();
        if self.is_word(0, "VALUES") && self.token(1).kind == K::OpenRound {
            let name = self.identifier("VALUES")?.to_ascii_lowercase();
            let args = self.list(Self::aliased_expr)?;
            self.expect_symbol(K::CloseRound)?;
            self.leave(QUERY_LEVELS);
            return Ok(TableSource::Function(TableFunction {
                name,
                args,
                settings: Vec::new(),
                span: self.span_from(start),
            }));
        }
        let from = self.table_list()?;
        self.expect_end_of_joined(&from)?;
        self.leave(QUERY_LEVELS);
        self.height += 1;
        Ok(all_of(from, self.span_from(start)))
    }

    /// `)` behind joined tables; one table alone stands in no parentheses.
    fn expect_end_of_joined(&mut self, from: &[FromElement]) -> Result<()> {
        if from.len() < 2 {
            return Err(self.failure());
        }
        self.expect_symbol(K::CloseRound)
    }

    /// Whether `VALUES (1, 'a'), (2, 'b')` begins here.
    pub(super) fn at_rows(&mut self) -> bool {
        self.is_word(0, "VALUES") && self.token(1).kind == K::OpenRound
    }

    /// Whether `(VALUES (1, 'a'), (2, 'b'))` begins here.
    pub(super) fn at_rows_in_parentheses(&mut self) -> bool {
        self.kind() == K::OpenRound
            && self.is_word(1, "VALUES")
            && self.token(2).kind == K::OpenRound
    }

    /// `VALUES (1, 'a'), (2, 'b')`: all of the table function `SQLStandardValues`.
    pub(super) fn rows_as_query(&mut self, start: Span) -> Result<SetExpr> {
        self.advance();
        let args = self.list(Self::expr)?;
        let span = self.span_from(start);
        let values = TableSource::Function(TableFunction {
            name: "SQLStandardValues".to_owned(),
            args,
            settings: Vec::new(),
            span,
        });
        let table = Box::new(TableExpr::of(values, span));
        Ok(select_all(
            vec![FromElement::Table { join: None, table }],
            span,
        ))
    }

    /// `(args [, SETTINGS ..])` after a table function's name.
    pub(super) fn table_function(&mut self, name: String, start: Span) -> Result<TableFunction> {
        self.expect_symbol(K::OpenRound)?;
        if takes_bare_query(&name) && self.kind() == K::CloseRound {
            return self.fail("SELECT");
        }
        let mut args = Vec::new();
        let mut settings = Vec::new();
        while !self.symbol(K::CloseRound) {
            if self.is_word(0, "SETTINGS") && self.token(1).kind == K::Word {
                self.advance();
                settings = self.list(Self::setting)?;
            } else {
                args.push(self.table_function_argument(takes_bare_query(&name))?);
                if name == "viewIfPermitted" {
                    self.expect_keyword("ELSE")?;
                    args.push(self.function_as_argument()?);
                } else if self.symbol(K::Comma) {
                    continue;
                }
            }
            self.expect_symbol(K::CloseRound)?;
            break;
        }
        Ok(TableFunction {
            name,
            args,
            settings,
            span: self.span_from(start),
        })
    }

    /// An expression or a query without parentheses: `view(SELECT ..)`, perhaps within `view`.
    fn table_function_argument(&mut self, is_view: bool) -> Result<Expr> {
        let start = self.start_span();
        if self.at_view_of_query() {
            return self.function_as_argument();
        }
        let is_bare = self.at_query();
        let is_query = is_bare || is_view && self.at_query_or_parentheses();
        if !is_query {
            return self.aliased_expr();
        }
        let body = self.query_body()?;
        if !is_bare && matches!(body, SetExpr::Select(_)) {
            return self.fail("SELECT without parentheses of its own");
        }
        let query = ExprKind::Subquery(Box::new(Query::new(body)));
        Ok(Expr::new(query, self.span_from(start)))
    }

    /// A table function among the arguments of another.
    fn function_as_argument(&mut self) -> Result<Expr> {
        self.enter(QUERY_LEVELS)?;
        let start = self.start_span();
        let name = self.identifier("table function")?;
        let function = self.table_function(name, start)?;
        self.leave(QUERY_LEVELS);
        if !function.settings.is_empty() {
            return self.fail("table function without SETTINGS");
        }
        self.height += 1;
        Ok(self.call_expr(&function.name, function.args, start))
    }

    /// Whether a table function that takes a bare query begins here, with its query.
    fn at_view_of_query(&mut self) -> bool {
        let is_view = std::str::from_utf8(self.token_text(0)).is_ok_and(takes_bare_query);
        is_view
            && self.token(1).kind == K::OpenRound
            && ["SELECT", "WITH", "FROM"]
                .iter()
                .any(|word| self.is_word(2, word))
    }
}

/// Whether a table is called as the clause is.
fn is_named_from(source: &TableSource) -> bool {
    matches!(source, TableSource::Table(name) if name.database.is_none() && name.name.eq_ignore_ascii_case("FROM"))
}

/// Why the strictness and the kind of a join do not go together.
fn misfit(join: &Join) -> Option<&'static str> {
    let one_sided = matches!(join.kind, JoinKind::Left | JoinKind::Right);
    match join.strictness {
        JoinStrictness::Semi | JoinStrictness::Anti if !one_sided => {
            Some("Write LEFT or RIGHT: SEMI and ANTI JOIN need a side")
        }
        JoinStrictness::Unspecified => None,
        _ if matches!(join.kind, JoinKind::Cross | JoinKind::Paste) => {
            Some("Leave out ANY, ALL and the like: CROSS and PASTE JOIN have no strictness")
        }
        _ => None,
    }
}

/// `(SELECT * FROM …)`
pub(super) fn all_of(from: Vec<FromElement>, span: Span) -> TableSource {
    TableSource::Subquery(Box::new(Query::new(select_all(from, span))))
}

fn select_all(from: Vec<FromElement>, span: Span) -> SetExpr {
    let matcher = ColumnMatcher {
        qualifier: None,
        pattern: MatcherPattern::All,
        transformers: Vec::new(),
    };
    let select = Select {
        columns: vec![Expr::new(ExprKind::Matcher(Box::new(matcher)), span)],
        from,
        span,
        ..Select::default()
    };
    SetExpr::Select(Box::new(select))
}

/// The query inside parentheses that mean nothing.
fn unnested(mut body: SetExpr) -> SetExpr {
    while let SetExpr::Nested(inner) = body {
        body = *inner;
    }
    body
}
