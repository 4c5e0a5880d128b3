//! Plans queries: SELECT with its clauses, and set operations.
//!
//! Every column of a plan has a name that is unique in the whole query (`number_7`), so that
//! joins and subqueries need no qualifiers; what users see is in [`OutputColumn`].
//!
//! | module | owns |
//! |---|---|
//! | [`outer`] | what a query sees of those around it |
//! | [`select`] | the order of a SELECT's steps |
//! | [`insert`] | what an INSERT stores: casts and defaults |
//! | [`items`] | the select list: its expressions and their names |
//! | `shown_names` | names of columns as users see them |
//! | [`from`] | tables, table functions, views, subqueries |
//! | [`join`] | joins |
//! | `using` | the columns that USING and NATURAL name |
//! | `join_keys` | what a join looks up of that which ON compares |
//! | [`any_join`] | ANY, SEMI and PASTE JOIN |
//! | [`asof_join`] | ASOF JOIN |
//! | [`recursive`] | WITH RECURSIVE |
//! | [`correlated`] | subqueries that use columns of the query around them |
//! | [`tuple_keys`] | tuples with NULLs as keys of joins |
//! | [`draws`] | equal calls of `rand()` |
//! | [`array_join`] | ARRAY JOIN and `arrayJoin()` |
//! | `array_join_calls` | where `arrayJoin()` makes rows |
//! | [`group_by`] | the aggregation of GROUP BY |
//! | [`grouping`] | its keys, and the sets of ROLLUP, CUBE, GROUPING SETS |
//! | [`grouping_id`] | keys that a set leaves out, `grouping()` |
//! | [`redundant_keys`] | keys that follow from other keys |
//! | [`totals`] | WITH TOTALS |
//! | [`limit`] | numbers of rows in LIMIT and OFFSET |
//! | [`windows`] | the steps of window functions |
//! | [`late_items`] | what a SELECT computes behind its ORDER BY |
//! | [`order_by`] | ORDER BY, LIMIT, LIMIT BY, DISTINCT |
//! | [`float_order`] | what floats are sorted by |
//! | [`uuid_order`] | the same for UUIDs inside of arrays and tuples |
//! | [`with_fill`] | ORDER BY … WITH FILL |
//! | [`set_operations`] | UNION, EXCEPT, INTERSECT |
//! | [`defaults`] | the expressions of DEFAULT, MATERIALIZED and ALIAS columns |
//! | [`named_table`] | names in FROM: subqueries of WITH, tables, views |
//! | [`named_columns`] | which columns of a table a query can name |
//! | [`table_function`] | table functions in FROM, views with parameters |
//! | [`parameter_names`] | names of columns that are query parameters |

mod any_join;
pub mod array_join;
pub(crate) mod array_join_calls;
mod asof_join;
pub(crate) mod correlated;
pub mod defaults;
mod draws;
mod float_order;
pub mod from;
pub mod group_by;
mod grouping;
mod grouping_id;
pub mod insert;
pub mod items;
pub mod join;
mod join_keys;
mod late_items;
mod limit;
mod named_columns;
mod named_table;
pub mod order_by;
pub mod outer;
mod parameter_names;
pub(crate) mod recursive;
mod redundant_keys;
pub mod select;
pub mod set_operations;
mod shown_names;
mod table_function;
pub mod totals;
mod tuple_keys;
mod using;
mod uuid_order;
mod windows;
pub mod with_fill;

pub use float_order::FloatOrder;
pub(crate) use float_order::{float_key, sorted_key};

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use basalt_error::{Error, ErrorCode, Position, Result};
use basalt_parser::ast;
use basalt_types::DataType;
use datafusion::arrow::array::{ArrayRef, new_null_array};
use datafusion::logical_expr::LogicalPlan;

use named_columns::NamedColumns;
pub(crate) use outer::Outer;

use crate::Environment;
use crate::expr::value_set::KnownSets;
use crate::place::Places;
use crate::query_settings::QuerySettings;

/// A column of a query's result.
#[derive(Clone, Debug)]
pub struct OutputColumn {
    /// Name that users see.
    pub name: String,
    /// Name in the plan.
    pub internal: String,
    /// Type of the column.
    pub data_type: DataType,
}

