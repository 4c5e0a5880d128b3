//! Describes expressions.
//!
//! Operators and special forms arrive as functions with ClickHouse's names; the parser rewrites:
//!
//! | text | function |
//! |---|---|
//! | `a + b` `-` `*` `/` `%` or `MOD`, `DIV` | `plus` `minus` `multiply` `divide` `modulo` `intDiv` |
//! | `-a` (not before a number) | `negate` |
//! | `=` or `==`, `!=` or `<>`, `<` `>` `<=` `>=` | `equals` `notEquals` `less` `greater` `lessOrEquals` `greaterOrEquals` |
//! | `IS [NOT] DISTINCT FROM`, `<=>` | `isDistinctFrom`, `isNotDistinctFrom` |
//! | `AND`, `OR`, `||` | `and`, `or`, `concat`: chains are one call with many arguments |
//! | `NOT` | `not` |
//! | `a BETWEEN b AND c`, `NOT BETWEEN` | `and(a >= b, a <= c)`, `or(a < b, a > c)` |
//! | `[NOT] LIKE`, `[NOT] ILIKE`, `REGEXP` | `like` `notLike` `ilike` `notILike` `match` |
//! | `[GLOBAL] [NOT] IN` | `in` `notIn` `globalIn` `globalNotIn` |
//! | `IS [NOT] NULL` | `isNull` `isNotNull` |
//! | `a[i]`, `t.1`, `t.name` after an expression | `arrayElement`, `tupleElement` |
//! | `c ? a : b` | `if` |
//! | `CASE WHEN`, `CASE x WHEN` | `multiIf`, `caseWithExpression` (no ELSE: `NULL` is last) |
//! | `CAST(x AS T)`, `CAST(x, 'T')`, `x::T` | `CAST` of x and the type's text as a string constant |
//! | `3.7::T`: `::` on a constant | `CAST('3.7', 'T')`: the constant becomes a string of its text |
//! | `INTERVAL n DAY`, `INTERVAL '1 day'` | `toIntervalDay(n)`; several units: `tuple` of them |
//! | `EXTRACT(year FROM d)`, `DATE '..'`, `TIMESTAMP '..'` | `toYear`, `toDate`, `toDateTime` |
//! | `TRIM(BOTH s FROM x)`, `SUBSTRING(a FROM b FOR c)`, `POSITION(a IN b)` | `trimBoth(x, s)`, `substring(a, b, c)`, `position(b, a)` |
//! | `EXISTS (SELECT ..)` | `exists` of a subquery |
//! | `f(DISTINCT x)`, `f(x) FILTER (WHERE c)` | `fDistinct(x)`, `fIf(x, c)` |

use super::Span;
use super::data_type::DataType;
use super::literal::Literal;
use super::select::{OrderItem, Query};
use super::table::ObjectName;

/// An expression and where it stands in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it is, parentheses excluded, alias included.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A constant.
    Literal(Literal),
    /// `[a, b]`, also the empty `[]`. A constant if all elements are.
    Array(Vec<Expr>),
    /// `(a, b)`: two or more. A constant if all elements are. `tuple(a, b)`, `(a,)` and `()` are the
    /// function `tuple`.
    Tuple(Vec<Expr>),
    /// A name of one or more parts: `a`, `t.a`, `db.t.a`, `t.a.b`.
    Identifier(Vec<String>),
    /// `*`, `t.*`, `COLUMNS('re')`, `COLUMNS(a, b)` with transformers.
    Matcher(Box<ColumnMatcher>),
    /// A call or an operator.
    Function(Box<Function>),
    /// `x -> body`, `(x, y) -> body`.
    Lambda(Box<Lambda>),
    /// `(SELECT ..)`
    Subquery(Box<Query>),
    /// `expr AS name`
    Alias {
        /// What is named.
        expr: Box<Expr>,
        /// Its name.
        name: String,
    },
    /// `{name:Type}`
    QueryParameter(Box<QueryParameter>),
    /// `t.{name:Identifier}`: a name of several parts, some of them parameters.
    ParameterName(Vec<NamePart>),
}

