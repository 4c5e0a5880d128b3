//! Describes data types as written: a name and arguments.

use super::expr::Expr;

/// A type's name with its arguments, such as `Array(Nullable(Decimal(10, 2)))`.
///
/// Names are as written, several words joined by one space (`DOUBLE PRECISION`).
#[derive(Clone, Debug, PartialEq)]
pub struct DataType {
    /// Name as written.
    pub name: String,
    /// Arguments in parentheses; `None` without parentheses.
    pub args: Option<Vec<TypeArg>>,
}

/// An argument of a type.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeArg {
    /// A nested type: `Array(UInt8)`.
    Type(DataType),
    /// A named element: `Tuple(a UInt8)`, `Nested(a UInt8)`.
    Named(String, DataType),
    /// A number or string: `FixedString(4)`, `DateTime('UTC')`, `Decimal(10, 2)`.
    Value(Expr),
    /// An element of an enum: `Enum8('a' = 1)`.
    Assigned(Vec<u8>, i64),
    /// A named parameter: `Dynamic(max_types = 3)`, `JSON(max_dynamic_paths = 4)`.
    Parameter(String, Expr),
    /// A function with its parameters: the first of `AggregateFunction(quantile(0.9), UInt8)`.
    Function(String, Vec<Expr>),
    /// `SKIP path` of JSON.
    Skip(String),
    /// `SKIP REGEXP 're'` of JSON.
    SkipRegexp(Vec<u8>),
}

impl DataType {
    /// A type without arguments.
    pub fn simple(name: impl Into<String>) -> DataType {
        DataType {
            name: name.into(),
            args: None,
        }
    }
}
