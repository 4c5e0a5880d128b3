//! Compares compiled programs with the interpreter, and looks at their code.

mod agreement;
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
