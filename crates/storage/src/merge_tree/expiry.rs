//! Tells which rows a TTL has expired.

use std::time::{SystemTime, UNIX_EPOCH};

use arrow::array::{Array, AsArray, BooleanArray};
use arrow::datatypes::{DataType as ArrowType, UInt16Type, UInt32Type};
use basalt_error::{Error, Result};

use super::layout::Layout;
use super::part::Part;

const SECONDS_PER_DAY: u64 = 86_400;

/// Rows are expired from a moment on that some columns tell; 0 is never.
#[derive(Clone, Debug)]
pub struct Expiry {
    columns: Vec<usize>,
    now: u64,
}

impl Expiry {
    /// What is expired by now; none if the table has no TTL.
    pub(super) fn of(layout: &Layout) -> Option<Self> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        (!layout.ttl.is_empty()).then(|| Self {
            columns: layout.ttl.clone(),
            now: since.map_or(0, |s| s.as_secs()),
        })
    }

    /// The rows of a group that are not expired; all if none.
    pub(super) fn kept(&self, part: &Part, group: usize) -> Result<Option<BooleanArray>> {
        let mut kept: Vec<bool> = vec![true; part.metadata().group_rows[group] as usize];
        for column in &self.columns {
            let moments = part.read(*column, group)?;
            match moments.data_type() {
                ArrowType::UInt16 => {
                    let days = moments.as_primitive::<UInt16Type>().values().iter();
                    self.drop_expired(days.map(|d| u64::from(*d) * SECONDS_PER_DAY), &mut kept);
                }
                ArrowType::UInt32 => {
                    let seconds = moments.as_primitive::<UInt32Type>().values().iter();
                    self.drop_expired(seconds.map(|s| u64::from(*s)), &mut kept);
                }
                other => return Err(Error::bug(format!("a TTL of {other}"))),
            }
        }
        let all = kept.iter().all(|kept| *kept);
        Ok((!all).then(|| BooleanArray::from(kept)))
    }

    fn drop_expired(&self, moments: impl Iterator<Item = u64>, kept: &mut [bool]) {
        for (kept, moment) in kept.iter_mut().zip(moments) {
            *kept &= moment == 0 || moment > self.now;
        }
    }

    /// Whether a part may have expired rows, by the least moments of its groups.
    pub(super) fn concerns(&self, part: &Part) -> bool {
        self.columns.iter().any(|column| {
            let described = &part.metadata().columns[*column];
            let per_unit = match described.data_type.as_str() {
                "Date" => SECONDS_PER_DAY,
                _ => 1,
            };
            // Where 0 is the least there may be others, too.
            let bounds = described.groups.iter().filter_map(|g| g.bounds);
            bounds
                .into_iter()
                .any(|(least, greatest)| greatest > 0 && least * per_unit <= self.now)
        })
    }
}
