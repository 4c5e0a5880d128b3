//! Runs plans: DataFusion's state for one query, its partitions on the worker threads, its limits.

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use basalt_analyzer::plan_error;
use basalt_error::{Error, Result};
use basalt_exec::codes::NumberedKeys;
use basalt_exec::deal::DealBatches;
use basalt_exec::group_by::{Options, Strategy, Thresholds};
use basalt_exec::interruptible::InterruptibleJoins;
use basalt_exec::ordered_output::OrderedOutput;
use basalt_exec::read_once::ReadLeftOnce;
use basalt_exec::recursion::BoundRecursions;
use basalt_exec::rule::{CompileExpressions, HelpfulRules, SwapFilterRows, SwapOperators};
use basalt_exec::{
    PlanFiles, QueryControl, StreamPlanner, compile, memory, optimizer, report, sort,
};
use basalt_profile::Accounted;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::disk_manager::DiskManager;
use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryPool, UnboundedMemoryPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use datafusion::prelude::SessionConfig;
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::database::Database;
use crate::joins;
use crate::memory::KeptRows;
use crate::observation::Observation;
use crate::rows_before_limit::rows_before_limit;
use crate::sending::{BatchReader, Sent, send_all};
use crate::settings::Settings;
use crate::statement::limits;

/// How often a waiting query looks whether it was cancelled or is out of time.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// How often a partition may have sent something that its reader has not taken yet.
const SENT_AHEAD: usize = 2;

/// What a plan needs to run.
#[derive(Clone)]
pub(crate) struct Execution {
    database: Arc<Database>,
    control: Arc<QueryControl>,
    state: Arc<SessionState>,
    observation: Arc<Observation>,
    plan_limits: limits::PlanLimits,
    /// Of the plan that ran last, if it has a limit.
    rows_before_limit: Arc<Mutex<Option<u64>>>,
}

impl Execution {
    /// The state of one query, what whose plans do is noted in `observation`.
    pub(crate) fn new(
        database: &Arc<Database>,
        settings: &Settings,
        control: &Arc<QueryControl>,
        observation: &Arc<Observation>,
    ) -> Result<Self> {
        let batch_rows = usize::try_from(settings.number("max_block_size")).unwrap_or(usize::MAX);
        let files = Arc::new(database.temporary_files.limited(
            settings.number("max_temporary_data_on_disk_size_for_query"),
            settings.number("max_temporary_data_on_disk_size_for_user"),
        ));
        let mut config = usual_config()
            .with_target_partitions(settings.max_threads())
            .with_batch_size(batch_rows.clamp(1, 65_505))
            .with_extension(Arc::clone(control))
            .with_extension(Arc::clone(&files));
        let group_by = group_by_options(settings);
        if let Some(group_by) = group_by {
            config = config.with_extension(Arc::new(group_by));
        }
        let sort = sort_options(settings);
        if let Some(sort) = sort {
            config = config.with_extension(Arc::new(sort));
        }
        let pool: Arc<dyn MemoryPool> = match settings.number("max_memory_usage") {
            0 => Arc::new(UnboundedMemoryPool::default()),
            limit => Arc::new(GreedyMemoryPool::new(
                usize::try_from(limit).unwrap_or(usize::MAX),
            )),
        };
        let pool = memory::counted(pool, control);
        let disk = DiskManager::builder().with_temp_file_factory(Arc::new(PlanFiles(files)));
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(pool)
            .with_disk_manager_builder(disk)
            .build_arc();
        let mut builder = SessionStateBuilder::new()
            .with_config(config)
            .with_runtime_env(runtime.map_err(plan_error)?)
            .with_session_id(String::new())
            .with_analyzer_rules(Vec::new());
        let mut rules = SwapOperators::rules(group_by, sort, joins::algorithm(settings));
        rules.push(Arc::new(InterruptibleJoins::new(Arc::clone(control))));
        rules.push(Arc::new(ReadLeftOnce));
        let max_rounds = settings.number("max_recursive_cte_evaluation_depth");
        rules.push(Arc::new(BoundRecursions::new(
            Arc::clone(control),
            max_rounds,
        )));
        rules.push(Arc::new(OrderedOutput));
        rules.push(Arc::new(DealBatches));
        if let Some(options) = compile_options(settings, "expression") {
            rules.push(Arc::new(CompileExpressions::new(options)));
        }
        rules.push(Arc::new(SwapFilterRows));
        let rules = HelpfulRules::new(rules);
        builder = builder.with_physical_optimizer_rules(vec![Arc::new(rules)]);
        if !settings.flag("optimizer") {
            builder = builder.with_optimizer_rules(Vec::new());
        }
        let state = Arc::new(builder.build());
        Ok(Self {
            database: Arc::clone(database),
            control: Arc::clone(control),
            state,
            observation: Arc::clone(observation),
            plan_limits: limits::of_plans(settings),
            rows_before_limit: Arc::default(),
        })
    }

