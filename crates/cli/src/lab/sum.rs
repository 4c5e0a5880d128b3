//! Runs `basalt lab sum`: every form of a sum of Float64, with and without missing values.

use basalt_adapt::{Chooser, Random, Work};
use basalt_error::Result;
use basalt_kernels::Bitmap;
use basalt_kernels::sum::{CHOICE, Form, Order, form_named, forms};
use clap::ArgMatches;

use crate::lab::Setup;
use crate::lab::contest::{self, Entrant};
use crate::lab::report::{self, Table};

/// The form that factors are relative to.
const BASELINE: &str = "plain";

/// Rows of a call.
const BATCH_ROWS: usize = 65_536;

/// Runs the experiment and writes its tables.
pub(crate) fn run(options: &ArgMatches) -> Result<()> {
    let setup = Setup::from_options(options)?;
    let missing = options.get_one::<u64>("missing").copied().unwrap_or(0);
    let mut random = Random::new(setup.seed);
    let mut values = setup.allocate(setup.num_rows)?;
    // Multiples of 1/16 add up without rounding, so that all orders must give the same.
    values.extend((0..setup.num_rows).map(|_| random.below(1024) as f64 / 16.0));
    let inputs = [
        ("Float64", "every row has a value".to_owned(), None),
        (
            "Nullable(Float64)",
            format!("{missing} % of the rows are NULL, by a bitmap"),
            validity(&setup, missing, &mut random)?,
        ),
    ];
    let bar = contest::progress(inputs.len() * (forms().count() + 1) * setup.num_rounds);
    let mut tables = Vec::new();
    for (name, description, bytes) in &inputs {
        bar.set_message(*name);
        let entrants = entrants(&setup, &values, bytes.as_deref());
        tables.push(Table {
            name: (*name).to_owned(),
            description: description.clone(),
            row_bytes: 8.0 + if bytes.is_some() { 0.125 } else { 0.0 },
            standings: contest::compete(entrants, setup.num_rounds, &mut random, &bar)?,
        });
    }
    bar.finish_and_clear();
    report::write("sum", &setup, &tables)
}

/// A bitmap in which about `missing` percent of the rows have no value; `None` if all have one.
pub(super) fn validity(
    setup: &Setup,
    missing: u64,
    random: &mut Random,
) -> Result<Option<Vec<u8>>> {
    if missing == 0 {
        return Ok(None);
    }
    let num_bytes = setup.num_rows.div_ceil(8);
    let mut bytes = setup.allocate(num_bytes)?;
    bytes.extend((0..num_bytes).map(|_| {
        let bits = (0..8).map(|bit| u8::from(random.below(100) >= missing) << bit);
        bits.fold(0, |byte, bit| byte | bit)
    }));
    Ok(Some(bytes))
}

fn entrants<'a>(
    setup: &'a Setup,
    values: &'a [f64],
    bytes: Option<&'a [u8]>,
) -> Vec<Entrant<'a, f64>> {
    let mut all: Vec<&Form> = forms().collect();
    all.sort_by_key(|form| form.name != BASELINE);
    let fixed = all.into_iter().map(|form| Entrant {
        name: form.name.to_owned(),
        order: order_text(form.order).to_owned(),
        run: Box::new(move || {
            let add = |_: &mut (), values: &[f64], bits: Option<Bitmap<'_>>| form.sum(values, bits);
            let (sum, _) = sum_all(setup, (values, bytes), || (), add);
            Ok((sum, None))
        }),
    });
    let arms: Vec<Option<&Form>> = CHOICE.arms().iter().map(|arm| form_named(arm)).collect();
    let auto = Entrant {
        name: "auto".to_owned(),
        order: order_text(Order::Lanes).to_owned(),
        run: Box::new(move || {
            let chooser = || Chooser::new(&CHOICE).limited_to(|arm| arms[arm].is_some());
            let add = |chooser: &mut Chooser, values: &[f64], bits: Option<Bitmap<'_>>| {
                let turn = chooser.begin(Work::rows(values.len(), size_of::<f64>()));
                let form = arms[turn.arm()];
                let sum = form.map_or(f64::NAN, |form| form.sum(values, bits));
                chooser.end(turn);
                sum
            };
            let (sum, choosers) = sum_all(setup, (values, bytes), chooser, add);
            let best = choosers.first().map_or(0, Chooser::best);
            Ok((sum, CHOICE.arms().get(best).copied()))
        }),
    };
    fixed.chain([auto]).collect()
}

/// Adds batch by batch on every thread; `state` is a thread's own.
fn sum_all<S: Send>(
    setup: &Setup,
    (values, bytes): (&[f64], Option<&[u8]>),
    state: impl Fn() -> S + Sync,
    add: impl Fn(&mut S, &[f64], Option<Bitmap<'_>>) -> f64 + Sync,
) -> (f64, Vec<S>) {
    let parts = setup.in_parallel(|range| {
        let mut state = state();
        let mut sum = 0.0;
        for start in range.clone().step_by(BATCH_ROWS) {
            let end = range.end.min(start + BATCH_ROWS);
            let bits = bytes.and_then(|bytes| Bitmap::try_new(bytes, start, end - start));
            sum += add(&mut state, &values[start..end], bits);
        }
        (sum, state)
    });
    let sum = parts.iter().map(|(sum, _)| sum).sum();
    (sum, parts.into_iter().map(|(_, state)| state).collect())
}

fn order_text(order: Order) -> &'static str {
    match order {
        Order::Lanes | Order::KahanLanes => "32 lanes",
        Order::Twofold => "any",
        Order::Rows | Order::Kahan => "row by row",
    }
}
