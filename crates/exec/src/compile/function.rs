//! Turns calls of the dialect's functions over plain numbers into nodes of a program.
//!
//! A function's key says which types it was bound to; what the function does with these stands in
//! `basalt_functions::scalar::core`. Functions that may fail for some values are left out.

use basalt_jit::{BinaryOp, Graph, Node, NodeId, Type, UnaryOp};

use super::expression::widens;
use super::signature::{CAST, Signature};
use super::{bits, dates};

/// The arguments of a function with two.
pub(super) type Pair = (NodeId, NodeId);

/// Adds the call of the function with that key; none if it is not one that programs can say.
pub(super) fn translated(graph: &mut Graph, key: &str, args: &[NodeId]) -> Option<NodeId> {
    let signature = Signature::parse(key)?;
    let found: Vec<Type> = args.iter().map(|arg| graph.type_of(*arg)).collect();
    if !signature.takes(&found) {
        return None;
    }
    // What a function does with the numbers of dates is another thing than what it does with numbers.
    if !signature.is_of_numbers() {
        return dates::translated(graph, &signature, args);
    }
    let result = signature.result.data_type;
    match (signature.name, args) {
        (CAST, [arg]) => converted(graph, *arg, result),
        ("greatest", args) => extreme(graph, BinaryOp::Greater, args, result),
        ("least", args) => extreme(graph, BinaryOp::Less, args, result),
        (name, [arg]) => unary(graph, name, *arg, result),
        (name, [left, right]) => binary(graph, name, (*left, *right), result),
        _ => None,
    }
}

/// Integers wrap; a float as an integer may fail.
fn converted(graph: &mut Graph, arg: NodeId, to: Type) -> Option<NodeId> {
    let fails = graph.type_of(arg).is_float() && !to.is_float();
    (!fails).then(|| graph.cast(to, arg))
}

fn unary(graph: &mut Graph, name: &str, arg: NodeId, result: Type) -> Option<NodeId> {
    let from = graph.type_of(arg);
    match name {
        "negate" => {
            let wide = graph.cast(result, arg);
            graph.unary(UnaryOp::Negate, wide).ok()
        }
        "abs" => {
            let magnitude = graph.unary(UnaryOp::Abs, arg).ok()?;
            Some(graph.cast(result, magnitude))
        }
        "sign" => sign(graph, arg, result),
        "not" if from.is_integer() => {
            let flag = graph.cast(Type::Bool, arg);
            let turned = graph.unary(UnaryOp::Not, flag).ok()?;
            Some(graph.cast(result, turned))
        }
        _ => bits::unary(graph, name, arg, result),
    }
}

/// -1 for what is less than 0, 0 for zeros, and 1 for all else, NaN included.
fn sign(graph: &mut Graph, arg: NodeId, result: Type) -> Option<NodeId> {
    let zero = graph.constant(graph.type_of(arg), Some(0));
    let is_less = graph.binary(BinaryOp::Less, arg, zero).ok()?;
    let differs = graph.binary(BinaryOp::NotEqual, arg, zero).ok()?;
    let differs = graph.cast(result, differs);
    let minus_one = graph.constant(result, Some(u64::MAX));
    graph.choose(is_less, minus_one, differs).ok()
}

/// `greatest` or `least` of integers that all are values of the result; NULLs are left out.
fn extreme(graph: &mut Graph, op: BinaryOp, args: &[NodeId], result: Type) -> Option<NodeId> {
    let fits = |arg: &NodeId| {
        let data_type = graph.type_of(*arg);
        data_type.is_integer() && widens(data_type, result)
    };
    if args.len() < 2 || !args.iter().all(fits) {
        return None;
    }
    let (first, others) = args.split_first()?;
    let mut best = graph.cast(result, *first);
    for other in others {
        let other = graph.cast(result, *other);
        let is_better = graph.binary(op, best, other).ok()?;
        // A NULL is no reason to leave what is there, and to stay at a NULL is none either.
        let is_alone = graph.unary(UnaryOp::IsNull, other).ok()?;
        let stays = graph.binary(BinaryOp::Or, is_better, is_alone).ok()?;
        best = graph.choose(stays, best, other).ok()?;
    }
    Some(best)
}

fn binary(graph: &mut Graph, name: &str, (left, right): Pair, result: Type) -> Option<NodeId> {
    let op = match name {
        "plus" => BinaryOp::Add,
        "minus" => BinaryOp::Subtract,
        "multiply" => BinaryOp::Multiply,
        "divide" => BinaryOp::Divide,
        "ifNull" => {
            let is_null = graph.unary(UnaryOp::IsNull, left).ok()?;
            let (left, right) = (graph.cast(result, left), graph.cast(result, right));
            return graph.choose(is_null, right, left).ok();
        }
        // By a constant that is neither 0 nor -1 both quotients exist.
        "intDiv" | "intDivOrZero" => return quotient(graph, (left, right), result),
        "modulo" | "moduloOrZero" => return remainder(graph, (left, right), result),
        name if name.starts_with("bit") => return bits::binary(graph, name, (left, right), result),
        _ => return comparison(graph, name, (left, right), result),
    };
    let (left, right) = (graph.cast(result, left), graph.cast(result, right));
    graph.binary(op, left, right).ok()
}