    /// The plan as the optimizer rewrites it.
    pub(crate) fn optimized(&self, plan: &LogicalPlan) -> Result<LogicalPlan> {
        optimizer::optimized(plan.clone(), &self.state).map_err(plan_error)
    }

    /// The operators that run an optimized plan.
    pub(crate) fn physical(&self, plan: &LogicalPlan) -> Result<Arc<dyn ExecutionPlan>> {
        let planner =
            DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(StreamPlanner)]);
        let mut state = self.state.as_ref().clone();
        let optimizer = &mut state.config_mut().options_mut().optimizer;
        // Dealing batches out to threads in turn mixes them up.
        optimizer.enable_round_robin_repartition = !self.control.keeps_order();
        optimizer.enable_join_dynamic_filter_pushdown = joins::have_bounds(plan);
        let planned = planner.create_physical_plan(plan, &state);
        self.database.runtime.block_on(planned).map_err(plan_error)
    }

    /// Counts rows that a statement keeps.
    pub(crate) fn kept_rows(&self) -> KeptRows {
        KeptRows::new(&self.state.runtime_env().memory_pool)
    }

    /// Runs a plan and gives all of its rows.
    pub(crate) fn collect(&self, plan: &LogicalPlan) -> Result<Vec<RecordBatch>> {
        let mut batches = Vec::new();
        let kept = self.kept_rows();
        self.for_each(plan, false, &mut |batch: RecordBatch| {
            kept.add(&batch)?;
            batches.push(batch);
            Ok(true)
        })?;
        Ok(batches)
    }

    /// Runs a plan and calls `f` with each batch, until it returns false.
    ///
    /// With `keep_order`, rows come in the order of the source where no operator changes it.
    pub(crate) fn for_each(
        &self,
        plan: &LogicalPlan,
        keep_order: bool,
        reader: &mut dyn BatchReader,
    ) -> Result<()> {
        let plan = self.optimized(plan)?;
        limits::check_plan(&plan, &self.plan_limits)?;
        self.control.set_keep_order(keep_order && !reorders(&plan));
        let mut physical = self.physical(&plan)?;
        if self.observation.is_measured() {
            physical = report::measure(physical).map_err(plan_error)?;
        }
        let started = Instant::now();
        let result = self.run(&physical, reader);
        self.observation.note(&physical, started.elapsed());
        *self.rows_before_limit.lock() = rows_before_limit(&physical);
        result
    }

    /// Rows that came to the limit of the plan that ran last, as far as that is known.
    pub(crate) fn rows_before_limit(&self) -> Option<u64> {
        *self.rows_before_limit.lock()
    }

    /// What was noted of all plans that ran.
    pub(crate) fn observation(&self) -> &Observation {
        &self.observation
    }

    /// Runs operators and calls `f` with each batch, until it returns false.
    pub(crate) fn run(
        &self,
        physical: &Arc<dyn ExecutionPlan>,
        reader: &mut dyn BatchReader,
    ) -> Result<()> {
        let num_partitions = physical.output_partitioning().partition_count();
        let mut tasks: JoinSet<()> = JoinSet::new();
        let mut receivers = Vec::new();
        let in_order = self.control.keeps_order();
        let shared = mpsc::channel(SENT_AHEAD * num_partitions.max(1));
        for partition in 0..num_partitions {
            let sender = if in_order {
                let (sender, receiver) = mpsc::channel(SENT_AHEAD);
                receivers.push(receiver);
                sender
            } else {
                shared.0.clone()
            };
            let (physical, context) = (Arc::clone(physical), self.state.task_ctx());
            let task = async move {
                let stream = match physical.execute(partition, context) {
                    Ok(stream) => stream,
                    Err(e) => {
                        // A receiver that is gone needs no error any more.
                        let _ = sender.send(Err(plan_error(e))).await;
                        return;
                    }
                };
                send_all(stream, sender).await;
            };
            let task = Accounted::new(self.control.account().clone(), Box::pin(task));
            tasks.spawn_on(task, self.database.runtime.handle());
        }
        let (sender, receiver) = shared;
        drop(sender);
        if !in_order {
            receivers.push(receiver);
        }
        for mut receiver in receivers {
            while let Some(batches) = self.receive(&mut receiver, reader)? {
                for batch in batches? {
                    self.control.check()?;
                    if !reader.read(batch)? {
                        return Ok(());
                    }
                }
            }
        }
        // What runs on behind the end of a query that its time has cut off, ends with its tasks.
        if self.control.is_over() {
            return Ok(());
        }
        self.database.runtime.block_on(ended(tasks))
    }

    /// The next batches of a channel; looks now and then whether the query may go on.
    fn receive(
        &self,
        receiver: &mut mpsc::Receiver<Sent>,
        reader: &mut dyn BatchReader,
    ) -> Result<Option<Sent>> {
        self.database.runtime.block_on(async {
            loop {
                let received = tokio::time::timeout(CHECK_INTERVAL, receiver.recv()).await;
                if self.control.is_over() {
                    return Ok(None);
                }
                match received {
                    Ok(received) => return Ok(received),
                    Err(_) => {
                        self.control.check()?;
                        reader.on_wait()?;
                    }
                }
            }
        })
    }
}

