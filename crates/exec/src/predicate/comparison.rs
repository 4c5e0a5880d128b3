//! Compares columns with constants, or with each other: numbers, and strings that are as short as their views.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, RecordBatch, make_view};
use arrow::datatypes::{
    DataType as ArrowType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Schema, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use basalt_analyzer::udf::FunctionUdf;
use basalt_functions::scalar::core::comparison::{DigitsTest, TestVisitor, digits_test};
use basalt_functions::scalar::core::halves_of;
use basalt_kernels::Bitmap;
use basalt_kernels::compare::{Comparison, retain_where};
use datafusion::common::{ScalarValue, internal_err};
use datafusion::error::Result;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};

use crate::compile::function_of_floats;

/// Strings up to this length lie in their views, which then are the same if the strings are.
const MAX_INLINE: usize = 12;

/// Integers up to this size are floats of 64 bits, too.
const MAX_EXACT: i128 = 1 << f64::MANTISSA_DIGITS;

/// A column compared with a constant, or with another column of its type.
#[derive(Clone, Debug)]
pub(super) struct ColumnComparison {
    column: usize,
    comparison: Comparison,
    other: Other,
}

#[derive(Clone, Debug)]
enum Other {
    /// A number of the column's type.
    Number(ScalarValue),
    /// The view of a short string.
    View(u128),
    /// Digits of the column, a Decimal, for which it holds.
    Digits(DigitsTest),
    Column(usize),
}

/// Both sides of a comparison.
struct Sides<'a> {
    left: &'a Arc<dyn PhysicalExpr>,
    comparison: Comparison,
    right: &'a Arc<dyn PhysicalExpr>,
    /// Whether they are floats, in the processor's order.
    has_floats: bool,
}

impl<'a> Sides<'a> {
    /// Those of a condition, if it compares.
    fn of(conjunct: &'a Arc<dyn PhysicalExpr>) -> Option<Self> {
        let binary = conjunct.downcast_ref::<BinaryExpr>()?;
        if binary.left().is::<ScalarFunctionExpr>() {
            return Self::of_call(told_by(binary)?);
        }
        let comparison = match binary.op() {
            Operator::Eq => Comparison::Equal,
            Operator::NotEq => Comparison::NotEqual,
            Operator::Lt => Comparison::Less,
            Operator::LtEq => Comparison::LessOrEqual,
            Operator::Gt => Comparison::Greater,
            Operator::GtEq => Comparison::GreaterOrEqual,
            _ => return None,
        };
        Some(Self {
            left: binary.left(),
            comparison,
            right: binary.right(),
            has_floats: false,
        })
    }

    /// Those of one of the dialect's functions, which compare floats.
    fn of_call(call: &'a ScalarFunctionExpr) -> Option<Self> {
        let udf = call.fun().inner().downcast_ref::<FunctionUdf>()?;
        let [left, right] = call.args() else {
            return None;
        };
        let comparison = match function_of_floats(udf.key())? {
            "equals" => Comparison::Equal,
            "notEquals" => Comparison::NotEqual,
            "less" => Comparison::Less,
            "lessOrEquals" => Comparison::LessOrEqual,
            "greater" => Comparison::Greater,
            "greaterOrEquals" => Comparison::GreaterOrEqual,
            _ => return None,
        };
        Some(Self {
            left,
            comparison,
            right,
            has_floats: true,
        })
    }
}

/// The call of a function whose answer a condition asks for.
fn told_by(binary: &BinaryExpr) -> Option<&ScalarFunctionExpr> {
    let call = binary.left().downcast_ref::<ScalarFunctionExpr>()?;
    let zero = binary.right().downcast_ref::<Literal>()?.value();
    let tells = *binary.op() == Operator::NotEq && *zero == ScalarValue::UInt8(Some(0));
    tells.then_some(call)
}

