//! Defines what ORDER BY … WITH FILL inserts: sorted columns, their steps, values of the others.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;

/// A column of INTERPOLATE: its value in an inserted row, over the columns of the row before.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct Interpolated {
    /// The column.
    pub name: String,
    /// Its value.
    pub value: Expr,
}

/// The value of a column in inserted rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct FillDefault {
    /// The column.
    pub name: String,
    /// Its value.
    pub value: ScalarValue,
}

/// A column of ORDER BY … WITH FILL; bounds are in the column's own unit, as text of `i128` or,
/// for floats, of `f64`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct FillColumn {
    /// Name of the column.
    pub name: String,
    /// Whether it is sorted downwards.
    pub descending: bool,
    /// First value, if given.
    pub from: Option<String>,
    /// The value before which filling ends, if given.
    pub to: Option<String>,
    /// Distance of values.
    pub step: FillStep,
    /// How far behind a row values are filled in, if not to the next one.
    pub staleness: Option<FillStep>,
}

/// How far filled values are apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub enum FillStep {
    /// A fixed number in the column's unit.
    Number(String),
    /// Calendar months; the unit of the column is needed to add them.
    Months {
        /// Number of months.
        count: i64,
        /// Ticks of the column in a day: 1 for dates, 86 400 for DateTime.
        ticks_per_day: i64,
    },
}
