//! Computes all nodes for one vector of rows, or for one row.

use super::text::{Text, element, mangled, splat, vector};
use crate::ir::{BinaryOp, Node, NodeId, Type, UnaryOp};
use crate::program::{Output, Program};

/// A node's values and which of them are not NULL, as operands.
#[derive(Clone, Debug)]
struct Operand {
    value: String,
    /// None if nothing is NULL.
    valid: Option<String>,
}

/// The nodes of a program for `width` rows from `index` on.
pub(super) struct Body<'a> {
    pub(super) program: &'a Program,
    operands: Vec<Operand>,
    pub(super) width: usize,
    index: String,
    /// Rows that pass the filter; `None` if all do.
    passes: Option<String>,
}

impl<'a> Body<'a> {
    /// Writes the computation of all nodes.
    pub(super) fn emit(program: &'a Program, text: &mut Text, width: usize, index: &str) -> Self {
        let mut body = Self {
            program,
            operands: Vec::new(),
            width,
            index: index.to_owned(),
            passes: None,
        };
        for place in 0..program.graph().nodes().len() {
            let operand = body.node(place, text);
            body.operands.push(operand);
        }
        body.passes = program.filter().map(|filter| {
            let Operand { value, valid } = body.operands[filter.index()].clone();
            body.both(Some(value), valid, text).unwrap_or_default()
        });
        body
    }

    /// The values of a node.
    pub(super) fn value(&self, id: NodeId) -> &str {
        &self.operands[id.index()].value
    }

    /// Rows in which a node is not NULL; `None` if it never is.
    pub(super) fn valid(&self, id: NodeId) -> Option<&str> {
        self.operands[id.index()].valid.as_deref()
    }

    /// Rows that pass the filter and have a value of the node; `None` if all do.
    pub(super) fn kept(&self, id: Option<NodeId>, text: &mut Text) -> Option<String> {
        let valid = id.and_then(|id| self.operands[id.index()].valid.clone());
        self.both(self.passes.clone(), valid, text)
    }

    fn flags(&self) -> String {
        vector(Type::Bool, self.width)
    }

    fn both(&self, a: Option<String>, b: Option<String>, text: &mut Text) -> Option<String> {
        match (a, b) {
            (Some(a), Some(b)) => Some(text.add(format!("and {} {a}, {b}", self.flags()))),
            (a, b) => a.or(b),
        }
    }

    fn not(&self, flags: &str, text: &mut Text) -> String {
        let all = splat(Type::Bool, 1, self.width);
        text.add(format!("xor {} {flags}, {all}", self.flags()))
    }

    fn node(&self, place: usize, text: &mut Text) -> Operand {
        let graph = self.program.graph();
        let of = |id: &NodeId| &self.operands[id.index()];
        match &graph.nodes()[place] {
            Node::Column {
                index,
                data_type,
                is_nullable,
            } => self.column(*index, *data_type, *is_nullable, text),
            Node::Constant { data_type, bits } => Operand {
                value: splat(*data_type, bits.unwrap_or(0), self.width),
                valid: bits.is_none().then(|| splat(Type::Bool, 0, self.width)),
            },
            Node::Cast { to, arg } => Operand {
                value: self.cast(graph.type_of(*arg), *to, &of(arg).value, text),
                valid: of(arg).valid.clone(),
            },
            Node::Unary {
                op: UnaryOp::IsNull,
                arg,
            } => Operand {
                value: match &of(arg).valid {
                    Some(valid) => self.not(valid, text),
                    None => splat(Type::Bool, 0, self.width),
                },
                valid: None,
            },
            Node::Unary { op, arg } => Operand {
                value: self.unary(*op, graph.type_of(*arg), &of(arg).value, text),
                valid: of(arg).valid.clone(),
            },
            Node::Binary {
                op: op @ (BinaryOp::And | BinaryOp::Or),
                left,
                right,
            } => self.logic(*op, of(left), of(right), text),
            Node::Binary {
                op: op @ (BinaryOp::ShiftLeft | BinaryOp::ShiftRight),
                left,
                right,
            } => Operand {
                value: self.shift(*op, graph.type_of(*left), (of(left), of(right)), text),
                valid: self.both(of(left).valid.clone(), of(right).valid.clone(), text),
            },
            Node::Binary { op, left, right } => {
                let (left_value, right_value) = (&of(left).value, &of(right).value);
                let data_type = graph.type_of(*left);
                let instruction = instruction(*op, data_type);
                let vector = vector(data_type, self.width);
                Operand {
                    value: text.add(format!(
                        "{instruction} {vector} {left_value}, {right_value}"
                    )),
                    valid: self.both(of(left).valid.clone(), of(right).valid.clone(), text),
                }
            }
            Node::If {
                condition,
                then,
                otherwise,
            } => {
                let data_type = graph.type_of(*then);
                self.choice(data_type, of(condition), (of(then), of(otherwise)), text)
            }
        }
    }

