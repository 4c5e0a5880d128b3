//! Resolves function calls: finds out which kind of function a name is and binds it.

use std::borrow::Cow;

use basalt_error::{Error, ErrorCode, Result, counted};
use basalt_functions::aggregate::is_aggregate;
use basalt_functions::{Arg, BoundFunction, Purity, ScalarFunction, higher_order, registry};
use basalt_parser::ast::{self, ExprKind};
use basalt_types::DataType;
use datafusion::logical_expr::Expr;

use super::format_query::is_format_query;
use super::format_row::is_format_row;
use super::in_set::is_in;
use super::normalize_query::is_normalize_query;
use super::window::needs_window;
use super::{ArrayJoinCall, Resolver};
use crate::query::{Analyzer, array_join_calls};
use crate::{Typed, udf};

impl Analyzer<'_> {
    /// Calls the scalar function of that name.
    pub(crate) fn call_by_name(&self, name: &str, args: Vec<Typed>) -> Result<Typed> {
        let function = registry::get_scalar(name)?;
        let types: Vec<_> = args.iter().map(Typed::arg).collect();
        let settings = self.settings();
        let context = settings.context();
        let bound = BoundFunction::bind(function, &types, context)?;
        let mut key = format!("{}->{}", function.name, bound.return_type);
        for arg in &args {
            key.push(':');
            key.push_str(&arg.data_type.to_string());
        }
        // Times that have no time zone of their own are shown in that of the session.
        let has_zone_of_session = |t: &DataType| {
            matches!(
                t.base(),
                DataType::DateTime(None) | DataType::DateTime64(_, None)
            )
        };
        let mut types = args.iter().map(|arg| &arg.data_type);
        if has_zone_of_session(&bound.return_type) || types.any(has_zone_of_session) {
            key.push('@');
            key.push_str(context.time_zone.name());
        }
        settings.tell_apart(&mut key);
        let fold = bound.purity != Purity::PerRow && args.iter().all(|a| a.constant.is_some());
        let data_type = bound.return_type.clone();
        let exprs = args.into_iter().map(|a| a.expr).collect();
        let typed = Typed::new(udf::call(key, bound, exprs), data_type);
        if fold { typed.folded() } else { Ok(typed) }
    }
}

