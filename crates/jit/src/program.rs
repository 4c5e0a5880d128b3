//! Defines programs: an optional filter, and what is computed from the rows that pass it.

use std::fmt;

use crate::ir::{Graph, IllTyped, Node, NodeId, Type, ill_typed};

/// How rows become one value. NULLs and rows that the filter drops are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    /// Number of values.
    Count,
    /// Sum of the values: of integers in 64 bits that wrap, of floats in twice their
    /// precision, in the lanes of `basalt_kernels::twofold` (a row that is left out adds nothing to its lane).
    Sum,
    /// The least number. A NaN is worse than all others: it comes out only if there is nothing else. -0.0 is
    /// less than 0.0, so that the rows may be taken in any order.
    Min,
    /// The greatest number, with the same rules.
    Max,
}

/// Something that a program gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// The value of each row.
    Map(NodeId),
    /// One value of all rows.
    Fold(Fold, NodeId),
    /// Number of rows that pass the filter.
    Rows,
}

/// Groups of rows, of which each has its own folds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grouped {
    /// The number of a row's group, an unsigned integer.
    pub ordinal: NodeId,
    /// How many groups there are. Rows whose ordinal is NULL, or not below this, are folded into one more.
    pub num_groups: usize,
}

/// Most groups of a program.
pub const MAX_GROUPS: usize = 1 << 16;

/// What is computed from the rows of some columns.
#[derive(Clone, Debug)]
pub struct Program {
    graph: Graph,
    filter: Option<NodeId>,
    outputs: Vec<Output>,
    grouped: Option<Grouped>,
    columns: Vec<Option<(Type, bool)>>,
    text: String,
}

impl Program {
    /// Outputs over the nodes of `graph`, from the rows for which `filter` is true.
    ///
    /// # Errors
    /// If the filter is no flag, a fold does not take its argument's type, or values of each row are
    /// wanted beside a filter.
    pub fn try_new(
        graph: Graph,
        filter: Option<NodeId>,
        outputs: Vec<Output>,
    ) -> Result<Self, IllTyped> {
        if filter.is_some_and(|filter| graph.type_of(filter) != Type::Bool) {
            return ill_typed("a filter is a flag");
        }
        for output in &outputs {
            match output {
                Output::Map(_) if filter.is_some() => {
                    return ill_typed("values of each row beside a filter");
                }
                Output::Fold(Fold::Sum, arg) if graph.type_of(*arg) == Type::Bool => {
                    return ill_typed("a sum of flags");
                }
                Output::Fold(Fold::Min | Fold::Max, arg) if graph.type_of(*arg) == Type::Bool => {
                    return ill_typed("an extreme of flags");
                }
                _ => {}
            }
        }
        let columns = columns_of(&graph);
        let text = text_of(&graph, filter, &outputs);
        Ok(Self {
            graph,
            filter,
            outputs,
            grouped: None,
            columns,
            text,
        })
    }

    /// The same with folds for each group.
    ///
    /// # Errors
    /// If the ordinal is no unsigned integer, there are more than [`MAX_GROUPS`], or an output is no fold, or one that adds
    /// floats.
    pub fn grouped_by(mut self, grouped: Grouped) -> Result<Self, IllTyped> {
        let ordinal = self.graph.type_of(grouped.ordinal);
        if !matches!(ordinal, Type::U8 | Type::U16 | Type::U32 | Type::U64) {
            return ill_typed("a group is an unsigned integer");
        }
        if grouped.num_groups > MAX_GROUPS {
            return ill_typed("too many groups");
        }
        for output in &self.outputs {
            match output {
                Output::Map(_) => return ill_typed("values of each row beside groups"),
                Output::Fold(Fold::Sum, arg) if self.graph.type_of(*arg).is_float() => {
                    return ill_typed("a sum of floats for each group");
                }
                _ => {}
            }
        }
        let Grouped {
            ordinal,
            num_groups,
        } = grouped;
        self.text += &format!("{num_groups} groups n{}\n", ordinal.index());
        self.grouped = Some(grouped);
        Ok(self)
    }

    /// The groups that rows are folded into, if it has some.
    pub fn grouped(&self) -> Option<Grouped> {
        self.grouped
    }

    /// Its nodes.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Which rows count; all if there is none.
    pub fn filter(&self) -> Option<NodeId> {
        self.filter
    }

    /// What it gives.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Type of each column and whether it may have NULLs; `None` for places that it does not use.
    pub fn columns(&self) -> &[Option<(Type, bool)>] {
        &self.columns
    }

    /// Type of an output's value.
    pub fn output_type(&self, output: Output) -> Type {
        match output {
            Output::Map(node) => self.graph.type_of(node),
            Output::Rows | Output::Fold(Fold::Count, _) => Type::U64,
            Output::Fold(Fold::Min | Fold::Max, node) => self.graph.type_of(node),
            Output::Fold(Fold::Sum, node) => match self.graph.type_of(node) {
                t if t.is_float() => Type::F64,
                t if t.is_signed() => Type::I64,
                _ => Type::U64,
            },
        }
    }

    /// Whether it does more than to fold columns: it picks rows, or computes values from them.
    pub fn computes(&self) -> bool {
        let is_step = |node: &Node| {
            matches!(
                node,
                Node::Unary { .. } | Node::Binary { .. } | Node::If { .. }
            )
        };
        self.filter.is_some() || self.graph.nodes().iter().any(is_step)
    }

    /// Bytes of a row in the columns that it reads.
    pub fn row_bytes(&self) -> usize {
        let used = self.columns.iter().flatten();
        used.map(|(data_type, _)| data_type.size_bytes()).sum()
    }

    /// A text that programs have in common if they compute the same.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn columns_of(graph: &Graph) -> Vec<Option<(Type, bool)>> {
    let mut columns = Vec::new();
    for node in graph.nodes() {
        if let Node::Column {
            index,
            data_type,
            is_nullable,
        } = node
        {
            let index = *index as usize;
            columns.resize(columns.len().max(index + 1), None);
            columns[index] = Some((*data_type, *is_nullable));
        }
    }
    columns
}

fn text_of(graph: &Graph, filter: Option<NodeId>, outputs: &[Output]) -> String {
    use fmt::Write as _;
    let mut text = graph.to_string();
    // Writing into a String cannot fail.
    if let Some(filter) = filter {
        let _ = writeln!(text, "filter n{}", filter.index());
    }
    for output in outputs {
        let _ = match output {
            Output::Map(node) => writeln!(text, "map n{}", node.index()),
            Output::Fold(fold, node) => writeln!(text, "{fold:?} n{}", node.index()),
            Output::Rows => writeln!(text, "rows"),
        };
    }
    text
}
