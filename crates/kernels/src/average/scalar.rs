//! Adds row by row: the specification, and the same with states behind references.

use crate::average::blocks::{Keys, Sink, Values, feed, set_rows};
use crate::average::{ByteKeyStates, NUM_KEYS, Rows, Value};

/// The specification: one row after the other into one table of sums and one of counts.
pub(super) fn table<V: Value>(states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
    for (row, (key, value)) in rows.keys.iter().zip(rows.values).enumerate() {
        if rows.validity.is_none_or(|bits| bits.get(row)) {
            states.sums[usize::from(*key)] += value.widen();
            states.counts[usize::from(*key)] += 1;
        }
    }
}

/// What a general GROUP BY does, for comparison: the table has a reference to each state, states
/// are made when their key is first seen, and both are asked for in every row.
struct Arena {
    states: Vec<(f64, u64)>,
    /// Place of the key's state plus one; 0 if it has none.
    places_plus_one: [u32; NUM_KEYS],
}

impl Arena {
    #[inline(always)]
    fn state(&mut self, key: u8) -> &mut (f64, u64) {
        let place = &mut self.places_plus_one[usize::from(key)];
        if *place == 0 {
            self.states.push((0.0, 0));
            // At most one for each of 256 keys.
            *place = self.states.len() as u32;
        }
        &mut self.states[*place as usize - 1]
    }
}

impl Sink for Arena {
    #[inline(always)]
    fn add(&mut self, keys: &Keys, values: &Values) {
        for (key, value) in keys.iter().zip(values) {
            let state = self.state(*key);
            state.0 += value;
            state.1 += 1;
        }
    }

    #[inline(always)]
    fn add_valid(&mut self, keys: &Keys, values: &Values, valid: u64) {
        for row in set_rows(valid) {
            let state = self.state(keys[row]);
            state.0 += values[row];
            state.1 += 1;
        }
    }
}

/// Finds or makes the state of each row, then adds to it.
pub(super) fn arena<V: Value>(states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
    let old = states.sums.iter().zip(states.counts);
    let mut arena = Arena {
        states: old.map(|(sum, count)| (*sum, count)).collect(),
        places_plus_one: std::array::from_fn(|key| {
            if states.counts[key] > 0 {
                key as u32 + 1
            } else {
                0
            }
        }),
    };
    feed(&mut arena, rows);
    for key in 0..NUM_KEYS {
        let place = arena.places_plus_one[key] as usize;
        if let Some(state) = place
            .checked_sub(1)
            .and_then(|place| arena.states.get(place))
        {
            states.sums[key] = state.0;
            states.counts[key] = state.1;
        }
    }
}