/// The column of Decimals that a condition compares with a constant, and the digits for which it holds.
fn of_decimal(conjunct: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<(usize, DigitsTest)> {
    let call = told_by(conjunct.downcast_ref::<BinaryExpr>()?)?;
    let udf = call.fun().inner().downcast_ref::<FunctionUdf>()?;
    let [left, right] = call.args() else {
        return None;
    };
    let column = |side: &Arc<dyn PhysicalExpr>| Some(side.downcast_ref::<Column>()?.index());
    let (column, place) = match (column(left), column(right)) {
        (Some(column), None) => (column, 1),
        (None, Some(column)) => (column, 0),
        _ => return None,
    };
    let data_type = schema.fields().get(column)?.data_type();
    if !matches!(data_type, ArrowType::Decimal128(..)) {
        return None;
    }
    let constant = call.args()[place].downcast_ref::<Literal>()?.value();
    let constant = constant.to_array().ok()?;
    let test = digits_test(
        udf.function_name(),
        udf.argument_types(),
        (place, &constant),
    )?;
    Some((column, test))
}

fn retain_digits(array: &ArrayRef, test: DigitsTest, words: &mut [u64]) -> Result<()> {
    let Some(numbers) = array.as_primitive_opt::<Decimal128Type>() else {
        return internal_err!("digits of {}", array.data_type());
    };
    let numbers = halves_of(numbers);
    test.visit(Retain { numbers, words });
    Ok(())
}

/// Clears the bits of numbers of 128 bits for which a test does not hold.
struct Retain<'a> {
    numbers: &'a [[u64; 2]],
    words: &'a mut [u64],
}

impl TestVisitor for Retain<'_> {
    type Output = ();

    #[inline(always)]
    fn visit(self, holds: impl Fn([u64; 2]) -> bool + Copy) {
        retain_where(self.numbers, self.words, holds);
    }
}

