//! Checks that text goes in and comes out as in ClickHouse.

use arrow::array::Array;

use super::{ColumnBuilder, ReadOptions};
use crate::parse_data_type;
use crate::text::{ColumnText, Cursor, Style, TextOptions};

const CAST: ReadOptions = ReadOptions {
    time_zone: crate::Tz::UTC,
    best_effort: Some(crate::text::best_effort::DateOrder::DayFirst),
    is_cast: true,
    bool_words: None,
};

fn through(type_name: &str, text: &str, options: &ReadOptions) -> Result<String, u16> {
    let data_type = parse_data_type(type_name).expect("a type");
    let mut builder = ColumnBuilder::with_options(&data_type, 1, options).expect("a builder");
    builder
        .append_text(text.as_bytes())
        .map_err(|e| e.code().number)?;
    assert_eq!(builder.len(), 1);
    let array = builder.finish().expect("an array");
    assert_eq!(array.data_type(), &data_type.physical());
    let column = ColumnText::new(&data_type, &array, TextOptions::default()).expect("text");
    let mut out = Vec::new();
    column.write(0, Style::Escaped, &mut out);
    Ok(String::from_utf8(out).expect("UTF-8"))
}

fn check_casts(cases: &[(&str, &str, Result<&str, u16>)]) {
    for (type_name, text, expected) in cases {
        assert_eq!(
            through(type_name, text, &CAST),
            expected.map(str::to_string),
            "{type_name} {text}"
        );
    }
}

#[test]
fn scalars_are_cast_from_text() {
    check_casts(&[
        ("UInt8", "300", Ok("44")),
        ("Date", "2020-01-02 10:00:00", Ok("2020-01-02")),
        ("Date", "2020-01-02 10", Err(6)),
        (
            "DateTime('UTC')",
            "2020-01-02 03:04",
            Ok("2020-01-02 03:04:00"),
        ),
        (
            "DateTime('UTC')",
            "2200-01-01 00:00:00",
            Ok("2106-02-07 06:28:15"),
        ),
        (
            "DateTime64(3, 'UTC')",
            "1577934245.123",
            Ok("2020-01-02 03:04:05.123"),
        ),
        (
            "DateTime64(3, 'UTC')",
            "1800-01-01 00:00:00",
            Ok("1800-01-01 00:00:00.000"),
        ),
        ("Decimal(5, 2)", "123456.7", Ok("123456.7")),
        ("Decimal(9, 1)", "123456789012", Err(69)),
        (
            "UUID",
            "61F0c404-5cb3-11e7-907b-a6006ad3dba0",
            Ok("61f0c404-5cb3-11e7-907b-a6006ad3dba0"),
        ),
        ("IPv4", "1.2.3.4.5", Err(6)),
        ("Enum8('a' = 1)", "1", Ok("a")),
        ("Enum8('a' = 1)", "x", Err(691)),
        ("Bool", "yes", Ok("true")),
    ]);
}

#[test]
fn nested_values_are_cast_from_text() {
    check_casts(&[
        ("Array(UInt8)", "[1, 2 ,3 ]", Ok("[1,2,3]")),
        ("Array(UInt8)", "[1,]", Ok("[1]")),
        ("Array(UInt8)", " [1]", Err(130)),
        ("Array(UInt8)", "[1] ", Err(632)),
        ("Array(UInt8)", "[1", Err(27)),
        ("Array(UInt8)", "['1']", Err(6)),
        ("Array(String)", "[a,b]", Err(26)),
        (
            "Array(Nullable(UInt8))",
            "[NULL,null,1]",
            Ok("[NULL,NULL,1]"),
        ),
        ("Array(UInt8)", "[NULL,1]", Ok("[0,1]")),
        ("Array(Date)", "['2020-01-01']", Ok("['2020-01-01']")),
        (
            "Array(DateTime('UTC'))",
            "[1577934245]",
            Ok("['2020-01-02 03:04:05']"),
        ),
        ("Array(Bool)", "[true,false,1]", Ok("[true,false,true]")),
        ("Array(Decimal(9, 2))", "[1.555]", Ok("[1.55]")),
        (
            "Array(Array(String))",
            r"[['a\tb', 'c''d'],[]]",
            Ok(r"[['a\tb','c\'d'],[]]"),
        ),
        ("Tuple(UInt8, String)", "( 1 , 'a' )", Ok("(1,'a')")),
        ("Tuple(UInt8)", "(1,)", Ok("(1)")),
        ("Tuple(UInt8, String)", "(1,'a',3)", Err(27)),
        (
            "Map(String, UInt8)",
            "{'a':1, 'b' : 2}",
            Ok("{'a':1,'b':2}"),
        ),
        ("Nullable(UInt8)", "NULL", Ok("\\N")),
        ("Nullable(UInt8)", "", Ok("\\N")),
        ("Nullable(String)", "NULL", Ok("NULL")),
        ("FixedString(2)", "abc", Err(131)),
        ("FixedString(4)", "ab", Ok("ab\\0\\0")),
        ("LowCardinality(Nullable(String))", "a'b", Ok("a\\'b")),
        ("IntervalDay", "5", Ok("5")),
    ]);
}

