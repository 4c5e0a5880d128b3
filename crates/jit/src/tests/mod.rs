//! Compares compiled programs with the interpreter and with what is known, and looks at their code.

mod agreement;
mod calendar;
mod extremes;
mod vector_code;

/// Whether there is LLVM; says that a test is left out if not.
fn has_llvm() -> bool {
    match crate::compiled::availability() {
        Ok(()) => true,
        Err(why) => {
            eprintln!("LEFT OUT, nothing was compiled: {why}");
            false
        }
    }
}
