//! Runs programs row by row: what compiled code has to give is defined here.
//!
//! Slow and plain. Floats are added as `basalt_kernels::twofold` does.

use basalt_kernels::fold::lane_of;
use basalt_kernels::twofold::{Twofold, join_lanes};

use crate::column::{Column, LANES, MappedRows, Outcome, Values, WrongColumns, check, identity};
use crate::ir::{BinaryOp, Graph, Node, NodeId, Type, UnaryOp};
use crate::program::{Fold, Grouped, Output, Program};

/// Runs `program` over `num_rows` rows.
///
/// # Errors
/// If the columns are not those of the program.
pub fn interpret(
    program: &Program,
    columns: &[Option<Column<'_>>],
    num_rows: usize,
) -> Result<Vec<Outcome>, WrongColumns> {
    check(program, columns, num_rows)?;
    if let Some(grouped) = program.grouped() {
        return Ok(interpret_groups(program, grouped, columns, num_rows));
    }
    let mut states: Vec<State> = program
        .outputs()
        .iter()
        .map(|o| State::new(program, *o))
        .collect();
    let mut row_values = Vec::new();
    for row in 0..num_rows {
        evaluate(program.graph(), columns, row, &mut row_values);
        let value = |id: NodeId| row_values[id.index()];
        if program
            .filter()
            .is_some_and(|filter| value(filter) != Some(1))
        {
            continue;
        }
        let lane = lane_of(row, num_rows);
        for (state, output) in states.iter_mut().zip(program.outputs()) {
            match output {
                Output::Rows => state.add(program, *output, lane, Some(0)),
                Output::Map(id) | Output::Fold(_, id) => {
                    state.add(program, *output, lane, value(*id));
                }
            }
        }
    }
    let outputs = program.outputs().iter();
    Ok(states
        .into_iter()
        .zip(outputs)
        .map(|(s, o)| s.finish(program, *o))
        .collect())
}

/// As [`interpret`], with folds for each group.
fn interpret_groups(
    program: &Program,
    grouped: Grouped,
    columns: &[Option<Column<'_>>],
    num_rows: usize,
) -> Vec<Outcome> {
    let first = |output: &Output| vec![identity(program, *output); grouped.num_groups + 1];
    let mut all: Vec<Vec<u64>> = program.outputs().iter().map(first).collect();
    let mut row_values = Vec::new();
    for row in 0..num_rows {
        evaluate(program.graph(), columns, row, &mut row_values);
        let value = |id: NodeId| row_values[id.index()];
        let filter = program.filter();
        if filter.is_some_and(|filter| value(filter) != Some(1)) {
            continue;
        }
        let most = grouped.num_groups;
        let ordinal =
            value(grouped.ordinal).map_or(most, |ordinal| ordinal.min(most as u64) as usize);
        for (words, output) in all.iter_mut().zip(program.outputs()) {
            let value = match output {
                Output::Rows => Some(0),
                Output::Map(id) | Output::Fold(_, id) => value(*id),
            };
            if let Some(bits) = value {
                words[ordinal] = folded(program, *output, words[ordinal], bits);
            }
        }
    }
    all.into_iter().map(Outcome::Groups).collect()
}

/// What an output has so far.
enum State {
    Mapped(Vec<Option<u64>>),
    Word(u64),
    Lanes(Box<[Twofold; LANES]>),
}

impl State {
    fn new(program: &Program, output: Output) -> Self {
        match output {
            Output::Map(_) => Self::Mapped(Vec::new()),
            Output::Fold(Fold::Sum, id) if program.graph().type_of(id).is_float() => {
                Self::Lanes(Box::new([Twofold::default(); LANES]))
            }
            _ => Self::Word(identity(program, output)),
        }
    }

    fn add(&mut self, program: &Program, output: Output, lane: usize, value: Option<u64>) {
        match (self, value) {
            (Self::Mapped(values), value) => values.push(value),
            (_, None) => {}
            (Self::Lanes(lanes), Some(bits)) => {
                let Output::Fold(_, id) = output else { return };
                let value = float(program.graph().type_of(id), bits);
                lanes[lane] = lanes[lane].plus(value);
            }
            (Self::Word(word), Some(bits)) => *word = folded(program, output, *word, bits),
        }
    }

    fn finish(self, program: &Program, output: Output) -> Outcome {
        match self {
            Self::Mapped(values) => Outcome::Rows(mapped(program, output, &values)),
            Self::Word(word) => Outcome::One(word),
            Self::Lanes(lanes) => Outcome::Sum(join_lanes(*lanes)),
        }
    }
}

fn folded(program: &Program, output: Output, word: u64, bits: u64) -> u64 {
    let Output::Fold(fold, id) = output else {
        return word + 1;
    };
    let data_type = program.graph().type_of(id);
    if data_type.is_float() && matches!(fold, Fold::Min | Fold::Max) {
        let (old, new) = (float(data_type, word), float(data_type, bits));
        return if is_better(fold, new, old) {
            bits
        } else {
            word
        };
    }
    match fold {
        Fold::Count => word + 1,
        Fold::Sum => word.wrapping_add(integer(data_type, bits) as u64),
        Fold::Min if integer(data_type, bits) < integer(data_type, word) => bits,
        Fold::Max if integer(data_type, bits) > integer(data_type, word) => bits,
        Fold::Min | Fold::Max => word,
    }
}

/// Whether an extreme is `new` rather than `old`: no NaN is, and all else is rather than that.
fn is_better(fold: Fold, new: f64, old: f64) -> bool {
    let order = match fold {
        Fold::Min => new.total_cmp(&old),
        _ => old.total_cmp(&new),
    };
    !new.is_nan() && (old.is_nan() || order.is_lt())
}

fn mapped(program: &Program, output: Output, values: &[Option<u64>]) -> MappedRows {
    let Output::Map(id) = output else {
        return MappedRows {
            words: Vec::new(),
            validity: None,
        };
    };
    let bits = program.graph().type_of(id).bits() as usize;
    let mut words = vec![0; (values.len() * bits).div_ceil(64)];
    let mut validity = vec![0; values.len().div_ceil(64)];
    for (row, value) in values.iter().enumerate() {
        let bit = row * bits;
        words[bit / 64] |= value.unwrap_or(0) << (bit % 64);
        validity[row / 64] |= u64::from(value.is_some()) << (row % 64);
    }
    let validity = program.graph().is_nullable(id).then_some(validity);
    MappedRows { words, validity }
}

/// The values of all nodes for one row.
fn evaluate(
    graph: &Graph,
    columns: &[Option<Column<'_>>],
    row: usize,
    values: &mut Vec<Option<u64>>,
) {
    values.clear();
    for node in graph.nodes() {
        let of = |id: &NodeId| values[id.index()];
        let value = match node {
            Node::Column { index, .. } => columns
                .get(*index as usize)
                .and_then(Option::as_ref)
                .filter(|column| column.validity.is_none_or(|valid| valid.get(row)))
                .map(|column| Values::bits(&column.values, row)),
            Node::Constant { bits, .. } => *bits,
            Node::Cast { to, arg } => of(arg).map(|bits| cast(graph.type_of(*arg), *to, bits)),
            Node::Unary {
                op: UnaryOp::IsNull,
                arg,
            } => Some(u64::from(of(arg).is_none())),
            Node::Unary { op, arg } => of(arg).map(|bits| unary(*op, graph.type_of(*arg), bits)),
            Node::Binary { op, left, right } => {
                binary(*op, graph.type_of(*left), of(left), of(right))
            }
            Node::If {
                condition,
                then,
                otherwise,
            } => of(if of(condition) == Some(1) {
                then
            } else {
                otherwise
            }),
        };
        values.push(value);
    }
}

/// The integer or flag that has these bits.
fn integer(data_type: Type, bits: u64) -> i128 {
    if !data_type.is_signed() {
        return i128::from(bits);
    }
    let unused = 64 - data_type.bits();
    i128::from((bits << unused).cast_signed() >> unused)
}

/// The float that has these bits.
fn float(data_type: Type, bits: u64) -> f64 {
    match data_type {
        Type::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// The lowest bits of an integer.
fn wrapped(data_type: Type, value: i128) -> u64 {
    value as u64 & data_type.mask()
}

/// The bits of a float. Rounding the result of one operation from 64 bits to 32 gives what the operation
/// gives in 32 bits.
fn of_float(data_type: Type, value: f64) -> u64 {
    match data_type {
        Type::F32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

fn cast(from: Type, to: Type, bits: u64) -> u64 {
    match (from.is_float(), to) {
        (false, Type::Bool) => u64::from(bits != 0),
        (true, Type::Bool) => u64::from(float(from, bits) != 0.0),
        (true, to) if to.is_float() => of_float(to, float(from, bits)),
        (true, to) => saturated(to, float(from, bits)),
        // At once: an integer of 64 bits is not rounded twice on its way to 32 bits.
        (false, Type::F32) => u64::from((integer(from, bits) as f32).to_bits()),
        (false, Type::F64) => (integer(from, bits) as f64).to_bits(),
        (false, to) => wrapped(to, integer(from, bits)),
    }
}

/// The integer nearest to zero between `value` and 0, within the range of `to`.
fn saturated(to: Type, value: f64) -> u64 {
    let bits = to.bits();
    let (least, greatest) = if to.is_signed() {
        (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
    } else {
        (0, (1_i128 << bits) - 1)
    };
    wrapped(to, (value as i128).clamp(least, greatest))
}

fn unary(op: UnaryOp, data_type: Type, bits: u64) -> u64 {
    let sign = 1 << (data_type.bits() - 1);
    match op {
        UnaryOp::Negate if data_type.is_float() => bits ^ sign,
        UnaryOp::Abs if data_type.is_float() => bits & !sign,
        UnaryOp::Negate => wrapped(data_type, -integer(data_type, bits)),
        UnaryOp::Abs => wrapped(data_type, integer(data_type, bits).abs()),
        UnaryOp::BitNot => !bits & data_type.mask(),
        UnaryOp::BitCount => u64::from(bits.count_ones()),
        UnaryOp::Not => bits ^ 1,
        UnaryOp::IsNull => 0,
    }
}

fn binary(op: BinaryOp, data_type: Type, left: Option<u64>, right: Option<u64>) -> Option<u64> {
    match (op, left, right) {
        (BinaryOp::And, Some(0), _) | (BinaryOp::And, _, Some(0)) => Some(0),
        (BinaryOp::Or, Some(1), _) | (BinaryOp::Or, _, Some(1)) => Some(1),
        (_, Some(left), Some(right)) if data_type.is_float() => {
            let (a, b) = (float(data_type, left), float(data_type, right));
            Some(of_floats(op, data_type, a, b))
        }
        (_, Some(left), Some(right)) => {
            let (a, b) = (integer(data_type, left), integer(data_type, right));
            Some(of_integers(op, data_type, a, b))
        }
        _ => None,
    }
}

fn of_floats(op: BinaryOp, data_type: Type, a: f64, b: f64) -> u64 {
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::Divide => a / b,
        _ => return u64::from(compared(op, &a, &b)),
    };
    of_float(data_type, value)
}

fn of_integers(op: BinaryOp, data_type: Type, a: i128, b: i128) -> u64 {
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        // Only the lowest bits are kept.
        BinaryOp::Multiply => a.wrapping_mul(b),
        // The divisor is not 0.
        BinaryOp::IntDiv => a.checked_div(b).unwrap_or(0),
        BinaryOp::Modulo => a.checked_rem(b).unwrap_or(0),
        BinaryOp::BitAnd | BinaryOp::And => a & b,
        BinaryOp::BitOr | BinaryOp::Or => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => shifted(op, data_type, a, b as u32),
        _ => return u64::from(compared(op, &a, &b)),
    };
    wrapped(data_type, value)
}

fn shifted(op: BinaryOp, data_type: Type, value: i128, places: u32) -> i128 {
    if places >= data_type.bits() {
        return 0;
    }
    match op {
        BinaryOp::ShiftLeft => value << places,
        _ => value >> places,
    }
}

fn compared<T: PartialOrd>(op: BinaryOp, a: &T, b: &T) -> bool {
    match op {
        BinaryOp::Equal => a == b,
        BinaryOp::NotEqual => a != b,
        BinaryOp::Less => a < b,
        BinaryOp::LessOrEqual => a <= b,
        BinaryOp::Greater => a > b,
        BinaryOp::GreaterOrEqual => a >= b,
        _ => false,
    }
}
