//! Defines [`StreamNode`]: a step over a stream of rows that keeps the input's columns.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use basalt_error::ErrorCode;
use datafusion::arrow::datatypes::{DataType as ArrowType, Field};
use datafusion::common::{DFSchema, DFSchemaRef, ScalarValue, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};

use super::list_source::ListSource;
use super::shared::SharedRows;
use super::window::{Unit, Window};

/// What a [`StreamNode`] does; columns are named as in its input.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub enum StreamOperator {
    /// A row for each element of the lists; `outputs` are the elements, as new columns behind the
    /// input's. All lists of a row must have the same length, or not, if `unaligned`. Columns of lists come out empty: a copy of
    /// its list for each element would take the square of its length.
    ArrayJoin {
        /// Whether rows with empty lists stay, with default elements.
        left: bool,
        /// Whether lists may be shorter than others: their elements are NULL then.
        unaligned: bool,
        /// The lists.
        lists: Vec<ListSource>,
        /// Names of the elements' columns.
        outputs: Vec<String>,
    },
    /// The rows as they are; more than a number of them are an error, or end them.
    AtMost {
        /// Rows that are allowed.
        rows: u64,
        /// The limit's setting, which names the error.
        setting: RowLimit,
        /// Whether the rows end with the batch that passes the limit, instead of in an error.
        breaks: bool,
    },
    /// The rows while their keys are at most a number of different ones; what comes behind the batch that
    /// passes it, `overflow` says.
    KeysAtMost {
        /// The keys.
        keys: Vec<String>,
        /// Different keys that are allowed.
        rows: u64,
        /// The limit's setting, which names the error.
        setting: RowLimit,
        /// What happens then.
        overflow: KeyOverflow,
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
}

/// What an overflow mode says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub enum KeyOverflow {
    /// An error.
    Throw,
    /// No further row.
    Break,
    /// Only further rows of keys that came before.
    Any,
}

/// A setting that limits the rows of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub enum RowLimit {
    /// `max_rows_in_distinct`
    Distinct,
    /// `max_rows_in_join`
    Join,
    /// `max_rows_to_group_by`
    GroupBy,
    /// `max_rows_in_set`
    Set,
    /// `max_rows_to_sort`
    Sort,
}

impl RowLimit {
    /// Name of the setting.
    pub fn name(self) -> &'static str {
        match self {
            RowLimit::Distinct => "max_rows_in_distinct",
            RowLimit::Join => "max_rows_in_join",
            RowLimit::GroupBy => "max_rows_to_group_by",
            RowLimit::Set => "max_rows_in_set",
            RowLimit::Sort => "max_rows_to_sort",
        }
    }

    /// Name of the setting that says what happens at the limit.
    pub fn overflow_mode(self) -> &'static str {
        match self {
            RowLimit::Distinct => "distinct_overflow_mode",
            RowLimit::Join => "join_overflow_mode",
            RowLimit::GroupBy => "group_by_overflow_mode",
            RowLimit::Set => "set_overflow_mode",
            RowLimit::Sort => "sort_overflow_mode",
        }
    }

    /// The code of the error.
    pub fn code(self) -> ErrorCode {
        match self {
            RowLimit::Distinct | RowLimit::Join | RowLimit::Set => {
                ErrorCode::SET_SIZE_LIMIT_EXCEEDED
            }
            RowLimit::GroupBy => ErrorCode::TOO_MANY_ROWS,
            RowLimit::Sort => ErrorCode::TOO_MANY_ROWS_OR_BYTES,
        }
    }
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

/// A number of rows in LIMIT or OFFSET.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub enum RowBound {
    /// So many from the start.
    Rows(u64),
    /// So many from the end.
    FromEnd(u64),
    /// A share of all rows, rounded up: a number between 0 and 1, as text of `f64`.
    Share(String),
}

impl fmt::Display for RowBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowBound::Rows(n) => write!(f, "{n}"),
            RowBound::FromEnd(n) => write!(f, "-{n}"),
            RowBound::Share(text) => f.write_str(text),
        }
    }
}

