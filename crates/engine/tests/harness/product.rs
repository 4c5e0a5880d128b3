//! Every way of grouping, and every way of sorting, under everything that makes it hard, all with all.

use basalt_exec::group_by::Strategy;
use basalt_exec::sort;

use super::{Configuration, texts};

const HASHES: &[&str] = &["fold", "zero"];

/// Never, and with every batch.
const SPILLS_FROM: &[&str] = &["0", "1"];

const THREADS: &[&str] = &["1", "7"];

/// What is run under each: the tests of GROUP BY, but for those that need many rows to show anything.
const FOLDER: &str = "sql/group_by/";

/// Those of them that take longest.
const LONGEST: &str =
    "distinct_values|distinct_in_files|sets_of_many_functions|top_groups|wide_keys|soon_or_never";

/// The product of all, with thresholds and blocks of a handful of rows.
pub(crate) fn group_by_product() -> Vec<Configuration> {
    let wanted = std::env::var("CONFIG").unwrap_or_default();
    let mut all = Vec::new();
    for (strategy, _) in Strategy::ALL {
        for hash in HASHES {
            for spills_from in SPILLS_FROM {
                for threads in THREADS {
                    // One thread meets equal hashes as one of seven does.
                    if (*hash, *threads) != ("zero", "1") {
                        all.push(configuration(strategy, hash, spills_from, threads));
                    }
                }
            }
        }
    }
    all.retain(|config| config.name.contains(&wanted));
    all
}

/// Every way of sorting with files, and without them those that no file of `tests/configs` forces, with small blocks.
pub(crate) fn sort_product() -> Vec<Configuration> {
    let wanted = std::env::var("CONFIG").unwrap_or_default();
    let mut all = Vec::new();
    for strategy in sort::Strategy::ALL {
        all.push(sort_configuration(strategy.name(), "1"));
        if matches!(
            strategy,
            sort::Strategy::InOrder | sort::Strategy::NearlyInOrder | sort::Strategy::Ranks
        ) {
            all.push(sort_configuration(strategy.name(), "0"));
        }
    }
    all.retain(|config| config.name.contains(&wanted));
    all
}

fn sort_configuration(strategy: &str, spills_from: &str) -> Configuration {
    // A file for every few rows takes long.
    let (block_rows, except) = match spills_from {
        "0" => ("5", "many_rows|few_keys_and_top"),
        _ => ("100", "many_rows|below_aggregates"),
    };
    let settings = [
        ("sort_strategy", strategy),
        ("max_bytes_before_external_sort", spills_from),
        ("max_bytes_ratio_before_external_sort", "0"),
        ("max_threads", "3"),
        ("max_block_size", block_rows),
    ];
    Configuration {
        name: format!("{strategy}, files from byte {spills_from}"),
        only: texts(Some("ORDER BY".to_owned())),
        except: texts(Some(except.to_owned())),
        folder: Some("sql/order_by/".to_owned()),
        settings: settings
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
    }
}

fn configuration(strategy: &str, hash: &str, spills_from: &str, threads: &str) -> Configuration {
    let settings = [
        ("group_by_strategy", strategy),
        ("group_by_thresholds", "tiny"),
        ("group_by_hash", hash),
        ("max_bytes_before_external_group_by", spills_from),
        ("max_bytes_ratio_before_external_group_by", "0"),
        ("max_threads", threads),
        ("max_block_size", "5"),
    ];
    // A file for each row is too much where rows are many; those tests meet files under `group_by_spill`. Those that take
    // longest are run once with files and once without, on seven threads, with different hashes.
    let except = match (hash, spills_from, threads) {
        ("fold", "0", "7") => "many_keys".to_owned(),
        ("fold", _, "7") => "many_keys|distinct_values".to_owned(),
        _ => format!("many_keys|{LONGEST}"),
    };
    Configuration {
        name: format!("{strategy}, hash {hash}, files from byte {spills_from}, {threads} threads"),
        only: texts(Some("GROUP BY|DISTINCT|UNIQEXACT".to_owned())),
        except: texts(Some(except)),
        folder: Some(FOLDER.to_owned()),
        settings: settings
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
    }
}
