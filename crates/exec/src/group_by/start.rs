//! Starts the tasks of a group by, once for all partitions of its result.

use std::sync::{Arc, PoisonError};

use basalt_hashtable::{Fold, HashKeys, Word256, Zero};
use basalt_jit::Program;
use datafusion::common::internal_err;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{ExecutionPlanProperties, SendableRecordBatchStream};
use futures::FutureExt;

use super::bytes_form::{BytesForm, RowForm};
use super::compiling::Compiling;
use super::fused_filter::CompiledWhole;
use super::group_by_exec::{GroupByExec, MergedFuture, Run};
use super::grouping::PlannedKeys;
use super::key_bounds::key_bounds;
use super::key_form::{Form, KeyForm};
use super::merged::{Merged, consume_all};
use super::no_keys::{self, Totals};
use super::observed::Observed;
use super::options::Tuning;
use super::packed_rows::PackedRowForm;
use super::spill::Budget;
use super::strategy::{self, Job};
use super::word_form::WordForm;
use crate::compile::Switch;
use crate::memory;

impl GroupByExec {
    /// The run that `partition` belongs to.
    pub(super) fn merged(
        &self,
        partition: usize,
        context: &Arc<TaskContext>,
    ) -> Result<MergedFuture> {
        let num_partitions = self.properties.partitioning.partition_count();
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        if run.taken.get(partition).copied().unwrap_or(true) {
            *run = Run {
                merged: None,
                taken: vec![false; num_partitions],
            };
        }
        let Some(taken) = run.taken.get_mut(partition) else {
            return internal_err!("no partition {partition} in a grouping");
        };
        *taken = true;
        let merged = match &run.merged {
            Some(merged) => merged.clone(),
            None => self.start(context)?,
        };
        // The last partition leaves nothing behind that would keep the groups alive.
        run.merged = Some(merged.clone()).filter(|_| !run.taken.iter().all(|t| *t));
        Ok(merged)
    }

    fn start(&self, context: &Arc<TaskContext>) -> Result<MergedFuture> {
        if self.options.is_hash_zero {
            self.start_hashed::<Zero>(context)
        } else {
            self.start_hashed::<Fold>(context)
        }
    }

    fn start_hashed<H: HashKeys>(&self, context: &Arc<TaskContext>) -> Result<MergedFuture> {
        match &self.form {
            Form::NoKeys => self.start_without_keys(context),
            Form::Direct { bits, places } => {
                self.start_form(context, WordForm::<u32, H>::new(places, Some(*bits)))
            }
            Form::Words { bits: 32, places } => {
                self.start_form(context, WordForm::<u32, H>::new(places, None))
            }
            Form::Words { bits: 64, places } => {
                self.start_form(context, WordForm::<u64, H>::new(places, None))
            }
            Form::Words { bits: 128, places } => {
                self.start_form(context, WordForm::<u128, H>::new(places, None))
            }
            Form::Words { places, .. } => {
                self.start_form(context, WordForm::<Word256, H>::new(places, None))
            }
            Form::Bytes => self.start_form(context, BytesForm::<H>::default()),
            Form::PackedRows(layout) => self.start_form(context, PackedRowForm::<H>::new(layout)),
            Form::Rows(types) => self.start_form(context, RowForm::<H>::try_new(types)?),
        }
    }

    fn start_form<F: KeyForm>(&self, context: &Arc<TaskContext>, form: F) -> Result<MergedFuture> {
        let tuning = self.tuning()?;
        let planned = self.planned_keys(tuning)?;
        let (inputs, observed) = self.inputs(context, tuning)?;
        let pool = memory::of_operator(context.memory_pool(), &self.metrics);
        let memory = |_| consumer().register(&pool);
        let least_bytes = tuning.spilled_bytes * inputs.len();
        let max_bytes = self.options.external_bytes.map(|b| b.max(least_bytes));
        let budget = Budget::new(max_bytes, inputs.len(), context, &self.metrics);
        let grouping = Arc::new(self.grouping.fresh());
        let compiling = match &self.compiled {
            Some(CompiledWhole::Groups(groups)) => {
                self.compiling(groups, groups.program(), inputs.len())?
            }
            _ => None,
        };
        let job = Job {
            grouping: Arc::clone(&grouping),
            form: Arc::new(form),
            tuning,
            budget,
            memory: (0..inputs.len()).map(memory).collect(),
            inputs,
            observed: Arc::clone(&observed),
            planned,
            predicate: self.predicate.clone(),
            compiling,
        };
        let run = strategy::run(self.options.strategy, job);
        let noted = Arc::clone(&observed);
        Ok(shared(observed.timed(async move {
            let merged = run.await?;
            match &grouping.kept_keys {
                Some(keys) if noted.num_tasks() == 0 => no_keys::over_no_rows(&grouping, keys),
                _ => Ok(merged),
            }
        })))
    }

