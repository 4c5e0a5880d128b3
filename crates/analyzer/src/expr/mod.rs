//! Resolves expressions: every name found, every type known, every cast written out.
//!
//! | module | owns |
//! |---|---|
//! | [`aliases`] | names that the query gives to expressions |
//! | [`literal`] | constants |
//! | [`identifier`] | names of columns, aliases, lambda parameters, tuple elements |
//! | [`call`] | function calls: which kind of function, and binding it |
//! | [`native`] | what DataFusion runs itself: comparisons, logic, conditions |
//! | [`cast`] | conversions |
//! | `constant` | what must be constant, like the number in LIMIT |
//! | [`format_query`] | functions that lay out queries |
//! | `normalize_query` | functions that make queries comparable |
//! | `special` | names of the functions that are resolved here |
//! | [`format_row`] | functions that write rows in a format |
//! | [`in_set`] | IN with constants, tables and subqueries |
//! | `set_values` | the values on the right of IN, as one array |
//! | [`in_row`] | IN with columns |
//! | `nested` | the columns of a Nested as one array |
//! | `nullable_keys` | keys of GROUP BY that are NULL in some rows |
//! | [`lambda`] | higher-order functions |
//! | `lambda_frame` | the names that lambdas give to values |
//! | [`aggregate`] | aggregate functions with their combinators |
//! | `distinct_if` | counts of different values of the rows that a condition keeps |
//! | `shifted_sum` | sums of a column plus a constant |
//! | [`window`] | window functions |
//! | [`matcher`] | `*`, `t.*`, `COLUMNS(…)` and their transformers |
//! | `matcher_of_tuple` | `t.*` of a tuple |
//! | `mentions` | where columns and aggregate functions stand |
//! | [`subquery`] | scalar subqueries and EXISTS |
//! | [`value_set`] | the values of a big IN |
//! | `tuple_comparison` | tuples compared element by element |
//! | [`window_frame`] | frames of windows: ROWS, RANGE, GROUPS |

pub mod aggregate;
pub mod aliases;
pub mod call;
pub mod cast;
mod constant;
mod distinct_if;
pub mod format_query;
pub mod format_row;
pub mod identifier;
mod in_row;
pub mod in_set;
pub mod lambda;
mod lambda_frame;
pub mod literal;
pub mod matcher;
mod matcher_of_tuple;
mod mentions;
pub mod native;
mod nested;
mod normalize_query;
mod nullable_keys;
mod set_values;
mod shifted_sum;
mod special;
pub mod subquery;
mod tuple_comparison;
pub(crate) mod value_set;
pub mod window;
mod window_frame;

pub(crate) use mentions::{Mentioned, Mentions};
pub use special::SPECIAL_FUNCTIONS;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ExprKind};
use basalt_types::{ColumnBuilder, DataType};
use datafusion::logical_expr::{Expr, LogicalPlan};

use crate::query::correlated::CorrelatedSubquery;
use crate::query::{Analyzer, Outer};
use crate::scope::{Names, Scope};
use crate::typed::Typed;
use aliases::Aliases;
use lambda_frame::LambdaFrame;

/// An `arrayJoin(x)` of the query: the column that it becomes.
#[derive(Clone, Debug)]
pub(crate) struct ArrayJoinCall {
    pub(crate) argument: Typed,
    pub(crate) internal: String,
}

/// Resolves the expressions of one SELECT.
pub(crate) struct Resolver<'a> {
    pub(crate) analyzer: &'a Analyzer<'a>,
    pub(crate) outer: &'a Outer,
    pub(crate) scope: &'a Scope,
    pub(crate) names: Names<'a>,
    pub(crate) aliases: &'a Aliases<'a>,
    pub(crate) windows: &'a [ast::NamedWindow],
    /// Whether there are keys of which `grouping()` can tell.
    pub(crate) has_group_by: bool,
    pub(crate) array_joins: RefCell<Vec<ArrayJoinCall>>,
    /// Whether a cast that changes nothing is another expression than what it casts, as keys are that sets
    /// of keys or totals leave out.
    keeps_casts: Cell<bool>,
    /// Keys of GROUP BY that are NULL in some rows behind it.
    nullable_keys: Vec<Typed>,
    /// The rows that the expressions are over; correlated subqueries need them.
    pub(crate) rows: Option<&'a LogicalPlan>,
    pub(crate) correlated: RefCell<Vec<CorrelatedSubquery>>,
    /// Where columns and aggregate functions stand.
    pub(crate) mentions: RefCell<Mentions>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    /// Aliases being resolved: inside its own expression an alias means the column.
    alias_stack: Vec<String>,
    /// Aliases of queries around that are being resolved.
    outer_aliases: Vec<String>,
    /// The aliases as subqueries see them.
    shared_aliases: Option<Rc<HashMap<String, ast::Expr>>>,
    /// Whether an alias meant the column inside another alias of its own expression.
    has_crossed: bool,
    /// Results of aliases resolved outside of lambdas, and of how many expressions each is.
    alias_cache: HashMap<String, (Typed, u64)>,
    /// The lambdas around the expression, innermost last.
    lambda_frames: Vec<LambdaFrame>,
    /// Aliases inside of lambdas that are being resolved, with the number of their lambda.
    open_in_lambdas: Vec<(usize, String)>,
    /// Scalar subqueries with their values: the same text has the same value, also of `rand()`.
    scalars: Vec<(ast::Query, Typed)>,
    /// The subqueries of EXISTS that use no columns around them, and whether they have rows.
    exists: Vec<(ast::Query, bool)>,
    /// Depth of aggregate calls around the expression.
    aggregate_depth: usize,
    /// Depth of window functions around the expression.
    window_depth: usize,
    depth: usize,
}

