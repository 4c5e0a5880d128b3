//! Names expressions as users see them: columns without their tables, matchers as their columns.

use basalt_parser::ast::{self, ExprKind};
use basalt_parser::column_name;

use crate::Typed;
use crate::expr::Resolver;
use crate::scope::ScopeColumn;

impl Resolver<'_> {
    /// The expression with columns named as they show: `t.x` is `x`, unless another table has one.
    pub(super) fn with_shown_names(&self, expr: &ast::Expr) -> ast::Expr {
        let mut shown = expr.clone();
        self.show_names(&mut shown);
        shown
    }

    fn show_names(&self, expr: &mut ast::Expr) {
        match &mut expr.kind {
            ExprKind::Identifier(parts) if parts.len() > 1 => {
                if self.aliases.get(&parts[0]).is_none()
                    && let Ok(Some((column, taken))) = self.names.find(parts)
                    && let Some(name) = self.shown_column(&column.internal)
                {
                    let rest = parts.split_off(taken);
                    *parts = std::iter::once(name).chain(rest).collect();
                }
            }
            ExprKind::QueryParameter(parameter) => {
                if let Ok(Some(shown)) = self.shown_parameter(parameter, expr.span) {
                    expr.kind = ExprKind::Identifier(vec![shown]);
                }
            }
            ExprKind::Array(items) | ExprKind::Tuple(items) => self.show_arguments(items),
            ExprKind::Lambda(lambda) => self.show_names(&mut lambda.body),
            ExprKind::Function(f) => match self.known_exists(f) {
                Some(exists) => {
                    // The alias keeps the subquery, which counts among the numbered ones.
                    let call = std::mem::replace(&mut expr.kind, ExprKind::Tuple(Vec::new()));
                    expr.kind = ExprKind::Alias {
                        expr: Box::new(ast::Expr::new(call, expr.span)),
                        name: u8::from(exists).to_string(),
                    };
                }
                None if counts_rows(f) => {}
                None => self.show_arguments(&mut f.args),
            },
            _ => {}
        }
    }

    /// Arguments, elements: a matcher among them is the columns that it matches.
    fn show_arguments(&self, args: &mut Vec<ast::Expr>) {
        let is_matcher = |a: &ast::Expr| matches!(a.kind, ExprKind::Matcher(_));
        if !args.iter().any(is_matcher) {
            return args.iter_mut().for_each(|a| self.show_names(a));
        }
        for mut arg in std::mem::take(args) {
            match &arg.kind {
                ExprKind::Matcher(matcher) => {
                    let columns = self.expand_matcher(matcher).unwrap_or_default();
                    args.extend(columns.iter().map(|c| {
                        let name = self.shown_name(&c.shown, &c.typed);
                        ast::Expr::new(ExprKind::Identifier(vec![name]), arg.span)
                    }));
                }
                _ => {
                    self.show_names(&mut arg);
                    args.push(arg);
                }
            }
        }
    }

    /// Whether the expression is the alias of another one.
    pub(super) fn is_alias(&self, expr: &ast::Expr) -> bool {
        matches!(&expr.kind, ExprKind::Identifier(parts)
            if parts.len() == 1 && self.aliases.get(&parts[0]).is_some())
    }

    pub(super) fn shown_name(&self, expr: &ast::Expr, typed: &Typed) -> String {
        self.shown_identifier(expr, typed)
            .unwrap_or_else(|| column_name(expr))
    }

    /// The name of a column that stands alone, which does not depend on how it is written.
    pub(super) fn shown_identifier(&self, expr: &ast::Expr, typed: &Typed) -> Option<String> {
        if let ExprKind::Identifier(_) = &expr.kind
            && let datafusion::logical_expr::Expr::Column(column) = &typed.expr
            && let Some(name) = self.shown_column(&column.name)
        {
            return Some(name);
        }
        None
    }

    /// A column's name where several tables may have it: of one join the first is plain, the others
    /// qualified, of more joins all are qualified.
    fn shown_column(&self, internal: &str) -> Option<String> {
        let index = self.names.position(internal)?;
        let columns = &self.scope.columns;
        let column = &columns[index];
        // Merged columns are no tables' of their own.
        let has_table = |c: &ScopeColumn| !c.qualifier.is_empty() || c.merged;
        let are_several = column.origin.is_some();
        let others = self.names.of_name(&column.name).iter();
        let taken = others
            .filter(|i| **i < index || (are_several && **i > index))
            .map(|i| &columns[*i])
            .any(|c| has_table(c) || !column.merged);
        match column.qualifier.last() {
            Some(table) if taken => Some(format!("{table}.{}", column.name)),
            _ => Some(column.name.clone()),
        }
    }
}

/// Whether a call is `count(*)` or `count(COLUMNS(…))`, which count rows.
fn counts_rows(f: &ast::Function) -> bool {
    let [argument] = f.args.as_slice() else {
        return false;
    };
    let ExprKind::Matcher(matcher) = &argument.kind else {
        return false;
    };
    f.name.eq_ignore_ascii_case("count") && matcher.qualifier.is_none()
}
