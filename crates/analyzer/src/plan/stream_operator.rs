//! Defines [`StreamOperator`]: what a step over a stream of rows does, which columns it reads and adds.

use std::fmt;

use basalt_error::Position;
use datafusion::arrow::datatypes::{DataType as ArrowType, Field};
use datafusion::common::{DFSchema, plan_err};
use datafusion::error::Result;

use super::fill::{FillColumn, FillDefault, Interpolated};
use super::list_source::ListSource;
use super::row_bound::RowBound;
use super::row_limit::SizeLimit;
use super::shared::SharedRows;
use super::window::{Unit, Window};

/// What a [`StreamNode`](super::StreamNode) does; columns are named as in its input.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub enum StreamOperator {
    /// A row for each element of the lists; `outputs` are the elements, as new columns behind the
    /// input's. All lists of a row must have the same length, or not, if `unaligned`. Columns of lists come out empty: a copy of
    /// its list for each element would take the square of its length.
    ArrayJoin {
        /// Where the lists stand in the query's text.
        place: Option<Position>,
        /// Whether rows with empty lists stay, with default elements.
        left: bool,
        /// Whether lists may be shorter than others: their elements are NULL then.
        unaligned: bool,
        /// The lists.
        lists: Vec<ListSource>,
        /// Names of the elements' columns.
        outputs: Vec<String>,
    },
    /// The rows as they are; more of them than a limit allows are an error, or end with the batch that
    /// passes it.
    AtMost(SizeLimit),
    /// The rows while a limit allows so many different keys; what comes behind the batch that passes it,
    /// `overflow` says.
    KeysAtMost {
        /// The keys.
        keys: Vec<String>,
        /// What is allowed.
        limit: SizeLimit,
    },
    /// Rows of two sides, sorted by keys and time: each of the left takes the columns of the last
    /// one of the right before it, and those of the right go.
    AsofJoin(AsofColumns),
    /// At most `limit` rows for each value of the keys, after `offset`; in the order of the input.
    LimitBy {
        /// The keys.
        keys: Vec<String>,
        /// Rows to skip for each value; no share.
        offset: RowBound,
        /// Rows to keep for each value; no share.
        limit: RowBound,
    },
    /// The rows between two bounds that count from the end or are a share of all rows.
    LimitRows {
        /// What is left out in front, or at the end.
        offset: RowBound,
        /// What stays of the rest.
        limit: RowBound,
    },
    /// `limit` rows after `offset`, and those that are equal to the last in the sorted `keys`.
    LimitWithTies {
        /// The sort keys.
        keys: Vec<String>,
        /// Rows to skip.
        offset: u64,
        /// Rows to keep.
        limit: u64,
    },
    /// Inserts rows where sorted columns skip values.
    WithFill {
        /// Columns that are filled, most significant first.
        columns: Vec<FillColumn>,
        /// Sorted columns before them: each of their values is filled for itself.
        prefix: Vec<String>,
        /// Other columns of inserted rows.
        interpolated: Vec<Interpolated>,
        /// Values of inserted rows where nothing else says them.
        defaults: Vec<FillDefault>,
    },
    /// Computes window functions, as new columns behind the input's.
    Window(Window),
    /// Keeps all rows for other plans with the same step.
    Shared(SharedRows),
    /// The rows as they are, without what is known of their order: DataFusion sorts the inputs of a
    /// UNION ALL one by one where it can, and loses there which of their columns are equal.
    Unordered,
    /// The rows as they are; a sort below stays, whatever is above.
    Ordered,
    /// The rows as they are, all of them: what is below follows the rows before, so that none may be left out there.
    Whole,
}

/// The columns of an ASOF JOIN over the rows of both sides.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct AsofColumns {
    /// Columns of the right side, NULL in rows of the left.
    pub right: Vec<String>,
    /// What must be equal.
    pub keys: Vec<String>,
    /// What must be closest.
    pub time: String,
    /// 1 in rows of the left side, 0 in those of the right.
    pub is_left: String,
    /// Whether rows of the left without a match stay.
    pub keeps_unmatched: bool,
}

