//! Makes random programs and columns from a seed, or from the bytes of a fuzzer.

use crate::calendar::{self, DayPart, DayUnit};
use crate::{
    BinaryOp, Column, Fold, Graph, Grouped, NodeId, Output, Program, Type, UnaryOp, Values,
};
use basalt_adapt::Random;
use basalt_kernels::Bitmap;

/// Draws from bytes, and from a random sequence when there are no more.
pub(crate) struct Draw {
    /// The next one is the last.
    bytes: Vec<u8>,
    random: Random,
}

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            bytes: Vec::new(),
            random: Random::new(seed),
        }
    }

    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.iter().rev().copied().collect(),
            ..Self::new(bytes.len() as u64)
        }
    }

    pub(super) fn bits(&mut self) -> u64 {
        match self.bytes.pop() {
            // An odd factor spreads the byte over the word.
            Some(byte) => (u64::from(byte) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
            None => self.random.bits(),
        }
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.bits() >> 11) as usize % end
    }

    pub(super) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// The bits of a value: often one at the edges of its type.
    pub(super) fn value(&mut self, data_type: Type) -> u64 {
        let sign = 1 << (data_type.bits() - 1);
        let bits = match (data_type, self.below(4)) {
            (Type::F64, 0) => self
                .of(&[0.0, -0.0, 1.5, f64::MAX, f64::INFINITY, f64::NAN])
                .to_bits(),
            (Type::F64, 1..) => ((self.bits() >> 40) as f64 / 7.0 - 1e6).to_bits(),
            (Type::F32, 0) => {
                let edge: f32 = self.of(&[0.0, -0.0, 1.5, f32::MAX, f32::NEG_INFINITY, f32::NAN]);
                u64::from(edge.to_bits())
            }
            (Type::F32, 1..) => u64::from(((self.bits() >> 44) as f32 / 7.0 - 1e4).to_bits()),
            (_, 0) => self.of(&[0, 1, 2, sign, sign - 1, u64::MAX]),
            (_, 1) => self.below(20) as u64,
            _ => self.bits(),
        };
        bits & data_type.mask()
    }
}

/// Columns of each type: some nullable, some not.
pub(super) const NUM_COLUMNS: u32 = 20;

pub(super) fn column_type(place: u32) -> (Type, bool) {
    let types = Type::OF_COLUMNS;
    (
        types[place as usize % types.len()],
        place as usize >= types.len(),
    )
}

/// A program of some random expressions; folds if it has a filter.
pub(super) fn program(draw: &mut Draw) -> Program {
    let mut graph = Graph::default();
    let has_filter = draw.below(2) == 0;
    let depth = 1 + draw.below(4);
    let filter = has_filter.then(|| node(draw, &mut graph, Type::Bool, depth));
    let mut outputs = Vec::new();
    for _ in 0..1 + draw.below(4) {
        outputs.push(output(draw, &mut graph, has_filter, depth));
    }
    let ordinal = draw.of(&[Type::U8, Type::U16, Type::U32, Type::U64]);
    let grouped = Grouped {
        ordinal: node(draw, &mut graph, ordinal, depth),
        num_groups: draw.below(300),
    };
    let program = Program::try_new(graph, filter, outputs).unwrap();
    if draw.below(3) > 0 {
        return program;
    }
    // Not all programs may have groups.
    program.clone().grouped_by(grouped).unwrap_or(program)
}

fn output(draw: &mut Draw, graph: &mut Graph, has_filter: bool, depth: usize) -> Output {
    let number = draw.of(&Type::OF_COLUMNS);
    let any = draw.of(&[Type::Bool, number, number]);
    match draw.below(if has_filter { 5 } else { 8 }) {
        0 => Output::Fold(Fold::Min, node(draw, graph, number, depth)),
        1 => Output::Fold(Fold::Max, node(draw, graph, number, depth)),
        2 => Output::Fold(Fold::Count, node(draw, graph, any, depth)),
        3 => Output::Rows,
        4 | 5 => Output::Fold(Fold::Sum, node(draw, graph, number, depth)),
        _ => Output::Map(node(draw, graph, any, depth)),
    }
}

