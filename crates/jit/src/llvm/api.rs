//! Declares the functions of LLVM's C interface that are used, once, and loads them from its library.
//!
//! They have had the same types from LLVM 16 to 22. The library stays loaded until the process ends.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use libloading::Library;

/// A pointer to something of LLVM's.
pub(super) type Ref = *mut c_void;

/// Text that LLVM reads.
type Text = *const c_char;

/// Text that LLVM has made; `LLVMDisposeMessage` frees it.
pub(super) type Message = *mut c_char;

/// Declares the functions as fields, and loads each by its name.
macro_rules! functions {
    ($($name:ident: fn($($arg:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions, by their names.
        #[expect(non_snake_case, reason = "the names are LLVM's")]
        pub(super) struct Api {
            $(pub(super) $name: unsafe extern "C" fn($($arg),*) $(-> $result)?,)*
        }

        impl Api {
            /// # Safety
            /// `library` must be LLVM's, and must never be unloaded.
            unsafe fn load(library: &Library) -> Result<Self, libloading::Error> {
                // SAFETY: (types) copied from LLVM's headers, the same in all versions that are looked for.
                //         (lifetime) the caller keeps the library.
                unsafe {
                    Ok(Self {
                        $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)*
                    })
                }
            }
        }
    };
}

functions! {
    LLVMContextCreate: fn() -> Ref;
    LLVMContextDispose: fn(Ref);
    LLVMDisposeMessage: fn(Message);
    LLVMCreateMemoryBufferWithMemoryRangeCopy: fn(Text, usize, Text) -> Ref;
    LLVMDisposeMemoryBuffer: fn(Ref);
    LLVMGetBufferStart: fn(Ref) -> Text;
    LLVMGetBufferSize: fn(Ref) -> usize;
    LLVMParseIRInContext: fn(Ref, Ref, *mut Ref, *mut Message) -> c_int;
    LLVMDisposeModule: fn(Ref);
    LLVMSetTarget: fn(Ref, Text);
    LLVMGetDefaultTargetTriple: fn() -> Message;
    LLVMGetHostCPUName: fn() -> Message;
    LLVMGetHostCPUFeatures: fn() -> Message;
    LLVMGetTargetFromTriple: fn(Text, *mut Ref, *mut Message) -> c_int;
    LLVMCreateTargetMachine: fn(Ref, Text, Text, Text, c_uint, c_uint, c_uint) -> Ref;
    LLVMDisposeTargetMachine: fn(Ref);
    LLVMGetTargetMachineTriple: fn(Ref) -> Message;
    LLVMCreateTargetDataLayout: fn(Ref) -> Ref;
    LLVMDisposeTargetData: fn(Ref);
    LLVMSetModuleDataLayout: fn(Ref, Ref);
    LLVMTargetMachineEmitToMemoryBuffer: fn(Ref, Ref, c_uint, *mut Message, *mut Ref) -> c_int;
    LLVMCreatePassBuilderOptions: fn() -> Ref;
    LLVMDisposePassBuilderOptions: fn(Ref);
    LLVMRunPasses: fn(Ref, Text, Ref, Ref) -> Ref;
    LLVMGetErrorMessage: fn(Ref) -> Message;
    LLVMDisposeErrorMessage: fn(Message);
    LLVMOrcCreateLLJIT: fn(*mut Ref, Ref) -> Ref;
    LLVMOrcDisposeLLJIT: fn(Ref) -> Ref;
    LLVMOrcLLJITGetMainJITDylib: fn(Ref) -> Ref;
    LLVMOrcLLJITAddObjectFile: fn(Ref, Ref, Ref) -> Ref;
    LLVMOrcLLJITLookup: fn(Ref, *mut u64, Text) -> Ref;
}

/// The library's functions that make it ready for this processor.
#[cfg(target_arch = "x86_64")]
const INITIALIZERS: [&str; 4] = [
    "LLVMInitializeX86TargetInfo\0",
    "LLVMInitializeX86Target\0",
    "LLVMInitializeX86TargetMC\0",
    "LLVMInitializeX86AsmPrinter\0",
];
#[cfg(target_arch = "aarch64")]
const INITIALIZERS: [&str; 4] = [
    "LLVMInitializeAArch64TargetInfo\0",
    "LLVMInitializeAArch64Target\0",
    "LLVMInitializeAArch64TargetMC\0",
    "LLVMInitializeAArch64AsmPrinter\0",
];
/// Elsewhere nothing was tested, so nothing is compiled.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const INITIALIZERS: [&str; 1] = ["no such processor\0"];

/// The variable that names the library's file.
const VARIABLE: &str = "BASALT_LLVM";

/// Versions whose library is looked for.
const VERSIONS: std::ops::RangeInclusive<u32> = 16..=22;

/// Where the library may be, the best first.
fn places() -> Vec<String> {
    let named = std::env::var(VARIABLE).ok().filter(|path| !path.is_empty());
    if let Some(path) = named {
        return vec![path];
    }
    let names = |version: u32| {
        let suffix = std::env::consts::DLL_SUFFIX;
        let files = [
            format!("libLLVM{suffix}.{version}.1"),
            format!("libLLVM-{version}{suffix}"),
            format!("libLLVM-{version}{suffix}.1"),
        ];
        files
            .into_iter()
            .chain([format!("/usr/lib/llvm-{version}/lib/libLLVM{suffix}")])
    };
    VERSIONS.rev().flat_map(names).collect()
}

/// LLVM, if the machine has it: loaded at the first call. To be called by whoever has the turn.
pub(super) fn api() -> Result<&'static Api, &'static str> {
    static API: OnceLock<Result<Api, String>> = OnceLock::new();
    API.get_or_init(open).as_ref().map_err(String::as_str)
}

fn open() -> Result<Api, String> {
    let mut why = String::new();
    for place in places() {
        match open_at(&place) {
            Ok(api) => return Ok(api),
            // The file that is named, or the first that was looked for, says most.
            Err(error) if why.is_empty() => why = error.to_string(),
            Err(_) => {}
        }
    }
    Err(format!(
        "Install LLVM's library (Debian: apt-get install libllvm22), or name its file in {VARIABLE}: {why}"
    ))
}

fn open_at(place: &str) -> Result<Api, libloading::Error> {
    // SAFETY: (initialisers) LLVM's library registers its options and passes when it is loaded, which is
    //         made for being loaded at any time. The file is one that the system or the user calls LLVM.
    //         Pays in example `fused`, as all that this module does.
    let library = unsafe { Library::new(place) }?;
    // SAFETY: (library) LLVM's by its name; leaked below, and if a function is missing, nothing is kept of it.
    let api = unsafe { Api::load(&library) }?;
    for name in INITIALIZERS {
        // SAFETY: (type) they have no arguments and no result. (once) under the lock of `api`.
        unsafe {
            let initialize = library.get::<unsafe extern "C" fn()>(name.as_bytes())?;
            initialize();
        }
    }
    // Never unloaded: code that it has made may run until the end.
    Box::leak(Box::new(library));
    Ok(api)
}
