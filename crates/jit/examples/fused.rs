//! Times compiled programs against scalar loops and the speed of reading memory.
//!
//! `cargo run --release -p basalt-jit --example fused [MILLIONS OF ROWS]`

#![expect(clippy::print_stdout, reason = "it prints a table")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use basalt_adapt::Random;
use basalt_jit::{
    BinaryOp, Column, Compiled, Fold, Graph, Grouped, NodeId, Outcome, Output, Program, Type,
    Values,
};

/// Rows of a call, as of a batch in a query.
const BATCH_ROWS: usize = 65_505;

fn main() {
    if let Err(why) = basalt_jit::compiled::availability() {
        println!("{why}");
        return;
    }
    let millions = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(100);
    let num_rows = millions * 1_000_000;
    let mut random = Random::new(7);
    let mut column = || -> Vec<u32> {
        (0..num_rows)
            .map(|_| (random.bits() >> 20) as u32 % 1000)
            .collect()
    };
    let columns = [column(), column(), column()];
    println!("{num_rows} rows of three UInt32 columns, one thread, best of five");
    let read = best(|| read_all(&columns));
    report("read all three", read.0, num_rows);
    let scalar = best(|| filtered_sum(&columns));
    report(
        "scalar loop: sum(a * b + c) where a > 100 and b < 900",
        scalar.0,
        num_rows,
    );
    let compiled = Compiled::try_new(filtered(true)).expect("it compiles");
    println!(
        "  compiled in {:?}, {} bytes",
        compiled.elapsed(),
        compiled.size_bytes()
    );
    let ours = best(|| run(&compiled, &columns));
    report("compiled: the same", ours.0, num_rows);
    assert_eq!(ours.1, scalar.1);
    for (name, program) in [
        ("sum(a * b + c)", filtered(false)),
        ("max(a + b * c + 5)", greatest()),
        ("sum(a), avg(b), count()", several()),
        (
            "sum(b * c + 1), max(b - a) where a > 5 group by a % 10",
            by_remainder(),
        ),
    ] {
        let compiled = Compiled::try_new(program).expect("it compiles");
        println!("  compiled in {:?}", compiled.elapsed());
        let ours = best(|| run(&compiled, &columns));
        report(&format!("compiled: {name}"), ours.0, num_rows);
    }
}

fn report(name: &str, elapsed: Duration, num_rows: usize) {
    let ns = elapsed.as_nanos() as f64 / num_rows as f64;
    println!(
        "{name:<55} {:>8.1} ms {ns:>7.3} ns/row {:>6.1} GB/s",
        elapsed.as_secs_f64() * 1e3,
        12.0 / ns
    );
}

fn best(mut work: impl FnMut() -> u64) -> (Duration, u64) {
    let mut runs: Vec<(Duration, u64)> = (0..5)
        .map(|_| {
            let started = Instant::now();
            let result = black_box(work());
            (started.elapsed(), result)
        })
        .collect();
    runs.sort();
    runs[0]
}

fn read_all(columns: &[Vec<u32>; 3]) -> u64 {
    let sum = |column: &Vec<u32>| {
        basalt_kernels::fold::fold_lanes(column, None, 0_u32, u32::wrapping_add, u32::wrapping_add)
    };
    columns.iter().map(|column| u64::from(sum(column))).sum()
}

fn filtered_sum([a, b, c]: &[Vec<u32>; 3]) -> u64 {
    let mut sum = 0_u64;
    for ((a, b), c) in a.iter().zip(b).zip(c) {
        if *a > 100 && *b < 900 {
            sum = sum.wrapping_add(u64::from(*a) * u64::from(*b) + u64::from(*c));
        }
    }
    sum
}