/// A node of the type, with at most so many levels of arguments.
fn node(draw: &mut Draw, graph: &mut Graph, data_type: Type, depth: usize) -> NodeId {
    if depth == 0 || draw.below(8) == 0 {
        return leaf(draw, graph, data_type);
    }
    let depth = depth - 1;
    match draw.below(11) {
        10 if data_type.is_integer() => {
            let value = of_calendar(draw, graph, depth);
            graph.cast(data_type, value)
        }
        0 => {
            let condition = node(draw, graph, Type::Bool, depth);
            let then = node(draw, graph, data_type, depth);
            let otherwise = node(draw, graph, data_type, depth);
            graph.choose(condition, then, otherwise).unwrap()
        }
        1 | 2 => {
            let from = draw.of(&Type::OF_COLUMNS);
            let from = draw.of(&[from, from, Type::Bool]);
            let arg = node(draw, graph, from, depth);
            graph.cast(data_type, arg)
        }
        3 => unary(draw, graph, data_type, depth),
        _ => binary(draw, graph, data_type, depth),
    }
}

/// Something of a day or of a second.
fn of_calendar(draw: &mut Draw, graph: &mut Graph, depth: usize) -> NodeId {
    let of = draw.of(&[Type::U16, Type::I32, Type::U32]);
    let arg = node(draw, graph, of, depth);
    let step = draw.of(&[60, 300, 3_600, 86_400]);
    let day = match draw.below(4) {
        0 if of == Type::U32 => return calendar::start_of_seconds(graph, arg, step).unwrap(),
        1 if of == Type::U32 => return calendar::part_of_seconds(graph, arg, step, 24).unwrap(),
        _ if of == Type::U32 => calendar::day_of_seconds(graph, arg).unwrap(),
        _ => arg,
    };
    let part = draw.of(&[
        DayPart::Year,
        DayPart::Quarter,
        DayPart::Month,
        DayPart::DayOfMonth,
        DayPart::DayOfYear,
        DayPart::YearMonth,
        DayPart::YearMonthDay,
    ]);
    let unit = draw.of(&[
        DayUnit::Year,
        DayUnit::Month,
        DayUnit::Week,
        DayUnit::SundayWeek,
    ]);
    let built = match draw.below(3) {
        0 => calendar::day_of_week(graph, day),
        1 => calendar::start_of_day_unit(graph, unit, day),
        _ => calendar::part_of_day(graph, part, day),
    };
    built.unwrap()
}

fn leaf(draw: &mut Draw, graph: &mut Graph, data_type: Type) -> NodeId {
    let places: Vec<u32> = (0..NUM_COLUMNS)
        .filter(|p| column_type(*p).0 == data_type)
        .collect();
    if places.is_empty() || draw.below(5) == 0 {
        let bits = (draw.below(6) != 0).then(|| draw.value(data_type));
        return graph.constant(data_type, bits);
    }
    let place = draw.of(&places);
    graph
        .column(place, data_type, column_type(place).1)
        .unwrap()
}

fn unary(draw: &mut Draw, graph: &mut Graph, data_type: Type, depth: usize) -> NodeId {
    if data_type == Type::Bool && draw.below(2) == 0 {
        let of = draw.of(&Type::OF_COLUMNS);
        let arg = node(draw, graph, of, depth);
        return graph.unary(UnaryOp::IsNull, arg).unwrap();
    }
    let arg = node(draw, graph, data_type, depth);
    let op = match data_type {
        Type::Bool => UnaryOp::Not,
        t if t.is_float() => draw.of(&[UnaryOp::Negate, UnaryOp::Abs]),
        _ => draw.of(&[
            UnaryOp::Negate,
            UnaryOp::Abs,
            UnaryOp::BitNot,
            UnaryOp::BitCount,
        ]),
    };
    graph.unary(op, arg).unwrap()
}

