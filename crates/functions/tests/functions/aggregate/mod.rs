//! Runs the recorded calls of `cases.txt`, and models, over every function.

mod groups;
mod literal;
mod show;
mod uniq;

use arrow::array::{Array, ArrayRef};
use basalt_error::Result;
use basalt_types::{DataType, parse_data_type};

use basalt_functions::aggregate::{
    Aggregator, BoundAggregate, Groups, Shortcut, all, bind, is_aggregate,
};
use basalt_functions::{Arg, Context, StringColumn};
use basalt_kernels::fold::{NUM_LANES, lane_of};

/// `call | Type: values | … => ResultType value`, as ClickHouse 26.9 answers.
const CASES: &str = include_str!("cases.txt");

struct Case {
    name: String,
    params: Vec<Arg>,
    types: Vec<DataType>,
    columns: Vec<ArrayRef>,
    num_rows: usize,
    expected: String,
}

fn parse_case(line: &str) -> Case {
    let (call, expected) = line.split_once(" => ").expect(line);
    let mut parts = call.split(" | ").map(str::trim);
    let function = parts.next().expect(line);
    let (name, params) = match function.split_once('(') {
        Some((name, rest)) => (name, rest.strip_suffix(')').expect(line)),
        None => (function, ""),
    };
    let params = match params {
        "" => Vec::new(),
        list => list.split(", ").map(literal::parameter).collect(),
    };
    let mut types = Vec::new();
    let mut columns: Vec<ArrayRef> = Vec::new();
    for part in parts {
        let (data_type, values) = part.split_once(':').expect(part);
        let data_type = parse_data_type(data_type).expect(data_type);
        columns.push(literal::column(&data_type, values.trim()));
        types.push(data_type);
    }
    Case {
        name: name.to_owned(),
        params,
        types,
        num_rows: columns.first().map_or(3, |c| c.len()),
        columns,
        expected: expected.to_owned(),
    }
}

fn bound(case: &Case) -> Result<BoundAggregate> {
    bind(&case.name, &case.params, &case.types, &Context::default())
}

fn slices(columns: &[ArrayRef], start: usize, len: usize) -> Vec<ArrayRef> {
    columns.iter().map(|c| c.slice(start, len)).collect()
}

fn one_group(num_rows: usize) -> Groups<'static> {
    Groups {
        ids: None,
        num_groups: 1,
        num_rows,
    }
}

/// All rows at once, without keys.
fn run_whole(case: &Case, bound: &BoundAggregate) -> Result<ArrayRef> {
    let mut states = (bound.factory)();
    states.update(&case.columns, one_group(case.num_rows))?;
    states.finish(0..1)
}

/// The rows in two halves by two instances; the second merges the states of the first before its own.
fn run_merged(case: &Case, bound: &BoundAggregate) -> Result<ArrayRef> {
    let half = case.num_rows / 2;
    let mut states: Vec<Box<dyn Aggregator>> = Vec::new();
    for (start, len) in [(0, half), (half, case.num_rows - half)] {
        let mut part = (bound.factory)();
        part.update(&slices(&case.columns, start, len), one_group(len))?;
        states.push(part);
    }
    let mut merged = (bound.factory)();
    for part in &mut states {
        let arrays = part.states(0..1)?;
        for (array, expected) in arrays.iter().zip(&bound.state_types) {
            assert_eq!(array.data_type(), expected, "state of {}", bound.name);
        }
        merged.merge(&arrays, one_group(1))?;
    }
    merged.finish(0..1)
}

/// Every row in group 1 and in group 3 of five, the other groups stay empty.
fn run_grouped(case: &Case, bound: &BoundAggregate) -> Result<[ArrayRef; 4]> {
    let mut states = (bound.factory)();
    for group in [1, 3] {
        let ids = vec![group as u32; case.num_rows];
        let groups = Groups {
            ids: Some(&ids),
            num_groups: group + 1,
            num_rows: case.num_rows,
        };
        states.update(&case.columns, groups)?;
    }
    let mut merged = (bound.factory)();
    let ids: Vec<u32> = (0..5).collect();
    let groups = Groups {
        ids: Some(&ids),
        num_groups: 5,
        num_rows: 5,
    };
    merged.merge(&states.states(0..5)?, groups)?;
    assert!(merged.size_bytes() < 100 << 20);
    Ok([
        states.finish(1..2)?,
        states.finish(3..5)?,
        merged.finish(0..2)?.slice(1, 1),
        merged.finish(3..4)?,
    ])
}

fn answer(data_type: &DataType, array: &ArrayRef) -> String {
    assert_eq!(array.data_type(), &data_type.physical(), "{data_type}");
    format!("{data_type} {}", show::value(data_type, array, 0))
}