fn run(compiled: &Compiled, columns: &[Vec<u32>; 3]) -> u64 {
    let num_rows = columns[0].len();
    let mut total = 0_u64;
    for start in (0..num_rows).step_by(BATCH_ROWS) {
        let end = num_rows.min(start + BATCH_ROWS);
        let batch = columns.each_ref().map(|column| {
            Some(Column {
                values: Values::U32(&column[start..end]),
                validity: None,
            })
        });
        for outcome in compiled.run(&batch, end - start).expect("its columns") {
            match outcome {
                Outcome::One(value) => total = total.wrapping_add(value),
                Outcome::Groups(values) => {
                    total = values.into_iter().fold(total, u64::wrapping_add)
                }
                _ => {}
            }
        }
    }
    total
}

/// The columns, as integers of 64 bits where that is wanted.
fn columns(graph: &mut Graph) -> [(NodeId, NodeId); 3] {
    [0, 1, 2].map(|place| {
        let column = graph.column(place, Type::U32, false).expect("one type");
        (column, graph.cast(Type::U64, column))
    })
}

fn filtered(has_filter: bool) -> Program {
    let mut graph = Graph::default();
    let [(a, wide_a), (b, wide_b), (_, wide_c)] = columns(&mut graph);
    let mut binary = |op, left, right| graph.binary(op, left, right).expect("well typed");
    let product = binary(BinaryOp::Multiply, wide_a, wide_b);
    let sum = binary(BinaryOp::Add, product, wide_c);
    let (low, high) = (
        graph.constant(Type::U32, Some(100)),
        graph.constant(Type::U32, Some(900)),
    );
    let mut binary = |op, left, right| graph.binary(op, left, right).expect("well typed");
    let above = binary(BinaryOp::Greater, a, low);
    let below = binary(BinaryOp::Less, b, high);
    let both = binary(BinaryOp::And, above, below);
    Program::try_new(
        graph,
        has_filter.then_some(both),
        vec![Output::Fold(Fold::Sum, sum)],
    )
    .expect("well typed")
}

fn greatest() -> Program {
    let mut graph = Graph::default();
    let [(_, a), (_, b), (_, c)] = columns(&mut graph);
    let five = graph.constant(Type::U64, Some(5));
    let mut binary = |op, left, right| graph.binary(op, left, right).expect("well typed");
    let product = binary(BinaryOp::Multiply, b, c);
    let sum = binary(BinaryOp::Add, a, product);
    let sum = binary(BinaryOp::Add, sum, five);
    Program::try_new(graph, None, vec![Output::Fold(Fold::Max, sum)]).expect("well typed")
}

fn by_remainder() -> Program {
    let mut graph = Graph::default();
    let columns = columns(&mut graph);
    let [a, b, c] = columns.map(|(_, wide)| graph.cast(Type::I64, wide));
    let [one, five, ten] = [1, 5, 10].map(|n| graph.constant(Type::I64, Some(n)));
    let mut binary = |op, left, right| graph.binary(op, left, right).expect("well typed");
    let filter = binary(BinaryOp::Greater, a, five);
    let product = binary(BinaryOp::Multiply, b, c);
    let sum = binary(BinaryOp::Add, product, one);
    let difference = binary(BinaryOp::Subtract, b, a);
    let key = binary(BinaryOp::Modulo, a, ten);
    let ordinal = graph.cast(Type::U64, key);
    let outputs = vec![
        Output::Rows,
        Output::Fold(Fold::Sum, sum),
        Output::Fold(Fold::Max, difference),
    ];
    let program = Program::try_new(graph, Some(filter), outputs).expect("well typed");
    let grouped = Grouped {
        ordinal,
        num_groups: 10,
    };
    program.grouped_by(grouped).expect("few groups")
}

fn several() -> Program {
    let mut graph = Graph::default();
    let [(a, _), (b, _), (c, _)] = columns(&mut graph);
    let outputs = vec![
        Output::Fold(Fold::Sum, a),
        Output::Fold(Fold::Sum, b),
        Output::Fold(Fold::Count, c),
    ];
    Program::try_new(graph, None, outputs).expect("well typed")
}