/// A planned query.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Gives the rows; its fields are `columns`, in order.
    pub plan: LogicalPlan,
    /// Columns of the result.
    pub columns: Vec<OutputColumn>,
    /// Gives the one row of WITH TOTALS, with the same columns.
    pub totals: Option<LogicalPlan>,
}

/// Plans one statement's queries.
pub struct Analyzer<'a> {
    pub(crate) environment: &'a dyn Environment,
    /// All that was sent: the statement, and perhaps others around it.
    pub(crate) text: &'a [u8],
    pub(crate) places: Places,
    next_id: Cell<u64>,
    depth: Cell<usize>,
    /// Expressions resolved so far, those behind an alias each time that it is used.
    expanded: Cell<u64>,
    /// How many there may be; 0 is no limit.
    max_expanded: u64,
    /// The sets of IN so far.
    pub(crate) sets: KnownSets,
    /// The settings of the subquery that is planned, if it has its own.
    pub(crate) subquery_settings: RefCell<Option<Rc<QuerySettings>>>,
    /// Parameters of the view around the query, which come before the statement's.
    parameters: RefCell<Vec<(String, String)>>,
    /// The columns of tables that are in sight: those that the statement, or the view that is planned, can name.
    named: RefCell<Rc<NamedColumns>>,
    /// Whether columns of a table were left out of sight.
    are_left_out: Cell<bool>,
}

/// Subqueries and views nested deeper are refused.
const MAX_SUBQUERY_DEPTH: usize = 100;

impl<'a> Analyzer<'a> {
    /// An analyzer for a statement whose spans are places in `text` (for positions in errors).
    pub fn new(environment: &'a dyn Environment, text: &'a [u8]) -> Self {
        Self {
            environment,
            text,
            places: Places::default(),
            next_id: Cell::new(0),
            depth: Cell::new(0),
            expanded: Cell::new(0),
            max_expanded: environment.number("max_expanded_ast_elements"),
            sets: KnownSets::default(),
            subquery_settings: RefCell::default(),
            parameters: RefCell::default(),
            named: RefCell::default(),
            are_left_out: Cell::new(false),
        }
    }

    /// The same for a statement that begins at byte `offset` of the text, which stands at `position`: places are
    /// counted on from there.
    #[must_use]
    pub fn beginning(self, offset: usize, position: Position) -> Self {
        self.places.begin(offset, position);
        self
    }

    /// Plans a whole query.
    ///
    /// # Errors
    /// What is wrong with it, with its position.
    pub fn plan(&self, query: &ast::Query) -> Result<Planned> {
        let planned = self.with_named(query, || self.query(query, &Outer::default()));
        match planned {
            // Errors about names speak of all columns.
            Err(e) if self.are_left_out.get() && e.code() == ErrorCode::UNKNOWN_IDENTIFIER => {
                self.depth.set(0);
                self.expanded.set(0);
                self.query(query, &Outer::default())
            }
            planned => planned,
        }
    }

    /// Plans a query whose text is its own: it sees the columns of tables that it can name.
    pub(crate) fn with_named<T>(&self, query: &ast::Query, plan: impl FnOnce() -> T) -> T {
        let named = NamedColumns::of(query, self.environment);
        let before = self.named.replace(Rc::new(named));
        let planned = plan();
        self.named.replace(before);
        planned
    }

