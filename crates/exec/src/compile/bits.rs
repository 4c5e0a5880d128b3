//! Turns functions of the bits of integers into nodes.
//!
//! Arguments of operators become integers of the result's type first, numbers of places as well: that is what
//! `basalt_functions::scalar::core::bits` does.

use basalt_jit::{BinaryOp, Graph, IllTyped, NodeId, Type, UnaryOp};

use super::function::{Pair, constant_of};

/// `bitNot` and `bitCount` of an integer; those of floats are left out.
pub(super) fn unary(graph: &mut Graph, name: &str, arg: NodeId, result: Type) -> Option<NodeId> {
    let from = graph.type_of(arg);
    match name {
        "bitNot" if from.is_integer() && from == result => graph.unary(UnaryOp::BitNot, arg).ok(),
        "bitCount" if from.is_integer() => {
            let count = graph.unary(UnaryOp::BitCount, arg).ok()?;
            Some(graph.cast(result, count))
        }
        _ => None,
    }
}

/// Functions of two integers.
pub(super) fn binary(graph: &mut Graph, name: &str, args: Pair, result: Type) -> Option<NodeId> {
    let (a, b) = (graph.type_of(args.0), graph.type_of(args.1));
    if !a.is_integer() || !b.is_integer() || !result.is_integer() {
        return None;
    }
    let op = match name {
        "bitAnd" => BinaryOp::BitAnd,
        "bitOr" => BinaryOp::BitOr,
        "bitXor" => BinaryOp::BitXor,
        "bitShiftLeft" if counts_places(graph, args.1) => BinaryOp::ShiftLeft,
        "bitShiftRight" if counts_places(graph, args.1) => BinaryOp::ShiftRight,
        "bitRotateLeft" => return rotated(graph, args, result, true).ok(),
        "bitRotateRight" => return rotated(graph, args, result, false).ok(),
        "bitTest" => return tested(graph, args, result),
        "bitHammingDistance" => return distance(graph, args, result).ok(),
        _ => return None,
    };
    let (left, right) = (graph.cast(result, args.0), graph.cast(result, args.1));
    graph.binary(op, left, right).ok()
}

/// Whether a number of places cannot be negative, which is an error.
fn counts_places(graph: &Graph, places: NodeId) -> bool {
    let data_type = graph.type_of(places);
    let sign = 1 << (data_type.bits() - 1);
    !data_type.is_signed() || constant_of(graph, places).is_some_and(|bits| bits & sign == 0)
}

/// The bits moved within the type: those that leave on one side come in on the other.
fn rotated(
    graph: &mut Graph,
    (left, right): Pair,
    result: Type,
    to_left: bool,
) -> Result<NodeId, IllTyped> {
    let unsigned = unsigned(result);
    let [value, places] = [left, right].map(|arg| {
        let arg = graph.cast(result, arg);
        graph.cast(unsigned, arg)
    });
    let num_bits = u64::from(unsigned.bits());
    let last = graph.constant(unsigned, Some(num_bits - 1));
    let all = graph.constant(unsigned, Some(num_bits));
    let places = graph.binary(BinaryOp::BitAnd, places, last)?;
    // All places for none: everything is shifted out.
    let others = graph.binary(BinaryOp::Subtract, all, places)?;
    let (up, down) = if to_left {
        (places, others)
    } else {
        (others, places)
    };
    let up = graph.binary(BinaryOp::ShiftLeft, value, up)?;
    let down = graph.binary(BinaryOp::ShiftRight, value, down)?;
    let both = graph.binary(BinaryOp::BitOr, up, down)?;
    Ok(graph.cast(result, both))
}

/// The unsigned type of the same size.
fn unsigned(data_type: Type) -> Type {
    match data_type {
        Type::I8 => Type::U8,
        Type::I16 => Type::U16,
        Type::I32 => Type::U32,
        Type::I64 => Type::U64,
        other => other,
    }
}

/// The bit at a constant place; one that the integer does not have is an error.
fn tested(graph: &mut Graph, (left, right): Pair, result: Type) -> Option<NodeId> {
    let data_type = graph.type_of(left);
    let place = constant_of(graph, right).filter(|place| *place < u64::from(data_type.bits()))?;
    let bit = graph.constant(data_type, Some(1 << place));
    let bit = graph.binary(BinaryOp::BitAnd, left, bit).ok()?;
    let is_set = graph.cast(Type::Bool, bit);
    Some(graph.cast(result, is_set))
}

/// Number of bits that differ: in 64 bits, whatever the arguments have.
fn distance(graph: &mut Graph, (left, right): Pair, result: Type) -> Result<NodeId, IllTyped> {
    let (left, right) = (graph.cast(Type::U64, left), graph.cast(Type::U64, right));
    let differing = graph.binary(BinaryOp::BitXor, left, right)?;
    let count = graph.unary(UnaryOp::BitCount, differing)?;
    Ok(graph.cast(result, count))
}