impl StreamOperator {
    /// Name for EXPLAIN.
    pub fn name(&self) -> &'static str {
        match self {
            StreamOperator::ArrayJoin { .. } => "ArrayJoin",
            StreamOperator::AtMost(_) => "AtMost",
            StreamOperator::KeysAtMost { .. } => "KeysAtMost",
            StreamOperator::AsofJoin(_) => "AsofJoin",
            StreamOperator::LimitBy { .. } => "LimitBy",
            StreamOperator::LimitRows { .. } => "LimitRows",
            StreamOperator::LimitWithTies { .. } => "LimitWithTies",
            StreamOperator::WithFill { .. } => "WithFill",
            StreamOperator::Window(_) => "Window",
            StreamOperator::Shared(_) => "Shared",
            StreamOperator::Unordered => "Unordered",
            StreamOperator::Ordered => "Ordered",
            StreamOperator::Whole => "Whole",
        }
    }

    /// Columns of the input that the step reads.
    pub(super) fn used(&self) -> Vec<&String> {
        match self {
            StreamOperator::ArrayJoin { lists, .. } => {
                lists.iter().filter_map(ListSource::column).collect()
            }
            StreamOperator::AsofJoin(c) => c.keys.iter().chain([&c.time, &c.is_left]).collect(),
            StreamOperator::LimitBy { keys, .. }
            | StreamOperator::KeysAtMost { keys, .. }
            | StreamOperator::LimitWithTies { keys, .. } => keys.iter().collect(),
            StreamOperator::LimitRows { .. } | StreamOperator::AtMost(_) => Vec::new(),
            StreamOperator::WithFill {
                columns, prefix, ..
            } => columns.iter().map(|c| &c.name).chain(prefix).collect(),
            StreamOperator::Window(window) => used_by(window),
            StreamOperator::Shared(_)
            | StreamOperator::Unordered
            | StreamOperator::Ordered
            | StreamOperator::Whole => Vec::new(),
        }
    }

    /// Columns that the step adds behind those of its input.
    pub(super) fn added(&self, input: &DFSchema) -> Result<Vec<Field>> {
        match self {
            StreamOperator::ArrayJoin { lists, outputs, .. } => {
                let added = lists.iter().zip(outputs).map(|(list, output)| {
                    let list_type = match list {
                        ListSource::Column(name) => {
                            input.field_with_unqualified_name(name)?.data_type()
                        }
                        ListSource::Constant(list) => list.array().data_type(),
                    };
                    let ArrowType::List(item) = list_type else {
                        return plan_err!("{list} is no list");
                    };
                    Ok(Field::new(output, item.data_type().clone(), true))
                });
                added.collect()
            }
            StreamOperator::Window(window) => Ok(window
                .functions
                .iter()
                .map(|f| Field::new(&f.output, f.arrow.clone(), true))
                .collect()),
            _ => Ok(Vec::new()),
        }
    }
}

fn used_by(window: &Window) -> Vec<&String> {
    let mut used: Vec<&String> = window.partition.iter().collect();
    used.extend(window.order.iter().map(|o| &o.name));
    for function in &window.functions {
        used.extend(&function.args);
        if let Unit::Range(Some(key)) = &function.frame.unit {
            used.push(key);
        }
    }
    used
}

impl fmt::Display for StreamOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())?;
        match self {
            StreamOperator::ArrayJoin { left, lists, .. } => {
                let lists: Vec<String> = lists.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "{}: {}",
                    if *left { " (left)" } else { "" },
                    lists.join(", ")
                )
            }
            StreamOperator::AtMost(limit) => write!(f, ": {limit}"),
            StreamOperator::KeysAtMost { keys, limit } => {
                write!(f, ": {limit} of {}", keys.join(", "))
            }
            StreamOperator::AsofJoin(c) => write!(f, ": {}, {}", c.keys.join(", "), c.time),
            StreamOperator::LimitBy {
                keys,
                offset,
                limit,
            } => {
                write!(f, ": {limit} offset {offset} by {}", keys.join(", "))
            }
            StreamOperator::LimitWithTies {
                keys,
                offset,
                limit,
            } => {
                write!(f, ": {limit} offset {offset}, ties of {}", keys.join(", "))
            }
            StreamOperator::LimitRows { offset, limit } => {
                write!(f, ": {limit:?} offset {offset:?}")
            }
            StreamOperator::WithFill { columns, .. } => {
                let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
                write!(f, ": {}", names.join(", "))
            }
            StreamOperator::Shared(_)
            | StreamOperator::Unordered
            | StreamOperator::Ordered
            | StreamOperator::Whole => Ok(()),
            StreamOperator::Window(window) => {
                let names: Vec<&str> = window.functions.iter().map(|w| w.output.as_str()).collect();
                write!(f, ": {}", names.join(", "))?;
                if !window.partition.is_empty() {
                    write!(f, " partition by {}", window.partition.join(", "))?;
                }
                let order: Vec<&str> = window.order.iter().map(|o| o.name.as_str()).collect();
                if !order.is_empty() {
                    write!(f, " order by {}", order.join(", "))?;
                }
                Ok(())
            }
        }
    }
}
