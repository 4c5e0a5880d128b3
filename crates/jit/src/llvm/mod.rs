//! Compiles the text of a function with LLVM's library for the processor that this runs on.
//!
//! | file | owns |
//! |---|---|
//! | `api.rs` | the functions of the library, loaded at run time |
//! | `features.rs` | which instructions a level allows |
//! | `owned.rs` | what must be given back to LLVM, each freed when it is dropped |
//! | `turn.rs` | one compilation at a time |
//! | `mod.rs` | the road from text to an address |
//!
//! The module is parsed, optimised, written as an object file into memory, and linked by LLVM's LLJIT.
//! Each piece of code has an LLJIT of its own, so that dropping it frees its memory.

mod api;
mod features;
mod owned;
mod turn;

use std::ffi::CString;
use std::ptr;

use basalt_adapt::SimdLevel;

use api::{Api, Ref, api};
use owned::{Buffer, Context, Jit, Machine, Module, Options, checked, message_of};

/// The passes that optimise a function. The text has vectors and no repetition already: with `default<O3>`
/// example `fused` takes 5 ms longer to compile, and its code is no faster. A list of single passes is 3 ms
/// faster still, but LLVM checks such a list more strictly, and ends the process.
const PASSES: &str = "default<O1>";

/// Machine code in memory.
pub(crate) struct Code {
    jit: Option<Jit>,
    address: usize,
    size_bytes: usize,
}

/// What LLVM says about text that it cannot compile, or why there is no LLVM.
pub(crate) type Complaint = String;

impl Code {
    /// Where the function begins.
    pub(crate) fn address(&self) -> usize {
        self.address
    }

    /// Bytes of the object file: about what it takes in memory.
    pub(crate) fn size_bytes(&self) -> usize {
        self.size_bytes
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        let _turn = turn::take();
        drop(self.jit.take());
    }
}

/// Whether there is LLVM on this machine, or why not.
pub(crate) fn available() -> Result<(), &'static str> {
    let _turn = turn::take();
    api().map(|_| ())
}

/// Ends all use of LLVM; to be called when the process is about to end.
pub(crate) fn stop() {
    turn::end();
}

/// Compiles the function `name` of `text` with the instructions that `level` allows.
pub(crate) fn compile(text: &str, name: &str, level: SimdLevel) -> Result<Code, Complaint> {
    let _turn = turn::take();
    let api = api()?;
    let object = Built::of(api, text, level)?.emit(FileType::Object)?;
    let size_bytes = object.bytes().len();
    let jit = Jit::new(api)?;
    jit.add(object)?;
    let address = jit.address(&c_text(name)?)?;
    Ok(Code {
        jit: Some(jit),
        address,
        size_bytes,
    })
}

/// The assembly of the functions of `text`.
pub(crate) fn assembly(text: &str, level: SimdLevel) -> Result<String, Complaint> {
    let _turn = turn::take();
    let api = api()?;
    let buffer = Built::of(api, text, level)?.emit(FileType::Assembly)?;
    Ok(String::from_utf8_lossy(buffer.bytes()).into_owned())
}

/// What is written of a module. The numbers are LLVM's.
#[derive(Clone, Copy)]
enum FileType {
    Assembly = 0,
    Object = 1,
}

/// An optimised module. Dropped in the order of the fields: the module before what it lives in.
struct Built {
    module: Module,
    machine: Machine,
    _context: Context,
    api: &'static Api,
}

impl Built {
    fn of(api: &'static Api, text: &str, level: SimdLevel) -> Result<Self, Complaint> {
        let context = Context::new(api);
        let module = Module::parse(api, &context, text)?;
        let machine = Machine::of_host(api, level)?;
        machine.adopt(&module);
        let options = Options::new(api);
        let passes = c_text(PASSES)?;
        // SAFETY: (alive) all are owned by this function. (passes) ends with 0 and is only read.
        let error = unsafe {
            (api.LLVMRunPasses)(
                module.as_ref(),
                passes.as_ptr(),
                machine.as_ref(),
                options.as_ref(),
            )
        };
        checked(api, error)?;
        Ok(Self {
            module,
            machine,
            _context: context,
            api,
        })
    }

    fn emit(&self, file_type: FileType) -> Result<Buffer, Complaint> {
        let (mut message, mut buffer): (_, Ref) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: (alive) module and machine are owned by `self`. (out) both places are valid for a write.
        let failed = unsafe {
            (self.api.LLVMTargetMachineEmitToMemoryBuffer)(
                self.machine.as_ref(),
                self.module.as_ref(),
                file_type as u32,
                &raw mut message,
                &raw mut buffer,
            )
        };
        if failed != 0 {
            return Err(message_of(self.api, message));
        }
        Ok(Buffer::of(self.api, buffer))
    }
}

fn c_text(text: &str) -> Result<CString, Complaint> {
    CString::new(text).map_err(|error| error.to_string())
}
