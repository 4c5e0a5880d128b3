//! Makes typed programs of any bytes: compiled code gives what the interpreter gives.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| basalt_jit::fuzzing::agree(bytes));
