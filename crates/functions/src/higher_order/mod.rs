//! Functions that take a lambda as their first argument.
//!
//! The analyzer resolves the arrays first, asks for the types of the lambda's parameters,
//! compiles its body, and asks for the type of the result. The body is evaluated once, over the
//! elements of all rows together.
//!
//! | module | owns |
//! |---|---|
//! | [`flat`] | the elements of all rows, the lambda's values over them |
//! | [`predicate`] | `arrayFilter`, `arrayCount`, `arrayFirst` and kin, `arraySplit`, `arrayFill` |
//! | [`fold`] | `arrayMap`, `arrayFold` |
//! | [`aggregate`] | `arraySum`, `arrayMin` and kin |
//! | [`running`] | `arrayCumSum`, `arrayDifference`, `arrayCompact` |
//! | [`sort`], [`top`] | `arraySort` and kin; `arrayTopK` |
//! | [`map`] | the functions of maps |

mod aggregate;
mod flat;
mod fold;
mod map;
mod predicate;
mod running;
mod sort;
mod top;

use std::fmt;

use arrow::array::ArrayRef;
use basalt_error::{Error, Result};
use basalt_types::DataType;

/// A compiled lambda: its body over columns of parameters.
pub trait LambdaBody: fmt::Debug + Send + Sync {
    /// Evaluates the body for `num_rows` rows of parameters (one array for each parameter).
    ///
    /// `rows[i]` is the row of the outer batch that parameter row `i` belongs to; the body takes
    /// the columns that it captures from there.
    ///
    /// # Errors
    /// What the body's functions report.
    fn eval(&self, parameters: &[ArrayRef], rows: &[u32]) -> Result<ArrayRef>;

    /// Number of the lambda's parameters, where a function takes lambdas of different arity.
    fn arity(&self) -> Option<usize> {
        None
    }
}

/// Evaluates the function: `body` (`None` where the function was called without a lambda), the
/// array arguments behind it (expanded, one value a row), their types and the number of rows.
pub type HigherOrderEval = fn(&HigherOrderCall<'_>) -> Result<ArrayRef>;

/// The run-time arguments of a higher-order function.
#[derive(Debug)]
pub struct HigherOrderCall<'a> {
    /// The lambda, if there is one.
    pub body: Option<&'a dyn LambdaBody>,
    /// Type of the lambda's result (of the first array's elements without a lambda).
    pub body_type: &'a DataType,
    /// Arrays behind the lambda, one value for each row.
    pub arrays: &'a [ArrayRef],
    /// Types of `arrays`.
    pub types: &'a [DataType],
    /// Type of the result, as `return_type` gave it.
    pub return_type: &'a DataType,
    /// Number of rows.
    pub num_rows: usize,
}

/// The entry of a higher-order function.
#[derive(Clone, Copy, Debug)]
pub struct HigherOrderFunction {
    /// Name as users write it.
    pub name: &'static str,
    /// How to call it.
    pub syntax: &'static str,
    /// What it returns, in one sentence.
    pub description: &'static str,
    /// Whether it may be called without a lambda (`arrayCount(arr)`).
    pub lambda_is_optional: bool,
    /// Types of the lambda's `arity` parameters, from the types of the arguments behind it.
    pub parameters: fn(name: &str, arity: usize, types: &[DataType]) -> Result<Vec<DataType>>,
    /// Type of the result, from the type of the lambda's body and those of the arguments.
    pub return_type: fn(name: &str, body: &DataType, types: &[DataType]) -> Result<DataType>,
    /// The loop.
    pub eval: HigherOrderEval,
}

impl HigherOrderFunction {
    /// What most entries have: a lambda of one parameter for each array. Use as `..BASE`.
    const BASE: HigherOrderFunction = HigherOrderFunction {
        name: "",
        syntax: "",
        description: "",
        lambda_is_optional: false,
        parameters: flat::element_parameters,
        return_type: |name, _, _| Err(Error::bug(format!("function {name} has no result"))),
        eval: |_| Err(Error::bug("a function without a loop")),
    };
}

const FAMILIES: &[&[HigherOrderFunction]] = &[
    aggregate::FUNCTIONS,
    fold::FUNCTIONS,
    map::FUNCTIONS,
    predicate::FUNCTIONS,
    running::FUNCTIONS,
    sort::FUNCTIONS,
    top::FUNCTIONS,
];

const fn count_functions() -> usize {
    let mut count = 0;
    let mut family = 0;
    while family < FAMILIES.len() {
        count += FAMILIES[family].len();
        family += 1;
    }
    count
}

const fn all_functions() -> [HigherOrderFunction; count_functions()] {
    let mut all = [HigherOrderFunction::BASE; count_functions()];
    let (mut family, mut next) = (0, 0);
    while family < FAMILIES.len() {
        let mut idx = 0;
        while idx < FAMILIES[family].len() {
            all[next] = FAMILIES[family][idx];
            idx += 1;
            next += 1;
        }
        family += 1;
    }
    all
}

/// Every higher-order function.
pub const FUNCTIONS: &[HigherOrderFunction] = &all_functions();

/// The higher-order function of that name.
pub fn find(name: &str) -> Option<&'static HigherOrderFunction> {
    FUNCTIONS.iter().find(|f| f.name == name)
}
