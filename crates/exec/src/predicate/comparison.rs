//! Compares columns with constants: integers, and strings that are as short as their views.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, RecordBatch, make_view};
use arrow::datatypes::{
    DataType as ArrowType, Int8Type, Int16Type, Int32Type, Int64Type, Schema, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use basalt_kernels::Bitmap;
use basalt_kernels::compare::Comparison;
use datafusion::common::{ScalarValue, internal_err};
use datafusion::error::Result;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};

/// Strings up to this length lie in their views, which then are the same if the strings are.
const MAX_INLINE: usize = 12;

/// A column compared with a constant.
#[derive(Clone, Debug)]
pub(super) struct ColumnComparison {
    column: usize,
    comparison: Comparison,
    constant: Constant,
}

#[derive(Clone, Debug)]
enum Constant {
    Number(ScalarValue),
    /// The view of a short string.
    View(u128),
}

impl ColumnComparison {
    /// The comparison that a condition on rows of `schema` is, if it is one.
    pub(super) fn try_new(conjunct: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Self> {
        let binary = conjunct.downcast_ref::<BinaryExpr>()?;
        let comparison = match binary.op() {
            Operator::Eq => Comparison::Equal,
            Operator::NotEq => Comparison::NotEqual,
            Operator::Lt => Comparison::Less,
            Operator::LtEq => Comparison::LessOrEqual,
            Operator::Gt => Comparison::Greater,
            Operator::GtEq => Comparison::GreaterOrEqual,
            _ => return None,
        };
        let (left, right) = (binary.left(), binary.right());
        let (column, literal, comparison) = match left.downcast_ref::<Column>() {
            Some(column) => (column, right, comparison),
            None => (right.downcast_ref::<Column>()?, left, comparison.mirrored()),
        };
        let constant = literal.downcast_ref::<Literal>()?.value();
        let constant = match constant {
            ScalarValue::BinaryView(Some(bytes)) => {
                let is_view = *schema.field(column.index()).data_type() == ArrowType::BinaryView;
                let is_short = bytes.len() <= MAX_INLINE;
                let is_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
                if !(is_view && is_short && is_equality) {
                    return None;
                }
                Constant::View(make_view(bytes, 0, 0))
            }
            number if number.data_type().is_integer() && !number.is_null() => {
                Constant::Number(number.clone())
            }
            _ => return None,
        };
        Some(Self {
            column: column.index(),
            comparison,
            constant,
        })
    }

    /// Clears the bits of rows for which it does not hold.
    ///
    /// # Errors
    /// If the column is none of the type that the schema has told.
    pub(super) fn retain(&self, batch: &RecordBatch, words: &mut [u64]) -> Result<()> {
        let array = batch.column(self.column);
        match &self.constant {
            Constant::View(view) => self.retain_views(array, *view, words)?,
            Constant::Number(number) => match number {
                ScalarValue::Int8(Some(n)) => self.retain_in::<Int8Type>(array, *n, words)?,
                ScalarValue::Int16(Some(n)) => self.retain_in::<Int16Type>(array, *n, words)?,
                ScalarValue::Int32(Some(n)) => self.retain_in::<Int32Type>(array, *n, words)?,
                ScalarValue::Int64(Some(n)) => self.retain_in::<Int64Type>(array, *n, words)?,
                ScalarValue::UInt8(Some(n)) => self.retain_in::<UInt8Type>(array, *n, words)?,
                ScalarValue::UInt16(Some(n)) => self.retain_in::<UInt16Type>(array, *n, words)?,
                ScalarValue::UInt32(Some(n)) => self.retain_in::<UInt32Type>(array, *n, words)?,
                ScalarValue::UInt64(Some(n)) => self.retain_in::<UInt64Type>(array, *n, words)?,
                other => return internal_err!("a comparison with {other}"),
            },
        }
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        let valid = nulls.and_then(|n| Bitmap::try_new(n.validity(), n.offset(), n.len()));
        if let Some(valid) = valid {
            let words = words.iter_mut().enumerate();
            words.for_each(|(i, word)| *word &= valid.word(i));
        }
        Ok(())
    }

    fn retain_in<T: ArrowPrimitiveType>(
        &self,
        array: &ArrayRef,
        number: T::Native,
        words: &mut [u64],
    ) -> Result<()> {
        let Some(array) = array.as_primitive_opt::<T>() else {
            return internal_err!("{} compared with {number:?}", array.data_type());
        };
        self.comparison.retain(array.values(), number, words);
        Ok(())
    }

    fn retain_views(&self, array: &ArrayRef, view: u128, words: &mut [u64]) -> Result<()> {
        let Some(array) = array.as_binary_view_opt() else {
            return internal_err!("{} compared with a string", array.data_type());
        };
        self.comparison.retain(array.views(), view, words);
        Ok(())
    }
}
