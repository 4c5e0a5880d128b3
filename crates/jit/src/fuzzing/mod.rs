//! Compares compiled code with the interpreter, for tests and for the fuzzer.
//!
//! | module | owns |
//! |---|---|
//! | [`generate`] | random programs and columns |
//! | [`agreement`] | both ways over the same columns |

#![allow(
    clippy::unwrap_used,
    reason = "only tests and the fuzzer have this module, and what fails there must end them"
)]

pub(crate) mod agreement;
pub(crate) mod generate;

use generate::Draw;

/// Makes a program of the bytes, and runs it compiled and interpreted over columns that they make, too.
///
/// # Panics
/// If the results differ, or if there is no LLVM.
pub fn agree(bytes: &[u8]) {
    check(&mut Draw::of_bytes(bytes));
}

/// As [`agree`], with a program of a seed.
pub fn check_seed(seed: u64) {
    check(&mut Draw::new(seed));
}

fn check(draw: &mut Draw) {
    let program = generate::program(draw);
    agreement::check(&program, draw);
}
