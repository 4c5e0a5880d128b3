//! Resolves higher-order functions: compiles the lambda and binds what it captures.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::higher_order::{HigherOrderCall, HigherOrderFunction, LambdaBody};
use basalt_functions::{BoundFunction, Purity};
use basalt_parser::ast;
use basalt_types::DataType;
use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{DataType as ArrowType, Field, Schema, SchemaRef};
use datafusion::common::DFSchema;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::planner::create_physical_expr;

use super::{Resolver, literal};
use crate::lazy_logic::lazy;
use crate::typed::{column, expanded};
use crate::udwf::WindowUdf;
use crate::{Typed, plan_error, udf};

/// Whether all values of the type are NULL.
fn is_null(data_type: &DataType) -> bool {
    *data_type.base() == DataType::Nothing && data_type.is_nullable()
}

impl Resolver<'_> {
    /// `arrayMap(x -> …, arr)`, or a call without a lambda where the function allows it.
    pub(crate) fn higher_order_call(
        &self,
        function: &'static HigherOrderFunction,
        f: &ast::Function,
    ) -> Result<Typed> {
        let lambda = self.as_lambda(&f.args);
        let arrays = self.resolve_all(if lambda.is_some() {
            &f.args[1..]
        } else {
            &f.args
        })?;
        let plain = |a: &Typed| without_low_cardinality(function.name, &a.data_type);
        let types: Vec<DataType> = arrays.iter().map(plain).collect();
        if lambda.is_none() && types.iter().any(is_null) {
            return literal::null();
        }
        let mut captured = Vec::new();
        let (body_type, template) = match lambda {
            None => (first_element(&types), None),
            Some(lambda) => {
                let params = (function.parameters)(function.name, lambda.params.len(), &types)?;
                let (body, template) = self.compile(&lambda, &params, &mut captured)?;
                (body_type(function.name, &body), Some(template))
            }
        };
        let return_type = (function.return_type)(function.name, &body_type, &types)?;
        let key = format!(
            "{}->{return_type}:{types:?}:{}",
            function.name,
            template
                .as_ref()
                .map_or_else(String::new, |t| t.text.clone())
        );
        let is_volatile = template.as_ref().is_some_and(|t| t.is_volatile);
        let fold =
            !is_volatile && captured.is_empty() && arrays.iter().all(|a| a.constant.is_some());
        let num_arrays = arrays.len();
        let result_type = return_type.clone();
        let eval = function.eval;
        let mut bound = BoundFunction::from_parts(
            function.name,
            return_type.clone(),
            Arc::new(move |columns, num_rows| {
                let columns = columns
                    .iter()
                    .map(|c| c.expand(num_rows))
                    .collect::<Result<Vec<_>>>()?;
                let (arrays, captured) = columns.split_at(num_arrays);
                let body = template.as_ref().map(|t| Captured {
                    template: t,
                    captured,
                });
                eval(&HigherOrderCall {
                    body: body.as_ref().map(|b| b as &dyn LambdaBody),
                    body_type: &body_type,
                    arrays,
                    types: &types,
                    return_type: &return_type,
                    num_rows,
                })
            }),
        );
        if is_volatile {
            bound.purity = Purity::PerRow;
        }
        let args = arrays.into_iter().map(|a| a.expr).chain(captured).collect();
        let typed = Typed::new(udf::call(key, bound, args), result_type);
        if fold { typed.folded() } else { Ok(typed) }
    }

    /// Compiles the body; what it takes from outside is put into `captured`.
    fn compile(
        &self,
        lambda: &ast::Lambda,
        params: &[DataType],
        captured: &mut Vec<Expr>,
    ) -> Result<(DataType, Template)> {
        if params.len() != lambda.params.len() {
            return Err(Error::new(
                ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                format!(
                    "The lambda has {} parameters, the function gives it {}",
                    lambda.params.len(),
                    params.len()
                ),
            ));
        }
        let internal: Vec<String> = lambda
            .params
            .iter()
            .map(|p| self.analyzer.fresh(&format!("\u{3bb}{p}")))
            .collect();
        let frame = lambda
            .params
            .iter()
            .zip(internal.iter().zip(params))
            .map(|(name, (internal, t))| (name.clone(), Typed::column(internal, t.clone())))
            .collect();
        let body = self.with_lambda(frame, &lambda.body, || self.resolve(&lambda.body))?;
        let mut fields: Vec<Field> = internal
            .iter()
            .zip(params)
            .map(|(name, t)| Field::new(name, t.physical(), true))
            .collect();
        let expr = self.capture(body.expr, &internal, captured, &mut fields)?;
        let schema = Arc::new(Schema::new(fields));
        let df_schema = DFSchema::try_from(Arc::clone(&schema)).map_err(plan_error)?;
        let props = ExecutionProps::new();
        let physical = create_physical_expr(&expr, &df_schema, &props, &Default::default());
        // Equal lambdas must have equal texts although their parameters have fresh names.
        let mut text = expr.to_string();
        for (i, name) in internal.iter().enumerate() {
            text = text.replace(name.as_str(), &format!("\u{3bb}{i}"));
        }
        let physical = physical.and_then(|p| Ok(lazy(p)?.data));
        let physical = physical.map_err(plan_error)?;
        Ok((
            body.data_type,
            Template {
                physical,
                schema,
                text,
                is_volatile: udf::is_volatile(&expr),
            },
        ))
    }

    /// Replaces what the lambda does not compute itself (columns, aggregates) by parameters.
    fn capture(
        &self,
        body: Expr,
        params: &[String],
        captured: &mut Vec<Expr>,
        fields: &mut Vec<Field>,
    ) -> Result<Expr> {
        let transformed = body.transform_down(|e| {
            let from_outside = match &e {
                Expr::Column(c) => !params.contains(&c.name),
                Expr::AggregateFunction(_) | Expr::WindowFunction(_) => true,
                // One draw for all elements, as each draw is one value of a row.
                Expr::ScalarFunction(f) => {
                    udf::is_volatile_function(f)
                        && !e.column_refs().iter().any(|c| params.contains(&c.name))
                }
                _ => false,
            };
            if !from_outside {
                return Ok(Transformed::no(e));
            }
            let is_window = matches!(e, Expr::WindowFunction(_));
            if is_window && e.column_refs().iter().any(|c| params.contains(&c.name)) {
                let what = "A window function over a parameter of a lambda";
                return Err(crate::into_plan_error(Error::not_implemented(what)));
            }
            let known = captured.iter().position(|c| *c == e);
            let position = match known {
                Some(position) => position,
                None => {
                    let name = format!("captured{}", captured.len());
                    fields.push(Field::new(name, self.physical_type(&e)?, true));
                    captured.push(e);
                    captured.len() - 1
                }
            };
            let replaced = column(&format!("captured{position}"));
            Ok(Transformed::new(replaced, true, TreeNodeRecursion::Jump))
        });
        transformed.map(|t| t.data).map_err(plan_error)
    }

    fn physical_type(&self, expr: &Expr) -> datafusion::error::Result<ArrowType> {
        match expr {
            Expr::AggregateFunction(f) => f.func.return_type(&[]),
            Expr::ScalarFunction(f) => f.func.return_type(&[]),
            Expr::Column(c) => {
                let in_scope = self.scope.columns.iter().find(|s| s.internal == c.name);
                if let Some(found) = in_scope {
                    return Ok(found.data_type.physical());
                }
                let state = self.state.borrow();
                let mut parameters = state.lambda_frames.iter().flat_map(|f| f.parameters());
                let param = parameters.find(|t| t.expr == *expr);
                if let Some(param) = param {
                    return Ok(param.data_type.physical());
                }
                let joins = self.array_joins.borrow();
                let joined = joins.iter().find(|j| j.internal == c.name);
                let element =
                    joined.and_then(|j| super::call::array_element(&j.argument.data_type));
                element.map(|t| t.physical()).ok_or_else(|| {
                    crate::into_plan_error(Error::bug(format!("column {} has no type", c.name)))
                })
            }
            Expr::WindowFunction(call) => match WindowUdf::of_call(call) {
                Some((function, _)) => Ok(function.arrow.clone()),
                None => Err(crate::into_plan_error(Error::bug("window function"))),
            },
            _ => Err(crate::into_plan_error(Error::bug("captured expression"))),
        }
    }
}