    fn column(&self, place: u32, data_type: Type, is_nullable: bool, text: &mut Text) -> Operand {
        let (element, vector) = (element(data_type), vector(data_type, self.width));
        let index = &self.index;
        let address = text.add(format!(
            "getelementptr inbounds {element}, ptr %col{place}, i64 {index}"
        ));
        let align = data_type.size_bytes();
        let value = text.add(format!("load {vector}, ptr {address}, align {align}"));
        let valid = is_nullable.then(|| self.load_bits(&format!("%col{place}.valid"), text));
        Operand { value, valid }
    }

    /// The byte of a bitmap in which the bits of these rows begin.
    fn byte_of_bits(&self, bits: &str, text: &mut Text) -> String {
        let byte = text.add(format!("lshr i64 {}, 3", self.index));
        text.add(format!("getelementptr inbounds i8, ptr {bits}, i64 {byte}"))
    }

    /// Flags from a bitmap. A vector begins at a whole byte.
    fn load_bits(&self, bits: &str, text: &mut Text) -> String {
        let address = self.byte_of_bits(bits, text);
        if self.width > 1 {
            let word = format!("i{}", self.width);
            let word = text.add(format!("load {word}, ptr {address}, align 1"));
            return text.add(format!(
                "bitcast i{} {word} to {}",
                self.width,
                self.flags()
            ));
        }
        let byte = text.add(format!("load i8, ptr {address}, align 1"));
        let shift = text.add(format!("trunc i64 {} to i8", self.index));
        let shift = text.add(format!("and i8 {shift}, 7"));
        let bit = text.add(format!("lshr i8 {byte}, {shift}"));
        text.add(format!("trunc i8 {bit} to i1"))
    }

    /// Flags into a bitmap whose bits are zero.
    fn store_bits(&self, flags: &str, bits: &str, text: &mut Text) {
        let address = self.byte_of_bits(bits, text);
        if self.width > 1 {
            let word = text.add(format!(
                "bitcast {} {flags} to i{}",
                self.flags(),
                self.width
            ));
            text.line(&format!(
                "store i{} {word}, ptr {address}, align 1",
                self.width
            ));
            return;
        }
        let byte = text.add(format!("load i8, ptr {address}, align 1"));
        let shift = text.add(format!("trunc i64 {} to i8", self.index));
        let shift = text.add(format!("and i8 {shift}, 7"));
        let bit = text.add(format!("zext i1 {flags} to i8"));
        let bit = text.add(format!("shl i8 {bit}, {shift}"));
        let byte = text.add(format!("or i8 {byte}, {bit}"));
        text.line(&format!("store i8 {byte}, ptr {address}, align 1"));
    }

    /// Stores the outputs that have a value for each row.
    pub(super) fn store_outputs(&self, text: &mut Text) {
        for (place, output) in self.program.outputs().iter().enumerate() {
            let Output::Map(id) = output else { continue };
            let Operand { value, valid } = &self.operands[id.index()];
            if let Some(valid) = valid {
                self.store_bits(valid, &format!("%out{place}.valid"), text);
            }
            let data_type = self.program.graph().type_of(*id);
            if data_type == Type::Bool {
                self.store_bits(value, &format!("%out{place}"), text);
                continue;
            }
            let (element, align) = (element(data_type), data_type.size_bytes());
            let (vector, index) = (vector(data_type, self.width), &self.index);
            let address = text.add(format!(
                "getelementptr inbounds {element}, ptr %out{place}, i64 {index}"
            ));
            text.line(&format!(
                "store {vector} {value}, ptr {address}, align {align}"
            ));
        }
    }

