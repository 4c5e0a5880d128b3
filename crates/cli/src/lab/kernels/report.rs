//! Writes a table with a line for each kernel and a column for each level, or the same as JSON.

use std::io::Write;

use basalt_adapt::SimdLevel;
use basalt_error::{Error, Result};
use serde_json::{Value, json};

use super::work::Kernel;
use crate::lab::{Setup, report};

/// Levels whose times differ by less are the same: clocks and other programs tell no finer.
const NOISE: f64 = 1.03;

/// The kernels over so many rows.
pub(super) struct Table {
    pub(super) num_rows: u64,
    pub(super) lines: Vec<Line>,
}

/// How a kernel did.
pub(super) struct Line {
    pub(super) kernel: &'static Kernel,
    /// At each level, the narrowest first.
    pub(super) times: Vec<Time>,
}

/// How a kernel did at a level, in nanoseconds for a row.
#[derive(Clone, Debug)]
pub(super) struct Time {
    pub(super) level: SimdLevel,
    /// Median of the rounds.
    pub(super) row_ns: f64,
    /// The fastest round.
    pub(super) best_row_ns: f64,
}

impl Line {
    /// The narrowest level that is as fast as any.
    fn fastest(&self) -> Option<&Time> {
        let times = self.times.iter().map(|time| time.row_ns);
        let least = times.fold(f64::INFINITY, f64::min);
        self.times.iter().find(|time| time.row_ns <= least * NOISE)
    }

    /// How many times faster than the narrowest level.
    fn factor(&self, time: &Time) -> f64 {
        let scalar = self.times.first().map_or(f64::NAN, |first| first.row_ns);
        scalar / time.row_ns
    }

    /// Gigabytes of input a second.
    fn rate(&self, time: &Time) -> f64 {
        self.kernel.row_bytes / time.row_ns
    }

    fn text(&self) -> String {
        let mut text = format!("  {:14}", self.kernel.name);
        for time in &self.times {
            text += &format!(" {:>8.3}", time.row_ns);
        }
        if let Some(fastest) = self.fastest() {
            text += &format!(
                "  {:8} {:>6.2}x {:>7.2}",
                fastest.level,
                self.factor(fastest),
                self.rate(fastest),
            );
        }
        text + &format!("  {}\n", self.kernel.description)
    }

    fn json(&self) -> Value {
        let levels = self.times.iter().map(|time| {
            json!({
                "level": time.level.name(),
                "ns_per_row": time.row_ns,
                "best_ns_per_row": time.best_row_ns,
                "gb_per_second": self.rate(time),
                "factor": self.factor(time),
            })
        });
        json!({
            "kernel": self.kernel.name,
            "description": self.kernel.description,
            "row_bytes": self.kernel.row_bytes,
            "fastest": self.fastest().map(|time| time.level.name()),
            "levels": levels.collect::<Vec<_>>(),
        })
    }
}

/// Writes all tables to standard output.
pub(super) fn write(setup: &Setup, levels: &[SimdLevel], tables: &[Table]) -> Result<()> {
    let text = if setup.is_json {
        format!("{:#}\n", as_json(setup, tables))
    } else {
        as_text(setup, levels, tables)
    };
    let written = std::io::stdout().write_all(text.as_bytes());
    written.map_err(Error::from)
}

fn as_text(setup: &Setup, levels: &[SimdLevel], tables: &[Table]) -> String {
    let mut text = report::heading(setup, "");
    for table in tables {
        let num_rows = indicatif::HumanCount(table.num_rows);
        text += &format!("\n{num_rows} rows: nanoseconds a row at each level\n");
        text += &format!("  {:14}", "kernel");
        for level in levels {
            text += &format!(" {level:>8}");
        }
        text += &format!("  {:8} {:>7} {:>7}\n", "fastest", "factor", "GB/s");
        text.extend(table.lines.iter().map(Line::text));
    }
    text
}

fn as_json(setup: &Setup, tables: &[Table]) -> Value {
    let table = |table: &Table| {
        let kernels = table.lines.iter().map(Line::json);
        json!({
            "rows": table.num_rows,
            "kernels": kernels.collect::<Vec<_>>(),
        })
    };
    let mut object = report::conditions("kernels", setup);
    object["sizes"] = tables.iter().map(table).collect();
    object
}

#[cfg(test)]
mod tests {
    use basalt_adapt::SimdLevel;

    use super::{Line, Time};
    use crate::lab::kernels::folds::FOLDS;

    fn line(row_ns: [f64; 3]) -> Line {
        let levels = [SimdLevel::Scalar, SimdLevel::Sse42, SimdLevel::Avx2];
        let times = levels.into_iter().zip(row_ns).map(|(level, row_ns)| Time {
            level,
            row_ns,
            best_row_ns: row_ns,
        });
        Line {
            kernel: &FOLDS[0],
            times: times.collect(),
        }
    }

    #[test]
    fn noise_is_no_victory() {
        let fastest = |row_ns| line(row_ns).fastest().map(|time| time.level);
        assert_eq!(fastest([1.0, 0.98, 0.99]), Some(SimdLevel::Scalar));
        assert_eq!(fastest([1.0, 1.01, 0.5]), Some(SimdLevel::Avx2));
        assert_eq!(fastest([1.0, 0.5, 0.49]), Some(SimdLevel::Sse42));
    }

    #[test]
    fn a_line_has_all_levels_and_what_the_fastest_gains() {
        let line = line([1.0, 1.0, 0.25]);
        let text = line.text();
        let words: Vec<&str> = text.split_whitespace().take(7).collect();
        assert_eq!(
            words,
            ["sum", "1.000", "1.000", "0.250", "avx2", "4.00x", "32.00"]
        );
        let json = line.json();
        assert_eq!(json["fastest"], "avx2");
        assert_eq!(json["levels"][2]["factor"], 4.0);
    }
}
