//! Gives back the strings that numbers stand for.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{DataType as ArrowType, FieldRef, Schema, UInt32Type};
use basalt_analyzer::into_plan_error;
use datafusion::common::internal_err;
use datafusion::error::Result;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;

use super::StringNumbers;

/// The string whose number an expression gives.
#[derive(Clone, Debug)]
pub(crate) struct StringOf {
    number: Arc<dyn PhysicalExpr>,
    numbers: Arc<StringNumbers>,
    /// What plans knew of the strings.
    field: FieldRef,
}

impl StringOf {
    /// The strings of a column of numbers, which were those of `field`.
    pub(crate) fn new(
        number: Arc<dyn PhysicalExpr>,
        numbers: Arc<StringNumbers>,
        field: FieldRef,
    ) -> Self {
        Self {
            number,
            numbers,
            field,
        }
    }
}

impl PartialEq for StringOf {
    fn eq(&self, other: &Self) -> bool {
        self.number.eq(&other.number) && Arc::ptr_eq(&self.numbers, &other.numbers)
    }
}

impl Eq for StringOf {}

impl Hash for StringOf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl fmt::Display for StringOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "string_of({})", self.number)
    }
}

impl PhysicalExpr for StringOf {
    fn data_type(&self, _input_schema: &Schema) -> Result<ArrowType> {
        Ok(self.field.data_type().clone())
    }

    fn nullable(&self, _input_schema: &Schema) -> Result<bool> {
        Ok(self.field.is_nullable())
    }

    fn return_field(&self, _input_schema: &Schema) -> Result<FieldRef> {
        Ok(Arc::clone(&self.field))
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let numbers = self.number.evaluate(batch)?.into_array(batch.num_rows())?;
        let Some(numbers) = numbers.as_primitive_opt::<UInt32Type>() else {
            return internal_err!("numbers of strings are UInt32");
        };
        let strings = self.numbers.strings_of(numbers).map_err(into_plan_error)?;
        Ok(ColumnarValue::Array(strings))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.number]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        match children.as_slice() {
            [number] => Ok(Arc::new(Self {
                number: Arc::clone(number),
                ..Self::clone(&self)
            })),
            _ => internal_err!("one number"),
        }
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