/// What all plans are made with. DataFusion's defaults are made once: it looks for processors each time.
fn usual_config() -> SessionConfig {
    static USUAL: LazyLock<SessionConfig> = LazyLock::new(|| {
        let mut config = SessionConfig::new();
        let options = config.options_mut();
        options.execution.skip_physical_aggregate_schema_check = true;
        options.execution.collect_statistics = false;
        options.optimizer.enable_round_robin_repartition = true;
        options.optimizer.max_passes = 1;
        options.catalog.create_default_catalog_and_schema = false;
        config
    });
    USUAL.clone()
}

/// What settings force about GROUP BY; none leaves it to DataFusion.
fn group_by_options(settings: &Settings) -> Option<Options> {
    let thresholds = match settings.get("group_by_thresholds") {
        "tiny" => Thresholds::Tiny,
        _ => Thresholds::Usual,
    };
    // The only word that is no strategy is DataFusion's.
    let strategy = Strategy::from_name(settings.get("group_by_strategy"))?;
    Some(Options {
        strategy,
        thresholds,
        external_bytes: external_bytes(settings, "group_by"),
        first_by_key: settings.flag("optimize_trivial_group_by_limit_query"),
        compile: compile_options(settings, "aggregate_expression"),
        numbered_keys: NumberedKeys::from_name(settings.get("group_by_numbered_keys")),
        is_hash_zero: settings.get("group_by_hash") == "zero",
    })
}

/// What settings say about compiling `what`; none leaves it as it is.
fn compile_options(settings: &Settings, what: &str) -> Option<compile::Options> {
    let compiles = settings.flag(&format!("compile_{what}s"));
    compiles.then(|| compile::Options {
        min_count: settings.number(&format!("min_count_to_compile_{what}")),
        verifies: settings.flag("jit_verify"),
    })
}

/// Bytes from which on an operator goes to temporary files: the lesser of what its two settings say;
/// `None` if it never does.
fn external_bytes(settings: &Settings, operator: &str) -> Option<usize> {
    let ratio = settings.get(&format!("max_bytes_ratio_before_external_{operator}"));
    let ratio: f64 = ratio.parse().unwrap_or(0.0);
    // Bytes of memory are far below where floats have gaps that matter.
    let of_limit = (settings.number("max_memory_usage") as f64 * ratio) as u64;
    let set = [
        settings.number(&format!("max_bytes_before_external_{operator}")),
        of_limit,
    ];
    let least = set.into_iter().filter(|bytes| *bytes > 0).min()?;
    Some(usize::try_from(least).unwrap_or(usize::MAX))
}

/// What settings force about ORDER BY; none leaves it to DataFusion.
fn sort_options(settings: &Settings) -> Option<sort::Options> {
    Some(sort::Options {
        strategy: sort::Strategy::from_name(settings.get("sort_strategy"))?,
        external_bytes: external_bytes(settings, "sort"),
    })
}

/// Waits for tasks that have nothing more to send; a panic in one is our bug, not the user's.
async fn ended(mut tasks: JoinSet<()>) -> Result<()> {
    while let Some(task) = tasks.join_next().await {
        if let Err(e) = task
            && e.is_panic()
        {
            let payload = e.into_panic();
            return Err(panic_error(payload.as_ref()));
        }
    }
    Ok(())
}

/// The error that a panic becomes.
pub(crate) fn panic_error(payload: &(dyn std::any::Any + Send)) -> Error {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    Error::bug(format!(
        "Please report this query, it broke an assumption of Basalt: {text}"
    ))
}

/// Whether an operator gives rows in an order of its own.
fn reorders(plan: &LogicalPlan) -> bool {
    let own = matches!(
        plan,
        LogicalPlan::Aggregate(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::Join(_)
            | LogicalPlan::Window(_)
            | LogicalPlan::Distinct(_)
            | LogicalPlan::Repartition(_)
    );
    let window = matches!(plan, LogicalPlan::Extension(node) if node.node.name() == "Window");
    own || window || plan.inputs().into_iter().any(reorders)
}