impl Resolver<'_> {
    /// Resolves a call or an operator.
    pub(crate) fn function(&self, f: &ast::Function) -> Result<Typed> {
        if f.over.is_some() {
            return self.window_call(f);
        }
        check_nulls_action(f)?;
        if let Some(typed) = self.special_form(f)? {
            return Ok(typed);
        }
        if is_aggregate(&f.name) || f.name.starts_with("countDistinct") {
            if needs_window(&f.name) {
                return Err(without_window(&f.name));
            }
            return self.aggregate_call(f);
        }
        if let Some(function) = higher_order::find(&f.name) {
            let has_lambda = self.as_lambda(&f.args).is_some();
            if has_lambda || function.lambda_is_optional {
                return self.higher_order_call(function, f);
            }
            if registry::find_scalar(&f.name).is_none() {
                return Err(Error::new(
                    ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                    format!("First argument of function {} must be a lambda", f.name),
                ));
            }
        }
        if let Some(ExprKind::Lambda(lambda)) = self.aliases.get(&f.name).map(|e| &e.kind) {
            let frame = self.arguments_of(&f.name, lambda, &f.args)?;
            return self.with_lambda(frame, &lambda.body, || self.resolve(&lambda.body));
        }
        if let Some(lambda) = self.analyzer.environment.sql_function(&f.name) {
            let frame = self.arguments_of(&f.name, &lambda, &f.args)?;
            let body = || self.analyzer.elsewhere(|| self.resolve(&lambda.body));
            return self.with_lambda(frame, &lambda.body, body);
        }
        if f.params.is_some() && registry::find_scalar(&f.name).is_some() {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!(
                    "Function {} is no aggregate function and takes no parameters",
                    f.name
                ),
            ));
        }
        const PER_BLOCK: [&str; 4] = [
            "neighbor",
            "runningAccumulate",
            "runningDifference",
            "runningDifferenceStartingWithFirstValue",
        ];
        let allowed = "allow_deprecated_error_prone_window_functions";
        if PER_BLOCK.contains(&f.name.as_str()) && !self.analyzer.flag(allowed) {
            return Err(Error::new(
                ErrorCode::DEPRECATED_FUNCTION,
                format!(
                    "Use a window function, or set {allowed} = 1: the result of function {} \
                     depends on how rows are cut into blocks",
                    f.name
                ),
            ));
        }
        if needs_window(&f.name) {
            return Err(without_window(&f.name));
        }
        // An unknown name is the first thing to say, before what is wrong inside.
        let function = registry::get_scalar(&f.name)?;
        if f.args.iter().any(is_lambda) {
            return Err(self.misplaced_lambda(function, &f.args)?);
        }
        self.call_by_name(&f.name, self.resolve_all(&f.args)?)
    }

    /// The error for a lambda among the arguments of a function that takes values.
    fn misplaced_lambda(&self, function: &ScalarFunction, args: &[ast::Expr]) -> Result<Error> {
        let mut types = Vec::with_capacity(args.len());
        for arg in args {
            types.push(match is_lambda(arg) {
                true => Arg::new(DataType::Nothing),
                false => self.resolve(arg)?.arg(),
            });
        }
        let settings = self.analyzer.settings();
        let context = settings.context();
        let count = ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH;
        Ok(match BoundFunction::bind(function, &types, context) {
            Err(e) if e.code() == count => e,
            _ => no_lambda(function.name),
        })
    }

    /// Calls whose arguments are not simply values, or that DataFusion runs itself.
    fn special_form(&self, f: &ast::Function) -> Result<Option<Typed>> {
        let name = f.name.as_str();
        let standard = [
            "and", "or", "not", "if", "cast", "coalesce", "ifnull", "grouping",
        ];
        let lower = name.to_ascii_lowercase();
        let name = if standard.contains(&lower.as_str()) {
            lower.as_str()
        } else {
            name
        };
        if is_special_scalar(name) && f.args.iter().any(is_lambda) {
            return Err(no_lambda(name));
        }
        let args = || self.resolve_all(&f.args);
        Ok(Some(match name {
            "and" | "or" => self.logic(name == "and", args()?)?,
            "not" => self.not(args()?)?,
            "if" => self.branches("if", args()?)?,
            "multiIf" | "caseWithoutExpression" | "caseWithoutExpr" => {
                self.branches("multiIf", args()?)?
            }
            "caseWithExpression" | "caseWithExpr" => self.case_with_expression(args()?)?,
            "isNull" => self.is_null(args()?, true)?,
            "isNotNull" => self.is_null(args()?, false)?,
            "equals" | "notEquals" | "less" | "greater" | "lessOrEquals" | "greaterOrEquals" => {
                self.comparison(name, args()?)?
            }
            _ if is_in(name) => self.in_call(name, &f.args)?,
            "cast" | "_CAST" => {
                self.cast_call(args()?, self.analyzer.flag("cast_keep_nullable"))?
            }
            "exists" => self.exists(&f.args)?,
            "getSubcolumn" => self.get_subcolumn(args()?)?,
            "arrayJoin" | "unnest" => self.array_join_call(&f.args)?,
            "grouping" => self.grouping_call(args()?)?,
            _ if is_format_row(name) => self.format_row(name, &f.args)?,
            _ if is_format_query(name) => self.format_query(name, args()?)?,
            _ if is_normalize_query(name) => self.normalize_query(name, args()?)?,
            _ => return Ok(None),
        }))
    }

    /// Calls the scalar function of that name.
    pub(crate) fn call_by_name(&self, name: &str, args: Vec<Typed>) -> Result<Typed> {
        self.analyzer.call_by_name(name, args)
    }

    /// The lambda that the first argument is, or the alias of one, or the name of a function.
    pub(crate) fn as_lambda<'e>(&'e self, args: &'e [ast::Expr]) -> Option<Cow<'e, ast::Lambda>> {
        let (first, rest) = args.split_first()?;
        match &first.unaliased().kind {
            ExprKind::Lambda(lambda) => Some(Cow::Borrowed(lambda)),
            ExprKind::Identifier(parts) if parts.len() == 1 => {
                match self.aliases.get(&parts[0]).map(|e| &e.kind) {
                    Some(ExprKind::Lambda(lambda)) => Some(Cow::Borrowed(lambda)),
                    Some(_) => None,
                    None if rest.is_empty() => None,
                    None => self.function_as_lambda(first, &parts[0], rest.len()),
                }
            }
            _ => None,
        }
    }

    /// `negate` as `x -> negate(x)`, with a parameter for each array.
    fn function_as_lambda<'e>(
        &self,
        expr: &ast::Expr,
        name: &str,
        num_params: usize,
    ) -> Option<Cow<'e, ast::Lambda>> {
        let is_function = registry::find_scalar(name).is_some()
            || self.analyzer.environment.sql_function(name).is_some();
        let is_column = self
            .scope
            .find(&[name.to_owned()])
            .is_ok_and(|f| f.is_some());
        if !is_function || is_column || self.outer.expression(name).is_some() {
            return None;
        }
        let at = |kind: ExprKind| ast::Expr {
            kind,
            span: expr.span,
        };
        let params: Vec<String> = (1..=num_params).map(|i| format!("\u{3bb}{i}")).collect();
        let args = params
            .iter()
            .map(|p| at(ExprKind::Identifier(vec![p.clone()])));
        let body = ast::Function {
            name: name.to_owned(),
            params: None,
            args: args.collect(),
            form: ast::FunctionForm::Call,
            nulls: None,
            over: None,
        };
        let body = at(ExprKind::Function(Box::new(body)));
        Some(Cow::Owned(ast::Lambda { params, body }))
    }

    /// The arguments of a lambda with a name, by its parameters.
    fn arguments_of(
        &self,
        name: &str,
        lambda: &ast::Lambda,
        args: &[ast::Expr],
    ) -> Result<Vec<(String, Typed)>> {
        if lambda.params.len() != args.len() {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!(
                    "Function {name} takes {}, got {}",
                    counted(lambda.params.len(), "argument"),
                    args.len()
                ),
            ));
        }
        let args = self.resolve_all(args)?;
        Ok(lambda.params.iter().cloned().zip(args).collect())
    }

    /// `arrayJoin(x)`: a column of its own, the same for the same argument.
    fn array_join_call(&self, args: &[ast::Expr]) -> Result<Typed> {
        let [argument] = <[Typed; 1]>::try_from(self.resolve_all(args)?).map_err(|_| {
            Error::new(
                ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
                "Function arrayJoin takes one argument, an array",
            )
        })?;
        let element = array_element(&argument.data_type).ok_or_else(|| {
            let code = match argument.data_type.base() {
                DataType::Nothing => ErrorCode::TYPE_MISMATCH,
                _ => ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            };
            Error::new(code, "Argument of arrayJoin must be an array or a map")
        })?;
        let read = argument.expr.column_refs();
        let depends = |parameter: &Typed| match &parameter.expr {
            // Those of functions of the user's are any expressions.
            Expr::Column(c) => c.name.starts_with('\u{3bb}') && read.contains(c),
            _ => false,
        };
        let state = self.state.borrow();
        let mut parameters = state.lambda_frames.iter().flat_map(|f| f.parameters());
        if parameters.any(depends) {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "Expression in arrayJoin cannot depend on a parameter of a lambda",
            ));
        }
        let mut calls = self.array_joins.borrow_mut();
        if let Some(known) = calls.iter().find(|c| c.argument.expr == argument.expr) {
            return Ok(Typed::column(&known.internal, element));
        }
        let internal = self.analyzer.fresh(array_join_calls::PREFIX);
        let typed = Typed::column(&internal, element);
        calls.push(ArrayJoinCall { argument, internal });
        Ok(typed)
    }
}