    /// Evaluates an expression that may use no columns: a setting, a default, a LIMIT.
    ///
    /// # Errors
    /// What is wrong with it, and `BAD_ARGUMENTS` if it is no constant.
    pub fn constant(&self, expr: &ast::Expr) -> Result<(ArrayRef, DataType)> {
        let scope = crate::scope::Scope::default();
        let aliases = crate::expr::aliases::Aliases::default();
        let outer = Outer::default();
        let resolver = crate::expr::Resolver::new(self, &outer, &scope, &aliases);
        resolver.constant(expr)?.ok_or_else(|| {
            Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "A constant expression is expected",
            )
        })
    }

    pub(crate) fn query(&self, query: &ast::Query, outer: &Outer) -> Result<Planned> {
        self.as_subquery(|| {
            let planned = self.set_expr(&query.body, outer)?;
            // Of a whole statement, the engine knows these settings from elsewhere, too.
            match self.is_in_subquery() {
                true => limit::within_settings(planned, &query.body),
                false => Ok(planned),
            }
        })
    }

    /// Plans something one level deeper.
    fn as_subquery<T>(&self, plan: impl FnOnce() -> Result<T>) -> Result<T> {
        self.depth.set(self.depth.get() + 1);
        if self.depth.get() > MAX_SUBQUERY_DEPTH {
            return Err(Error::new(
                ErrorCode::TOO_DEEP_RECURSION,
                format!("Subqueries or views are nested deeper than {MAX_SUBQUERY_DEPTH}"),
            ));
        }
        let planned = plan();
        self.depth.set(self.depth.get() - 1);
        planned
    }

    /// Whether what is planned is a subquery or a view, not the statement's own query.
    pub(crate) fn is_in_subquery(&self) -> bool {
        self.depth.get() > 1
    }

    /// Expressions resolved so far.
    pub(crate) fn expanded(&self) -> u64 {
        self.expanded.get()
    }

    /// Counts expressions against `max_expanded_ast_elements`: each alias of an alias may double what it
    /// stands for.
    pub(crate) fn count_expanded(&self, number: u64) -> Result<()> {
        let expanded = self.expanded.get().saturating_add(number);
        self.expanded.set(expanded);
        if self.max_expanded == 0 || expanded <= self.max_expanded {
            return Ok(());
        }
        Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Raise max_expanded_ast_elements or use fewer aliases of aliases: the query tree is too \
                 big. Maximum: {}",
                self.max_expanded
            ),
        ))
    }

    /// A name that no other column of the query has.
    pub(crate) fn fresh(&self, name: &str) -> String {
        let id = self.next_id.get();
        self.next_id.set(id + 1);
        format!("{name}_{id}")
    }

    /// Text of the query parameter of that name.
    pub(crate) fn parameter(&self, wanted: &str) -> Option<String> {
        let of_view = self.parameters.borrow();
        let of_view = of_view
            .iter()
            .find(|(name, _)| name == wanted)
            .map(|(_, text)| text.clone());
        of_view.or_else(|| self.environment.parameter(wanted))
    }

    /// A name with the values of the parameters in it.
    pub(crate) fn name_of(&self, parts: &[ast::NamePart]) -> Result<Vec<String>> {
        let part = |part: &ast::NamePart| match part {
            ast::NamePart::Name(name) => Ok(name.clone()),
            ast::NamePart::Parameter(name) => self.parameter(name).ok_or_else(|| {
                Error::new(
                    ErrorCode::UNKNOWN_QUERY_PARAMETER,
                    format!("Substitution `{name}` is not set"),
                )
            }),
        };
        parts.iter().map(part).collect()
    }

    /// A name in the place of what holds parameters that are names; `None` for all else.
    pub(crate) fn named_by_parameters(&self, expr: &ast::Expr) -> Result<Option<ast::Expr>> {
        let parts = match &expr.kind {
            ast::ExprKind::ParameterName(parts) => self.name_of(parts)?,
            ast::ExprKind::QueryParameter(p) if p.data_type.name == "Identifier" => {
                self.name_of(&[ast::NamePart::Parameter(p.name.clone())])?
            }
            _ => return Ok(None),
        };
        Ok(Some(ast::Expr::new(
            ast::ExprKind::Identifier(parts),
            expr.span,
        )))
    }
}

/// One row with the default of a type: 0, '', [], NULL for a Nullable.
///
/// # Errors
/// `LOGICAL_ERROR` if Arrow cannot build it.
pub(crate) fn default_array(data_type: &DataType) -> Result<ArrayRef> {
    if data_type.is_nullable() || *data_type == DataType::Nothing {
        return Ok(new_null_array(&data_type.physical(), 1));
    }
    let mut builder = basalt_types::ColumnBuilder::new(data_type, 1)?;
    builder.append_default();
    builder.finish()
}
