//! Defines typed expressions over columns: what can be interpreted and compiled.
//!
//! A [`Graph`] holds the nodes of all expressions of a program. A node is made by a method that checks
//! its types, refers only to nodes made before it, and is the same node if it is made twice: what
//! expressions have in common is computed once.
//!
//! **Nothing here can fail or trap.** Integers wrap, divisors are constants that are neither 0 nor -1, and
//! floats become integers by cutting off and keeping to the range (NaN is 0).
//!
//! **NULL.** A node is NULL if one of its arguments is, except that AND, OR and `if` have the logic
//! of SQL. What the value under a NULL is, nobody may ask.

use std::collections::HashMap;
use std::fmt;

/// Type of a node. There are no columns of `Bool`: a flag is made by a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// True or false.
    Bool,
    /// Integer of 8 bits with sign.
    I8,
    /// Integer of 16 bits with sign.
    I16,
    /// Integer of 32 bits with sign.
    I32,
    /// Integer of 64 bits with sign.
    I64,
    /// Integer of 8 bits without sign.
    U8,
    /// Integer of 16 bits without sign.
    U16,
    /// Integer of 32 bits without sign.
    U32,
    /// Integer of 64 bits without sign.
    U64,
    /// Float of 32 bits.
    F32,
    /// Float of 64 bits.
    F64,
}

impl Type {
    /// Types that columns may have.
    pub const OF_COLUMNS: [Self; 10] = [
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::F32,
        Self::F64,
    ];

    /// Bits of a value; those of a flag are 1.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::I8 | Self::U8 => 8,
            Self::I16 | Self::U16 => 16,
            Self::I32 | Self::U32 | Self::F32 => 32,
            Self::I64 | Self::U64 | Self::F64 => 64,
        }
    }

    /// Bytes of a value in memory.
    pub fn size_bytes(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Whether it is an integer with sign.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// Whether it is an integer.
    pub fn is_integer(self) -> bool {
        !self.is_float() && self != Self::Bool
    }

    /// The lowest `bits()` of a word.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Place of a node in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// The place as a number.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is done with one argument; the result has its type, unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Minus; the least integer stays.
    Negate,
    /// The value without its sign; the least integer stays, as bits that an unsigned type reads rightly.
    Abs,
    /// Every bit of an integer turned.
    BitNot,
    /// Number of set bits of an integer.
    BitCount,
    /// NOT of a flag.
    Not,
    /// Whether the argument is NULL: a flag that is never NULL.
    IsNull,
}

/// What is done with two arguments of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient of floats.
    Divide,
    /// Quotient of an integer by a constant, cut off.
    IntDiv,
    /// Remainder of an integer by a constant, with the sign of the first.
    Modulo,
    /// Bits of both integers.
    BitAnd,
    /// Bits of either integer.
    BitOr,
    /// Bits of one of both integers.
    BitXor,
    /// AND of flags: false decides, whatever the other is.
    And,
    /// OR of flags: true decides, whatever the other is.
    Or,
    /// Whether they are equal; NaN equals nothing.
    Equal,
    /// Whether they are not equal.
    NotEqual,
    /// Whether the first is less.
    Less,
    /// Whether the first is less or equal.
    LessOrEqual,
    /// Whether the first is greater.
    Greater,
    /// Whether the first is greater or equal.
    GreaterOrEqual,
}

impl BinaryOp {
    /// Whether it compares: the result is a flag, whatever the arguments are.
    pub fn compares(self) -> bool {
        use BinaryOp::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        matches!(
            self,
            Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual
        )
    }

    fn takes(self, data_type: Type) -> bool {
        match self {
            Self::Add | Self::Subtract | Self::Multiply => data_type != Type::Bool,
            Self::Divide => data_type.is_float(),
            Self::IntDiv | Self::Modulo | Self::BitAnd | Self::BitOr | Self::BitXor => {
                data_type.is_integer()
            }
            Self::And | Self::Or => data_type == Type::Bool,
            _ => self.compares(),
        }
    }
}

