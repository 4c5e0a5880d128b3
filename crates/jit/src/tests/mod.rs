//! Compares compiled programs with the interpreter and with what is known, and looks at their code.

mod agreement;
mod calendar;
mod extremes;
mod vector_code;

use crate::compiled::is_available_to_tests as has_llvm;