fn comparison(graph: &mut Graph, name: &str, (left, right): Pair, result: Type) -> Option<NodeId> {
    let op = match name {
        "equals" => BinaryOp::Equal,
        "notEquals" => BinaryOp::NotEqual,
        "less" => BinaryOp::Less,
        "lessOrEquals" => BinaryOp::LessOrEqual,
        "greater" => BinaryOp::Greater,
        "greaterOrEquals" => BinaryOp::GreaterOrEqual,
        _ => return None,
    };
    let common = comparable(graph.type_of(left), graph.type_of(right))?;
    let (left, right) = (graph.cast(common, left), graph.cast(common, right));
    let flag = graph.binary(op, left, right).ok()?;
    Some(graph.cast(result, flag))
}

/// A type in which values of both types compare as they are, if there is one.
fn comparable(a: Type, b: Type) -> Option<Type> {
    let is_exact_in_float = |t: Type| t.is_float() || t.bits() <= 32;
    Some(
        match (a.is_float() || b.is_float(), a.is_signed() || b.is_signed()) {
            _ if a == b => a,
            (true, _) if is_exact_in_float(a) && is_exact_in_float(b) => Type::F64,
            (true, _) => return None,
            (false, false) => Type::U64,
            (false, true) if a != Type::U64 && b != Type::U64 => Type::I64,
            (false, true) => return None,
        },
    )
}

/// A constant integer; none for what is no constant, or NULL.
pub(super) fn constant_of(graph: &Graph, id: NodeId) -> Option<u64> {
    match graph.node(id) {
        Node::Constant { bits, .. } => *bits,
        _ => None,
    }
}

/// The signed type of the same size.
fn signed(data_type: Type) -> Type {
    match data_type {
        Type::U8 => Type::I8,
        Type::U16 => Type::I16,
        Type::U32 => Type::I32,
        Type::U64 => Type::I64,
        other => other,
    }
}

/// `intDiv` by a constant. With a sign on either side both are first read as signed integers: the dividend
/// of its own size, the divisor too unless the dividend is larger.
fn quotient(graph: &mut Graph, (left, right): Pair, result: Type) -> Option<NodeId> {
    let (a, b) = (graph.type_of(left), graph.type_of(right));
    let divisor = constant_of(graph, right)?;
    if !a.is_integer() || !b.is_integer() {
        return None;
    }
    let quotient = if a.is_signed() || b.is_signed() {
        let unused = 64 - b.bits();
        let read = (divisor << unused).cast_signed() >> unused;
        let is_read = b.is_signed() || a.bits() <= b.bits();
        let divisor = if is_read {
            read.cast_unsigned()
        } else {
            divisor
        };
        let left = graph.cast(signed(a), left);
        let left = graph.cast(Type::I64, left);
        let divisor = graph.constant(Type::I64, Some(divisor));
        graph.binary(BinaryOp::IntDiv, left, divisor).ok()?
    } else {
        let wide = if a.bits() <= 32 && b.bits() <= 32 {
            Type::U32
        } else {
            Type::U64
        };
        let left = graph.cast(wide, left);
        let divisor = graph.constant(wide, Some(divisor));
        graph.binary(BinaryOp::IntDiv, left, divisor).ok()?
    };
    Some(graph.cast(result, quotient))
}

/// `modulo` by a positive constant: the magnitudes' remainder with the dividend's sign.
fn remainder(graph: &mut Graph, (left, right): Pair, result: Type) -> Option<NodeId> {
    let (a, b) = (graph.type_of(left), graph.type_of(right));
    let divisor = constant_of(graph, right)?;
    let unused = 64 - b.bits();
    let is_negative = b.is_signed() && ((divisor << unused).cast_signed()) < 0;
    if !a.is_integer() || !b.is_integer() || is_negative {
        return None;
    }
    let wide = match (a.is_signed(), a.bits() <= 32 && b.bits() <= 32) {
        (true, _) => Type::I64,
        (false, true) => Type::U32,
        (false, false) => Type::U64,
    };
    if wide == Type::I64 && i64::try_from(divisor).is_err() {
        return None;
    }
    let left = graph.cast(wide, left);
    let divisor = graph.constant(wide, Some(divisor));
    let rest = graph.binary(BinaryOp::Modulo, left, divisor).ok()?;
    Some(graph.cast(result, rest))
}
