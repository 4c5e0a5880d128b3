//! Makes the plain tables that the benchmarks read: no realism, only a shape that stresses one thing.

use crate::column::{Column, Fill, Piece, Source};
use crate::random::{Random, draw, pick};

/// One nullable column, for the fastest possible sum.
pub(crate) struct Dbl {
    random: Random,
}

impl Source for Dbl {
    type Row = Option<f64>;
    const COLUMNS: &'static [Column<Self::Row>] = &[Column::plain("x", Fill::Float64(|row| *row))];
    const GROUP_ROWS: u64 = 1_000_000;

    fn new(piece: Piece) -> Self {
        Self {
            random: piece.random,
        }
    }

    fn next_row(&mut self) -> Self::Row {
        let x = self.random.unit() * 1000.0;
        (!self.random.chance(0.05)).then_some(x)
    }
}

/// A byte key of ten values, most rows with the same one.
pub(crate) struct Trips {
    random: Random,
}

/// Passengers of a trip, by thousandths of all trips.
pub(crate) const PASSENGERS: &[(u8, u32)] = &[
    (1, 700),
    (2, 140),
    (3, 50),
    (4, 30),
    (5, 30),
    (0, 20),
    (6, 20),
    (7, 5),
    (8, 3),
    (9, 2),
];

impl Source for Trips {
    type Row = (u8, f32);
    const COLUMNS: &'static [Column<Self::Row>] = &[
        Column::new("passenger_count", Fill::UInt8(|row| row.0)),
        Column::plain("total_amount", Fill::Float32(|row| row.1)),
    ];
    const GROUP_ROWS: u64 = 1_000_000;

    fn new(piece: Piece) -> Self {
        Self {
            random: piece.random,
        }
    }

    fn next_row(&mut self) -> Self::Row {
        (
            pick(PASSENGERS, self.random.bits(), 0),
            self.random.gamma2(8.0) as f32,
        )
    }
}

/// Keys of very different numbers and skews, in no order.
pub(crate) struct Hits {
    random: Random,
    total: u64,
}

/// A row of [`Hits`].
pub(crate) struct Hit {
    watch_id: i64,
    user_id: i64,
    referer_hash: i64,
    phrase: Option<u64>,
    region: i32,
    noise: u64,
}

const AGES: [i16; 7] = [0, 16, 22, 26, 33, 39, 50];
const WIDTHS: [i16; 6] = [0, 1024, 1366, 1920, 1280, 1440];
/// Different texts of SearchPhrase.
const PHRASES: u64 = 200_000;

impl Source for Hits {
    type Row = Hit;
    const COLUMNS: &'static [Column<Self::Row>] = &[
        Column::plain("WatchID", Fill::Int64(|hit| hit.watch_id)),
        Column::plain("UserID", Fill::Int64(|hit| hit.user_id)),
        Column::plain("RefererHash", Fill::Int64(|hit| hit.referer_hash)),
        Column::new(
            "Age",
            Fill::Int16(|hit| AGES[draw(hit.noise, 0, 7) as usize]),
        ),
        Column::new("SearchPhrase", Fill::Text(phrase)),
        Column::new("RegionID", Fill::Int32(|hit| hit.region)),
        Column::new(
            "ResolutionWidth",
            Fill::Int16(|hit| WIDTHS[draw(hit.noise, 1, 6) as usize]),
        ),
    ];
    const GROUP_ROWS: u64 = 1_000_000;

    fn new(piece: Piece) -> Self {
        Self {
            random: piece.random,
            total: piece.total,
        }
    }

    fn next_row(&mut self) -> Self::Row {
        let random = &mut self.random;
        let user = random.zipf(1.3) % 17_600_000;
        let empty = random.chance(0.8);
        Hit {
            watch_id: (random.bits() >> 1).cast_signed(),
            user_id: user.wrapping_mul(0x9E37_79B9_7F4A_7C15).cast_signed(),
            referer_hash: (random.below((self.total / 5).max(1)) * 7919).cast_signed(),
            phrase: (!empty).then(|| random.zipf(1.2) % (self.total / 16).max(1) % PHRASES),
            region: random.below(5000) as i32,
            noise: random.bits(),
        }
    }
}

fn phrase(hit: &Hit, out: &mut String) {
    use std::fmt::Write;
    if let Some(number) = hit.phrase {
        // Writing to a String cannot fail.
        let _ = write!(out, "phrase about topic {} number {number}", number % 977);
    }
}

/// Three columns of integers: two short ranges and one long one.
pub(crate) struct Abc {
    random: Random,
}

impl Source for Abc {
    type Row = [i64; 3];
    const COLUMNS: &'static [Column<Self::Row>] = &[
        Column::new("a", Fill::Int64(|row| row[0])),
        Column::new("b", Fill::Int64(|row| row[1])),
        Column::plain("c", Fill::Int64(|row| row[2])),
    ];
    const GROUP_ROWS: u64 = 1_000_000;

    fn new(piece: Piece) -> Self {
        Self {
            random: piece.random,
        }
    }

    fn next_row(&mut self) -> Self::Row {
        [1000, 1000, 1 << 40].map(|n| self.random.below(n).cast_signed())
    }
}
