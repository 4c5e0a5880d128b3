//! Knows bounds of what conditions compare where that is no column: calls that keep the order of a column, and what is
//! calculated for keys.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, UInt64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, FieldRef, Schema, SchemaRef};
use basalt_analyzer::udf::FunctionUdf;
use basalt_storage::{Layout, Part};
use basalt_types::DataType;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::utils::expr_to_columns;
use datafusion::logical_expr::{Expr, Operator};
use datafusion::physical_expr::create_physical_expr;

use super::constants::integers;
use crate::scan::condition::{Condition, integers_of};

/// The least and the greatest value for each group of a part, as far as they are known.
pub(super) type Bounds = Vec<Option<(i128, i128)>>;

/// What is calculated for the keys of a table: the stored columns of the values, and expressions over the columns that
/// queries see.
#[derive(Clone, Debug, Default)]
pub struct KeyExprs(Arc<[(usize, Expr)]>);

impl KeyExprs {
    /// Expressions by the places of their columns in the layout. Those that sessions with other settings or in another
    /// time zone would calculate otherwise are left out: nobody knows which session has inserted a row.
    pub fn new(exprs: impl IntoIterator<Item = (usize, Expr)>) -> Self {
        let steady = exprs.into_iter().filter(|(_, expr)| is_steady(expr));
        Self(steady.collect())
    }
}

/// Whether all parts of an expression are known to be the same in all sessions.
fn is_steady(expr: &Expr) -> bool {
    let is_other = |part: &Expr| match part {
        Expr::Column(_) | Expr::Literal(..) => false,
        Expr::ScalarFunction(call) => {
            let udf = call.func.inner().downcast_ref::<FunctionUdf>();
            !udf.is_some_and(FunctionUdf::is_steady)
        }
        _ => true,
    };
    // The closure never fails.
    !expr.exists(|part| Ok(is_other(part))).unwrap_or(true)
}

/// What filters compare.
#[derive(Clone, Debug)]
pub(super) struct Operands {
    /// All stored columns, also those of keys.
    stored: SchemaRef,
    keys: KeyExprs,
    /// What is calculated from a column in its order, and that column.
    calls: Vec<(Expr, usize)>,
    /// What a key has where a column has one of some values.
    implied: Vec<Implied>,
}

#[derive(Clone, Debug)]
struct Implied {
    column: String,
    values: Vec<ScalarValue>,
    key: usize,
    key_values: Vec<ScalarValue>,
}

impl Operands {
    /// Those of some filters over a table.
    pub(super) fn new(layout: &Layout, keys: &KeyExprs, filters: &[Expr]) -> Self {
        // Without filters nobody asks for columns.
        let stored = layout.columns.iter().filter(|_| !filters.is_empty());
        let stored = stored.map(|c| c.data_type.field(&c.name));
        let mut operands = Self {
            stored: Arc::new(Schema::new(stored.collect::<Vec<_>>())),
            keys: keys.clone(),
            calls: Vec::new(),
            implied: Vec::new(),
        };
        filters.iter().for_each(|filter| operands.add(filter));
        operands
    }

    fn add(&mut self, filter: &Expr) {
        match Condition::of(filter) {
            Condition::And(a, b) | Condition::Or(a, b) => {
                self.add(a);
                self.add(b);
            }
            Condition::Compare(Expr::Column(column), Operator::Eq, values) => {
                let keys = Arc::clone(&self.keys.0);
                let implied = keys.iter().filter_map(|(key, expr)| {
                    Some(Implied {
                        column: column.name.clone(),
                        values: values.iter().map(|v| (*v).clone()).collect(),
                        key: *key,
                        key_values: self.values_of(expr, column, &values)?,
                    })
                });
                let implied: Vec<_> = implied.collect();
                self.implied.extend(implied);
            }
            Condition::Compare(call @ Expr::ScalarFunction(_), _, _) => {
                if let Some(root) = self.ordered_by(call)
                    && self.place(call).is_none()
                {
                    self.calls.push((call.clone(), root));
                }
            }
            _ => {}
        }
    }

