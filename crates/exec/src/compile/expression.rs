//! Turns expressions of a plan into nodes of a program, where these say exactly the same.

use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Schema};
use basalt_analyzer::udf::FunctionUdf;
use basalt_jit::{BinaryOp, Graph, NodeId, Type, UnaryOp};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, CaseExpr, CastExpr, Column, IsNotNullExpr, IsNullExpr, Literal, NotExpr,
};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};

use super::function;

/// The type of a program's values for an array's; none for what is no plain number.
pub(super) fn type_of(arrow: &ArrowType) -> Option<Type> {
    Some(match arrow {
        ArrowType::Boolean => Type::Bool,
        ArrowType::Int8 => Type::I8,
        ArrowType::Int16 => Type::I16,
        ArrowType::Int32 => Type::I32,
        ArrowType::Int64 => Type::I64,
        ArrowType::UInt8 => Type::U8,
        ArrowType::UInt16 => Type::U16,
        ArrowType::UInt32 => Type::U32,
        ArrowType::UInt64 => Type::U64,
        ArrowType::Float32 => Type::F32,
        ArrowType::Float64 => Type::F64,
        _ => return None,
    })
}

/// Adds the nodes of `expr` over rows of `schema`; none if it is more than a program can say.
pub(super) fn translated(
    graph: &mut Graph,
    expr: &Arc<dyn PhysicalExpr>,
    schema: &Schema,
) -> Option<NodeId> {
    let mut of = |expr: &Arc<dyn PhysicalExpr>| translated(graph, expr, schema);
    if let Some(column) = expr.downcast_ref::<Column>() {
        let field = schema.fields().get(column.index())?;
        let data_type = type_of(field.data_type())?;
        let index = u32::try_from(column.index()).ok()?;
        return graph.column(index, data_type, field.is_nullable()).ok();
    }
    if let Some(literal) = expr.downcast_ref::<Literal>() {
        return constant(graph, literal.value());
    }
    if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
        let (left, right) = (of(binary.left())?, of(binary.right())?);
        let op = operator(*binary.op())?;
        // Arrow's order of floats is another one than the processor's.
        if graph.type_of(left).is_float() {
            return None;
        }
        return graph.binary(op, left, right).ok();
    }
    if let Some(cast) = expr.downcast_ref::<CastExpr>() {
        let arg = of(cast.expr())?;
        let to = type_of(cast.cast_type())?;
        return widens(graph.type_of(arg), to).then(|| graph.cast(to, arg));
    }
    if let Some(not) = expr.downcast_ref::<NotExpr>() {
        let arg = of(not.arg())?;
        return graph.unary(UnaryOp::Not, arg).ok();
    }
    if let Some(test) = expr.downcast_ref::<IsNullExpr>() {
        let arg = of(test.arg())?;
        return graph.unary(UnaryOp::IsNull, arg).ok();
    }
    if let Some(test) = expr.downcast_ref::<IsNotNullExpr>() {
        let arg = of(test.arg())?;
        let is_null = graph.unary(UnaryOp::IsNull, arg).ok()?;
        return graph.unary(UnaryOp::Not, is_null).ok();
    }
    if let Some(case) = expr.downcast_ref::<CaseExpr>() {
        return choice(graph, case, schema);
    }
    let call = expr.downcast_ref::<ScalarFunctionExpr>()?;
    let udf = call.fun().inner().downcast_ref::<FunctionUdf>()?;
    let args = call.args().iter().map(of).collect::<Option<Vec<_>>>()?;
    function::translated(graph, udf.key(), &args)
}

/// Whether all values of `from` are values of `to`: Arrow refuses others, programs cut them.
pub(super) fn widens(from: Type, to: Type) -> bool {
    let is_flag = from == Type::Bool && to.is_integer();
    let both = from.is_integer() && to.is_integer();
    let fits = match (from.is_signed(), to.is_signed()) {
        (a, b) if a == b => from.bits() <= to.bits(),
        (false, _) => from.bits() < to.bits(),
        (true, _) => false,
    };
    is_flag || (both && fits)
}

fn operator(op: Operator) -> Option<BinaryOp> {
    Some(match op {
        Operator::And => BinaryOp::And,
        Operator::Or => BinaryOp::Or,
        Operator::Eq => BinaryOp::Equal,
        Operator::NotEq => BinaryOp::NotEqual,
        Operator::Lt => BinaryOp::Less,
        Operator::LtEq => BinaryOp::LessOrEqual,
        Operator::Gt => BinaryOp::Greater,
        Operator::GtEq => BinaryOp::GreaterOrEqual,
        _ => return None,
    })
}

fn constant(graph: &mut Graph, value: &ScalarValue) -> Option<NodeId> {
    let data_type = type_of(&value.data_type())?;
    let bits = match value {
        ScalarValue::Boolean(v) => v.map(u64::from),
        ScalarValue::Int8(v) => v.map(|v| u64::from(v.cast_unsigned())),
        ScalarValue::Int16(v) => v.map(|v| u64::from(v.cast_unsigned())),
        ScalarValue::Int32(v) => v.map(|v| u64::from(v.cast_unsigned())),
        ScalarValue::Int64(v) => v.map(i64::cast_unsigned),
        ScalarValue::UInt8(v) => v.map(u64::from),
        ScalarValue::UInt16(v) => v.map(u64::from),
        ScalarValue::UInt32(v) => v.map(u64::from),
        ScalarValue::UInt64(v) => *v,
        ScalarValue::Float32(v) => v.map(|v| u64::from(v.to_bits())),
        ScalarValue::Float64(v) => v.map(f64::to_bits),
        _ => return None,
    };
    Some(graph.constant(data_type, bits))
}

/// `multiIf` and CASE: the first true condition decides.
fn choice(graph: &mut Graph, case: &CaseExpr, schema: &Schema) -> Option<NodeId> {
    if case.expr().is_some() {
        return None;
    }
    let mut arms = Vec::with_capacity(case.when_then_expr().len());
    for (when, then) in case.when_then_expr() {
        let condition = translated(graph, when, schema)?;
        arms.push((condition, translated(graph, then, schema)?));
    }
    let (_, first) = arms.first()?;
    let mut chosen = match case.else_expr() {
        Some(otherwise) => translated(graph, otherwise, schema)?,
        None => graph.constant(graph.type_of(*first), None),
    };
    for (condition, then) in arms.into_iter().rev() {
        chosen = graph.choose(condition, then, chosen).ok()?;
    }
    Some(chosen)
}
