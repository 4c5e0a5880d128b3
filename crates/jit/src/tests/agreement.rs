//! Runs random programs over random columns.

use super::has_llvm;
use crate::fuzzing::generate::{Draw, Memory};
use crate::fuzzing::{agree, check_seed};
use crate::{Compiled, Output, Program, Type, interpret};

#[test]
fn random_programs_give_what_the_interpreter_gives() {
    if !has_llvm() {
        return;
    }
    let num_programs = std::env::var("BASALT_JIT_PROGRAMS")
        .ok()
        .and_then(|n| n.parse().ok());
    for seed in 0..num_programs.unwrap_or(300) {
        check_seed(seed);
    }
    for text in ["", "a", "programs of a fuzzer", "9d8f7a6s5d4f3a2s1d0"] {
        agree(text.as_bytes());
    }
}

#[test]
fn other_columns_are_refused() {
    let mut draw = Draw::new(1);
    let mut graph = crate::Graph::default();
    let column = graph.column(0, Type::I8, false).unwrap();
    let program = Program::try_new(graph, None, vec![Output::Map(column)]).unwrap();
    let (right, wrong) = (Memory::new(&mut draw, 0, 5), Memory::new(&mut draw, 1, 5));
    assert!(interpret(&program, &[Some(right.column())], 5).is_ok());
    assert!(interpret(&program, &[Some(right.column())], 6).is_err());
    assert!(interpret(&program, &[Some(wrong.column())], 5).is_err());
    assert!(interpret(&program, &[None], 5).is_err());
    assert!(interpret(&program, &[], 5).is_err());
    if has_llvm() {
        let compiled = Compiled::try_new(program).unwrap();
        assert!(compiled.run(&[Some(right.column())], 5).is_ok());
        assert!(compiled.run(&[Some(right.column())], 6).is_err());
        assert!(compiled.run(&[Some(wrong.column())], 5).is_err());
    }
}