/// Expressions nested deeper are refused, so that no query exhausts the stack, unless the program
/// says that it has more.
const MAX_DEPTH: usize = 1000;

impl<'a> Resolver<'a> {
    pub(crate) fn new(
        analyzer: &'a Analyzer<'a>,
        outer: &'a Outer,
        scope: &'a Scope,
        aliases: &'a Aliases<'a>,
    ) -> Self {
        Self {
            analyzer,
            outer,
            scope,
            names: Names::new(scope),
            aliases,
            windows: &[],
            has_group_by: true,
            array_joins: RefCell::default(),
            keeps_casts: Cell::new(false),
            nullable_keys: Vec::new(),
            rows: None,
            correlated: RefCell::default(),
            mentions: RefCell::default(),
            state: RefCell::default(),
        }
    }

    /// The resolver of a SELECT's own clauses, over `rows`.
    pub(crate) fn of_select(self, select: &'a ast::Select, rows: &'a LogicalPlan) -> Self {
        Self {
            windows: &select.windows,
            has_group_by: select.group_by.is_some(),
            keeps_casts: Cell::new(
                select.with_totals || select.group_by.as_ref().is_some_and(ast::GroupBy::has_sets),
            ),
            rows: Some(rows),
            ..self
        }
    }

    /// From now on these keys are Nullable outside of aggregate functions.
    pub(crate) fn make_nullable(&mut self, keys: Vec<Typed>) {
        self.nullable_keys = keys;
        self.state.borrow_mut().alias_cache.clear();
    }

    /// Resolves one expression.
    ///
    /// # Errors
    /// What is wrong with it, with its position.
    pub(crate) fn resolve(&self, expr: &ast::Expr) -> Result<Typed> {
        // Lists of constants are one element each.
        if expr.as_literal().is_none() {
            self.analyzer.count_expanded(1)?;
        }
        {
            let mut state = self.state.borrow_mut();
            state.depth += 1;
            let limit = (basalt_parser::max_depth() as usize).max(MAX_DEPTH);
            if state.depth > limit {
                return Err(Error::new(
                    ErrorCode::TOO_DEEP_RECURSION,
                    format!("Expression is nested deeper than {limit} levels"),
                ));
            }
        }
        let entered = self.analyzer.enter(expr.span);
        let mut result = self.resolve_kind(expr);
        drop(entered);
        self.state.borrow_mut().depth -= 1;
        if let Ok(typed) = &mut result
            && self.state.borrow().aggregate_depth == 0
        {
            self.mentions.borrow_mut().note(&typed.expr, expr.span);
            nullable_keys::recognise(typed, &self.nullable_keys);
        }
        result.map_err(|e| self.analyzer.placed(e, expr.span))
    }

