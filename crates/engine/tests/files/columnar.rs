//! Writes values of every type to the files that hold columns, and reads them with the types declared.

use std::fs;

use basalt_engine::{Database, Io, Session};

use super::{Folder, run};

/// A type and a value of it as text.
const VALUES: &[(&str, &str)] = &[
    ("Bool", "true"),
    ("UInt8", "255"),
    ("UInt16", "300"),
    ("UInt32", "20240102"),
    ("UInt64", "18446744073709551615"),
    ("Int8", "-1"),
    ("Int16", "-300"),
    ("Int32", "86400"),
    ("Int64", "-9223372036854775808"),
    ("Float32", "1.5"),
    ("Float64", "-0.25"),
    ("Decimal(9, 2)", "-1.25"),
    ("Decimal(18, 4)", "1.2345"),
    ("Decimal(38, 6)", "12345678.123456"),
    ("Decimal(76, 4)", "1.2345"),
    ("String", "12345"),
    ("FixedString(3)", "abc"),
    ("FixedString(16)", "0123456789abcdef"),
    ("Date", "2024-01-02"),
    ("Date32", "1950-01-02"),
    ("DateTime(\\'UTC\\')", "2024-01-02 03:04:05"),
    ("DateTime(\\'UTC\\')", "1970-01-01 00:00:00"),
    ("DateTime64(3, \\'UTC\\')", "2024-01-02 03:04:05.678"),
    ("DateTime64(0, \\'UTC\\')", "2024-01-02 03:04:05"),
    ("Enum8(\\'a\\' = -1, \\'b\\' = 2)", "b"),
    ("Enum16(\\'a\\' = -1, \\'b\\' = 2000)", "b"),
    ("UUID", "61f0c404-5cb3-11e7-907b-a6006ad3dba0"),
    ("IPv4", "1.2.3.4"),
    ("IPv6", "2001:db8::1"),
];

/// The types with a value in them: the type, the query's expression for it.
fn nestings(inner: &str, value: &str) -> Vec<(String, String)> {
    let cast = format!("CAST('{value}', '{inner}')");
    let mut forms = vec![
        (inner.to_owned(), cast.clone()),
        (format!("Nullable({inner})"), cast.clone()),
        (format!("Nullable({inner})"), "NULL".to_owned()),
        (format!("Array({inner})"), format!("[{cast}]")),
        (
            format!("Array(Nullable({inner}))"),
            format!("[NULL, {cast}]"),
        ),
        (format!("Array(Array({inner}))"), format!("[[], [{cast}]]")),
        (
            format!("Tuple(x {inner}, y Array({inner}))"),
            format!("({cast}, [{cast}])"),
        ),
        (format!("Map(String, {inner})"), format!("map('k', {cast})")),
        (
            format!("Array(Tuple(z Nullable({inner})))"),
            format!("[tuple({cast}), tuple(NULL)]"),
        ),
    ];
    if inner.starts_with("String") || inner.starts_with("FixedString") {
        forms.push((format!("LowCardinality({inner})"), cast.clone()));
        forms.push((
            format!("Array(LowCardinality(Nullable({inner})))"),
            format!("[NULL, {cast}]"),
        ));
    }
    forms
}

#[test]
fn columnar_files_give_back_what_was_written() {
    let folder = Folder::new("columnar");
    for format in ["Arrow", "ArrowStream", "Parquet", "Native"] {
        let path = folder.file(&format!("x.{format}"));
        let (mut structure, mut query) = (Vec::new(), Vec::new());
        for (inner, value) in VALUES {
            for (data_type, value) in nestings(inner, value) {
                let name = format!("c{}", structure.len());
                query.push(format!("CAST({value}, '{data_type}') AS {name}"));
                structure.push(format!("{name} {data_type}"));
            }
        }
        let (query, structure) = (query.join(", "), structure.join(", "));
        let expected = run(&format!("SELECT {query} FORMAT TSVWithNamesAndTypes")).unwrap();
        run(&format!(
            "INSERT INTO FUNCTION file('{path}', {format}, '{structure}') SELECT {query}"
        ))
        .unwrap();
        let read = format!("file('{path}', {format}, '{structure}')");
        let found = run(&format!("SELECT * FROM {read} FORMAT TSVWithNamesAndTypes"));
        assert_eq!(found.unwrap(), expected, "{format}");
        // As it comes from a pipe or an INSERT.
        let database = Database::in_memory().unwrap();
        let mut session = Session::new(&database);
        let source = std::io::BufReader::new(fs::File::open(&path).unwrap());
        let structure = structure.replace("\\'", "'");
        let loaded = session.load_table("piped", format, Some(&structure), Box::new(source));
        loaded.unwrap();
        let sql = "SELECT * FROM piped FORMAT TSVWithNamesAndTypes";
        let parsed = basalt_parser::parse_statement(sql).unwrap();
        let mut out = Vec::new();
        let io = Io {
            out: &mut out,
            input: None,
        };
        session.run(sql.as_bytes(), &parsed, io).unwrap();
        assert_eq!(
            String::from_utf8_lossy(&out),
            expected,
            "{format} from a pipe"
        );
    }
}

#[test]
fn numbers_in_columnar_files_are_no_texts() {
    let folder = Folder::new("declared");
    for format in ["Arrow", "ArrowStream", "Parquet", "Native"] {
        let path = folder.file(&format!("y.{format}"));
        run(&format!(
            "INSERT INTO FUNCTION file('{path}', {format}) SELECT toUInt32(20240102) AS a, toUInt32(0) AS z, \
             toUInt16(300) AS b, toInt64(1) AS e, 'no number' AS s"
        ))
        .unwrap();
        for (column, data_type, expected) in [
            ("a", "DateTime(\\'UTC\\')", "1970-08-23 06:15:02"),
            ("z", "DateTime(\\'UTC\\')", "1970-01-01 00:00:00"),
            ("a", "IPv4", "1.52.214.230"),
            ("a", "DateTime64(3, \\'UTC\\')", "1970-08-23 06:15:02.000"),
            ("a", "Decimal(12, 2)", "20240102"),
            ("b", "Date", "1970-10-28"),
            ("e", "Enum8(\\'q\\' = 1)", "q"),
        ] {
            // A column that is not asked for is not converted.
            let read = format!("file('{path}', {format}, 's UInt64, {column} {data_type}')");
            let found = run(&format!("SELECT {column} FROM {read}"));
            assert_eq!(
                found,
                Ok(format!("{expected}\n")),
                "{column} {data_type} in {format}"
            );
        }
        let read = format!("file('{path}', {format}, 's UInt64, a UInt32')");
        assert_eq!(
            run(&format!("SELECT count() FROM {read}")),
            Ok("1\n".to_owned())
        );
        run(&format!("SELECT s FROM {read}")).unwrap_err();
    }
}