    /// The values in another type.
    pub(super) fn cast(&self, from: Type, to: Type, value: &str, text: &mut Text) -> String {
        if from == to {
            return value.to_owned();
        }
        let (source, target) = (vector(from, self.width), vector(to, self.width));
        let zero = splat(from, 0, self.width);
        let instruction = match (from.is_float(), to) {
            (false, Type::Bool) => return text.add(format!("icmp ne {source} {value}, {zero}")),
            (true, Type::Bool) => return text.add(format!("fcmp une {source} {value}, {zero}")),
            (true, to) if !to.is_float() => return self.saturated(from, to, value, text),
            (true, Type::F64) => "fpext",
            (true, _) => "fptrunc",
            (false, to) if to.is_float() && from.is_signed() => "sitofp",
            (false, to) if to.is_float() => "uitofp",
            (false, to) if to.bits() < from.bits() => "trunc",
            (false, to) if to.bits() == from.bits() => return value.to_owned(),
            (false, _) if from.is_signed() => "sext",
            (false, _) => "zext",
        };
        text.add(format!("{instruction} {source} {value} to {target}"))
    }

    fn saturated(&self, from: Type, to: Type, value: &str, text: &mut Text) -> String {
        let kind = if to.is_signed() { "fptosi" } else { "fptoui" };
        let (to_name, from_name) = (mangled(to, self.width), mangled(from, self.width));
        let name = format!("llvm.{kind}.sat.{to_name}.{from_name}");
        self.call(&name, (to, from), value, text)
    }

    /// A call of an intrinsic function with one argument.
    fn call(&self, name: &str, (to, from): (Type, Type), value: &str, text: &mut Text) -> String {
        let (source, target) = (vector(from, self.width), vector(to, self.width));
        text.declare(format!("{target} @{name}({source})"));
        text.add(format!("call {target} @{name}({source} {value})"))
    }

    fn unary(&self, op: UnaryOp, data_type: Type, value: &str, text: &mut Text) -> String {
        let vector = vector(data_type, self.width);
        let zero = splat(data_type, 0, self.width);
        let ones = splat(data_type, u64::MAX, self.width);
        let same = (data_type, data_type);
        let intrinsic = |name: &str| format!("llvm.{name}.{}", mangled(data_type, self.width));
        match op {
            UnaryOp::Negate if data_type.is_float() => text.add(format!("fneg {vector} {value}")),
            UnaryOp::Abs if data_type.is_float() => {
                self.call(&intrinsic("fabs"), same, value, text)
            }
            UnaryOp::BitCount => self.call(&intrinsic("ctpop"), same, value, text),
            UnaryOp::Negate => text.add(format!("sub {vector} {zero}, {value}")),
            UnaryOp::Abs if data_type.is_signed() => {
                let negated = text.add(format!("sub {vector} {zero}, {value}"));
                let is_negative = text.add(format!("icmp slt {vector} {value}, {zero}"));
                self.select(data_type, &is_negative, (&negated, value), text)
            }
            UnaryOp::BitNot | UnaryOp::Not => text.add(format!("xor {vector} {value}, {ones}")),
            UnaryOp::Abs | UnaryOp::IsNull => value.to_owned(),
        }
    }

    /// An integer with its bits moved. LLVM leaves open what comes of too many places, but not what a choice of something
    /// else gives; the vector shifts of AVX2 give 0 themselves.
    fn shift(
        &self,
        op: BinaryOp,
        data_type: Type,
        (left, right): (&Operand, &Operand),
        text: &mut Text,
    ) -> String {
        let vector = vector(data_type, self.width);
        let constant = |bits| splat(data_type, bits, self.width);
        let mut places = right.value.clone();
        if data_type.bits() == 64 {
            let lowest = constant(u64::from(u32::MAX));
            places = text.add(format!("and {vector} {places}, {lowest}"));
        }
        let limit = constant(u64::from(data_type.bits()));
        let stays = text.add(format!("icmp ult {vector} {places}, {limit}"));
        let (instruction, value) = (instruction(op, data_type), &left.value);
        let shifted = text.add(format!("{instruction} {vector} {value}, {places}"));
        self.select(data_type, &stays, (&shifted, &constant(0)), text)
    }