impl RowBound {
    /// Of so many rows the first that an OFFSET and a LIMIT leave, and the one behind the last.
    pub fn range(offset: &Self, limit: &Self, num_rows: u64) -> (u64, u64) {
        let (mut start, mut end) = (0, num_rows);
        match offset {
            RowBound::Rows(n) => start = (*n).min(num_rows),
            RowBound::FromEnd(n) => end = num_rows.saturating_sub(*n),
            RowBound::Share(_) => start = offset.share_of(num_rows),
        }
        match limit {
            RowBound::Rows(n) => end = end.min(start.saturating_add(*n)),
            RowBound::FromEnd(n) => start = start.max(end.saturating_sub(*n)),
            RowBound::Share(_) => end = end.min(start.saturating_add(limit.share_of(num_rows))),
        }
        (start, end.max(start))
    }

    /// How many of so many rows it is, the end or the start.
    pub fn share_of(&self, num_rows: u64) -> u64 {
        match self {
            RowBound::Rows(n) | RowBound::FromEnd(n) => *n,
            RowBound::Share(text) => {
                let share = text.parse::<f64>().unwrap_or(0.0);
                (num_rows as f64 * share).ceil() as u64
            }
        }
    }
}

/// A column of INTERPOLATE: its value in an inserted row, over the columns of the row before.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct Interpolated {
    /// The column.
    pub name: String,
    /// Its value.
    pub value: Expr,
}

/// The value of a column in inserted rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct FillDefault {
    /// The column.
    pub name: String,
    /// Its value.
    pub value: ScalarValue,
}

/// A column of ORDER BY … WITH FILL; bounds are in the column's own unit, as text of `i128` or,
/// for floats, of `f64`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct FillColumn {
    /// Name of the column.
    pub name: String,
    /// Whether it is sorted downwards.
    pub descending: bool,
    /// First value, if given.
    pub from: Option<String>,
    /// The value before which filling ends, if given.
    pub to: Option<String>,
    /// Distance of values.
    pub step: FillStep,
    /// How far behind a row values are filled in, if not to the next one.
    pub staleness: Option<FillStep>,
}

/// How far filled values are apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub enum FillStep {
    /// A fixed number in the column's unit.
    Number(String),
    /// Calendar months; the unit of the column is needed to add them.
    Months {
        /// Number of months.
        count: i64,
        /// Ticks of the column in a day: 1 for dates, 86 400 for DateTime.
        ticks_per_day: i64,
    },
}

