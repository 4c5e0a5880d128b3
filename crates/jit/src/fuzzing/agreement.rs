//! Runs a program over random columns: compiled code gives what the interpreter gives, whatever instructions it may
//! use.

use basalt_adapt::SimdLevel;
use basalt_kernels::twofold::Twofold;

use super::generate::{Draw, Memory, NUM_COLUMNS};
use crate::{Column, Compiled, MappedRows, Outcome, Program, Type, interpret};

/// The bits of a value; all NaNs are the same.
fn comparable(data_type: Type, bits: u64) -> u64 {
    match data_type {
        Type::F64 if f64::from_bits(bits).is_nan() => f64::NAN.to_bits(),
        Type::F32 if f32::from_bits(bits as u32).is_nan() => u64::from(f32::NAN.to_bits()),
        _ => bits,
    }
}

fn mapped(data_type: Type, rows: &MappedRows, num_rows: usize) -> Vec<Option<u64>> {
    let bits = data_type.bits() as usize;
    let value = |row: usize| {
        let is_valid = |words: &Vec<u64>| words[row / 64] >> (row % 64) & 1 == 1;
        let word = rows.words[row * bits / 64] >> (row * bits % 64);
        let word = word & (u64::MAX >> (64 - bits));
        rows.validity
            .as_ref()
            .is_none_or(is_valid)
            .then(|| comparable(data_type, word))
    };
    (0..num_rows).map(value).collect()
}

fn assert_same(program: &Program, (found, expected): (&[Outcome], &[Outcome]), num_rows: usize) {
    for ((found, expected), output) in found.iter().zip(expected).zip(program.outputs()) {
        let data_type = program.output_type(*output);
        match (found, expected) {
            (Outcome::One(a), Outcome::One(b)) => {
                let (a, b) = (comparable(data_type, *a), comparable(data_type, *b));
                assert_eq!(a, b, "{output:?} of {num_rows} rows:\n{program}");
            }
            (Outcome::Sum(a), Outcome::Sum(b)) => {
                let bits = |sum: f64| comparable(data_type, sum.to_bits());
                let of = |sum: Twofold| (bits(sum.sum), bits(sum.rest));
                assert_eq!(of(*a), of(*b), "{output:?} of {num_rows} rows:\n{program}");
            }
            (Outcome::Groups(a), Outcome::Groups(b)) => {
                let of = |bits: &u64| comparable(data_type, *bits);
                let (a, b): (Vec<u64>, Vec<u64>) =
                    (a.iter().map(of).collect(), b.iter().map(of).collect());
                assert_eq!(a, b, "{output:?} of {num_rows} rows:\n{program}");
            }
            (Outcome::Rows(a), Outcome::Rows(b)) => {
                let (a, b) = (
                    mapped(data_type, a, num_rows),
                    mapped(data_type, b, num_rows),
                );
                assert_eq!(a, b, "{output:?} of {num_rows} rows:\n{program}");
            }
            _ => panic!("{output:?}: {found:?} {expected:?}"),
        }
    }
}

/// Runs one program over columns of several lengths.
pub(crate) fn check(program: &Program, draw: &mut Draw) {
    let level = draw.of(&SimdLevel::ALL);
    let compiled = Compiled::try_with_level(program.clone(), level)
        .unwrap_or_else(|e| panic!("{e}:\n{program}"));
    let short = draw.below(32);
    for num_rows in [0, 1, 31, 32, 33, 64 + short, 200 + 3 * short, 1000] {
        let memory: Vec<Memory> = (0..NUM_COLUMNS)
            .map(|place| Memory::new(draw, place, num_rows))
            .collect();
        let columns: Vec<Option<Column<'_>>> = memory.iter().map(|m| Some(m.column())).collect();
        let found = compiled.run(&columns, num_rows).unwrap();
        let expected = interpret(program, &columns, num_rows).unwrap();
        assert_same(program, (&found, &expected), num_rows);
    }
}
