//! Parses what follows a statement: INTO OUTFILE, FORMAT, SETTINGS.

use basalt_error::Result;

use super::Parser;
use crate::ast::{Expr, ExprKind, IntoOutfile, Literal, OutputOptions, Setting};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    /// `[INTO OUTFILE ..] [FORMAT f] [SETTINGS ..]`
    pub(super) fn output_options(&mut self) -> Result<OutputOptions> {
        let mut output = OutputOptions::default();
        if self.keyword("INTO OUTFILE") {
            output.into_outfile = Some(Box::new(self.outfile()?));
        }
        loop {
            if output.format.is_none() && self.keyword("FORMAT") {
                output.format = Some(self.identifier("format")?);
                output.format_span = self.last_span();
            } else if output.settings.is_empty() && self.keyword("SETTINGS") {
                output.settings = self.list(Self::setting)?;
            } else {
                return Ok(output);
            }
        }
    }

    fn outfile(&mut self) -> Result<IntoOutfile> {
        let path = self.file_name()?;
        let append = self.keyword("APPEND");
        let truncate = !append && self.keyword("TRUNCATE");
        let and_stdout = self.keyword("AND STDOUT");
        let mut outfile = IntoOutfile {
            path,
            truncate,
            append,
            and_stdout,
            compression: None,
            level: None,
        };
        if self.keyword("COMPRESSION") {
            outfile.compression = Some(self.file_name()?);
            if self.keyword("LEVEL") {
                outfile.level = Some(self.primary()?);
            }
        }
        Ok(outfile)
    }

    /// A string, or a parameter that stands for one.
    pub(super) fn file_name(&mut self) -> Result<Expr> {
        if self.kind() == K::OpenCurly || self.kind() == K::String {
            return self.primary();
        }
        self.fail("file name in single quotes")
    }

    /// `name = value`, `name = DEFAULT`, `name` (which is 1).
    pub(super) fn setting(&mut self) -> Result<Setting> {
        let start = self.start_span();
        let name = self.compound_identifier("setting")?.join(".");
        if !self.symbol(K::Equals) {
            let value = Expr::new(ExprKind::Literal(Literal::Bool(true)), self.last_span());
            return Ok(Setting {
                name,
                value: Some(value),
                is_flag: true,
                span: self.span_from(start),
            });
        }
        let value = if self.keyword("DEFAULT") {
            None
        } else {
            Some(self.setting_value(&name)?)
        };
        Ok(Setting {
            name,
            value,
            is_flag: false,
            span: self.span_from(start),
        })
    }

    /// A constant, a parameter, a map `{'a': 'b'}`, `disk(..)`, and for a parameter of queries its text.
    fn setting_value(&mut self, name: &str) -> Result<Expr> {
        let start = self.start_span();
        let is_map = matches!(self.token(1).kind, K::String | K::CloseCurly);
        if self.kind() == K::OpenCurly && is_map {
            return self.setting_map(name);
        }
        // A name stands for its text: `SET param_x = clickhouse`.
        let is_text = name.starts_with("param_") || name == "cluster_host_ids";
        let is_call = self.token(1).kind == K::OpenRound;
        let is_function = self.is_word(0, "disk") || !name.is_empty() && name.ends_with("backup");
        let is_word = ["NULL", "TRUE", "FALSE", "INF", "INFINITY", "NAN"]
            .iter()
            .any(|word| self.is_word(0, word));
        let fits = match self.kind() {
            K::Word if is_call => is_function,
            K::Word => is_text || is_word,
            K::OpenRound | K::OpenSquare => is_text,
            _ => true,
        };
        if !fits {
            return self.fail("constant");
        }
        let mut value = self.expr()?;
        let is_constant = matches!(
            value.kind,
            ExprKind::Literal(_) | ExprKind::QueryParameter(_)
        );
        if !is_constant && !is_text && !is_function {
            return Err(self.error_at(
                start,
                basalt_error::ErrorCode::SYNTAX_ERROR,
                "Write a constant: the values of settings are not computed".to_owned(),
            ));
        }
        value.span.parenthesised = false;
        Ok(value)
    }

    /// `{'a': 'b', ..}`
    fn setting_map(&mut self, name: &str) -> Result<Expr> {
        let start = self.start_span();
        self.enter(2)?;
        self.advance();
        let mut items = Vec::new();
        while !self.symbol(K::CloseCurly) {
            for is_key in [true, false] {
                let is_free = !is_key && name.starts_with("param_");
                if self.kind() != K::String && !is_free {
                    return self.fail("string in single quotes");
                }
                items.push(self.setting_value(name)?);
                if is_key {
                    self.expect_symbol(K::Colon)?;
                }
            }
            if !self.symbol(K::Comma) {
                self.expect_symbol(K::CloseCurly)?;
                break;
            }
        }
        self.leave(2);
        self.height += 1;
        Ok(self.call_expr("map", items, start))
    }
}
