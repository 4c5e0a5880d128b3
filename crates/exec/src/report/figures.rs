//! Writes numbers, bytes and times as people read them, in ClickHouse's words.

use std::time::Duration;

/// `3.20 million`; numbers below a thousand are whole.
pub fn quantity(number: u64) -> String {
    const NAMES: [&str; 5] = ["thousand", "million", "billion", "trillion", "quadrillion"];
    scaled(number as f64, 1000.0, "", &NAMES)
}

/// `1 task`, `2 tasks`; for nouns whose plural ends so.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", quantity(number))
}

/// `24.00 MB`, for bytes that flow.
pub fn bytes(size_bytes: u64) -> String {
    scaled(
        size_bytes as f64,
        1000.0,
        " B",
        &["KB", "MB", "GB", "TB", "PB"],
    )
}

/// `24.00 MiB`, for memory.
pub fn memory(size_bytes: u64) -> String {
    scaled(
        size_bytes as f64,
        1024.0,
        " B",
        &["KiB", "MiB", "GiB", "TiB", "PiB"],
    )
}

/// `1.23 ms`.
pub fn time(elapsed: Duration) -> String {
    let ns = elapsed.as_nanos() as f64;
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.2} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.2} s", ns / 1e9),
    }
}

/// `41.2 ns a row`; more digits where there is little.
pub fn ns_per_row(ns: f64) -> String {
    let digits = match ns {
        ns if ns < 1.0 => 2,
        ns if ns < 100.0 => 1,
        _ => 0,
    };
    format!("{ns:.digits$} ns a row")
}

/// `26.4 %` of a whole; nothing is no part of nothing.
pub fn percent(part: f64, whole: f64) -> String {
    let share = if whole > 0.0 {
        100.0 * part / whole
    } else {
        0.0
    };
    format!("{share:.1} %")
}

fn scaled(number: f64, base: f64, unit: &str, names: &[&str]) -> String {
    let mut scaled = (number, None);
    for name in names {
        // What would be printed as 1000.00 belongs to the next name.
        if scaled.0 < base - 0.005 {
            break;
        }
        scaled = (scaled.0 / base, Some(name));
    }
    match scaled {
        (number, None) => format!("{number:.0}{unit}"),
        (number, Some(name)) => format!("{number:.2} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{bytes, counted, memory, ns_per_row, percent, quantity, time};

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        assert_eq!(quantity(0), "0");
        assert_eq!(quantity(999), "999");
        assert_eq!(quantity(3_200_000), "3.20 million");
        assert_eq!(quantity(999_999), "1.00 million");
        assert_eq!(counted(1, "task"), "1 task");
        assert_eq!(counted(2000, "row"), "2.00 thousand rows");
        assert_eq!(bytes(12), "12 B");
        assert_eq!(bytes(24_000_000), "24.00 MB");
        assert_eq!(memory(24 << 20), "24.00 MiB");
        assert_eq!(time(Duration::from_nanos(810)), "810 ns");
        assert_eq!(time(Duration::from_micros(24_510)), "24.51 ms");
        assert_eq!(ns_per_row(0.314), "0.31 ns a row");
        assert_eq!(ns_per_row(41.25), "41.2 ns a row");
        assert_eq!(percent(1.0, 4.0), "25.0 %");
        assert_eq!(percent(0.0, 0.0), "0.0 %");
    }
}
