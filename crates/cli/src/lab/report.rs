//! Writes the results of an experiment as tables or as JSON.

use std::io::Write;

use basalt_adapt::Cpu;
use basalt_error::{Error, Result};
use serde_json::{Value, json};

use crate::lab::Setup;
use crate::lab::contest::Standing;

/// Results over one input.
pub(super) struct Table {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) row_bytes: f64,
    pub(super) standings: Vec<Standing>,
}

/// Writes all tables to standard output.
pub(super) fn write(experiment: &str, setup: &Setup, tables: &[Table]) -> Result<()> {
    let text = if setup.is_json {
        format!("{:#}\n", as_json(experiment, setup, tables))
    } else {
        as_text(setup, tables)
    };
    let written = std::io::stdout().write_all(text.as_bytes());
    written.map_err(Error::from)
}

struct Rates {
    million_rows: f64,
    mebibytes: f64,
    factor: f64,
    best_million_rows: f64,
}

fn rates(setup: &Setup, table: &Table, standing: &Standing) -> Rates {
    let baseline = table
        .standings
        .first()
        .map_or(f64::NAN, |first| first.seconds);
    let rows = setup.num_rows as f64 / standing.seconds;
    Rates {
        million_rows: rows / 1e6,
        mebibytes: rows * table.row_bytes / f64::from(1 << 20),
        factor: baseline / standing.seconds,
        best_million_rows: setup.num_rows as f64 / standing.best_seconds / 1e6,
    }
}

/// What a table of text begins with: the processor, and how `what` was measured.
pub(super) fn heading(setup: &Setup, what: &str) -> String {
    format!(
        "{}{what}threads: {}, rounds: {}\n",
        processor_text(),
        setup.num_threads,
        setup.num_rounds,
    )
}

/// The processor on a line.
pub(super) fn processor_text() -> String {
    let cpu = Cpu::detect();
    format!(
        "{}: {}, {} KiB L1d, {} KiB L2, {} KiB L3, {} cores\n",
        cpu.model,
        basalt_adapt::SimdLevel::current(),
        cpu.l1d_bytes >> 10,
        cpu.l2_bytes >> 10,
        cpu.l3_bytes >> 10,
        cpu.num_cores,
    )
}

fn as_text(setup: &Setup, tables: &[Table]) -> String {
    let num_rows = indicatif::HumanCount(setup.num_rows as u64);
    let mut text = heading(setup, &format!("{num_rows} rows, "));
    for table in tables {
        text += &format!("\n{}: {}\n", table.name, table.description);
        text += &format!(
            "  {:20} {:12} {:>9} {:>8} {:>8} {:>10}\n",
            "form", "order", "Mrows/s", "MiB/s", "factor", "at best"
        );
        let least = table
            .standings
            .iter()
            .map(|s| s.seconds)
            .fold(f64::INFINITY, f64::min);
        for standing in &table.standings {
            let rates = rates(setup, table, standing);
            let note = match standing.picked {
                Some(picked) => format!("  chose {picked}"),
                None if standing.seconds <= least => "  fastest".to_owned(),
                None => String::new(),
            };
            text += &format!(
                "  {:20} {:12} {:>9.1} {:>8.0} {:>7.2}x {:>10.1}{note}\n",
                standing.name,
                standing.order,
                rates.million_rows,
                rates.mebibytes,
                rates.factor,
                rates.best_million_rows,
            );
        }
    }
    text
}

fn as_json(experiment: &str, setup: &Setup, tables: &[Table]) -> Value {
    let table = |table: &Table| {
        let forms = table.standings.iter().map(|standing| {
            let rates = rates(setup, table, standing);
            json!({
                "form": standing.name,
                "order": standing.order,
                "seconds": standing.seconds,
                "rows_per_second": rates.million_rows * 1e6,
                "mib_per_second": rates.mebibytes,
                "factor": rates.factor,
                "best_seconds": standing.best_seconds,
                "chose": standing.picked,
            })
        });
        json!({
            "input": table.name,
            "description": table.description,
            "forms": forms.collect::<Vec<_>>(),
        })
    };
    let mut object = conditions(experiment, setup);
    object["inputs"] = tables.iter().map(table).collect();
    object
}

/// What an object of JSON begins with: the processor, and how it was measured.
pub(super) fn conditions(experiment: &str, setup: &Setup) -> Value {
    json!({
        "experiment": experiment,
        "processor": processor_json(),
        "rows": setup.num_rows,
        "threads": setup.num_threads,
        "rounds": setup.num_rounds,
        "seed": setup.seed,
    })
}

/// The processor as an object.
pub(super) fn processor_json() -> Value {
    let cpu = Cpu::detect();
    json!({
        "model": cpu.model,
        "simd": basalt_adapt::SimdLevel::current().name(),
        "features": cpu.features,
        "l1d_bytes": cpu.l1d_bytes,
        "l2_bytes": cpu.l2_bytes,
        "l3_bytes": cpu.l3_bytes,
        "cores": cpu.num_cores,
    })
}
