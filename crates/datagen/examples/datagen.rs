//! Generates a table and prints how fast: `datagen KIND ROWS FILE [SEED [THREADS]]`.

use std::path::Path;
use std::time::Instant;

use basalt_datagen::{Kind, Recipe, generate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, rows, path, rest @ ..] = arguments.as_slice() else {
        for kind in Kind::ALL {
            eprintln!("{:12} {}", kind.name(), kind.description());
        }
        return Err("usage: datagen KIND ROWS FILE [SEED [THREADS]]".into());
    };
    let seed = rest.first().map_or(Ok(1), |seed| seed.parse())?;
    let threads = match rest.get(1) {
        Some(threads) => threads.parse()?,
        None => std::thread::available_parallelism()?.get(),
    };
    let recipe = Recipe {
        kind: kind.parse::<Kind>()?,
        rows: rows.parse()?,
        seed,
        threads,
    };
    let start = Instant::now();
    generate(&recipe, Path::new(path), &|_| {})?;
    let seconds = start.elapsed().as_secs_f64();
    let size = std::fs::metadata(path)?.len();
    let rate = recipe.rows as f64 / seconds;
    eprintln!(
        "{} rows, {size} bytes, {seconds:.2} s, {rate:.0} rows/s",
        recipe.rows
    );
    Ok(())
}
