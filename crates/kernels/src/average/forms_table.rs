//! Lists the forms, in groups by what they need and in which order they add.

use basalt_adapt::SimdLevel;

use crate::average::{ByteKeyStates, Form, Order, Rows, Value, lanes, runs, scalar, staged};

#[cfg(target_arch = "x86_64")]
use crate::average::{avx2, avx512};

/// Those that add row by row, those that add in lanes, those for wide instructions.
pub(super) fn all<V: Value>() -> [&'static [Form<V>]; 3] {
    [row_forms(), lane_forms(), wide_forms()]
}

/// A portable form.
const fn form<V: Value>(
    name: &'static str,
    order: Order,
    description: &'static str,
    run: fn(&mut ByteKeyStates, &Rows<'_, V>),
) -> Form<V> {
    Form {
        name,
        description,
        order,
        level: SimdLevel::Scalar,
        run,
    }
}

fn row_forms<V: Value>() -> &'static [Form<V>] {
    use Order::Rows;
    const {
        &[
            form(
                "table",
                Rows,
                "one table of sums, one of counts",
                scalar::table,
            ),
            form(
                "arena",
                Rows,
                "state found behind a reference, made at first sight",
                scalar::arena,
            ),
            form(
                "pair",
                Rows,
                "sum and count side by side, one addition for both",
                lanes::pair::<V, 1>,
            ),
            form(
                "buffered",
                Rows,
                "values collected by key, added in batches",
                staged::buffered,
            ),
            form(
                "bucket_sort",
                Rows,
                "rows sorted by key, then added key by key",
                staged::bucket_sort,
            ),
        ]
    }
}

fn lane_forms<V: Value>() -> &'static [Form<V>] {
    use Order::Lanes;
    const {
        &[
            form(
                "table_x2",
                Lanes(2),
                "two tables in turn",
                lanes::table::<V, 2>,
            ),
            form(
                "table_x4",
                Lanes(4),
                "four tables in turn",
                lanes::table::<V, 4>,
            ),
            form(
                "table_x8",
                Lanes(8),
                "eight tables in turn",
                lanes::table::<V, 8>,
            ),
            form(
                "cell_x4",
                Lanes(4),
                "four sums and four counts in the key's cell",
                lanes::cell::<V, 4>,
            ),
            form(
                "cell_x8",
                Lanes(8),
                "eight sums and eight counts in the key's cell",
                lanes::cell::<V, 8>,
            ),
            form(
                "pair_x2",
                Lanes(2),
                "two pairs of sum and count in the key's cell",
                lanes::pair::<V, 2>,
            ),
            form(
                "pair_x4",
                Lanes(4),
                "four pairs of sum and count in the key's cell",
                lanes::pair::<V, 4>,
            ),
            form(
                "pair_x8",
                Lanes(8),
                "eight pairs of sum and count in the key's cell",
                lanes::pair::<V, 8>,
            ),
            form(
                "runs",
                Lanes(8),
                "64 rows of one key at once, else as pair_x8",
                runs::runs,
            ),
        ]
    }
}

#[cfg(target_arch = "x86_64")]
fn wide_forms<V: Value>() -> &'static [Form<V>] {
    const {
        &[
            Form {
                name: "masked_avx2",
                description: "each different key of 64 rows compared with all of them",
                order: Order::Lanes(8),
                level: SimdLevel::Avx2,
                run: avx2::masked,
            },
            Form {
                name: "pair_x8_avx2",
                description: "as pair_x8, compiled for wider registers",
                order: Order::Lanes(8),
                level: SimdLevel::Avx2,
                run: avx2::pair,
            },
            Form {
                name: "runs_avx2",
                description: "as runs, compiled for wider registers",
                order: Order::Lanes(8),
                level: SimdLevel::Avx2,
                run: avx2::runs,
            },
            Form {
                name: "masked_avx512",
                description: "each different key of 64 rows compared with all of them",
                order: Order::Lanes(8),
                level: SimdLevel::Avx512,
                run: avx512::masked,
            },
        ]
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn wide_forms<V: Value>() -> &'static [Form<V>] {
    &[]
}
