//! Draws from arrays at random: `arrayShuffle`, `arrayPartialShuffle`, `arrayRandomSample`.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::integers::Integers;
use super::lists::{Lists, Picks};
use super::unify::element_type;
use crate::{Call, Purity, Resolved, ScalarFunction};

const SHUFFLE: ScalarFunction = ScalarFunction {
    purity: Purity::PerRow,
    ..ScalarFunction::BASE
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "arrayShuffle",
        syntax: "arrayShuffle(arr[, seed])",
        description: "The elements in random order.",
        resolve: |call| {
            call.expect_args(1..=2)?;
            resolve_shuffle(call, None, (call.args.len() > 1).then_some(1))
        },
        ..SHUFFLE
    },
    ScalarFunction {
        name: "arrayPartialShuffle",
        syntax: "arrayPartialShuffle(arr[, limit[, seed]])",
        description: "The elements with the first `limit` drawn at random.",
        resolve: |call| {
            call.expect_args(1..=3)?;
            let limit = (call.args.len() > 1).then_some(1);
            resolve_shuffle(call, limit, (call.args.len() > 2).then_some(2))
        },
        ..SHUFFLE
    },
    ScalarFunction {
        name: "arrayRandomSample",
        syntax: "arrayRandomSample(arr, number)",
        description: "That many elements drawn at random, each at most once.",
        resolve: resolve_sample,
        ..SHUFFLE
    },
];

/// Splitmix64: enough randomness for an order, in a few instructions.
struct Random(u64);

impl Random {
    fn new(seed: Option<u64>) -> Self {
        Self(seed.unwrap_or_else(rand::random))
    }

    /// A number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        ((u128::from(z) * end as u128) >> 64) as usize
    }

    /// Draws the first `limit` of `items` from all of them.
    fn draw(&mut self, items: &mut [u32], limit: usize) {
        for i in 0..limit.min(items.len()) {
            let other = i + self.below(items.len() - i);
            items.swap(i, other);
        }
    }
}

fn resolve_shuffle(call: &Call<'_>, limit: Option<usize>, seed: Option<usize>) -> Result<Resolved> {
    element_type(call, 0)?;
    for idx in 1..call.args.len() {
        call.expect_type(idx, DataType::is_integer)?;
    }
    let list = call.data_type(0).clone();
    Resolved::new(list.clone(), move |columns, num_rows| {
        let lists = Lists::of(&columns[0])?;
        let seeds = seed.map(|idx| Integers::of(&columns[idx])).transpose()?;
        let limits = limit.map(|idx| Integers::of(&columns[idx])).transpose()?;
        let mut random = Random::new(None);
        let mut picks = Picks::for_lists(&lists, num_rows);
        for row in 0..num_rows {
            if let Some(seeds) = &seeds {
                random = Random::new(Some(seeds.value(row) as u64));
            }
            let limit = limits.as_ref().map_or(0, |l| l.value(row));
            // Without a limit, and with 0, all is shuffled.
            let limit = usize::try_from(limit)
                .ok()
                .filter(|l| *l > 0)
                .unwrap_or(usize::MAX);
            picks.extend(lists.range(row));
            random.draw(picks.row_mut(), limit);
            picks.end_row()?;
        }
        picks.finish(&list, lists.values())
    })
}

fn resolve_sample(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    element_type(call, 0)?;
    call.expect_type(1, DataType::is_unsigned)?;
    let list = call.data_type(0).clone();
    Resolved::new(list.clone(), move |columns, num_rows| {
        let lists = Lists::of(&columns[0])?;
        let numbers = Integers::of(&columns[1])?;
        let mut random = Random::new(None);
        let mut picks = Picks::for_lists(&lists, num_rows);
        let mut drawn: Vec<u32> = Vec::new();
        for row in 0..num_rows {
            let number = usize::try_from(numbers.value(row)).map_err(|_| negative())?;
            drawn.clear();
            drawn.extend(lists.range(row).map(|i| i as u32));
            random.draw(&mut drawn, number);
            picks.extend(drawn.iter().take(number).map(|i| *i as usize));
            picks.end_row()?;
        }
        picks.finish(&list, lists.values())
    })
}

fn negative() -> Error {
    Error::new(
        ErrorCode::BAD_ARGUMENTS,
        "The number of elements to draw must not be negative",
    )
}