    fn start_without_keys(&self, context: &Arc<TaskContext>) -> Result<MergedFuture> {
        let (inputs, observed) = self.inputs(context, Tuning::default())?;
        let grouping = Arc::clone(&self.grouping);
        let compiling = match &self.compiled {
            Some(CompiledWhole::Totals(totals)) => {
                self.compiling(totals, totals.program(), inputs.len())?
            }
            _ => None,
        };
        let max_bytes = self.options.external_bytes;
        let budget = Budget::new(max_bytes, inputs.len(), context, &self.metrics);
        let pool = memory::of_operator(context.memory_pool(), &self.metrics);
        let totals = |_| {
            let memory = consumer().register(&pool);
            let predicate = self.predicate.clone();
            Totals::new(Arc::clone(&grouping), predicate, budget.share(memory))
                .with_compiling(compiling.clone())
        };
        let totals: Vec<Totals> = (0..inputs.len()).map(totals).collect();
        let noted = Arc::clone(&observed);
        Ok(shared(observed.timed(async move {
            let totals = consume_all(inputs, totals, Totals::push).await?;
            no_keys::merge(grouping, totals, &noted).await
        })))
    }

    /// What the tasks of a new run share if they may go over to compiled code.
    fn compiling<P>(
        &self,
        compiled: &Arc<P>,
        program: &Program,
        num_tasks: usize,
    ) -> Result<Option<Compiling<P>>> {
        let Some(options) = self.options.compile else {
            return Ok(None);
        };
        let num_rows = self.num_input_rows()?;
        let switch = Arc::new(Switch::new(program, options, num_rows, num_tasks));
        let mut last = self.switch.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(Arc::clone(&switch));
        Ok(Some(Compiling {
            compiled: Arc::clone(compiled),
            switch,
            verifies: options.verifies,
            is_forced: options.min_count == 0,
        }))
    }

    /// What is forced, or what fits the size of the input.
    fn tuning(&self) -> Result<Tuning> {
        if let Some(tuning) = self.forced_tuning {
            return Ok(tuning);
        }
        let tuning = Tuning::default();
        Ok(match self.num_input_rows()? {
            Some(num_rows) => tuning.for_rows(num_rows),
            None => tuning,
        })
    }

    /// About how many rows there will be, if that is known.
    fn num_input_rows(&self) -> Result<Option<usize>> {
        let statistics = StatisticsContext::new();
        let statistics = statistics.compute(self.input.as_ref(), &StatisticsArgs::new())?;
        Ok(statistics.num_rows.get_value().copied())
    }

    /// What the keys' expressions tell of them.
    fn planned_keys(&self, tuning: Tuning) -> Result<Option<PlannedKeys>> {
        let schema = self.input.schema();
        let Some(bounds) = key_bounds(&self.grouping.keys, &schema) else {
            return Ok(None);
        };
        let types = self.grouping.keys.iter().map(|key| key.data_type(&schema));
        Ok(Some(PlannedKeys {
            types: types.collect::<Result<_>>()?,
            bounds,
            max_len: tuning.max_planned_len(self.num_input_rows()?.unwrap_or(0)),
        }))
    }

    /// The inputs of a new run, and its notes.
    fn inputs(
        &self,
        context: &Arc<TaskContext>,
        tuning: Tuning,
    ) -> Result<(Vec<SendableRecordBatchStream>, Arc<Observed>)> {
        let num_inputs = self.input.output_partitioning().partition_count();
        let observed = Observed::new(num_inputs, tuning, &self.metrics);
        let input = |i: usize| {
            let input = self.input.execute(i, Arc::clone(context))?;
            Ok(observed.input(i, input))
        };
        let inputs = (0..num_inputs).map(input).collect::<Result<_>>()?;
        let mut last = self.observed.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(Arc::clone(&observed));
        Ok((inputs, observed))
    }
}

fn consumer() -> MemoryConsumer {
    MemoryConsumer::new("GROUP BY")
}

fn shared(merged: impl Future<Output = Result<Arc<dyn Merged>>> + Send + 'static) -> MergedFuture {
    merged
        .map(|result| result.map_err(Arc::new))
        .boxed()
        .shared()
}