    /// The stored column of a name.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.stored.index_of(name).ok()
    }

    /// The type of a stored column's arrays.
    pub(super) fn physical(&self, column: usize) -> &ArrowType {
        self.stored.field(column).data_type()
    }

    /// The stored column that has the values of an expression.
    pub(super) fn key(&self, expr: &Expr) -> Option<usize> {
        let mut keys = self.keys.0.iter();
        keys.find(|(_, key)| key == expr).map(|(column, _)| *column)
    }

    /// Where bounds of an expression are among those that are calculated.
    pub(super) fn place(&self, call: &Expr) -> Option<usize> {
        self.calls.iter().position(|(known, _)| known == call)
    }

    /// The column that the expression at a place is calculated from.
    pub(super) fn root(&self, place: usize) -> usize {
        self.calls[place].1
    }

    /// Keys that are calculated from a column, and what they are where it has one of these values.
    pub(super) fn implied<'a>(
        &'a self,
        column: &'a str,
        values: &'a [&ScalarValue],
    ) -> impl Iterator<Item = (usize, &'a [ScalarValue])> {
        let is_meant = move |implied: &&Implied| {
            implied.column == column
                && implied.values.len() == values.len()
                && implied.values.iter().zip(values).all(|(a, b)| a == *b)
        };
        let implied = self.implied.iter().filter(is_meant);
        implied.map(|implied| (implied.key, implied.key_values.as_slice()))
    }

    /// For each of the calls, its bounds in the groups of a part.
    pub(super) fn calculated(&self, part: &Part) -> Vec<Bounds> {
        let calls = self.calls.iter();
        let bounds = calls.map(|(call, _)| self.bounds(call, part));
        bounds.map(Option::unwrap_or_default).collect()
    }

    /// The column in whose order an expression is, or against it.
    fn ordered_by(&self, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Column(column) => self.column(&column.name),
            Expr::ScalarFunction(call) => {
                let udf = call.func.inner().downcast_ref::<FunctionUdf>()?;
                self.ordered_by(&call.args[udf.monotone()?.arg])
            }
            _ => None,
        }
    }

    /// Bounds of what [`Self::ordered_by`] finds a column of.
    fn bounds(&self, expr: &Expr, part: &Part) -> Option<Bounds> {
        match expr {
            Expr::Column(column) => {
                let column = self.column(&column.name)?;
                let physical = self.physical(column);
                let groups = part.metadata().columns[column].groups.iter();
                Some(groups.map(|g| integers(physical, g.bounds?)).collect())
            }
            Expr::ScalarFunction(call) => {
                let udf = call.func.inner().downcast_ref::<FunctionUdf>()?;
                let monotone = udf.monotone()?;
                let mut ends: Bounds = self.bounds(&call.args[monotone.arg], part)?;
                for end in &mut ends {
                    *end = end.filter(|(least, greatest)| {
                        monotone.domain.contains(least) && monotone.domain.contains(greatest)
                    });
                    *end = end.map(|(a, b)| (a - monotone.slack, b + monotone.slack));
                }
                let data_type = udf.argument_types().get(monotone.arg)?;
                let mut call = call.clone();
                call.args[monotone.arg] = Expr::Column(Column::new_unqualified(ARGUMENT));
                let arguments = physical_ends(&ends, data_type)?;
                let argument = data_type.field(ARGUMENT);
                let results = evaluated(&Expr::ScalarFunction(call), argument, arguments)?;
                let results = integers_of(&results)?;
                let (results, _) = results.as_chunks::<2>();
                let result = |([a, b], end): (&[Option<i128>; 2], &Option<_>)| match end {
                    Some(_) if monotone.is_falling => Some(((*b)?, (*a)?)),
                    Some(_) => Some(((*a)?, (*b)?)),
                    None => None,
                };
                Some(results.iter().zip(&ends).map(result).collect())
            }
            _ => None,
        }
    }

    /// What a key is for each of some values of the only column that it is calculated from.
    fn values_of(
        &self,
        key: &Expr,
        column: &Column,
        values: &[&ScalarValue],
    ) -> Option<Vec<ScalarValue>> {
        let mut used = Default::default();
        expr_to_columns(key, &mut used).ok()?;
        if used.len() != 1 || !used.iter().all(|used| used.name == column.name) {
            return None;
        }
        let stored = self.stored.field(self.column(&column.name)?).clone();
        // Zeros of floats are equal and differ.
        let is_exact = !stored.data_type().is_floating();
        let is_value = |v: &ScalarValue| !v.is_null() && v.data_type() == *stored.data_type();
        if !is_exact || !values.iter().all(|v| is_value(v)) {
            return None;
        }
        let values = ScalarValue::iter_to_array(values.iter().map(|v| (*v).clone())).ok()?;
        let results = evaluated(key, Arc::new(stored), values)?;
        let result = |row| ScalarValue::try_from_array(&results, row).ok();
        (0..results.len()).map(result).collect()
    }
}

/// Name of the column in whose place ends of bounds are put.
const ARGUMENT: &str = "end of bounds";

/// Both ends of each group one behind the other, as a function takes them; where there are none, any value.
fn physical_ends(ends: &Bounds, data_type: &DataType) -> Option<ArrayRef> {
    let both = ends.iter().flat_map(|end| {
        let (a, b) = end.unwrap_or_default();
        [a, b]
    });
    let physical = data_type.physical();
    let wide: ArrayRef = if physical.is_unsigned_integer() {
        let both = both.map(|end| u64::try_from(end).ok());
        Arc::new(both.collect::<Option<UInt64Array>>()?)
    } else {
        let both = both.map(|end| i64::try_from(end).ok());
        Arc::new(both.collect::<Option<Int64Array>>()?)
    };
    cast(&wide, &physical).ok()
}

/// The values of an expression over one column.
fn evaluated(expr: &Expr, column: FieldRef, values: ArrayRef) -> Option<ArrayRef> {
    let schema = Arc::new(Schema::new(vec![column]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![values]).ok()?;
    let schema = DFSchema::try_from(schema).ok()?;
    let props = ExecutionProps::new();
    let physical = create_physical_expr(expr, &schema, &props, &Default::default()).ok()?;
    let values = physical.evaluate(&batch).ok()?;
    values.into_array(batch.num_rows()).ok()
}
