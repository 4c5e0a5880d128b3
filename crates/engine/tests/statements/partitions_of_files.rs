//! Writes files by the values of their rows: `INSERT INTO FUNCTION file(…) PARTITION BY`.

use std::fs;

use crate::{Folder, run_alone};

/// An INSERT of `rows` into files of the folder by `value`.
fn insert(folder: &Folder, file: &str, (value, rows): (&str, &str)) -> Result<String, String> {
    let path = folder.file(file);
    run_alone(&format!(
        "INSERT INTO FUNCTION file('{path}') PARTITION BY {value} {rows}"
    ))
}

fn read(folder: &Folder, file: &str) -> String {
    fs::read_to_string(folder.file(file)).unwrap_or_default()
}

#[test]
fn each_value_has_a_file() {
    let folder = Folder::new("partitions");
    let rows = "SELECT number FROM numbers(5) SETTINGS max_block_size = 2";
    insert(&folder, "o_{_partition_id}.csv", ("number % 2", rows)).unwrap();
    assert_eq!(read(&folder, "o_0.csv"), "0\n2\n4\n");
    assert_eq!(read(&folder, "o_1.csv"), "1\n3\n");
    // A second time rows go behind the first, and the header is there once.
    for _ in 0..2 {
        let target = "{_partition_id}/{_partition_id}.tsv";
        let path = folder.file(target);
        run_alone(&format!(
            "INSERT INTO FUNCTION file('{path}', TSVWithNames, 'd Date, n UInt8') PARTITION BY (d, n) \
             SELECT '2020-01-01', 0"
        ))
        .unwrap();
    }
    let name = "('2020-01-01',0)";
    let found = read(&folder, &format!("{name}/{name}.tsv"));
    assert_eq!(found, "d\tn\n2020-01-01\t0\n2020-01-01\t0\n");
}

#[test]
fn formats_and_compressions_are_those_of_single_files() {
    let folder = Folder::new("partitions-formats");
    for ending in [
        "csv.gz",
        "tsv.zst",
        "parquet",
        "arrow",
        "json",
        "native.lz4",
        "jsonl.xz",
    ] {
        let by = ("number % 3", "SELECT number FROM numbers(10000)");
        insert(&folder, &format!("x_{{_partition_id}}.{ending}"), by).unwrap();
        let path = folder.file(&format!("x_1.{ending}"));
        let structure = format!("file('{path}', 'auto', 'number UInt64')");
        let found = run_alone(&format!("SELECT count(), sum(number) FROM {structure}"));
        assert_eq!(found, Ok("3333\t16661667\n".to_owned()), "{ending}");
    }
    let again = ("number % 3", "SELECT number FROM numbers(10)");
    let error = insert(&folder, "x_{_partition_id}.parquet", again).unwrap_err();
    assert!(error.contains("Code: 641"), "{error}");
}

#[test]
fn values_must_make_names() {
    let folder = Folder::new("partitions-names");
    let code = |value: &str| {
        let by = (value, "SELECT number AS n FROM numbers(3)");
        let error = insert(&folder, "x_{_partition_id}.csv", by).unwrap_err();
        error.split('.').next().map(str::to_owned)
    };
    for value in [
        "'{'",
        "'a}'",
        "'*'",
        "'?'",
        "'a\\nb'",
        "'\\0'",
        "'/../../x'",
        "'\\xff'",
    ] {
        assert_eq!(code(value).as_deref(), Some("Code: 6"), "{value}");
    }
    assert_eq!(code("NULL").as_deref(), Some("Code: 48"));
    assert_eq!(code("nothing").as_deref(), Some("Code: 47"));
    assert_eq!(code("sum(n)").as_deref(), Some("Code: 184"));
    let by = ("n", "SELECT number AS n FROM numbers(3)");
    let error = insert(&folder, "x.csv", by).unwrap_err();
    assert!(error.contains("Code: 36"), "{error}");
    assert_eq!(folder.num_files(), 0);
    // A folder of the value's own.
    insert(&folder, "x_{_partition_id}.csv", ("'a/b'", "SELECT 1")).unwrap();
    assert_eq!(read(&folder, "x_a/b.csv"), "1\n");
}

#[test]
fn failed_inserts_leave_no_file() {
    let folder = Folder::new("partitions-failed");
    let rows = "SELECT throwIf(number = 150000) + number FROM numbers(200000)";
    let by = ("plus(throwIf(equals(number, 150000)), number) % 3", rows);
    insert(&folder, "x_{_partition_id}.csv", by).unwrap_err();
    let rows = "SELECT number + throwIf(number = 150000) AS n FROM numbers(200000)";
    insert(&folder, "x_{_partition_id}.csv", ("n % 3", rows)).unwrap_err();
    assert_eq!(folder.num_files(), 0);
}

#[test]
fn many_files_need_neither_handles_nor_memory() {
    let folder = Folder::new("partitions-many");
    let many = "SELECT number % 3000 AS n FROM numbers(9000) SETTINGS max_block_size = 1000";
    insert(&folder, "x_{_partition_id}.csv", ("n", many)).unwrap();
    assert_eq!(folder.num_files(), 3000);
    assert_eq!(read(&folder, "x_2999.csv"), "2999\n2999\n2999\n");
    let limited = format!("{many}, max_memory_usage = 100000000");
    let error = insert(&folder, "y_{_partition_id}.csv.zst", ("n", &limited)).unwrap_err();
    assert!(error.contains("Code: 241"), "{error}");
    assert_eq!(folder.num_files(), 3000);
}
