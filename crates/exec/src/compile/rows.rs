//! Has expressions compiled that give a value for each row: several functions become one loop, and nothing between them is
//! written to memory.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow::datatypes::{DataType as ArrowType, FieldRef, Schema};
use basalt_adapt::{Choice, Chooser, MIN_MEASURED_BYTES, Turn, Work, WorkUnit};
use basalt_analyzer::into_plan_error;
use basalt_error::Error;
use basalt_jit::{Compiled, Graph, Output, Program};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{internal_datafusion_err, internal_err};
use datafusion::error::Result;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, Literal};
use parking_lot::Mutex;

use super::columns::{array_of, columns_of};
use super::expression::translated;
use super::{Options, Switch, Told};
use crate::predicate::PredicateExpr;

/// Decides whether an expression for which there is code goes through it.
pub static EXPRESSION: Choice = Choice::new(
    "expression",
    "how expressions of several functions are evaluated when there is code for them",
    WorkUnit::Row,
    &["functions", "compiled"],
);

/// The arm of [`EXPRESSION`] that is not compiled.
const FUNCTIONS: usize = 0;

/// Functions of an expression from which on a loop for all of them may be faster than one for each.
const MIN_FUNCTIONS: usize = 2;

/// How the expressions of an operator are evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evaluation {
    /// What settings say.
    pub(crate) options: Options,
    /// About how many rows there are, if that is known.
    pub(crate) num_rows: Option<usize>,
    /// Tasks that evaluate.
    pub(crate) num_tasks: usize,
}

/// An expression that goes over to compiled code as soon as it pays.
#[derive(Clone, Debug)]
pub(crate) struct CompiledExpr {
    expr: Arc<dyn PhysicalExpr>,
    program: Arc<Program>,
    result: ArrowType,
    evaluation: Evaluation,
    run: Arc<Run>,
}

/// What the tasks of a query share.
#[derive(Debug, Default)]
struct Run {
    /// Made when the first row comes: a plan that is only shown is no query that could be compiled.
    switch: OnceLock<Switch>,
    chooser: Mutex<Option<Chooser>>,
}

/// The expression with its largest parts that can be compiled as [`CompiledExpr`]; none if there are no such parts.
pub(crate) fn with_compiled(
    expr: &Arc<dyn PhysicalExpr>,
    schema: &Schema,
    evaluation: Evaluation,
) -> Result<Option<Arc<dyn PhysicalExpr>>> {
    let part = |expr: Arc<dyn PhysicalExpr>| {
        // Its conjuncts are arranged already, and some held back from rows for which they fail.
        if let Some(predicate) = expr.downcast_ref::<PredicateExpr>() {
            let compiled = predicate.with_compiled(evaluation)?;
            let is_changed = compiled.is_some();
            let expr = compiled.map_or(expr, |compiled| Arc::new(compiled) as _);
            return Ok(Transformed::new(expr, is_changed, TreeNodeRecursion::Jump));
        }
        Ok(match CompiledExpr::try_new(&expr, schema, evaluation) {
            Some(compiled) => {
                let compiled: Arc<dyn PhysicalExpr> = Arc::new(compiled);
                Transformed::new(compiled, true, TreeNodeRecursion::Jump)
            }
            None => Transformed::no(expr),
        })
    };
    let changed = Arc::clone(expr).transform_down(part)?;
    Ok(changed.transformed.then_some(changed.data))
}

