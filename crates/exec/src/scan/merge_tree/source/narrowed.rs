//! Scans of the same parts that hand up less: what the steps above have no use for is not read, or not made.

use std::sync::Arc;

use arrow::datatypes::{DataType, Schema};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::physical_expr::is_volatile;

use super::{Counting, KnownRows, MergeTreeSource, Stages, rows};
use crate::codes::StringNumbers;
use crate::scan::late::says_the_same;
use crate::scan::merge_tree::strings::has_few_strings;
use crate::sort::KeyBound;

impl MergeTreeSource {
    /// The same without rows that a top-N above no longer wants.
    pub(super) fn bounded(&self, bound: &Arc<KeyBound>) -> Option<Self> {
        let mut bounded = self.clone();
        bounded.shared = Arc::default();
        self.projection.get(bound.column())?;
        // The most promising first: what they have rules out the others.
        bounded
            .morsels
            .sort_by_key(|group| self.nearest(bound, group));
        bounded.bound = Some(Arc::clone(bound));
        Some(bounded)
    }

    /// The same with just the rows that fulfil the condition, and only these columns.
    pub(super) fn passing_only(
        &self,
        predicate: &Arc<dyn PhysicalExpr>,
        columns: &[usize],
    ) -> Option<Self> {
        // Where a stage fails, the condition is evaluated again.
        if !says_the_same(self.condition.as_ref(), Some(predicate), &self.all)
            || is_volatile(predicate)
        {
            return None;
        }
        let stages = match &self.stages {
            Some(stages) => Arc::clone(stages),
            None => Arc::new(Stages::new(self.condition.as_ref()?, &self.all)?),
        };
        let projection = columns.iter().map(|c| self.projection.get(*c).copied());
        Some(Self {
            schema: Arc::new(self.schema.project(columns).ok()?),
            projection: projection.collect::<Option<_>>()?,
            stages: Some(stages),
            is_filter: true,
            shared: Arc::default(),
            ..self.clone()
        })
    }

    /// The same with the numbers of strings in their place, where that saves work and all strings take at most
    /// `max_bytes`; or in any case.
    pub(super) fn with_numbers(
        &self,
        column: usize,
        numbers: &Arc<StringNumbers>,
        max_bytes: Option<usize>,
    ) -> Option<Self> {
        let stored = *self.projection.get(column)?;
        let data_type = &self.table.layout().columns[stored].data_type;
        let has_few = |max_bytes| {
            let limits = (self.is_cached, max_bytes);
            has_few_strings(&self.morsels, (stored, data_type), limits)
        };
        if !max_bytes.is_none_or(has_few) {
            return None;
        }
        let mut fields = self.schema.fields().to_vec();
        let field = fields[column].as_ref().clone();
        fields[column] = Arc::new(field.with_data_type(DataType::UInt32));
        let mut numbered = self.numbered.clone();
        numbered.push((stored, Arc::clone(numbers)));
        Some(Self {
            schema: Arc::new(Schema::new(fields)),
            numbered,
            shared: Arc::default(),
            ..self.clone()
        })
    }

    /// The same where only the least and the greatest values are asked for.
    pub(super) fn with_extremes(&self) -> Option<Self> {
        if self.condition.is_some() || self.projection.is_empty() {
            return None;
        }
        Some(Self {
            of_extremes: true,
            shared: Arc::default(),
            ..self.clone()
        })
    }

    /// Rows without columns, as many as fulfil the condition.
    pub(super) fn counted_only(&self, predicate: &Arc<dyn PhysicalExpr>) -> Option<Self> {
        if !says_the_same(self.condition.as_ref(), Some(predicate), &self.all) {
            return None;
        }
        let counting = Counting::new(predicate, &self.all)?;
        let mut known = KnownRows::default();
        let mut morsels = self.morsels.clone();
        morsels.retain(|group| {
            let Some(num) = counting.known((&group.0, group.1)) else {
                return true;
            };
            known.num_groups += 1;
            known.num_rows += rows(group);
            known.num_fulfilling += num;
            false
        });
        // Where most groups have to be read, steps above the scan are faster.
        if known.num_groups <= morsels.len() {
            return None;
        }
        Some(Self {
            schema: Arc::new(Schema::empty()),
            morsels,
            counting: Some(Arc::new(counting)),
            known: Some(known),
            shared: Arc::default(),
            ..self.clone()
        })
    }
}