#[test]
fn formats_are_stricter_than_casts() {
    let strict = ReadOptions::default();
    assert_eq!(through("Decimal(5, 2)", "123456.7", &strict), Err(69));
    assert_eq!(through("Date", "2020-01-02 10:00:00", &strict), Err(6));
    assert_eq!(through("Array(UInt8)", "[1]x", &strict), Err(27));
    let basic = ReadOptions {
        best_effort: None,
        ..strict
    };
    assert_eq!(through("DateTime('UTC')", "2 Jan 2020", &basic), Err(41));
    assert_eq!(
        through("DateTime('UTC')", "2020-01-02 03:04:05", &basic),
        Ok("2020-01-02 03:04:05".into())
    );
}

#[test]
fn half_a_row_can_be_taken_back() {
    let data_type = parse_data_type("Array(Tuple(Nullable(UInt8), String))").expect("a type");
    let mut builder = ColumnBuilder::new(&data_type, 0).expect("a builder");
    builder.append_text(b"[(1,'a'),(NULL,'b')]").expect("valid");
    assert!(builder.append_text(b"[(2,'c'),(3,x)]").is_err());
    builder.truncate(1);
    builder.append_default();
    builder
        .append_quoted(&mut Cursor::new(b"[(4,'d')]"))
        .expect("valid");
    let array = builder.finish().expect("an array");
    let column = ColumnText::new(&data_type, &array, TextOptions::default()).expect("text");
    let mut out = Vec::new();
    for row in 0..array.len() {
        column.write(row, Style::Json, &mut out);
    }
    assert_eq!(out, br#"[[1,"a"],[null,"b"]][][[4,"d"]]"#);
}

#[test]
fn json_text_follows_its_options() {
    let data_type =
        parse_data_type("Tuple(a UInt64, b Map(UInt8, Array(Float64)), c Decimal(9, 2), d Date)")
            .expect("a type");
    let mut builder = ColumnBuilder::new(&data_type, 0).expect("a builder");
    builder
        .append_text(b"(5,{1:[1.5,inf]},1.10,'2020-01-01')")
        .expect("valid");
    let array = builder.finish().expect("an array");
    let text = |options| {
        let column = ColumnText::new(&data_type, &array, options).expect("text");
        let mut out = Vec::new();
        column.write(0, Style::Json, &mut out);
        String::from_utf8(out).expect("UTF-8")
    };
    let mut options = TextOptions::default();
    assert_eq!(
        text(options.clone()),
        r#"{"a":5,"b":{"1":[1.5,null]},"c":1.1,"d":"2020-01-01"}"#
    );
    options.json.quote_64bit_integers = true;
    options.json.quote_denormals = true;
    options.json.quote_decimals = true;
    options.json.named_tuples_as_objects = false;
    options.decimal_trailing_zeros = true;
    assert_eq!(
        text(options.clone()),
        r#"["5",{"1":[1.5,"inf"]},"1.10","2020-01-01"]"#
    );
}
