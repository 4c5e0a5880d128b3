//! Defines [`StreamNode`]: a step over a stream of rows that keeps the input's columns.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::Field;
use datafusion::common::{DFSchema, DFSchemaRef, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};

use super::stream_operator::StreamOperator;

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
