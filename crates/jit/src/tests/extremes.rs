//! Takes extremes of floats: zeros with and without sign, NaNs, and rows that are left out.

use super::has_llvm;
use crate::{
    BinaryOp, Column, Compiled, Fold, Graph, Outcome, Output, Program, Type, Values, interpret,
};

/// Least and greatest of the values that are less than 100, or NaN.
fn program() -> Program {
    let mut graph = Graph::default();
    let value = graph.column(0, Type::F64, false).unwrap();
    let limit = graph.constant(Type::F64, Some(100_f64.to_bits()));
    let is_far = graph
        .binary(BinaryOp::GreaterOrEqual, value, limit)
        .unwrap();
    let is_near = graph.unary(crate::UnaryOp::Not, is_far).unwrap();
    let outputs = [Fold::Min, Fold::Max].map(|fold| Output::Fold(fold, value));
    Program::try_new(graph, Some(is_near), outputs.to_vec()).unwrap()
}

/// The bits of both extremes, which are the same in both ways.
fn extremes(values: &[f64]) -> [u64; 2] {
    let columns = [Some(Column {
        values: Values::F64(values),
        validity: None,
    })];
    let mut outcomes = interpret(&program(), &columns, values.len()).unwrap();
    if has_llvm() {
        let compiled = Compiled::try_new(program()).unwrap();
        let of_code = compiled.run(&columns, values.len()).unwrap();
        // Bit for bit, also a NaN.
        assert_eq!(of_code, outcomes, "{values:?}");
        outcomes = of_code;
    }
    [0, 1].map(|place| match outcomes[place] {
        Outcome::One(bits) => bits,
        Outcome::Rows(_) | Outcome::Sum(_) | Outcome::Groups(_) => panic!("a fold gives one value"),
    })
}

fn check(values: &[f64], expected: [f64; 2]) {
    // As last rows, and with whole vectors before and behind them.
    for (before, behind) in [(0, 0), (40, 0), (0, 40), (7, 90)] {
        let mut all = vec![1e9; before];
        all.extend(values);
        all.resize(all.len() + behind, f64::NAN);
        let expected = expected.map(f64::to_bits);
        assert_eq!(extremes(&all), expected, "{values:?}");
    }
}

#[test]
fn a_nan_is_the_extreme_of_nothing_else_only() {
    check(&[3.0, f64::NAN, -2.5], [-2.5, 3.0]);
    check(&[f64::NAN, f64::INFINITY, 7.0, -f64::NAN], [7.0, 7.0]);
    check(&[f64::NEG_INFINITY, f64::NAN], [f64::NEG_INFINITY; 2]);
    // That of the greatest total order, and that of the least.
    let worst = [i64::MAX.cast_unsigned(), u64::MAX].map(f64::from_bits);
    check(&[f64::NAN, -f64::NAN], worst);
    check(&[], worst);
}

#[test]
fn zeros_have_an_order() {
    check(&[0.0, -0.0, 0.0], [-0.0, 0.0]);
    check(&[-0.0, 0.0, 5.0], [-0.0, 5.0]);
    check(&[0.0, -5.0], [-5.0, 0.0]);
    check(&[-0.0, -5e-324, 5e-324], [-5e-324, 5e-324]);
}
