//! Marks calls of window functions in expressions, until the plan's step computes them.

use std::sync::Arc;

use basalt_error::Error;
use datafusion::arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{WindowFunction as WindowCall, WindowFunctionParams};
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{
    Expr, PartitionEvaluator, Signature, SortExpr, Volatility, WindowFrame,
    WindowFunctionDefinition, WindowUDF, WindowUDFImpl,
};

use crate::plan::{Frame, WindowFunction};
use crate::typed::into_plan_error;
use crate::udf::any_arguments;

/// A call of a window function; its arguments, partition and order are the expression's parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WindowUdf {
    /// What is computed.
    pub function: WindowFunction,
    /// Over which rows; a RANGE frame's key is the last argument.
    pub frame: Frame,
    /// Type of the result.
    pub arrow: ArrowType,
    signature: Signature,
}

impl WindowUdf {
    /// A function over a frame.
    pub fn new(function: WindowFunction, frame: Frame, arrow: ArrowType) -> Self {
        Self {
            function,
            frame,
            arrow,
            signature: any_arguments(Volatility::Immutable),
        }
    }

    /// Its call with these parts.
    pub fn call(self, args: Vec<Expr>, partition_by: Vec<Expr>, order_by: Vec<SortExpr>) -> Expr {
        let udf = Arc::new(WindowUDF::new_from_impl(self));
        let params = WindowFunctionParams {
            args,
            partition_by,
            order_by,
            window_frame: WindowFrame::new(None),
            filter: None,
            null_treatment: None,
            distinct: false,
        };
        Expr::WindowFunction(Box::new(WindowCall {
            fun: WindowFunctionDefinition::WindowUDF(udf),
            params,
        }))
    }

    /// The function and the parts of a call, if it is one.
    pub fn of_call(call: &WindowCall) -> Option<(&Self, &WindowFunctionParams)> {
        let WindowFunctionDefinition::WindowUDF(udf) = &call.fun else {
            return None;
        };
        let function = udf.inner().as_ref() as &dyn std::any::Any;
        Some((function.downcast_ref::<Self>()?, &call.params))
    }
}

impl WindowUDFImpl for WindowUdf {
    fn name(&self) -> &str {
        "window"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn partition_evaluator(
        &self,
        _args: PartitionEvaluatorArgs<'_>,
    ) -> Result<Box<dyn PartitionEvaluator>> {
        Err(into_plan_error(Error::bug(
            "a window function is computed by its step",
        )))
    }

    fn field(&self, _args: WindowUDFFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(Field::new("window", self.arrow.clone(), true)))
    }
}
