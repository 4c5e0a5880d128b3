//! Lets inserts wait when there are more parts than merges keep up with.

use std::collections::HashMap;
use std::thread;
use std::time::Instant;

use basalt_error::{Error, ErrorCode, Result};

use super::options::reaches;
use super::table::MergeTree;

impl MergeTree {
    /// Waits while a partition has many parts; the insert itself merges if nobody does.
    ///
    /// # Errors
    /// `TOO_MANY_PARTS`
    pub(super) fn wait_for_merges(&self) -> Result<()> {
        let (delay, throw) = (
            self.options().parts_to_delay_insert,
            self.options().parts_to_throw_insert,
        );
        let started = Instant::now();
        let mut num_parts = self.most_parts()?;
        while reaches(num_parts, delay) || reaches(num_parts, throw) {
            let has_merged = !self.merges_are_stopped()
                && self.merge_some().unwrap_or_else(|e| {
                    self.keep_merge_error(e);
                    false
                });
            num_parts = self.most_parts()?;
            if has_merged {
                continue;
            }
            if started.elapsed() >= self.options().max_delay_to_insert {
                break;
            }
            thread::sleep(self.options().min_delay_to_insert);
        }
        if !reaches(num_parts, throw) {
            return Ok(());
        }
        let why = match self.merge_error() {
            Some(error) => format!("the last merge failed: {error}"),
            None => "merges are slower than inserts".to_owned(),
        };
        Err(Error::new(
            ErrorCode::TOO_MANY_PARTS,
            format!("Insert more rows at a time: too many parts ({num_parts}), {why}"),
        ))
    }

    /// Parts of the partition that has most.
    fn most_parts(&self) -> Result<usize> {
        let parts = self.parts()?;
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for part in parts.iter() {
            *counts.entry(part.partition_id()).or_default() += 1;
        }
        Ok(counts.into_values().max().unwrap_or(0))
    }
}