/// A step of a computation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// The value of a column.
    Column {
        /// Place of the column.
        index: u32,
        /// Its type.
        data_type: Type,
        /// Whether it may have NULLs.
        is_nullable: bool,
    },
    /// The same value for all rows.
    Constant {
        /// Its type.
        data_type: Type,
        /// Its bits, the others zero; `None` is NULL.
        bits: Option<u64>,
    },
    /// The value in another type.
    Cast {
        /// The new type.
        to: Type,
        /// The value.
        arg: NodeId,
    },
    /// Something done with one argument.
    Unary {
        /// What is done.
        op: UnaryOp,
        /// With this.
        arg: NodeId,
    },
    /// Something done with two arguments.
    Binary {
        /// What is done.
        op: BinaryOp,
        /// With this,
        left: NodeId,
        /// and this.
        right: NodeId,
    },
    /// One of two values.
    If {
        /// Which; NULL is false.
        condition: NodeId,
        /// The value if it is true.
        then: NodeId,
        /// The value otherwise.
        otherwise: NodeId,
    },
}

/// Types or constants that do not fit together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IllTyped(String);

impl fmt::Display for IllTyped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for IllTyped {}

pub(crate) fn ill_typed<T>(text: impl Into<String>) -> Result<T, IllTyped> {
    Err(IllTyped(text.into()))
}

/// The nodes of some expressions, arguments before what uses them.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    types: Vec<Type>,
    nullable: Vec<bool>,
    places: HashMap<Node, NodeId>,
}

impl Graph {
    /// All nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node at a place.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Its type.
    pub fn type_of(&self, id: NodeId) -> Type {
        self.types[id.index()]
    }

    /// Whether it may be NULL.
    pub fn is_nullable(&self, id: NodeId) -> bool {
        self.nullable[id.index()]
    }

    /// The value of the column at `index`.
    ///
    /// # Errors
    /// If it is of `Bool`, or was of another type before.
    pub fn column(
        &mut self,
        index: u32,
        data_type: Type,
        is_nullable: bool,
    ) -> Result<NodeId, IllTyped> {
        if data_type == Type::Bool {
            return ill_typed("columns have no flags");
        }
        let node = Node::Column {
            index,
            data_type,
            is_nullable,
        };
        let is_other =
            |n: &Node| matches!(n, Node::Column { index: i, .. } if *i == index) && *n != node;
        if self.nodes.iter().any(is_other) {
            return ill_typed(format!("column {index} has two types"));
        }
        Ok(self.add(node, data_type, is_nullable))
    }

    /// A constant with these bits in the lowest of the word; `None` is NULL.
    pub fn constant(&mut self, data_type: Type, bits: Option<u64>) -> NodeId {
        let bits = bits.map(|bits| bits & data_type.mask());
        let node = Node::Constant { data_type, bits };
        self.add(node, data_type, bits.is_none())
    }

    /// The value in another type: integers keep their lowest bits, a number is true unless it is 0.
    pub fn cast(&mut self, to: Type, arg: NodeId) -> NodeId {
        if self.type_of(arg) == to {
            return arg;
        }
        let is_nullable = self.is_nullable(arg);
        self.add(Node::Cast { to, arg }, to, is_nullable)
    }

    /// `op` of a value.
    ///
    /// # Errors
    /// If it takes no value of that type.
    pub fn unary(&mut self, op: UnaryOp, arg: NodeId) -> Result<NodeId, IllTyped> {
        let data_type = self.type_of(arg);
        let is_allowed = match op {
            UnaryOp::Negate | UnaryOp::Abs => data_type != Type::Bool,
            UnaryOp::BitNot | UnaryOp::BitCount => data_type.is_integer(),
            UnaryOp::Not => data_type == Type::Bool,
            UnaryOp::IsNull => true,
        };
        if !is_allowed {
            return ill_typed(format!("{op:?} of {data_type}"));
        }
        let is_test = op == UnaryOp::IsNull;
        let result = if is_test { Type::Bool } else { data_type };
        let is_nullable = !is_test && self.is_nullable(arg);
        Ok(self.add(Node::Unary { op, arg }, result, is_nullable))
    }