/// Whether a function takes an array of what its lambda would give.
fn takes_flags(name: &str) -> bool {
    matches!(name, "arrayAll" | "arrayCount" | "arrayExists")
}

/// The type of what a function gets from its lambda.
fn body_type(function: &str, body: &DataType) -> DataType {
    match body {
        // Without a lambda, flags of no type are an error.
        DataType::Nothing if takes_flags(function) => DataType::UInt8,
        body => without_low_cardinality(function, body),
    }
}

fn without_low_cardinality(function: &str, data_type: &DataType) -> DataType {
    match keeps_elements(function) {
        true => data_type.without_low_cardinality().clone(),
        false => data_type.without_any_low_cardinality(),
    }
}

/// Whether the elements of a function's result are those of its arguments, LowCardinality included.
fn keeps_elements(name: &str) -> bool {
    name.starts_with("map") && name != "mapApply"
}

fn first_element(types: &[DataType]) -> DataType {
    match types.first() {
        Some(DataType::Array(element)) => element.as_ref().clone(),
        _ => DataType::Nothing,
    }
}

/// A compiled body without the values that it captures.
#[derive(Debug)]
struct Template {
    physical: Arc<dyn PhysicalExpr>,
    schema: SchemaRef,
    text: String,
    /// Whether equal elements may have different results.
    is_volatile: bool,
}

/// A compiled body with the values that it captures, one for each row of the outer batch.
#[derive(Debug)]
struct Captured<'a> {
    template: &'a Template,
    captured: &'a [ArrayRef],
}

impl LambdaBody for Captured<'_> {
    fn arity(&self) -> Option<usize> {
        Some(self.template.schema.fields().len() - self.captured.len())
    }

    fn eval(&self, parameters: &[ArrayRef], rows: &[u32]) -> Result<ArrayRef> {
        let indices = UInt32Array::from(rows.to_vec());
        let mut columns = parameters.to_vec();
        for array in self.captured {
            columns.push(take(array, &indices, None).map_err(|e| Error::bug(e.to_string()))?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let schema = Arc::clone(&self.template.schema);
        let batch = RecordBatch::try_new_with_options(schema, columns, &options)
            .map_err(|e| Error::bug(e.to_string()))?;
        let value = self
            .template
            .physical
            .evaluate(&batch)
            .map_err(plan_error)?;
        let array = expanded(value, rows.len())?;
        if array.len() == rows.len() {
            Ok(array)
        } else {
            Err(Error::bug("lambda lost rows"))
        }
    }
}
