//! Runs `basalt lab` as a process: which contests it holds, and what it says of those that tell nothing.

use std::process::{Command, Stdio};

/// Exit status, standard output and standard error.
fn basalt(args: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
    command.args(args).stdin(Stdio::null());
    let output = command.output().expect("a process");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    (code, text(&output.stdout), text(&output.stderr))
}

fn group_by(args: &[&str]) -> (i32, String, String) {
    basalt(&[&["lab", "group-by", "--rounds", "1"], args].concat())
}

#[test]
fn a_strategy_that_keys_rule_out_is_never_the_fastest() {
    let strings = ["--rows", "1000", "--type", "string"];
    let (code, out, err) = group_by(&[&strings[..], &["--strategies", "dense,trivial"]].concat());
    assert_eq!(code, 0, "{err}");
    let dense = out.lines().find(|line| line.trim().starts_with("dense"));
    let dense = dense.expect("a line");
    assert!(dense.contains("keys index no arrays: table"), "{out}");
    assert!(!dense.contains("fastest"), "{out}");
    let numbers = ["--rows", "1000", "--keys", "sequence"];
    let (_, out, _) = group_by(&[&numbers[..], &["--strategies", "dense"]].concat());
    assert!(
        out.contains("fastest") && !out.contains("index no"),
        "{out}"
    );
}

#[test]
fn a_peer_that_finds_other_groups_is_left_out() {
    let file = std::env::temp_dir().join(format!("zeros-{}.parquet", std::process::id()));
    let name = file.display().to_string();
    let load = format!(
        "INSERT INTO FUNCTION file('{name}') SELECT if(number % 2 = 0, 0., -0.) AS f FROM numbers(9)"
    );
    assert_eq!(basalt(&["local", "-q", &load]).0, 0);
    let keys = ["--keys", &name, "--column", "f"];
    let (code, out, err) = group_by(&[&keys[..], &["--strategies", "trivial,datafusion"]].concat());
    let _ = std::fs::remove_file(&file);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("without datafusion, which finds other groups"),
        "{out}"
    );
}

#[test]
fn options_that_mean_nothing_are_explained() {
    for (args, said) in [
        (["--column", "k"], "Name the file that has k: --keys FILE"),
        (["--rows", "2Ti"], "expected at most 1Ti"),
        (["--rows", "1e3"], "expected a number of rows"),
        (["--plot", ""], "Write a value behind --plot"),
    ] {
        let (code, _, err) = group_by(&args);
        assert_ne!(code, 0);
        assert!(err.contains(said), "{err}");
    }
}

/// Every kernel of `lab kernels`.
const KERNELS: [&str; 20] = [
    "sum",
    "sum_null",
    "twofold",
    "twofold_null",
    "min",
    "max_null",
    "count_ones",
    "grouped_sum",
    "grouped_count",
    "count_codes",
    "seen",
    "compare",
    "filter",
    "filter_rows",
    "append",
    "quotient",
    "remainder",
    "order",
    "gather",
    "radix_sort",
];

fn kernels(args: &[&str]) -> (i32, String, String) {
    basalt(&[&["lab", "kernels", "--rounds", "1"], args].concat())
}

#[test]
fn every_kernel_gives_the_same_at_every_level() {
    // A single row, less than a batch, and more than one with a few rows behind whole words.
    let sizes = ["1", "1000", "70001"];
    let (code, out, err) = kernels(&["--sizes", &sizes.join(",")]);
    assert_eq!(code, 0, "{err}");
    let first_words = out
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let first_words: Vec<&str> = first_words.collect();
    for word in KERNELS.iter().chain(&["kernel"]) {
        let count = first_words.iter().filter(|first| *first == word).count();
        assert_eq!(count, sizes.len(), "{word} in\n{out}");
    }
    let head = out.lines().find(|line| line.starts_with("  kernel"));
    let words: Vec<&str> = head.expect("a head").split_whitespace().collect();
    assert_eq!(words[1], "scalar", "{out}");
    // Nothing is missing in the line of a kernel: it has a time for each level.
    let sum = out.lines().find(|line| line.starts_with("  sum "));
    let times = sum.expect("a line").split_whitespace().skip(1);
    let num_times = times.take_while(|word| word.parse::<f64>().is_ok()).count();
    assert_eq!(
        num_times,
        words.len() - "kernel fastest factor GB/s".split(' ').count()
    );
}

#[test]
fn kernels_are_chosen_by_parts_of_their_names() {
    let few = ["--rows", "1000", "--simd", "scalar"];
    let (code, out, err) = kernels(&[&["filter", "quot", "--json"], &few[..]].concat());
    assert_eq!(code, 0, "{err}");
    for (name, is_wanted) in [
        ("filter", true),
        ("filter_rows", true),
        ("quotient", true),
        ("sum", false),
    ] {
        let line = format!("\"kernel\": \"{name}\"");
        assert_eq!(out.contains(&line), is_wanted, "{name} in {out}");
    }
    assert!(out.contains("\"level\": \"scalar\"") && !out.contains("\"level\": \"avx2\""));
    let (code, _, err) = kernels(&["sum", "nosuch"]);
    assert_eq!(code, 36, "{err}");
    assert!(
        err.contains("Use one of sum, sum_null") && err.contains("'nosuch'"),
        "{err}"
    );
}