impl StreamOperator {
    /// Name for EXPLAIN.
    pub fn name(&self) -> &'static str {
        match self {
            StreamOperator::ArrayJoin { .. } => "ArrayJoin",
            StreamOperator::AtMost { .. } => "AtMost",
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
        }
    }

    /// Columns of the input that the step reads.
    fn used(&self) -> Vec<&String> {
        match self {
            StreamOperator::ArrayJoin { lists, .. } => {
                lists.iter().filter_map(ListSource::column).collect()
            }
            StreamOperator::AsofJoin(c) => c.keys.iter().chain([&c.time, &c.is_left]).collect(),
            StreamOperator::LimitBy { keys, .. }
            | StreamOperator::KeysAtMost { keys, .. }
            | StreamOperator::LimitWithTies { keys, .. } => keys.iter().collect(),
            StreamOperator::LimitRows { .. } | StreamOperator::AtMost { .. } => Vec::new(),
            StreamOperator::WithFill {
                columns, prefix, ..
            } => columns.iter().map(|c| &c.name).chain(prefix).collect(),
            StreamOperator::Window(window) => used_by(window),
            StreamOperator::Shared(_) | StreamOperator::Unordered | StreamOperator::Ordered => {
                Vec::new()
            }
        }
    }

    /// Columns that the step adds behind those of its input.
    fn added(&self, input: &DFSchema) -> Result<Vec<Field>> {
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
            StreamOperator::AtMost { rows, setting, .. } => {
                write!(f, ": {rows}, {}", setting.name())
            }
            StreamOperator::KeysAtMost {
                keys,
                rows,
                setting,
                ..
            } => {
                write!(f, ": {rows} of {}, {}", keys.join(", "), setting.name())
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
            StreamOperator::Shared(_) | StreamOperator::Unordered | StreamOperator::Ordered => {
                Ok(())
            }
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

/// A step over a stream of rows: the input's columns, and for some steps new ones behind them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StreamNode {
    /// Gives the rows.
    pub input: LogicalPlan,
    /// What is done with them.
    pub operator: StreamOperator,
    schema: DFSchemaRef,
}

impl StreamNode {
    /// A step over `input`.
    ///
    /// # Errors
    /// If a column that the step reads is missing or has the wrong type.
    pub fn try_new(input: LogicalPlan, operator: StreamOperator) -> Result<Self> {
        for name in operator.used() {
            input.schema().field_with_unqualified_name(name)?;
        }
        let added = operator.added(input.schema())?;
        let schema = if let StreamOperator::WithFill { .. } = operator {
            // Inserted rows may have NULL where no row of the input has.
            let nullable = |f: &Field| Arc::new(f.clone().with_nullable(true));
            let fields = input.schema().iter();
            let fields = fields.map(|(q, f)| (q.cloned(), nullable(f)));
            let fields = fields.collect();
            Arc::new(DFSchema::new_with_metadata(fields, Default::default())?)
        } else if added.is_empty() {
            Arc::clone(input.schema())
        } else {
            let mut fields: Vec<_> = input
                .schema()
                .iter()
                .map(|(q, f)| (q.cloned(), Arc::clone(f)))
                .collect();
            fields.extend(added.into_iter().map(|f| (None, Arc::new(f))));
            Arc::new(DFSchema::new_with_metadata(fields, Default::default())?)
        };
        Ok(Self {
            input,
            operator,
            schema,
        })
    }
}

/// The plan of a step over `input`.
///
/// # Errors
/// As [`StreamNode::try_new`].
pub fn stream_node(input: LogicalPlan, operator: StreamOperator) -> Result<LogicalPlan> {
    let node = Arc::new(StreamNode::try_new(input, operator)?);
    Ok(LogicalPlan::Extension(Extension { node }))
}

impl PartialOrd for StreamNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.operator.partial_cmp(&other.operator)
    }
}

impl UserDefinedLogicalNodeCore for StreamNode {
    fn name(&self) -> &str {
        self.operator.name()
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        let all = self.schema.fields().iter().map(|f| f.name().clone());
        match &self.operator {
            // A condition on the keys keeps or drops whole groups, one on other columns of the
            // input whole runs of elements.
            StreamOperator::LimitBy { keys, .. } => all.filter(|n| !keys.contains(n)).collect(),
            StreamOperator::ArrayJoin { outputs, .. } => outputs.iter().cloned().collect(),
            StreamOperator::Window(window) => {
                all.filter(|n| !window.partition.contains(n)).collect()
            }
            _ => all.collect(),
        }
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.operator)
    }

    fn with_exprs_and_inputs(&self, _exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        match <[LogicalPlan; 1]>::try_from(inputs) {
            Ok([input]) => Self::try_new(input, self.operator.clone()),
            Err(_) => plan_err!("{} has one input", self.operator.name()),
        }
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        // Plans that share rows must agree on the columns.
        if matches!(
            self.operator,
            StreamOperator::WithFill { .. } | StreamOperator::Shared(_)
        ) {
            return None;
        }
        let num_inputs = self.input.schema().fields().len();
        let mut needed: Vec<usize> = output_columns
            .iter()
            .copied()
            .filter(|i| *i < num_inputs)
            .collect();
        for name in self.operator.used() {
            needed.push(self.input.schema().index_of_column_by_name(None, name)?);
        }
        needed.sort_unstable();
        needed.dedup();
        Some(vec![needed])
    }
}