    /// The first where the flags are set, the second elsewhere.
    pub(super) fn select(
        &self,
        data_type: Type,
        flags: &str,
        (then, otherwise): (&str, &str),
        text: &mut Text,
    ) -> String {
        let (flag, vector) = (self.flags(), vector(data_type, self.width));
        text.add(format!(
            "select {flag} {flags}, {vector} {then}, {vector} {otherwise}"
        ))
    }

    /// AND and OR. What lies under a NULL does not matter: where the result is not NULL, either both
    /// sides are not, or one decides whatever bits the other has.
    fn logic(&self, op: BinaryOp, left: &Operand, right: &Operand, text: &mut Text) -> Operand {
        let flags = self.flags();
        let name = if op == BinaryOp::And { "and" } else { "or" };
        let value = text.add(format!("{name} {flags} {}, {}", left.value, right.value));
        if left.valid.is_none() && right.valid.is_none() {
            return Operand { value, valid: None };
        }
        let mut valid = self.both(left.valid.clone(), right.valid.clone(), text);
        for side in [left, right] {
            let mut decides = side.value.clone();
            if op == BinaryOp::And {
                decides = self.not(&decides, text);
            }
            let decides = self.both(Some(decides), side.valid.clone(), text);
            // The side that has no bitmap may be the only one that decides.
            valid = match (valid, decides) {
                (Some(a), Some(b)) => Some(text.add(format!("or {flags} {a}, {b}"))),
                (a, b) => a.or(b),
            };
        }
        Operand { value, valid }
    }

    fn choice(
        &self,
        data_type: Type,
        condition: &Operand,
        (then, otherwise): (&Operand, &Operand),
        text: &mut Text,
    ) -> Operand {
        let (value, valid) = (Some(condition.value.clone()), condition.valid.clone());
        let is_then = self.both(value, valid, text).unwrap_or_default();
        let values = (then.value.as_str(), otherwise.value.as_str());
        let value = self.select(data_type, &is_then, values, text);
        if then.valid.is_none() && otherwise.valid.is_none() {
            return Operand { value, valid: None };
        }
        let all = splat(Type::Bool, 1, self.width);
        let then = then.valid.as_ref().unwrap_or(&all);
        let otherwise = otherwise.valid.as_ref().unwrap_or(&all);
        let valid = self.select(Type::Bool, &is_then, (then, otherwise), text);
        Operand {
            value,
            valid: Some(valid),
        }
    }
}

/// LLVM's name for an operation on values of a type.
fn instruction(op: BinaryOp, data_type: Type) -> &'static str {
    use BinaryOp::{
        Add, And, BitAnd, BitOr, BitXor, Divide, Equal, Greater, GreaterOrEqual, IntDiv, Less,
        LessOrEqual, Modulo, Multiply, NotEqual, Or, ShiftLeft, ShiftRight, Subtract,
    };
    let (of_signed, of_unsigned, of_float) = match op {
        Add => ("add", "add", "fadd"),
        Subtract => ("sub", "sub", "fsub"),
        Multiply => ("mul", "mul", "fmul"),
        // Floats only, integers only, flags only: the other names are never asked for.
        Divide => ("fdiv", "fdiv", "fdiv"),
        IntDiv => ("sdiv", "udiv", "fdiv"),
        Modulo => ("srem", "urem", "frem"),
        BitAnd | And => ("and", "and", "and"),
        BitOr | Or => ("or", "or", "or"),
        BitXor => ("xor", "xor", "xor"),
        ShiftLeft => ("shl", "shl", "shl"),
        ShiftRight => ("ashr", "lshr", "lshr"),
        Equal => ("icmp eq", "icmp eq", "fcmp oeq"),
        NotEqual => ("icmp ne", "icmp ne", "fcmp une"),
        Less => ("icmp slt", "icmp ult", "fcmp olt"),
        LessOrEqual => ("icmp sle", "icmp ule", "fcmp ole"),
        Greater => ("icmp sgt", "icmp ugt", "fcmp ogt"),
        GreaterOrEqual => ("icmp sge", "icmp uge", "fcmp oge"),
    };
    if data_type.is_float() {
        of_float
    } else if data_type.is_signed() {
        of_signed
    } else {
        of_unsigned
    }
}