fn binary(draw: &mut Draw, graph: &mut Graph, data_type: Type, depth: usize) -> NodeId {
    use BinaryOp::{
        Add, And, BitAnd, BitOr, BitXor, Divide, Equal, Greater, GreaterOrEqual, IntDiv, Less,
        LessOrEqual, Modulo, Multiply, NotEqual, Or, ShiftLeft, ShiftRight, Subtract,
    };
    let (op, of) = match data_type {
        Type::Bool if draw.below(2) == 0 => (draw.of(&[And, Or]), Type::Bool),
        Type::Bool => {
            let op = draw.of(&[Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual]);
            (op, draw.of(&Type::OF_COLUMNS))
        }
        t if t.is_float() => (draw.of(&[Add, Subtract, Multiply, Divide]), t),
        t => {
            let ops = [
                Add, Subtract, Multiply, BitAnd, BitOr, BitXor, IntDiv, Modulo, ShiftLeft,
                ShiftRight,
            ];
            (draw.of(&ops), t)
        }
    };
    let left = node(draw, graph, of, depth);
    if !matches!(op, IntDiv | Modulo) {
        let right = node(draw, graph, of, depth);
        return graph.binary(op, left, right).unwrap();
    }
    loop {
        let divisor = draw.value(of);
        let divisor = graph.constant(of, Some(divisor));
        if let Ok(quotient) = graph.binary(op, left, divisor) {
            return quotient;
        }
    }
}

/// The memory of a column.
pub(crate) struct Memory {
    i8: Vec<i8>,
    i16: Vec<i16>,
    i32: Vec<i32>,
    i64: Vec<i64>,
    u8: Vec<u8>,
    u16: Vec<u16>,
    u32: Vec<u32>,
    u64: Vec<u64>,
    f32: Vec<f32>,
    f64: Vec<f64>,
    data_type: Type,
    bits: Option<Vec<u8>>,
    /// Values and bits before the first row.
    offsets: (usize, usize),
    num_rows: usize,
}

impl Memory {
    /// Random values; the vectors end with the last row, so that reading on would leave them.
    pub(crate) fn new(draw: &mut Draw, place: u32, num_rows: usize) -> Self {
        let (data_type, is_nullable) = column_type(place);
        let offsets = (draw.below(4), draw.below(70));
        let mut values = || -> Vec<u64> {
            (0..offsets.0 + num_rows)
                .map(|_| draw.value(data_type))
                .collect()
        };
        let values = values();
        let of = |wanted| {
            if data_type == wanted {
                values.as_slice()
            } else {
                &[]
            }
        };
        let mut new = Self {
            i8: of(Type::I8).iter().map(|v| *v as i8).collect(),
            i16: of(Type::I16).iter().map(|v| *v as i16).collect(),
            i32: of(Type::I32).iter().map(|v| *v as i32).collect(),
            i64: of(Type::I64).iter().map(|v| *v as i64).collect(),
            u8: of(Type::U8).iter().map(|v| *v as u8).collect(),
            u16: of(Type::U16).iter().map(|v| *v as u16).collect(),
            u32: of(Type::U32).iter().map(|v| *v as u32).collect(),
            u64: of(Type::U64).to_vec(),
            f32: of(Type::F32)
                .iter()
                .map(|v| f32::from_bits(*v as u32))
                .collect(),
            f64: of(Type::F64).iter().map(|v| f64::from_bits(*v)).collect(),
            data_type,
            bits: None,
            offsets,
            num_rows,
        };
        if is_nullable && draw.below(5) > 0 {
            let len = (offsets.1 + num_rows).div_ceil(8);
            let density = draw.below(3);
            let byte = |draw: &mut Draw| match density {
                0 => (draw.bits() >> 20) as u8,
                1 => (draw.bits() >> 20) as u8 | (draw.bits() >> 20) as u8,
                _ => draw.of(&[0, 0xFF]),
            };
            new.bits = Some((0..len).map(|_| byte(draw)).collect());
        }
        new
    }

    pub(crate) fn column(&self) -> Column<'_> {
        let start = self.offsets.0;
        let values = match self.data_type {
            Type::I8 => Values::I8(&self.i8[start..]),
            Type::I16 => Values::I16(&self.i16[start..]),
            Type::I32 => Values::I32(&self.i32[start..]),
            Type::I64 => Values::I64(&self.i64[start..]),
            Type::U8 => Values::U8(&self.u8[start..]),
            Type::U16 => Values::U16(&self.u16[start..]),
            Type::U32 => Values::U32(&self.u32[start..]),
            Type::U64 => Values::U64(&self.u64[start..]),
            Type::F32 => Values::F32(&self.f32[start..]),
            Type::F64 | Type::Bool => Values::F64(&self.f64[start..]),
        };
        let bits = self.bits.as_ref();
        let validity = bits.and_then(|b| Bitmap::try_new(b, self.offsets.1, self.num_rows));
        Column { values, validity }
    }
}
