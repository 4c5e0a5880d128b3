//! Makes conditions of numbers that tell whether: `like(…) != 0`, as functions give 0 or 1.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use arrow::buffer::{BooleanBuffer, Buffer};
use arrow::datatypes::{DataType as ArrowType, Schema, UInt8Type};
use basalt_kernels::compare::Comparison;
use datafusion::common::{ScalarValue, internal_err};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, Operator};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Literal};

/// Whether a number is not 0, by a kernel.
#[derive(Clone, Debug)]
pub(super) struct FlagExpr {
    /// The number, a UInt8.
    number: Arc<dyn PhysicalExpr>,
    /// The condition as it was.
    whole: Arc<dyn PhysicalExpr>,
}

impl FlagExpr {
    /// What a condition on rows of `schema` is, if it is of this kind.
    pub(super) fn try_new(conjunct: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Self> {
        let binary = conjunct.downcast_ref::<BinaryExpr>()?;
        let zero = binary.right().downcast_ref::<Literal>()?.value();
        let is_flag = *binary.op() == Operator::NotEq && *zero == ScalarValue::UInt8(Some(0));
        let number = binary.left();
        let is_number = number.data_type(schema).ok()? == ArrowType::UInt8;
        (is_flag && is_number).then(|| Self {
            number: Arc::clone(number),
            whole: Arc::clone(conjunct),
        })
    }
}

impl PartialEq for FlagExpr {
    fn eq(&self, other: &Self) -> bool {
        self.whole.eq(&other.whole)
    }
}

impl Eq for FlagExpr {}

impl Hash for FlagExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.whole.hash(state);
    }
}

impl fmt::Display for FlagExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.whole.fmt(f)
    }
}

impl PhysicalExpr for FlagExpr {
    fn data_type(&self, _input_schema: &Schema) -> Result<ArrowType> {
        Ok(ArrowType::Boolean)
    }

    fn nullable(&self, input_schema: &Schema) -> Result<bool> {
        self.number.nullable(input_schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let numbers = self.number.evaluate(batch)?;
        if let ColumnarValue::Scalar(ScalarValue::UInt8(number)) = numbers {
            let holds = ScalarValue::Boolean(number.map(|number| number != 0));
            return Ok(ColumnarValue::Scalar(holds));
        }
        let numbers = numbers.into_array(batch.num_rows())?;
        let Some(numbers) = numbers.as_primitive_opt::<UInt8Type>() else {
            return internal_err!("a condition of type {}", numbers.data_type());
        };
        let mut words = vec![u64::MAX; numbers.values().len().div_ceil(64)];
        Comparison::NotEqual.retain(numbers.values(), 0, &mut words);
        let rows = BooleanBuffer::new(Buffer::from_vec(words), 0, numbers.values().len());
        let rows = BooleanArray::new(rows, numbers.nulls().cloned());
        Ok(ColumnarValue::Array(Arc::new(rows)))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.number]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let [number] = children.as_slice() else {
            return internal_err!("a condition of one number");
        };
        let zero = Arc::new(Literal::new(ScalarValue::UInt8(Some(0))));
        let whole = BinaryExpr::new(Arc::clone(number), Operator::NotEq, zero);
        Ok(Arc::new(Self {
            number: Arc::clone(number),
            whole: Arc::new(whole),
        }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.whole.fmt_sql(f)
    }
}
