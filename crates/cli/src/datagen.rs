//! Runs `basalt datagen`.

use std::io::IsTerminal;
use std::path::Path;

use basalt_datagen::{Kind, Recipe, generate};
use basalt_error::{Error, ErrorCode, Result};
use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressStyle};

/// Generates the file with a bar on the terminal.
pub(crate) fn run(options: &ArgMatches) -> Result<()> {
    let missing = || Error::bug("an option without its default");
    let kind: Kind = options
        .get_one::<String>("kind")
        .ok_or_else(missing)?
        .parse()?;
    let out = options.get_one::<String>("out").ok_or_else(missing)?;
    check_ending(out)?;
    let number = |name: &str| options.get_one::<u64>(name).copied().ok_or_else(missing);
    let threads = options.get_one::<usize>("threads").copied();
    let threads =
        threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let recipe = Recipe {
        kind,
        rows: number("rows")?,
        seed: number("seed")?,
        threads,
    };
    let bar = if std::io::stderr().is_terminal() {
        ProgressBar::new(recipe.rows)
    } else {
        ProgressBar::hidden()
    };
    let style = "{prefix} {wide_bar:.cyan/blue} {human_pos}/{human_len} rows, {per_sec}, {eta}";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar.set_prefix(kind.name());
    let result = generate(&recipe, Path::new(out), &|rows| bar.set_position(rows));
    bar.finish_and_clear();
    result
}

/// Refuses a name that readers would take for another format's: the file is Parquet.
fn check_ending(out: &str) -> Result<()> {
    match basalt_formats::from_file_extension(out).filter(|f| f.name != "Parquet") {
        Some(format) => Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Give --out a name that ends in .parquet: datagen writes Parquet, and {out} would be read as {}",
                format.name
            ),
        )),
        None => Ok(()),
    }
}
