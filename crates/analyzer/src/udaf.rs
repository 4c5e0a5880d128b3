//! Wraps the dialect's aggregate functions as DataFusion's.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use basalt_functions::aggregate::{Aggregator, BoundAggregate, Groups, group_ids};
use datafusion::arrow::array::{Array, ArrayRef, BooleanArray};
use datafusion::arrow::compute::filter;
use datafusion::arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::common::stats::Precision;
use datafusion::error::Result;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, Expr, GroupsAccumulator, Signature,
    StatisticsArgs, Volatility,
};

use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Literal;

use crate::typed::into_plan_error;
use crate::udf::any_arguments;

/// A bound aggregate function as DataFusion's plans hold it; equal if `key` is.
#[derive(Debug)]
pub struct AggregateUdf {
    key: String,
    bound: BoundAggregate,
    signature: Signature,
}

impl PartialEq for AggregateUdf {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for AggregateUdf {}

impl Hash for AggregateUdf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl AggregateUdf {
    /// Names the function, its parameters and its types.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The function, for operators that drive its states themselves.
    pub fn bound(&self) -> &BoundAggregate {
        &self.bound
    }
}

/// DataFusion's function for `bound`; `key` names it, its parameters and its types.
pub fn aggregate_udf(key: String, bound: BoundAggregate) -> Arc<AggregateUDF> {
    let signature = any_arguments(Volatility::Immutable);
    Arc::new(AggregateUDF::new_from_impl(AggregateUdf {
        key,
        bound,
        signature,
    }))
}

/// The call of `bound` with `args`.
pub fn call(key: String, bound: BoundAggregate, args: Vec<Expr>) -> Expr {
    let udf = aggregate_udf(key, bound);
    Expr::AggregateFunction(AggregateFunction::new_udf(
        udf,
        args,
        false,
        None,
        vec![],
        None,
    ))
}

impl AggregateUDFImpl for AggregateUdf {
    fn name(&self) -> &str {
        &self.bound.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arg_types: &[ArrowType]) -> Result<ArrowType> {
        Ok(self.bound.return_type.physical())
    }

    fn accumulator(&self, _args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(OneGroup(std::sync::Mutex::new((self
            .bound
            .factory)(
        )))))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let field = |(i, t): (usize, &ArrowType)| {
            let name = format_state_name(args.name, &i.to_string());
            Arc::new(Field::new(name, t.clone(), true))
        };
        Ok(self
            .bound
            .state_types
            .iter()
            .enumerate()
            .map(field)
            .collect())
    }

    fn groups_accumulator_supported(&self, _args: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(
        &self,
        _args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(AllGroups {
            states: (self.bound.factory)(),
            bound: self.bound.clone(),
            base: 0,
            num_groups: 0,
        }))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn value_from_stats(&self, known: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        // `count()` and `count(1)` need no rows where their number is known.
        let counts_rows = self.bound.name == "count"
            && self.bound.return_type == basalt_types::DataType::UInt64
            && !known.is_distinct;
        let is_value = |e: &Arc<dyn PhysicalExpr>| {
            e.downcast_ref::<Literal>()
                .is_some_and(|l| !l.value().is_null())
        };
        match known.statistics.num_rows {
            Precision::Exact(rows) if counts_rows && known.exprs.iter().all(is_value) => {
                Some(ScalarValue::UInt64(Some(rows as u64)))
            }
            _ => None,
        }
    }

    fn default_value(&self, _data_type: &ArrowType) -> Result<ScalarValue> {
        let mut states = (self.bound.factory)();
        let array = states.finish(0..1).map_err(into_plan_error)?;
        ScalarValue::try_from_array(&array, 0)
    }
}

/// An aggregator without keys: its one group is group 0.
///
/// The mutex is never contended; DataFusion asks for `Sync` and never shares it.
#[derive(Debug)]
struct OneGroup(std::sync::Mutex<Box<dyn Aggregator>>);

/// All rows of a batch are of the one group.
fn one_group(arrays: &[ArrayRef]) -> Groups<'static> {
    Groups {
        ids: None,
        num_groups: 1,
        num_rows: arrays.first().map_or(0, |a| a.len()),
    }
}

impl OneGroup {
    fn states(&mut self) -> &mut Box<dyn Aggregator> {
        match self.0.get_mut() {
            Ok(states) => states,
            Err(poisoned) => poisoned.into_inner(),
        }
    }
}

impl Accumulator for OneGroup {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.states()
            .update(values, one_group(values))
            .map_err(into_plan_error)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.states()
            .merge(states, one_group(states))
            .map_err(into_plan_error)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let array = self.states().finish(0..1).map_err(into_plan_error)?;
        ScalarValue::try_from_array(&array, 0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let states = self.states().states(0..1).map_err(into_plan_error)?;
        states
            .iter()
            .map(|s| ScalarValue::try_from_array(s, 0))
            .collect()
    }

    fn size(&self) -> usize {
        self.0.lock().map(|s| s.size_bytes()).unwrap_or(0)
    }
}

/// An aggregator under one of DataFusion's operators.
struct AllGroups {
    states: Box<dyn Aggregator>,
    bound: BoundAggregate,
    /// Groups that were emitted already: DataFusion's group 0 is our group `base`.
    base: usize,
    num_groups: usize,
}

impl AllGroups {
    fn range(&mut self, emit_to: EmitTo) -> std::ops::Range<usize> {
        let start = self.base;
        let end = match emit_to {
            EmitTo::All => self.base + self.num_groups,
            EmitTo::First(n) => self.base + n,
        };
        self.num_groups = self.base + self.num_groups - end;
        self.base = end;
        start..end
    }

    fn shifted(&mut self, ids: impl Iterator<Item = usize>, total: usize) -> Result<Vec<u32>> {
        self.num_groups = total;
        let groups = ids.map(|id| id + self.base);
        group_ids(groups, self.base + total).map_err(into_plan_error)
    }
}

impl GroupsAccumulator for AllGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        let num_groups = self.base + total_num_groups;
        let mut ids = self.shifted(group_indices.iter().copied(), total_num_groups)?;
        let mut values = values.to_vec();
        if let Some(keep) = opt_filter {
            let kept = |i: &usize| keep.is_valid(*i) && keep.value(*i);
            ids = (0..ids.len()).filter(kept).map(|i| ids[i]).collect();
            values = values
                .iter()
                .map(|v| filter(v, keep))
                .collect::<std::result::Result<_, _>>()?;
        }
        let groups = Groups {
            ids: Some(&ids),
            num_groups,
            num_rows: ids.len(),
        };
        self.states.update(&values, groups).map_err(into_plan_error)
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        let num_groups = self.base + total_num_groups;
        let ids = self.shifted(group_indices.iter().copied(), total_num_groups)?;
        let groups = Groups {
            ids: Some(&ids),
            num_groups,
            num_rows: ids.len(),
        };
        self.states.merge(values, groups).map_err(into_plan_error)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let range = self.range(emit_to);
        self.states.finish(range).map_err(into_plan_error)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let range = self.range(emit_to);
        self.states.states(range).map_err(into_plan_error)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let num_rows = values.first().map_or(0, |v| v.len());
        let ids: Vec<usize> = (0..num_rows).collect();
        let mut one_each = AllGroups {
            states: (self.bound.factory)(),
            bound: self.bound.clone(),
            base: 0,
            num_groups: 0,
        };
        one_each.update_batch(values, &ids, opt_filter, num_rows)?;
        one_each.state(EmitTo::All)
    }

    fn size(&self) -> usize {
        self.states.size_bytes()
    }
}
