//! Runs `basalt lab average`: every form of an average by a key of eight bits.

use std::ops::Range;

use basalt_adapt::{Choice, Chooser, Random, Work};
use basalt_error::Result;
use basalt_kernels::Bitmap;
use basalt_kernels::average::{
    ByteKeyStates, Form, LANES_CHOICE, Order, ROWS_CHOICE, Rows, SUITABLE_ROWS, Value, form_named,
    forms,
};
use clap::ArgMatches;

use crate::lab::Setup;
use crate::lab::contest::{self, Entrant};
use crate::lab::keys::Distribution;
use crate::lab::report::{self, Table};
use crate::lab::sum::validity;

/// The form that factors are relative to: what a general GROUP BY does.
const BASELINE: &str = "arena";

/// Runs the experiment and writes its tables.
pub(crate) fn run(options: &ArgMatches) -> Result<()> {
    let setup = Setup::from_options(options)?;
    let is_wanted = |distribution: &Distribution| {
        let mut names = options.get_many::<String>("keys").into_iter().flatten();
        options.get_one::<String>("keys").is_none() || names.any(|n| n == distribution.name())
    };
    let wanted: Vec<Distribution> = Distribution::ALL.into_iter().filter(is_wanted).collect();
    let missing = options.get_one::<u64>("missing").copied().unwrap_or(0);
    let is_wide = options
        .get_one::<String>("value")
        .is_some_and(|name| name == "float64");
    let tables = if is_wide {
        experiment(&setup, &wanted, missing, f64::from)
    } else {
        experiment(&setup, &wanted, missing, |value| value)
    };
    report::write("average", &setup, &tables?)
}

/// Rows of one distribution.
struct Input<V> {
    keys: Vec<u8>,
    values: Vec<V>,
    validity: Option<Vec<u8>>,
}

impl<V> Input<V> {
    /// The rows of a range; `None` if it is not within the input.
    fn rows(&self, range: Range<usize>) -> Option<Rows<'_, V>> {
        let bits = match &self.validity {
            Some(bytes) => Some(Bitmap::try_new(bytes, range.start, range.len())?),
            None => None,
        };
        Rows::try_new(self.keys.get(range.clone())?, self.values.get(range)?, bits)
    }

    /// The batches of a range.
    fn batches(&self, range: Range<usize>) -> impl Iterator<Item = Rows<'_, V>> {
        let end = range.end;
        let starts = range.step_by(SUITABLE_ROWS);
        starts.filter_map(move |start| self.rows(start..end.min(start + SUITABLE_ROWS)))
    }
}

fn experiment<V: Value>(
    setup: &Setup,
    wanted: &[Distribution],
    missing: u64,
    value: impl Fn(f32) -> V,
) -> Result<Vec<Table>> {
    let mut random = Random::new(setup.seed);
    let num_forms = forms::<V>().count() + 2;
    let bar = contest::progress(wanted.len() * num_forms * setup.num_rounds);
    let mut input = Input {
        keys: setup.allocate(setup.num_rows)?,
        values: setup.allocate(setup.num_rows)?,
        validity: validity(setup, missing, &mut random)?,
    };
    // Multiples of 1/16 add up without rounding, so that all orders must give the same.
    let drawn = (0..setup.num_rows).map(|_| value(random.below(1024) as f32 / 16.0));
    input.values.extend(drawn);
    let mut tables = Vec::new();
    for distribution in wanted {
        bar.set_message(format!("making keys: {}", distribution.name()));
        input.keys.clear();
        let rows = 0..setup.num_rows;
        input
            .keys
            .extend(rows.map(|row| distribution.key(row, setup.num_rows, &mut random)));
        bar.set_message(distribution.name());
        let entrants = entrants(setup, &input);
        tables.push(Table {
            name: distribution.name().to_owned(),
            description: distribution.description().to_owned(),
            row_bytes: (1 + size_of::<V>()) as f64 + if missing > 0 { 0.125 } else { 0.0 },
            standings: contest::compete(entrants, setup.num_rounds, &mut random, &bar)?,
        });
    }
    bar.finish_and_clear();
    Ok(tables)
}

/// The baseline, the other forms, and what chooses between them.
fn entrants<'a, V: Value>(
    setup: &'a Setup,
    input: &'a Input<V>,
) -> Vec<Entrant<'a, ByteKeyStates>> {
    let mut all: Vec<&Form<V>> = forms::<V>().collect();
    all.sort_by_key(|form| form.name != BASELINE);
    let fixed = all.into_iter().map(|form| Entrant {
        name: form.name.to_owned(),
        order: order_text(form.order),
        run: Box::new(move || Ok((add_all(setup, input, form), None))),
    });
    let chosen = [&ROWS_CHOICE, &LANES_CHOICE].into_iter().map(|choice| {
        let order = form_named::<V>(choice.arms()[0]).map(|form| order_text(form.order));
        Entrant {
            name: "auto".to_owned(),
            order: order.unwrap_or_default(),
            run: Box::new(move || Ok(add_chosen(setup, input, choice))),
        }
    });
    fixed.chain(chosen).collect()
}

fn order_text(order: Order) -> String {
    match order {
        Order::Rows => "row by row".to_owned(),
        Order::Lanes(lanes) => format!("{lanes} lanes"),
    }
}

fn add_all<V: Value>(setup: &Setup, input: &Input<V>, form: &Form<V>) -> ByteKeyStates {
    let parts = setup.in_parallel(|range| {
        let mut states = ByteKeyStates::default();
        input
            .batches(range)
            .for_each(|rows| form.add(&mut states, &rows));
        states
    });
    merged(parts)
}

/// As a query does: every thread begins without knowledge and chooses batch by batch.
fn add_chosen<V: Value>(
    setup: &Setup,
    input: &Input<V>,
    choice: &'static Choice,
) -> (ByteKeyStates, Option<&'static str>) {
    let arms: Vec<Option<&Form<V>>> = choice.arms().iter().map(|arm| form_named(arm)).collect();
    let parts = setup.in_parallel(|range| {
        let mut states = ByteKeyStates::default();
        let mut chooser = Chooser::new(choice).limited_to(|arm| arms[arm].is_some());
        for rows in input.batches(range) {
            let turn = chooser.begin(Work::rows(rows.len(), 1 + size_of::<V>()));
            if let Some(form) = arms[turn.arm()] {
                form.add(&mut states, &rows);
            }
            chooser.end(turn);
        }
        (states, chooser.best())
    });
    let picked = parts
        .first()
        .and_then(|(_, best)| choice.arms().get(*best))
        .copied();
    (merged(parts.into_iter().map(|(states, _)| states)), picked)
}

fn merged(parts: impl IntoIterator<Item = ByteKeyStates>) -> ByteKeyStates {
    parts
        .into_iter()
        .fold(ByteKeyStates::default(), |mut total, part| {
            total.merge(&part);
            total
        })
}
