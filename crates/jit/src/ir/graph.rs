//! Builds graphs of nodes, each checked when it is added.

use std::collections::HashMap;
use std::fmt;

use super::{BinaryOp, Type, UnaryOp};

/// Place of a node in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// The place as a number.
    pub fn index(self) -> usize {
        self.0 as usize
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
