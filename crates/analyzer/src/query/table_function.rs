//! Plans table functions in FROM, and views with parameters, which are called alike.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ExprKind};

use super::from::{Source, qualify, subquery_source};
use super::{Analyzer, Outer};
use crate::environment::{ConstantArg, TableEntry};
use crate::expr::Resolver;
use crate::expr::aliases::Aliases;
use crate::scope::Scope;

impl Analyzer<'_> {
    pub(super) fn table_function(
        &self,
        function: &ast::TableFunction,
        outer: &Outer,
    ) -> Result<Source> {
        self.function_by_name(&function.name, &function.args, outer)
    }

    pub(super) fn function_by_name(
        &self,
        name: &str,
        args: &[ast::Expr],
        outer: &Outer,
    ) -> Result<Source> {
        if name == "view" {
            let Some(ExprKind::Subquery(query)) = args.first().map(|a| &a.kind) else {
                return Err(Error::new(
                    ErrorCode::SYNTAX_ERROR,
                    "Table function view takes a query",
                ));
            };
            return Ok(subquery_source(self.query(query, outer)?));
        }
        if name == "viewExplain" {
            return self.explained(args);
        }
        let written = args;
        let args = args
            .iter()
            .map(|a| match &a.kind {
                ExprKind::Function(_) if name == "loop" => called_table(a),
                _ => self.table_argument(a, outer),
            })
            .collect::<Result<Vec<_>>>()?;
        if let Some(query) = self.called_view(name) {
            return self.view_with_parameters(&query, &args);
        }
        let entry = self
            .environment
            .table_function(name, &args, self.settings().own());
        let entry = entry.map_err(|e| match ast::format_argument(name, written) {
            Some(format) if e.code() == ErrorCode::UNKNOWN_FORMAT => self.placed(e, format.span),
            _ => e,
        })?;
        let mut source = self.entry(entry, name)?;
        if name == "merge" {
            // Where a row comes from can be asked for; `*` leaves it out.
            let columns = source.scope.columns.iter_mut();
            columns
                .filter(|c| matches!(c.name.as_str(), "_database" | "_table"))
                .for_each(|c| c.hidden = true);
        }
        qualify(&mut source.scope, &[name.to_owned()]);
        Ok(source)
    }

    /// The query of a view that is called like a table function.
    fn called_view(&self, name: &str) -> Option<Arc<ast::Query>> {
        match self.environment.table(&ast::ObjectName::bare(name), None) {
            Ok(TableEntry::View(query)) => Some(query),
            _ => None,
        }
    }

    /// Whether a table function of that name is a view.
    pub(super) fn is_view(&self, name: &str) -> bool {
        self.called_view(name).is_some()
    }

    /// `viewExplain('EXPLAIN …', 'settings', (SELECT …))`
    fn explained(&self, args: &[ast::Expr]) -> Result<Source> {
        let text = |e: &ast::Expr| {
            e.as_string()
                .map(|s| String::from_utf8_lossy(s).into_owned())
        };
        let wrong = || {
            Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "Table function viewExplain takes the words of EXPLAIN, its settings and a query",
            )
        };
        let (words, settings, query) = match args {
            [words] => (text(words), None, None),
            [words, settings, query] => (text(words), text(settings), Some(query)),
            _ => return Err(wrong()),
        };
        let nothing = ast::Query::new(ast::SetExpr::Select(Box::default()));
        let query = match query.map(|q| &q.kind) {
            Some(ExprKind::Subquery(query)) => query.as_ref(),
            Some(_) => return Err(wrong()),
            None => &nothing,
        };
        let words = words.ok_or_else(wrong)?;
        let settings = settings.unwrap_or_default();
        let entry = self.environment.explain(&words, &settings, query)?;
        self.entry(entry, "viewExplain")
    }

    /// The rows of a view whose query has parameters: `view(name = value, …)`.
    fn view_with_parameters(&self, query: &ast::Query, args: &[ConstantArg]) -> Result<Source> {
        let mut parameters = Vec::with_capacity(args.len());
        for arg in args {
            let name = arg.name.clone().ok_or_else(|| {
                Error::new(
                    ErrorCode::BAD_ARGUMENTS,
                    "Write name = value for a view's parameters",
                )
            })?;
            let value = crate::Typed::constant(Arc::clone(&arg.value), arg.data_type.clone())?;
            let text = value.cast_to(&basalt_types::DataType::String, self)?;
            let text = crate::expr::cast::constant_text(&text);
            parameters.push((name, text.unwrap_or_default()));
        }
        let before = self.parameters.replace(parameters);
        let planned = self.view(query);
        self.parameters.replace(before);
        planned.map(subquery_source)
    }

    /// A constant; a bare word (`file(x.csv, CSV)`) is the string of its name.
    fn table_argument(&self, expr: &ast::Expr, outer: &Outer) -> Result<ConstantArg> {
        let (name, value) = match &expr.kind {
            ExprKind::Function(f) if f.name == "REGEXP" && f.args.len() == 1 => {
                (Some(f.name.clone()), &f.args[0])
            }
            ExprKind::Function(f) if f.name == "equals" && f.args.len() == 2 => {
                match &f.args[0].kind {
                    ExprKind::Identifier(parts) => (Some(parts.join(".")), &f.args[1]),
                    _ => (None, expr),
                }
            }
            _ => (None, expr),
        };
        let (scope, aliases) = (Scope::default(), Aliases::default());
        let typed = match &value.kind {
            ExprKind::Identifier(parts)
                if outer.expression(&parts[0]).is_none() && outer.alias(&parts[0]).is_none() =>
            {
                crate::expr::literal::string(parts.join(".").as_bytes())?
            }
            _ => Resolver::new(self, outer, &scope, &aliases).resolve(value)?,
        };
        let value = typed.constant.ok_or_else(|| {
            Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "Arguments of a table function must be constant",
            )
        })?;
        Ok(ConstantArg {
            name,
            data_type: typed.data_type,
            value,
        })
    }
}

/// The call of a table function as an argument: its text, by the name FUNCTION.
fn called_table(call: &ast::Expr) -> Result<ConstantArg> {
    let text = crate::expr::literal::string(basalt_parser::format_expr(call).as_bytes())?;
    let value = text
        .constant
        .ok_or_else(|| Error::bug("a literal is constant"))?;
    Ok(ConstantArg {
        name: Some("FUNCTION".to_owned()),
        data_type: text.data_type,
        value,
    })
}