    fn resolve_kind(&self, expr: &ast::Expr) -> Result<Typed> {
        match &expr.kind {
            ExprKind::Literal(literal) => literal::literal(literal),
            ExprKind::Array(items) => self.array(items),
            ExprKind::Tuple(items) => self.call_by_name("tuple", self.resolve_all(items)?),
            ExprKind::Identifier(parts) => self.identifier(parts),
            ExprKind::Matcher(_) => Err(Error::new(
                ErrorCode::UNSUPPORTED_METHOD,
                "Columns cannot be matched here: write *, t.* and COLUMNS(…) in SELECT or as \
                 arguments of a function",
            )),
            ExprKind::Function(function) => self.function(function),
            ExprKind::Lambda(_) => Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "A lambda can only be the first argument of a higher-order function",
            )),
            ExprKind::Subquery(query) => self.scalar_subquery(query),
            ExprKind::Alias { expr, name } => self.aliased(expr, name),
            ExprKind::QueryParameter(parameter) => self.parameter(parameter),
            ExprKind::ParameterName(parts) => self.identifier(&self.analyzer.name_of(parts)?),
        }
    }

    /// `[a, b]`: the function `array`; literals that are a whole column have one type for all elements.
    fn array(&self, items: &[ast::Expr]) -> Result<Typed> {
        fn is_literal(expr: &ast::Expr) -> bool {
            match &expr.kind {
                ExprKind::Literal(_) => true,
                ExprKind::Array(items) => items.iter().all(is_literal),
                _ => false,
            }
        }
        let resolved = self.resolve_all(items)?;
        if self.state.borrow().depth == 1 && items.iter().all(is_literal) {
            let types: Vec<_> = resolved.iter().map(|t| t.data_type.clone()).collect();
            basalt_types::least_supertype(&types)?;
        }
        self.call_by_name("array", resolved)
    }

    pub(crate) fn resolve_all(&self, exprs: &[ast::Expr]) -> Result<Vec<Typed>> {
        let mut resolved = Vec::with_capacity(exprs.len());
        for expr in exprs {
            match &expr.unaliased().kind {
                ExprKind::Matcher(matcher) => {
                    for item in self.expand_matcher(matcher)? {
                        resolved.push(item.typed);
                    }
                }
                _ => match self.untupled(expr)? {
                    Some(elements) => resolved.extend(elements.into_iter().map(|(_, e)| e)),
                    None => resolved.push(self.resolve(expr)?),
                },
            }
        }
        Ok(resolved)
    }

    /// Resolves a condition of WHERE, HAVING and the like.
    ///
    /// # Errors
    /// As [`Resolver::resolve`], and if the expression is no number.
    pub(crate) fn condition(&self, expr: &ast::Expr) -> Result<Expr> {
        let predicate = self.resolve(expr)?.to_predicate();
        predicate.map_err(|e| self.analyzer.placed(e, expr.span))
    }

    /// As [`Resolver::condition`], of a clause that comes before aggregate functions.
    ///
    /// # Errors
    /// As [`Resolver::condition`], and `ILLEGAL_AGGREGATION`.
    pub(crate) fn condition_on_rows(&self, expr: &ast::Expr, clause: &str) -> Result<Expr> {
        // The rows have all keys, and what reads them looks at columns.
        let keeps_casts = self.keeps_casts.replace(false);
        let condition = self.condition(expr);
        self.keeps_casts.set(keeps_casts);
        let condition = condition?;
        aggregate::forbid_aggregates(&condition, clause)
            .map_err(|e| self.at_aggregation(e, expr.span))?;
        Ok(condition)
    }

    /// The error with the place of the aggregate function in a part of the query.
    pub(crate) fn at_aggregation(&self, error: Error, part: ast::Span) -> Error {
        let mentions = self.mentions.borrow();
        let place = mentions.first(&Mentioned::Aggregation, part);
        self.analyzer.placed(error, place.unwrap_or(part))
    }

    pub(crate) fn parameter(&self, parameter: &ast::QueryParameter) -> Result<Typed> {
        let name = &parameter.name;
        let type_name = basalt_parser::format_data_type(&parameter.data_type);
        let data_type = match type_name.as_str() {
            "Identifier" => None,
            _ => Some(basalt_types::parse_data_type(&type_name)?),
        };
        let text = self.analyzer.parameter(name).ok_or_else(|| {
            Error::new(
                ErrorCode::UNKNOWN_QUERY_PARAMETER,
                format!(
                    "Set it by --param_{name} or SET param_{name}: substitution `{name}` is not set"
                ),
            )
        })?;
        let Some(data_type) = data_type else {
            return self.identifier(&[text]);
        };
        if data_type.is_nullable() && text == "\\N" {
            return literal::null()?.cast_to(&data_type, self.analyzer);
        }
        if has_map(&data_type) {
            // Parameters are read as text is from a file, which no cast does for maps.
            let mut builder = ColumnBuilder::new(&data_type, 1)?;
            builder.append_text(text.as_bytes())?;
            return Typed::constant(builder.finish()?, data_type);
        }
        let mut value = text.clone().into_bytes();
        if matches!(
            data_type.without_low_cardinality().base(),
            DataType::String | DataType::FixedString(_) | DataType::Enum8(_) | DataType::Enum16(_)
        ) {
            value.clear();
            basalt_types::text::escape::unescape(text.as_bytes(), &mut value)?;
        }
        literal::string(&value)?
            .cast_to(&data_type, self.analyzer)
            .map_err(|e| {
                Error::new(
                    ErrorCode::BAD_QUERY_PARAMETER,
                    format!(
                        "Give --param_{name} a {data_type}: value {text} of query parameter `{name}` is none: {}",
                        e.without_hint().message()
                    ),
                )
            })
    }
}

/// Whether values of the type are maps or have some inside.
fn has_map(data_type: &DataType) -> bool {
    match data_type {
        DataType::Map(..) => true,
        DataType::Array(element) => has_map(element),
        DataType::Tuple(tuple) => tuple.types.iter().any(has_map),
        _ => false,
    }
}