/// A part of [`ExprKind::ParameterName`].
#[derive(Clone, Debug, PartialEq)]
pub enum NamePart {
    /// A name.
    Name(String),
    /// `{name:Identifier}`
    Parameter(String),
}

/// A function's call, or an operator written as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Name as written, or ClickHouse's name of the operator.
    pub name: String,
    /// `f(params)(args)`: the first pair of parentheses; `None` if there is only one pair.
    pub params: Option<Vec<Expr>>,
    /// Arguments. The right side of `in` is an `Identifier` (a table, or a name in scope), a
    /// `Subquery`, a `Tuple`, a `Matcher`-free expression such as a constant, array or function.
    pub args: Vec<Expr>,
    /// How it was written; only the formatter cares.
    pub form: FunctionForm,
    /// `RESPECT NULLS` or `IGNORE NULLS`.
    pub nulls: Option<NullsAction>,
    /// `OVER ..`: makes it a window function.
    pub over: Option<WindowRef>,
}

/// How a function was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionForm {
    /// `plus(a, b)`
    Call,
    /// `a + b`
    Operator,
}

/// What an aggregate function does with NULLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullsAction {
    /// `RESPECT NULLS`
    Respect,
    /// `IGNORE NULLS`
    Ignore,
}

/// `params -> body`
#[derive(Clone, Debug, PartialEq)]
pub struct Lambda {
    /// Names of the parameters.
    pub params: Vec<String>,
    /// What it returns.
    pub body: Expr,
}

/// `{name:Type}`
#[derive(Clone, Debug, PartialEq)]
pub struct QueryParameter {
    /// Name of the parameter.
    pub name: String,
    /// Type of the value; `Identifier` means a name, not a value.
    pub data_type: DataType,
}

/// Several columns at once.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnMatcher {
    /// `t` of `t.*`, `db.t` of `db.t.*`.
    pub qualifier: Option<Vec<String>>,
    /// Which columns.
    pub pattern: MatcherPattern,
    /// What to do with them, in order.
    pub transformers: Vec<ColumnTransformer>,
}

/// Which columns a [`ColumnMatcher`] takes.
#[derive(Clone, Debug, PartialEq)]
pub enum MatcherPattern {
    /// `*`
    All,
    /// `COLUMNS('regexp')`
    Regexp(String),
    /// `COLUMNS(a, t.b)`: each part list is one name.
    List(Vec<Vec<String>>),
}

/// A step of a [`ColumnMatcher`].
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnTransformer {
    /// `EXCEPT [STRICT] (a, b)`
    Except {
        /// An unknown name is an error.
        strict: bool,
        /// Names to leave out.
        columns: Vec<Vec<String>>,
    },
    /// `EXCEPT 'regexp'`, `EXCEPT('regexp')`
    ExceptRegexp(String),
    /// `REPLACE [STRICT] (expr AS name, ..)`
    Replace {
        /// An unknown name is an error.
        strict: bool,
        /// New expressions and the columns they stand for.
        items: Vec<(Expr, String)>,
    },
    /// `APPLY f`, `APPLY f(params)`
    Apply {
        /// Function to call with each column as first argument.
        function: String,
        /// Parameters of the function.
        params: Option<Vec<Expr>>,
        /// Put before each result's name: `APPLY(f, 'prefix_')`.
        prefix: Option<String>,
    },
    /// `APPLY (x -> body)`
    ApplyLambda(Box<Lambda>),
}

/// After `OVER`: a name or a definition.
#[derive(Clone, Debug, PartialEq)]
pub enum WindowRef {
    /// `OVER w`
    Named(String),
    /// `OVER (..)`
    Spec(Box<WindowSpec>),
}

/// A window's definition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowSpec {
    /// Another window that this one refines.
    pub parent: Option<String>,
    /// `PARTITION BY`
    pub partition_by: Vec<Expr>,
    /// `ORDER BY`
    pub order_by: Vec<OrderItem>,
    /// `ROWS | RANGE | GROUPS ..`
    pub frame: Option<WindowFrame>,
}

