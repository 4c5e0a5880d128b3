//! Turns calls of the dialect's functions over plain numbers into nodes of a program.
//!
//! A function's key says which types it was bound to; what the function does with these stands in
//! `basalt_functions::scalar::core`. Functions that may fail for some values are left out.

use basalt_jit::{BinaryOp, Graph, Node, NodeId, Type, UnaryOp};
use basalt_types::{DataType, parse_data_type};

use super::expression::type_of;

/// Modes of casts in which integers wrap; the others refuse what changes.
const WRAPPING: [&str; 3] = ["Normal", "Reading", "Branch"];

/// The arguments of a function with two.
type Pair = (NodeId, NodeId);

/// The types that a function was bound to.
struct Signature<'a> {
    name: &'a str,
    result: Type,
    args: Vec<Type>,
}

/// Adds the call of the function with that key; none if it is not one that programs can say.
pub(super) fn translated(graph: &mut Graph, key: &str, args: &[NodeId]) -> Option<NodeId> {
    let signature = Signature::parse(key)?;
    let found: Vec<Type> = args.iter().map(|arg| graph.type_of(*arg)).collect();
    if found != signature.args {
        return None;
    }
    let result = signature.result;
    match (signature.name, args) {
        ("cast", [arg]) => converted(graph, *arg, result),
        (name, [arg]) => unary(graph, name, *arg, result),
        (name, [left, right]) => binary(graph, name, (*left, *right), result),
        _ => None,
    }
}

impl<'a> Signature<'a> {
    /// Reads `name->result:arg:arg`, or `cast:mode:from:to:zone`. Types whose names have a colon in
    /// them are no plain numbers.
    fn parse(key: &'a str) -> Option<Self> {
        if let Some(types) = key.strip_prefix("cast:") {
            let mut types = types.split(':');
            let (mode, from, to) = (types.next()?, types.next()?, types.next()?);
            if !WRAPPING.contains(&mode) {
                return None;
            }
            let (args, result) = (vec![number(from)?], number(to)?);
            return (!to.contains("Bool")).then_some(Self {
                name: "cast",
                result,
                args,
            });
        }
        let (name, types) = key.split_once("->")?;
        let mut types = types.split(':');
        let result = number(types.next()?)?;
        let args = types.map(number).collect::<Option<_>>()?;
        // `toUInt32(x)` is a cast by another name.
        let to = name.strip_prefix("to").filter(|to| *to != "Bool");
        let is_conversion = to.is_some_and(|to| number(to) == Some(result));
        let name = if is_conversion { "cast" } else { name };
        Some(Self { name, result, args })
    }
}

/// The type of a plain number, or of a Nullable one.
fn number(name: &str) -> Option<Type> {
    let data_type = parse_data_type(name).ok()?;
    let plain = match &data_type {
        DataType::Nullable(inner) => inner.as_ref(),
        plain => plain,
    };
    let is_number = plain.is_integer() || plain.is_float();
    let is_plain = is_number && !matches!(plain, DataType::LowCardinality(_) | DataType::Ipv4);
    is_plain.then(|| type_of(&plain.physical()))?
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
        "bitNot" if from.is_integer() && from == result => graph.unary(UnaryOp::BitNot, arg).ok(),
        "not" if from.is_integer() => {
            let flag = graph.cast(Type::Bool, arg);
            let turned = graph.unary(UnaryOp::Not, flag).ok()?;
            Some(graph.cast(result, turned))
        }
        _ => None,
    }
}

fn binary(graph: &mut Graph, name: &str, (left, right): Pair, result: Type) -> Option<NodeId> {
    let op = match name {
        "plus" => BinaryOp::Add,
        "minus" => BinaryOp::Subtract,
        "multiply" => BinaryOp::Multiply,
        "divide" => BinaryOp::Divide,
        "bitAnd" => BinaryOp::BitAnd,
        "bitOr" => BinaryOp::BitOr,
        "bitXor" => BinaryOp::BitXor,
        "ifNull" => {
            let is_null = graph.unary(UnaryOp::IsNull, left).ok()?;
            let (left, right) = (graph.cast(result, left), graph.cast(result, right));
            return graph.choose(is_null, right, left).ok();
        }
        "intDiv" => return quotient(graph, (left, right), result),
        "modulo" => return remainder(graph, (left, right), result),
        _ => return comparison(graph, name, (left, right), result),
    };
    let is_of_bits = matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
    let has_float = [left, right]
        .iter()
        .any(|arg| graph.type_of(*arg).is_float());
    if is_of_bits && has_float {
        return None;
    }
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
fn constant_of(graph: &Graph, id: NodeId) -> Option<u64> {
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
