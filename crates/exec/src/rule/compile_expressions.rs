//! Has expressions of projections, filters and aggregates' arguments compiled where that pays.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::internal_err;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};

use super::swapped;
use crate::compile::{Evaluation, Options, with_compiled};
use crate::group_by::GroupByExec;

/// Swaps expressions in a plan in which nothing is arranged any more: nobody asks what they mean.
#[derive(Debug)]
pub struct CompileExpressions(Options);

impl CompileExpressions {
    /// A rule that compiles as `options` say.
    pub fn new(options: Options) -> Self {
        Self(options)
    }

    fn swap(&self, node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
            let compiled = self.compiled(projection.input())?;
            let mut exprs = projection.expr().to_vec();
            let mut is_changed = false;
            for projected in &mut exprs {
                is_changed |= compiled(&mut projected.expr)?;
            }
            let input = Arc::clone(projection.input());
            return Ok(match is_changed {
                true => Some(Arc::new(ProjectionExec::try_new(exprs, input)?)),
                false => None,
            });
        }
        if let Some(filter) = node.downcast_ref::<FilterExec>() {
            let (evaluation, schema) = (self.evaluation(filter.input())?, filter.input().schema());
            let predicate = with_compiled(filter.predicate(), &schema, evaluation)?;
            let Some(predicate) = predicate else {
                return Ok(None);
            };
            let filter = FilterExecBuilder::from(filter).with_predicate(predicate);
            return Ok(Some(Arc::new(filter.build()?)));
        }
        let Some(group_by) = node.downcast_ref::<GroupByExec>() else {
            return Ok(None);
        };
        let [input] = node.children()[..] else {
            return internal_err!("an aggregation has one input");
        };
        let compiled = self.compiled(input)?;
        let ours = group_by.with_compiled_args(&compiled)?;
        Ok(ours.map(|ours| Arc::new(ours) as _))
    }

    fn evaluation(&self, input: &Arc<dyn ExecutionPlan>) -> Result<Evaluation> {
        let (statistics, args) = (StatisticsContext::new(), StatisticsArgs::new());
        let statistics = statistics.compute(input.as_ref(), &args)?;
        Ok(Evaluation {
            options: self.0,
            num_rows: statistics.num_rows.get_value().copied(),
            num_tasks: input.properties().partitioning.partition_count(),
        })
    }

    /// Compiles parts of expressions over the rows of `input`, and says whether there are any.
    fn compiled(
        &self,
        input: &Arc<dyn ExecutionPlan>,
    ) -> Result<impl Fn(&mut Arc<dyn PhysicalExpr>) -> Result<bool> + use<>> {
        let (evaluation, schema) = (self.evaluation(input)?, input.schema());
        Ok(move |expr: &mut Arc<dyn PhysicalExpr>| {
            let compiled = with_compiled(expr, &schema, evaluation)?;
            let is_changed = compiled.is_some();
            if let Some(compiled) = compiled {
                *expr = compiled;
            }
            Ok(is_changed)
        })
    }
}

impl PhysicalOptimizerRule for CompileExpressions {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        swapped(plan, |node| self.swap(node))
    }

    fn name(&self) -> &str {
        "CompileExpressions"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