/// Whether the expression over rows of `schema` is one of numbers that gives a value for any row, and costs little.
pub(crate) fn cannot_fail(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> bool {
    expr.is::<CompiledExpr>() || translated(&mut Graph::default(), expr, schema).is_some()
}

impl CompiledExpr {
    /// The expression over rows of `schema`; none if programs cannot say it, or if that is not worth it.
    fn try_new(
        expr: &Arc<dyn PhysicalExpr>,
        schema: &Schema,
        evaluation: Evaluation,
    ) -> Option<Self> {
        let result = expr.data_type(schema).ok()?;
        let mut graph = Graph::default();
        let node = translated(&mut graph, expr, schema)?;
        if super::expression::type_of(&result) != Some(graph.type_of(node)) {
            return None;
        }
        let is_large = graph.nodes().len() > super::MAX_NODES;
        if num_functions(expr) < MIN_FUNCTIONS || is_large {
            return None;
        }
        let program = Program::try_new(graph, None, vec![Output::Map(node)]).ok()?;
        let reads = program.columns().iter().any(Option::is_some);
        (reads && program.computes()).then(|| Self {
            expr: Arc::clone(expr),
            program: Arc::new(program),
            result,
            evaluation,
            run: Arc::default(),
        })
    }

    /// What a run did, if there was one.
    pub(crate) fn told(&self) -> Option<Told> {
        self.run.switch.get().map(Switch::told)
    }

    fn switch(&self) -> &Switch {
        let Evaluation {
            options,
            num_rows,
            num_tasks,
        } = self.evaluation;
        let switch = || Switch::new(&self.program, options, num_rows, num_tasks);
        self.run.switch.get_or_init(switch)
    }

    /// Decides which way a batch goes when there is code; none if it must be compiled, or if it is so short that measuring
    /// would tell nothing.
    fn turn(&self, num_rows: usize) -> Option<Turn> {
        let options = self.evaluation.options;
        let work = Work::rows(num_rows, self.program.row_bytes());
        let is_short = work.size_bytes < MIN_MEASURED_BYTES;
        if options.min_count == 0 || options.verifies || is_short {
            return None;
        }
        let mut chooser = self.run.chooser.lock();
        let chooser = chooser.get_or_insert_with(|| Chooser::new(&EXPRESSION));
        Some(chooser.begin(work))
    }

    fn end(&self, turn: Option<Turn>) {
        if let (Some(chooser), Some(turn)) = (self.run.chooser.lock().as_mut(), turn) {
            chooser.end(turn);
        }
    }

    /// The values by compiled code; none if the arrays are not what was planned.
    fn compiled(&self, code: &Compiled, batch: &RecordBatch) -> Result<Option<ArrayRef>> {
        let Some(columns) = columns_of(&self.program, batch) else {
            return Ok(None);
        };
        let outcomes = code.run(&columns, batch.num_rows());
        let outcomes = outcomes.map_err(|e| internal_datafusion_err!("compiled code: {e}"))?;
        let array = outcomes
            .into_iter()
            .next()
            .and_then(|outcome| array_of(&self.result, outcome, batch.num_rows()));
        let array = array.ok_or_else(|| internal_datafusion_err!("compiled code gave no rows"))?;
        Ok(Some(array))
    }

    /// Compares values with those of functions.
    fn verify(&self, compiled: &ArrayRef, batch: &RecordBatch) -> Result<()> {
        let usual = self.expr.evaluate(batch)?.into_array(batch.num_rows())?;
        match is_same(&usual, compiled) {
            true => Ok(()),
            false => Err(into_plan_error(Error::bug(format!(
                "Compiled code gives other values than {}:\n{}",
                self.expr, self.program
            )))),
        }
    }
}

/// Functions and operators of an expression, each a loop of its own without code. They are not its nodes: a function of
/// dates has dozens of these.
fn num_functions(expr: &Arc<dyn PhysicalExpr>) -> usize {
    let mut count = 0;
    let visited = expr.apply(|expr| {
        let is_function = !expr.is::<Column>() && !expr.is::<Literal>();
        count += usize::from(is_function);
        Ok(TreeNodeRecursion::Continue)
    });
    visited.map_or(0, |_| count)
}

/// Whether arrays have the same values, where NaNs count as equal.
fn is_same(a: &ArrayRef, b: &ArrayRef) -> bool {
    let differs = arrow::compute::kernels::cmp::distinct(a, b);
    // In Arrow's order of floats NaN is equal to a NaN with the same bits only.
    let is_nan = |array: &ArrayRef| {
        let bits = arrow::compute::cast(array, &ArrowType::Float64).ok()?;
        let floats = arrow::array::AsArray::as_primitive::<arrow::datatypes::Float64Type>(&bits);
        Some(BooleanArray::from_unary(floats, f64::is_nan))
    };
    let both_nan = match a.data_type().is_floating() {
        true => is_nan(a).zip(is_nan(b)),
        false => None,
    };
    let Ok(differs) = differs else { return false };
    (0..a.len()).all(|row| {
        let is_nan = |flags: &BooleanArray| flags.is_valid(row) && flags.value(row);
        let both_nan = both_nan
            .as_ref()
            .is_some_and(|(a, b)| is_nan(a) && is_nan(b));
        both_nan || !differs.value(row)
    })
}

impl PartialEq for CompiledExpr {
    fn eq(&self, other: &Self) -> bool {
        self.expr.eq(&other.expr)
    }
}

impl Eq for CompiledExpr {}

impl Hash for CompiledExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.expr.hash(state);
    }
}

impl fmt::Display for CompiledExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expr.fmt(f)
    }
}

impl PhysicalExpr for CompiledExpr {
    fn data_type(&self, input: &Schema) -> Result<ArrowType> {
        self.expr.data_type(input)
    }

    fn nullable(&self, input: &Schema) -> Result<bool> {
        self.expr.nullable(input)
    }

    fn return_field(&self, input: &Schema) -> Result<FieldRef> {
        self.expr.return_field(input)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let num_rows = batch.num_rows();
        if num_rows == 0 {
            return self.expr.evaluate(batch);
        }
        let switch = self.switch();
        let code = switch.code();
        let turn = code.and_then(|_| self.turn(num_rows));
        let takes_functions = turn.as_ref().is_some_and(|turn| turn.arm() == FUNCTIONS);
        let started = Instant::now();
        if let Some(code) = code.filter(|_| !takes_functions)
            && let Some(array) = self.compiled(code, batch)?
        {
            switch.went_compiled_way(num_rows, started.elapsed());
            self.end(turn);
            if self.evaluation.options.verifies {
                self.verify(&array, batch)?;
                switch.verified();
            }
            return Ok(ColumnarValue::Array(array));
        }
        let value = self.expr.evaluate(batch)?;
        switch.went_usual_way(num_rows, started.elapsed());
        self.end(turn);
        Ok(value)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.expr]
    }

    /// Over other columns it is evaluated by functions.
    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        match <[Arc<dyn PhysicalExpr>; 1]>::try_from(children) {
            Ok([expr]) => Ok(expr),
            Err(_) => internal_err!("compiled code has one expression"),
        }
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expr.fmt_sql(f)
    }
}