fn check(line: &str, failures: &mut Vec<String>) {
    let case = parse_case(line);
    let outcome = bound(&case).and_then(|bound| {
        let whole = run_whole(&case, &bound)?;
        let mut answers = vec![("whole", answer(&bound.return_type, &whole))];
        let merged = run_merged(&case, &bound)?;
        answers.push(("merged", answer(&bound.return_type, &merged)));
        for array in run_grouped(&case, &bound)? {
            answers.push(("grouped", answer(&bound.return_type, &array)));
        }
        Ok(answers)
    });
    match outcome {
        Err(e) => {
            let code = format!("Code {}", e.code().number);
            if code != case.expected {
                failures.push(format!("{line}\n    {e}"));
            }
        }
        Ok(answers) => {
            for (way, answer) in answers {
                if !show::same(&answer, &case.expected) {
                    failures.push(format!("{line}\n    {way}: {answer}"));
                }
            }
        }
    }
}

#[test]
fn recorded_calls_give_the_answers_of_clickhouse() {
    let mut failures = Vec::new();
    let mut num_cases = 0;
    for line in CASES
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
    {
        let outcome = std::panic::catch_unwind(|| {
            let mut failures = Vec::new();
            check(line, &mut failures);
            failures
        });
        failures.extend(outcome.unwrap_or_else(|_| vec![format!("{line}\n    panicked")]));
        num_cases += 1;
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(num_cases > 20);
}

fn call(name: &str, types: &[&str], columns: &[&str]) -> (BoundAggregate, Vec<ArrayRef>) {
    let types: Vec<DataType> = types.iter().map(|t| parse_data_type(t).expect(t)).collect();
    let bound = bind(name, &[], &types, &Context::default()).expect(name);
    let columns = types
        .iter()
        .zip(columns)
        .map(|(t, v)| literal::column(t, v));
    (bound, columns.collect())
}

/// `xMerge(xState(…))` over two halves gives what `x(…)` gives.
#[test]
fn states_travel_as_values() {
    for (name, types, columns, expected) in [
        ("sum", vec!["Nullable(UInt8)"], vec!["1, NULL, 3"], "4"),
        ("avg", vec!["Float64"], vec!["1, 2, 6"], "3"),
        ("max", vec!["String"], vec!["'a', 'c', 'b'"], "c"),
        (
            "argMax",
            vec!["String", "UInt8"],
            vec!["'a', 'b', 'c'", "1, 9, 3"],
            "b",
        ),
        ("uniqExact", vec!["String"], vec!["'a', 'b', 'a'"], "2"),
        ("uniq", vec!["String"], vec!["'a', 'b', 'a'"], "2"),
        (
            "groupArray",
            vec!["Array(String)"],
            vec!["['a'], [], ['b', 'c']"],
            "[['a'],[],['b','c']]",
        ),
        ("quantile", vec!["UInt8"], vec!["1, 2, 9"], "2"),
        ("sumDistinct", vec!["UInt8"], vec!["2, 2, 3"], "5"),
        (
            "sumMap",
            vec!["Map(String, UInt8)"],
            vec!["{'a':1}, {'b':2}, {'a':3}"],
            "{'a':4,'b':2}",
        ),
        (
            "sumForEach",
            vec!["Array(UInt8)"],
            vec!["[1], [2, 3], []"],
            "[3,3]",
        ),
    ] {
        let (state, args) = call(&format!("{name}State"), &types, &columns);
        let mut packed = Vec::new();
        for (start, len) in [(0, 1), (1, 2), (3, 0)] {
            let mut states = (state.factory)();
            states
                .update(&slices(&args, start, len), one_group(len))
                .expect(name);
            packed.push(states.finish(0..1).expect(name));
        }
        let parts: Vec<&dyn Array> = packed.iter().map(AsRef::as_ref).collect();
        let packed = arrow::compute::concat(&parts).expect(name);
        let merge = bind(
            &format!("{name}Merge"),
            &[],
            std::slice::from_ref(&state.return_type),
            &Context::default(),
        )
        .expect(name);
        let mut states = (merge.factory)();
        states.update(&[packed], one_group(3)).expect(name);
        let result = states.finish(0..1).expect(name);
        assert_eq!(
            show::value(&merge.return_type, &result, 0),
            expected,
            "{name}"
        );
    }
}

#[test]
fn damaged_states_are_errors() {
    let (state, args) = call("quantileState", &["UInt8"], &["1, 2, 3"]);
    let mut states = (state.factory)();
    states.update(&args, one_group(3)).expect("update");
    let packed = states.finish(0..1).expect("finish");
    let good = StringColumn::of_array(&packed, false)
        .expect("bytes")
        .value(0)
        .to_vec();
    let merge = bind(
        "quantileMerge",
        &[],
        &[state.return_type],
        &Context::default(),
    );
    let merge = merge.expect("merge");
    for len in 1..good.len() {
        for flipped in [None, Some(len - 1)] {
            let mut bytes = good.clone();
            match flipped {
                Some(at) => bytes[at] ^= 1,
                None => bytes.truncate(len),
            }
            let array: ArrayRef =
                std::sync::Arc::new(arrow::array::BinaryViewArray::from_iter_values([
                    bytes.as_slice()
                ]));
            let error = (merge.factory)().update(&[array], one_group(1));
            assert_eq!(error.expect_err("damaged").code().number, 117);
        }
    }
}

#[test]
fn sums_are_the_same_on_every_path() {
    let values: Vec<f64> = (0..1000).map(|i| f64::from(i) * 0.1 + 1e10).collect();
    let whole: ArrayRef = std::sync::Arc::new(arrow::array::Float64Array::from(values.clone()));
    let valid: Vec<bool> = (0..1000).map(|i| i % 3 != 0).collect();
    let nullable: ArrayRef = std::sync::Arc::new(arrow::array::Float64Array::new(
        values.clone().into(),
        Some(valid.clone().into()),
    ));
    let mut lanes = [0.0; NUM_LANES];
    let mut all_lanes = [0.0; NUM_LANES];
    for (i, value) in values.iter().enumerate() {
        let lane = lane_of(i, values.len());
        all_lanes[lane] += value;
        if valid[i] {
            lanes[lane] += value;
        }
    }
    let join = |mut lanes: [f64; NUM_LANES]| {
        for width in [16, 8, 4, 2, 1] {
            for lane in 0..width {
                lanes[lane] += lanes[lane + width];
            }
        }
        lanes[0]
    };
    for (array, expected) in [(whole, join(all_lanes)), (nullable, join(lanes))] {
        let bound = bind("sum", &[], &[DataType::Float64], &Context::default()).expect("sum");
        let mut states = (bound.factory)();
        states.update(&[array], one_group(1000)).expect("update");
        let sum = states.finish(0..1).expect("finish");
        assert_eq!(
            show::value(&DataType::Float64, &sum, 0),
            expected.to_string()
        );
    }
}

#[test]
fn shortcuts_are_set_where_they_are_right() {
    for (name, types, expected) in [
        ("count", vec![], Some(Shortcut::CountAll)),
        ("count", vec!["UInt8"], Some(Shortcut::CountAll)),
        ("count", vec!["Nullable(UInt8)"], None),
        ("countIf", vec!["UInt8"], None),
        ("sum", vec!["UInt8"], Some(Shortcut::SumInteger)),
        ("sum", vec!["Int64"], Some(Shortcut::SumInteger)),
        ("sum", vec!["Nullable(Int64)"], None),
        ("sum", vec!["Float64"], None),
        ("sumDistinct", vec!["Int64"], None),
        ("sumArray", vec!["Array(Int64)"], None),
        ("sumState", vec!["Int64"], None),
        (
            "uniqExact",
            vec!["Int64"],
            Some(Shortcut::UniqExact { bits: 64 }),
        ),
        (
            "uniqExact",
            vec!["Nullable(Int8)"],
            Some(Shortcut::UniqExact { bits: 32 }),
        ),
        (
            "uniqExact",
            vec!["String", "UInt8"],
            Some(Shortcut::UniqExact { bits: 128 }),
        ),
        ("uniqExactIf", vec!["Int64", "UInt8"], None),
        ("uniqExactState", vec!["Int64"], None),
        ("uniqExactOrNull", vec!["Int64"], None),
        ("uniqExactArray", vec!["Array(Int64)"], None),
    ] {
        let types: Vec<DataType> = types.iter().map(|t| parse_data_type(t).expect(t)).collect();
        let bound = bind(name, &[], &types, &Context::default()).expect(name);
        assert_eq!(bound.shortcut, expected, "{name} {types:?}");
    }
}

#[test]
fn names_are_found_with_combinators() {
    for (name, known) in [
        ("sum", true),
        ("SUM", true),
        ("sumIf", true),
        ("sumArrayIfOrNullState", true),
        ("groupArrayArray", true),
        ("array_concat_agg", true),
        ("Quantile", false),
        ("sumFoo", false),
        ("If", false),
        ("State", false),
        ("length", false),
    ] {
        assert_eq!(is_aggregate(name), known, "{name}");
    }
    let error = bind("summ", &[], &[], &Context::default()).expect_err("summ");
    assert!(error.message().contains("'sum'"), "{error}");
    assert!(all().count() >= 60);
}