/// Whether the analyzer itself resolves calls of a function that takes values.
fn is_special_scalar(name: &str) -> bool {
    matches!(
        name,
        "and"
            | "or"
            | "not"
            | "isNull"
            | "isNotNull"
            | "equals"
            | "notEquals"
            | "less"
            | "greater"
            | "lessOrEquals"
            | "greaterOrEquals"
            | "cast"
            | "_CAST"
            | "arrayJoin"
            | "unnest"
    )
}

fn without_window(name: &str) -> Error {
    Error::new(
        ErrorCode::BAD_ARGUMENTS,
        format!("Add OVER (…): function {name} needs a window"),
    )
}

fn no_lambda(name: &str) -> Error {
    Error::new(
        ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
        format!("Function {name} takes no lambda: only higher-order functions do"),
    )
}

fn is_lambda(expr: &ast::Expr) -> bool {
    matches!(expr.unaliased().kind, ExprKind::Lambda(_))
}

/// Type of the rows that joining an array (or a map, as its pairs) gives.
pub(crate) fn array_element(data_type: &DataType) -> Option<DataType> {
    use basalt_types::TupleType;
    match data_type {
        DataType::Array(element) => Some(element.as_ref().clone()),
        DataType::Map(key, value) => Some(DataType::Tuple(std::sync::Arc::new(TupleType {
            types: vec![key.as_ref().clone(), value.as_ref().clone()],
            names: vec!["keys".to_owned(), "values".to_owned()],
        }))),
        _ => None,
    }
}

/// RESPECT NULLS and IGNORE NULLS are for aggregate and window functions.
fn check_nulls_action(f: &ast::Function) -> Result<()> {
    let Some(action) = f.nulls else {
        return Ok(());
    };
    if is_aggregate(&f.name) || needs_window(&f.name) || f.name.starts_with("countDistinct") {
        return Ok(());
    }
    if higher_order::find(&f.name).is_none() {
        // An unknown name is the first thing to say.
        registry::get_scalar(&f.name)?;
    }
    let words = match action {
        ast::NullsAction::Respect => "RESPECT NULLS",
        ast::NullsAction::Ignore => "IGNORE NULLS",
    };
    Err(Error::new(
        ErrorCode::SYNTAX_ERROR,
        format!(
            "Remove {words}: function {} is no aggregate function",
            f.name
        ),
    ))
}