/// A frame; `ROWS x` without BETWEEN means `BETWEEN x AND CURRENT ROW`.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowFrame {
    /// What offsets count.
    pub unit: FrameUnit,
    /// First row.
    pub start: FrameBound,
    /// Last row.
    pub end: FrameBound,
}

/// What a frame's offsets count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameUnit {
    /// Rows.
    Rows,
    /// Groups of peers.
    Groups,
    /// Distance of values.
    Range,
}

impl FrameUnit {
    /// The words before a frame's ends.
    pub(crate) fn start(&self) -> &'static str {
        match self {
            FrameUnit::Rows => "ROWS BETWEEN ",
            FrameUnit::Groups => "GROUPS BETWEEN ",
            FrameUnit::Range => "RANGE BETWEEN ",
        }
    }
}

/// An end of a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameBound {
    /// `CURRENT ROW`
    CurrentRow,
    /// `UNBOUNDED PRECEDING`
    UnboundedPreceding,
    /// `UNBOUNDED FOLLOWING`
    UnboundedFollowing,
    /// `n PRECEDING`
    Preceding(Box<Expr>),
    /// `n FOLLOWING`
    Following(Box<Expr>),
}

impl Expr {
    /// Puts a kind at a place.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        Expr { kind, span }
    }

    /// The expression under its aliases.
    pub fn unaliased(&self) -> &Expr {
        let mut e = self;
        while let ExprKind::Alias { expr, .. } = &e.kind {
            e = expr;
        }
        e
    }

    /// The name after AS, if there is one.
    pub fn alias(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Alias { name, .. } => Some(name),
            _ => None,
        }
    }

    /// The call or operator, if it is one.
    pub fn as_function(&self) -> Option<&Function> {
        match &self.kind {
            ExprKind::Function(f) => Some(f),
            _ => None,
        }
    }

    /// The constant, if it is one.
    pub fn as_literal(&self) -> Option<&Literal> {
        match &self.kind {
            ExprKind::Literal(l) => Some(l),
            _ => None,
        }
    }

    /// The bytes of a string constant.
    pub fn as_string(&self) -> Option<&[u8]> {
        match &self.kind {
            ExprKind::Literal(Literal::String(s)) => Some(s),
            _ => None,
        }
    }

    /// The value of an unsigned constant.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.kind {
            ExprKind::Literal(Literal::UInt(n)) => Some(*n),
            _ => None,
        }
    }

    /// Whether it is a constant or an array or tuple of constants, without aliases inside.
    pub fn is_constant(&self) -> bool {
        match &self.kind {
            ExprKind::Literal(_) => true,
            ExprKind::Array(items) | ExprKind::Tuple(items) => items.iter().all(Expr::is_constant),
            _ => false,
        }
    }

    /// The name as a table's name, if it is an identifier of one or two parts.
    pub fn as_object_name(&self) -> Option<ObjectName> {
        let ExprKind::Identifier(parts) = &self.kind else {
            return None;
        };
        let (database, name) = match parts.as_slice() {
            [name] => (None, name.clone()),
            [database, name] => (Some(database.clone()), name.clone()),
            _ => return None,
        };
        Some(ObjectName {
            database,
            name,
            span: self.span,
            ..ObjectName::default()
        })
    }
}

impl Function {
    /// A plain call `name(args)`.
    pub fn call(name: impl Into<String>, args: Vec<Expr>) -> Function {
        let name = name.into();
        Function {
            name,
            params: None,
            args,
            form: FunctionForm::Call,
            nulls: None,
            over: None,
        }
    }

    /// An operator with ClickHouse's function name.
    pub fn operator(name: impl Into<String>, args: Vec<Expr>) -> Function {
        Function {
            form: FunctionForm::Operator,
            ..Function::call(name, args)
        }
    }
}