impl ColumnComparison {
    /// The comparison that a condition on rows of `schema` is, if it is one.
    pub(super) fn try_new(conjunct: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Self> {
        if let Some((column, test)) = of_decimal(conjunct, schema) {
            return Some(Self {
                column,
                comparison: Comparison::Equal,
                other: Other::Digits(test),
            });
        }
        let sides = Sides::of(conjunct)?;
        let (column, other, comparison) = match sides.left.downcast_ref::<Column>() {
            Some(column) => (column, sides.right, sides.comparison),
            None => (
                sides.right.downcast_ref::<Column>()?,
                sides.left,
                sides.comparison.mirrored(),
            ),
        };
        let data_type = schema.fields().get(column.index())?.data_type();
        let is_number = match sides.has_floats {
            true => data_type.is_floating(),
            false => data_type.is_integer(),
        };
        let other = match other.downcast_ref::<Column>() {
            Some(other) => {
                let is_alike = schema.fields().get(other.index())?.data_type() == data_type;
                Other::Column((is_number && is_alike).then(|| other.index())?)
            }
            None => match other.downcast_ref::<Literal>()?.value() {
                ScalarValue::BinaryView(Some(bytes)) => {
                    let is_equality =
                        matches!(comparison, Comparison::Equal | Comparison::NotEqual);
                    let is_short = bytes.len() <= MAX_INLINE;
                    let is_view = *data_type == ArrowType::BinaryView;
                    Other::View(
                        (is_view && is_short && is_equality).then(|| make_view(bytes, 0, 0))?,
                    )
                }
                number if is_number => Other::Number(number_of(number, data_type)?),
                _ => return None,
            },
        };
        Some(Self {
            column: column.index(),
            comparison,
            other,
        })
    }

    /// Clears the bits of rows for which it does not hold.
    ///
    /// # Errors
    /// If the column is none of the type that the schema has told.
    pub(super) fn retain(&self, batch: &RecordBatch, words: &mut [u64]) -> Result<()> {
        let array = batch.column(self.column);
        match &self.other {
            Other::View(view) => self.retain_views(array, *view, words)?,
            Other::Digits(test) => retain_digits(array, *test, words)?,
            Other::Number(number) => match number {
                ScalarValue::Int8(Some(n)) => self.retain_in::<Int8Type>(array, *n, words)?,
                ScalarValue::Int16(Some(n)) => self.retain_in::<Int16Type>(array, *n, words)?,
                ScalarValue::Int32(Some(n)) => self.retain_in::<Int32Type>(array, *n, words)?,
                ScalarValue::Int64(Some(n)) => self.retain_in::<Int64Type>(array, *n, words)?,
                ScalarValue::UInt8(Some(n)) => self.retain_in::<UInt8Type>(array, *n, words)?,
                ScalarValue::UInt16(Some(n)) => self.retain_in::<UInt16Type>(array, *n, words)?,
                ScalarValue::UInt32(Some(n)) => self.retain_in::<UInt32Type>(array, *n, words)?,
                ScalarValue::UInt64(Some(n)) => self.retain_in::<UInt64Type>(array, *n, words)?,
                ScalarValue::Float32(Some(n)) => self.retain_in::<Float32Type>(array, *n, words)?,
                ScalarValue::Float64(Some(n)) => self.retain_in::<Float64Type>(array, *n, words)?,
                other => return internal_err!("a comparison with {other}"),
            },
            Other::Column(other) => {
                let other = batch.column(*other);
                self.retain_pairs((array, other), words)?;
                drop_nulls(other, words);
            }
        }
        drop_nulls(array, words);
        Ok(())
    }

    fn retain_pairs(&self, sides: (&ArrayRef, &ArrayRef), words: &mut [u64]) -> Result<()> {
        match sides.0.data_type() {
            ArrowType::Int8 => self.retain_pairs_in::<Int8Type>(sides, words),
            ArrowType::Int16 => self.retain_pairs_in::<Int16Type>(sides, words),
            ArrowType::Int32 => self.retain_pairs_in::<Int32Type>(sides, words),
            ArrowType::Int64 => self.retain_pairs_in::<Int64Type>(sides, words),
            ArrowType::UInt8 => self.retain_pairs_in::<UInt8Type>(sides, words),
            ArrowType::UInt16 => self.retain_pairs_in::<UInt16Type>(sides, words),
            ArrowType::UInt32 => self.retain_pairs_in::<UInt32Type>(sides, words),
            ArrowType::UInt64 => self.retain_pairs_in::<UInt64Type>(sides, words),
            ArrowType::Float32 => self.retain_pairs_in::<Float32Type>(sides, words),
            ArrowType::Float64 => self.retain_pairs_in::<Float64Type>(sides, words),
            other => internal_err!("columns of {other} compared by a kernel"),
        }
    }

    fn retain_pairs_in<T: ArrowPrimitiveType>(
        &self,
        (left, right): (&ArrayRef, &ArrayRef),
        words: &mut [u64],
    ) -> Result<()> {
        let (Some(left), Some(right)) =
            (left.as_primitive_opt::<T>(), right.as_primitive_opt::<T>())
        else {
            return internal_err!("{} compared with {}", left.data_type(), right.data_type());
        };
        self.comparison
            .retain_pairs(left.values(), right.values(), words);
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

/// A constant as a number of a column's type; none if it is none.
fn number_of(constant: &ScalarValue, data_type: &ArrowType) -> Option<ScalarValue> {
    if constant.is_null() {
        return None;
    }
    if !data_type.is_floating() {
        return (constant.data_type() == *data_type).then(|| constant.clone());
    }
    let float = match constant {
        ScalarValue::Float64(float) => (*float)?,
        ScalarValue::Float32(float) => f64::from((*float)?),
        integer => match integer.cast_to(&ArrowType::Decimal128(38, 0)).ok()? {
            ScalarValue::Decimal128(Some(integer), ..) if integer.abs() <= MAX_EXACT => {
                integer as f64
            }
            _ => return None,
        },
    };
    let narrow = float as f32;
    match data_type {
        ArrowType::Float64 => Some(ScalarValue::Float64(Some(float))),
        ArrowType::Float32 if f64::from(narrow) == float => {
            Some(ScalarValue::Float32(Some(narrow)))
        }
        _ => None,
    }
}

/// Clears the bits of rows with NULL.
fn drop_nulls(array: &ArrayRef, words: &mut [u64]) {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    let valid = nulls.and_then(|n| Bitmap::try_new(n.validity(), n.offset(), n.len()));
    if let Some(valid) = valid {
        let words = words.iter_mut().enumerate();
        words.for_each(|(i, word)| *word &= valid.word(i));
    }
}
