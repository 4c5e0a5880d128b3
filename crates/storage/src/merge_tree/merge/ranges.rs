//! Cuts the rows of several parts into ranges of keys, which can be merged at the same time.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::take;
use basalt_error::{Error, Result};

use super::cursor::Keys;
use crate::merge_tree::key_converter::KeyConverter;
use crate::merge_tree::layout::Layout;
use crate::merge_tree::part::Part;

/// A place in the order of the sorting key.
#[derive(Clone, Debug)]
pub struct KeyPlace {
    /// The key, ordered as bytes.
    bytes: Vec<u8>,
    first: Option<ArrayRef>,
}

impl KeyPlace {
    /// That of a row of a group.
    pub(super) fn of(part: &Part, (group, row): (usize, usize), keys: &Keys) -> Result<Self> {
        let value = |id: &usize| Ok(part.read(*id, group)?.slice(row, 1));
        let columns = keys.ids.iter().map(value).collect::<Result<Vec<_>>>()?;
        let rows = keys.converter.rows(&columns)?;
        let first = columns.first().filter(|c| c.data_type().is_primitive());
        // A slice would keep the whole group.
        let first = first.map(|first| take(first, &UInt32Array::from(vec![0]), None));
        Ok(Self {
            bytes: rows.row(0).data().to_vec(),
            first: first.transpose().map_err(|e| Error::bug(e.to_string()))?,
        })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The value of the key's first column, as an array of one value; none if it is no number.
    pub fn first(&self) -> Option<&dyn Array> {
        self.first.as_deref()
    }
}

/// The places between which about `num_ranges` ranges with as many rows each lie, the least and the greatest key of all
/// included; none if there is no key or no row.
///
/// # Errors
/// If the keys of a part cannot be read.
pub fn key_places(
    layout: &Layout,
    parts: &[Arc<Part>],
    num_ranges: usize,
) -> Result<Vec<KeyPlace>> {
    let types = layout.sorting_key.iter().map(|c| &layout.columns[*c]);
    let converter = KeyConverter::new(types.map(|c| c.data_type.physical()))?;
    let keys = Keys::new(layout.sorting_key.clone(), converter, None);
    let with_rows = parts.iter().filter(|part| part.metadata().num_rows() > 0);
    let largest = with_rows
        .clone()
        .max_by_key(|part| part.metadata().num_rows());
    let Some(largest) = largest.filter(|_| !layout.sorting_key.is_empty()) else {
        return Ok(Vec::new());
    };
    let (mut places, mut lasts) = (Vec::new(), Vec::new());
    for part in with_rows {
        let groups = &part.metadata().group_rows;
        let (first, last) = (0, groups.len() - 1);
        places.push(KeyPlace::of(part, (first, 0), &keys)?);
        let last_row = (groups[last] as usize).saturating_sub(1);
        lasts.push(KeyPlace::of(part, (last, last_row), &keys)?);
    }
    let by_bytes = |place: &KeyPlace| place.bytes.clone();
    places.sort_by_key(by_bytes);
    places.truncate(1);
    let num_groups = largest.metadata().group_rows.len();
    for range in 1..num_ranges.min(num_groups) {
        let group = range * num_groups / num_ranges.min(num_groups);
        places.push(KeyPlace::of(largest, (group, 0), &keys)?);
    }
    places.extend(lasts.into_iter().max_by_key(by_bytes));
    // Ranges of one key only, or before the least one, are none.
    places.sort_by_key(by_bytes);
    let (least, greatest) = (places[0].clone(), places[places.len() - 1].clone());
    places.dedup_by(|a, b| a.bytes == b.bytes);
    match places.len() {
        1 => Ok(vec![least, greatest]),
        _ => Ok(places),
    }
}