    /// `op` of two values of one type.
    ///
    /// # Errors
    /// If it takes no values of these types, or a divisor is no constant, or 0 or -1.
    pub fn binary(
        &mut self,
        op: BinaryOp,
        left: NodeId,
        right: NodeId,
    ) -> Result<NodeId, IllTyped> {
        let data_type = self.type_of(left);
        if self.type_of(right) != data_type || !op.takes(data_type) {
            let other = self.type_of(right);
            return ill_typed(format!("{op:?} of {data_type} and {other}"));
        }
        if matches!(op, BinaryOp::IntDiv | BinaryOp::Modulo) && !self.divides(right) {
            return ill_typed("a divisor that is no constant, or 0 or -1");
        }
        let result = if op.compares() { Type::Bool } else { data_type };
        let is_nullable = self.is_nullable(left) || self.is_nullable(right);
        Ok(self.add(Node::Binary { op, left, right }, result, is_nullable))
    }

    fn divides(&self, divisor: NodeId) -> bool {
        match self.node(divisor) {
            Node::Constant {
                data_type,
                bits: Some(bits),
            } => *bits != 0 && !(data_type.is_signed() && *bits == data_type.mask()),
            _ => false,
        }
    }

    /// `then` where `condition` is true, `otherwise` elsewhere.
    ///
    /// # Errors
    /// If the condition is no flag, or the others have different types.
    pub fn choose(
        &mut self,
        condition: NodeId,
        then: NodeId,
        otherwise: NodeId,
    ) -> Result<NodeId, IllTyped> {
        let data_type = self.type_of(then);
        if self.type_of(condition) != Type::Bool || self.type_of(otherwise) != data_type {
            return ill_typed("a choice by no flag, or of two types");
        }
        let is_nullable = self.is_nullable(then) || self.is_nullable(otherwise);
        let node = Node::If {
            condition,
            then,
            otherwise,
        };
        Ok(self.add(node, data_type, is_nullable))
    }

    fn add(&mut self, node: Node, data_type: Type, is_nullable: bool) -> NodeId {
        if let Some(place) = self.places.get(&node) {
            return *place;
        }
        // Expressions that a query has room for have fewer than 2^32 nodes.
        let place = NodeId(self.nodes.len() as u32);
        self.places.insert(node.clone(), place);
        self.nodes.push(node);
        self.types.push(data_type);
        self.nullable.push(is_nullable);
        place
    }
}

/// The nodes line by line: the same text for the same computation.
impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, node) in self.nodes.iter().enumerate() {
            write!(f, "n{place} = {} ", self.types[place])?;
            match node {
                Node::Column {
                    index, is_nullable, ..
                } => {
                    let null = if *is_nullable { " nullable" } else { "" };
                    writeln!(f, "column {index}{null}")?;
                }
                Node::Constant { bits: None, .. } => writeln!(f, "NULL")?,
                Node::Constant {
                    bits: Some(bits), ..
                } => writeln!(f, "{bits:#x}")?,
                Node::Cast { arg, .. } => writeln!(f, "cast n{}", arg.0)?,
                Node::Unary { op, arg } => writeln!(f, "{op:?} n{}", arg.0)?,
                Node::Binary { op, left, right } => {
                    writeln!(f, "{op:?} n{} n{}", left.0, right.0)?;
                }
                Node::If {
                    condition,
                    then,
                    otherwise,
                } => writeln!(f, "if n{} n{} n{}", condition.0, then.0, otherwise.0)?,
            }
        }
        Ok(())
    }
}
