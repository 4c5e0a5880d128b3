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
            Some(self.setting_value()?)
        };
        Ok(Setting {
            name,
            value,
            is_flag: false,
            span: self.span_from(start),
        })
    }

    /// A constant, a map `{'a': 1}`, or a function of constants.
    fn setting_value(&mut self) -> Result<Expr> {
        let start = self.start_span();
        if self.kind() == K::OpenCurly && matches!(self.token(1).kind, K::String | K::CloseCurly) {
            self.enter(2)?;
            self.advance();
            let mut items = Vec::new();
            while !self.symbol(K::CloseCurly) {
                items.push(self.setting_value()?);
                self.expect_symbol(K::Colon)?;
                items.push(self.setting_value()?);
                if !self.symbol(K::Comma) {
                    self.expect_symbol(K::CloseCurly)?;
                    break;
                }
            }
            self.leave(2);
            self.height += 1;
            return Ok(self.call_expr("map", items, start));
        }
        // A name stands for its text: `SET dialect = clickhouse`.
        let mut value = self.expr()?;
        value.span.parenthesised = false;
        Ok(value)
    }
}
