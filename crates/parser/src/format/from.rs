//! Writes FROM: tables, joins and ARRAY JOIN.

use super::Writer;
use super::text::quoted;
use crate::ast::{
    Expr, ExprKind, FromElement, Function, Join, JoinConstraint, JoinKind, JoinLocality,
    JoinStrictness, ObjectName, Ratio, TableExpr, TableFunction, TableSource, takes_bare_query,
};

impl Writer {
    pub(super) fn from(&mut self, elements: &[FromElement]) {
        if elements.is_empty() {
            return;
        }
        self.line();
        self.put("FROM");
        for element in elements {
            match element {
                FromElement::Table { join: None, table } => self.table_after(table),
                FromElement::Table {
                    join: Some(join),
                    table,
                } => self.joined(join, table),
                FromElement::ArrayJoin { left, exprs } => {
                    self.line();
                    self.put(if *left {
                        "LEFT ARRAY JOIN"
                    } else {
                        "ARRAY JOIN"
                    });
                    self.list(exprs, |w, e| w.aliased(e));
                }
            }
        }
    }

    /// A table after FROM, JOIN or a comma: a subquery begins a line of its own.
    fn table_after(&mut self, table: &TableExpr) {
        match table.source {
            TableSource::Subquery(_) => self.line(),
            _ => self.put(" "),
        }
        self.table_expr(table);
    }

    fn joined(&mut self, join: &Join, table: &TableExpr) {
        if join.kind == JoinKind::Comma {
            self.put(",");
            self.table_after(table);
            return;
        }
        self.line();
        self.put(match join.locality {
            JoinLocality::Unspecified => "",
            JoinLocality::Local => "LOCAL ",
            JoinLocality::Global => "GLOBAL ",
        });
        self.put_if(join.natural, "NATURAL ");
        self.put(match join.strictness {
            JoinStrictness::Unspecified => "",
            JoinStrictness::Any => "ANY ",
            JoinStrictness::All => "ALL ",
            JoinStrictness::Semi => "SEMI ",
            JoinStrictness::Anti => "ANTI ",
            JoinStrictness::Asof => "ASOF ",
        });
        self.put(match join.kind {
            JoinKind::Inner => "INNER JOIN",
            JoinKind::Left => "LEFT JOIN",
            JoinKind::Right => "RIGHT JOIN",
            JoinKind::Full => "FULL OUTER JOIN",
            JoinKind::Cross => "CROSS JOIN",
            JoinKind::Paste => "PASTE JOIN",
            JoinKind::Comma => ",",
        });
        self.table_after(table);
        match &join.constraint {
            Some(JoinConstraint::On(condition)) => {
                self.put(" ON ");
                self.expr(condition);
            }
            Some(JoinConstraint::Using(columns)) => {
                self.put(" USING ");
                self.parentheses(columns, |w, e| w.aliased(e));
            }
            None => {}
        }
    }

    #[inline(never)]
    pub(super) fn table_expr(&mut self, table: &TableExpr) {
        match &table.source {
            TableSource::Table(name) => self.object_name(name),
            TableSource::Function(function) => self.table_function(function),
            TableSource::Subquery(query) => self.block(|w| w.query_body(&query.body)),
            TableSource::File(path) => self.put(&quoted(path.as_bytes())),
        }
        if let Some(alias) = &table.alias {
            self.put(" AS ");
            self.put_name(alias);
            if !table.column_aliases.is_empty() {
                self.parentheses(&table.column_aliases, |w, name| w.put_name(name));
            }
        }
        if table.final_ {
            self.line();
            self.put("FINAL");
        }
        if let Some(sample) = &table.sample {
            self.line();
            self.put("SAMPLE ");
            self.ratio(sample.ratio);
            if let Some(offset) = sample.offset {
                self.put(" OFFSET ");
                self.ratio(offset);
            }
        }
        if table.stream {
            self.line();
            self.put("STREAM");
        }
    }

    fn ratio(&mut self, ratio: Ratio) {
        self.put(&ratio.numerator.to_string());
        if ratio.denominator != 1 {
            self.put(&format!(" / {}", ratio.denominator));
        }
    }

    pub(super) fn table_function(&mut self, function: &TableFunction) {
        self.put_name(&function.name);
        self.put("(");
        self.table_function_args(&function.name, &function.args);
        if !function.settings.is_empty() {
            self.put_if(!function.args.is_empty(), ", ");
            self.put("SETTINGS ");
            self.settings(&function.settings);
        }
        self.put(")");
    }

    fn table_function_args(&mut self, function: &str, args: &[Expr]) {
        let separator = if function == "viewIfPermitted" {
            " ELSE "
        } else {
            ", "
        };
        for (i, e) in args.iter().enumerate() {
            self.put_if(i > 0, separator);
            match &e.kind {
                ExprKind::Subquery(query) if takes_bare_query(function) => {
                    self.indented(|w| {
                        w.soft_line();
                        w.query_body(&query.body);
                    });
                    self.soft_line();
                }
                ExprKind::Function(f) if is_view_of_query(f) => {
                    self.put(&f.name);
                    self.put("(");
                    self.table_function_args(&f.name, &f.args);
                    self.put(")");
                }
                ExprKind::Function(f) if i > 0 && takes_bare_query(function) => {
                    self.put_name(&f.name);
                    self.parentheses(&f.args, |w, e| w.aliased(e));
                }
                _ => self.aliased(e),
            }
        }
    }

    pub(super) fn object_name(&mut self, name: &ObjectName) {
        if let Some(database) = &name.database {
            self.name_part(database, name.database_is_parameter);
            self.put(".");
        }
        self.name_part(&name.name, name.name_is_parameter);
    }

    pub(super) fn name_part(&mut self, name: &str, is_parameter: bool) {
        if is_parameter {
            self.put("{");
            self.put_name(name);
            self.put(":Identifier}");
        } else {
            self.put_name(name);
        }
    }
}

/// Whether `function`, among the arguments of a table function, is a view of a bare query.
fn is_view_of_query(function: &Function) -> bool {
    let first = function.args.first().map(|e| &e.kind);
    takes_bare_query(&function.name) && matches!(first, Some(ExprKind::Subquery(_)))
}
