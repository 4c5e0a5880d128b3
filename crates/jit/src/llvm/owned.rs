//! Owns what LLVM makes: each thing is given back when it is dropped.
//!
//! A reference in here is never null and is used by one thread at a time; what one needs of another,
//! `super::Built` keeps alive.

use std::ffi::{CStr, CString};
use std::ptr;

use basalt_adapt::SimdLevel;

use super::Complaint;
use super::api::{Api, Message, Ref};
use super::c_text;
use super::features::Processor;

/// The text of a message, which is freed.
pub(super) fn message_of(api: &Api, message: Message) -> String {
    if message.is_null() {
        return "no reason".to_owned();
    }
    // SAFETY: (text) LLVM's messages end with 0. (once) nobody else has this one.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        (api.LLVMDisposeMessage)(message);
        text
    }
}

/// Takes an error of LLVM's apart; null is success.
pub(super) fn checked(api: &Api, error: Ref) -> Result<(), Complaint> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: (once) reading the message of an error consumes the error, and disposing of it the message.
    unsafe {
        let message = (api.LLVMGetErrorMessage)(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        (api.LLVMDisposeErrorMessage)(message);
        Err(text)
    }
}

/// Declares an owner: its name, and the function that takes back what it owns.
macro_rules! owner {
    ($(#[$docs:meta])* $name:ident, $dispose:ident) => {
        $(#[$docs])*
        pub(super) struct $name {
            api: &'static Api,
            inner: Ref,
        }

        impl $name {
            pub(super) fn as_ref(&self) -> Ref {
                self.inner
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: (once) made by LLVM for this owner, and never copied out of it.
                unsafe { (self.api.$dispose)(self.inner) };
            }
        }
    };
}

owner!(
    /// What modules live in.
    Context,
    LLVMContextDispose
);
owner!(
    /// Functions that are parsed.
    Module,
    LLVMDisposeModule
);
owner!(
    /// The processor to compile for.
    Machine,
    LLVMDisposeTargetMachine
);
owner!(
    /// Options of passes.
    Options,
    LLVMDisposePassBuilderOptions
);

/// Bytes of LLVM's.
pub(super) struct Buffer {
    api: &'static Api,
    inner: Ref,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: (once) made by LLVM for this owner; `into_ref` drops no owner.
        unsafe { (self.api.LLVMDisposeMemoryBuffer)(self.inner) };
    }
}

impl Context {
    pub(super) fn new(api: &'static Api) -> Self {
        // SAFETY: (arguments) none.
        let inner = unsafe { (api.LLVMContextCreate)() };
        Self { api, inner }
    }
}

impl Options {
    pub(super) fn new(api: &'static Api) -> Self {
        // SAFETY: (arguments) none.
        let inner = unsafe { (api.LLVMCreatePassBuilderOptions)() };
        Self { api, inner }
    }
}

impl Module {
    /// The module that `text` describes. It must be dropped before `context`.
    pub(super) fn parse(
        api: &'static Api,
        context: &Context,
        text: &str,
    ) -> Result<Self, Complaint> {
        let (mut inner, mut message) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: (text) read within its length, and copied. (buffer) parsing consumes it, also if it
        //         fails. (out) both places are valid for a write.
        let failed = unsafe {
            let name = c"kernel";
            let buffer = (api.LLVMCreateMemoryBufferWithMemoryRangeCopy)(
                text.as_ptr().cast(),
                text.len(),
                name.as_ptr(),
            );
            (api.LLVMParseIRInContext)(context.as_ref(), buffer, &raw mut inner, &raw mut message)
        };
        if failed != 0 {
            return Err(message_of(api, message));
        }
        Ok(Self { api, inner })
    }
}

/// Code is optimised as far as LLVM can, lies wherever there is room, and reaches its constants from there.
const OPTIMIZE_MOST: u32 = 3;
const RELOCATE_ANYWHERE: u32 = 2;
const MODEL_DEFAULT: u32 = 0;

impl Machine {
    /// The processor that this runs on, with the instructions that `level` allows.
    pub(super) fn of_host(api: &'static Api, level: SimdLevel) -> Result<Self, Complaint> {
        // SAFETY: (arguments) none. (once) each message is taken over by `message_of`.
        let [triple, name, features] = unsafe {
            [
                (api.LLVMGetDefaultTargetTriple)(),
                (api.LLVMGetHostCPUName)(),
                (api.LLVMGetHostCPUFeatures)(),
            ]
        }
        .map(|message| message_of(api, message));
        let Processor { name, features } = Processor { name, features }.limited(level);
        let (triple, name, features) = (c_text(&triple)?, c_text(&name)?, c_text(&features)?);
        let target = target(api, &triple)?;
        // SAFETY: (target) LLVM's own, which lives for ever. (texts) end with 0 and are only read.
        let inner = unsafe {
            (api.LLVMCreateTargetMachine)(
                target,
                triple.as_ptr(),
                name.as_ptr(),
                features.as_ptr(),
                OPTIMIZE_MOST,
                RELOCATE_ANYWHERE,
                MODEL_DEFAULT,
            )
        };
        if inner.is_null() {
            return Err("no machine to compile for".to_owned());
        }
        Ok(Self { api, inner })
    }

    /// Tells `module` how this machine lays data out.
    pub(super) fn adopt(&self, module: &Module) {
        // SAFETY: (alive) both are borrowed. (layout, triple) copied by the module, then freed once.
        unsafe {
            let triple = (self.api.LLVMGetTargetMachineTriple)(self.inner);
            (self.api.LLVMSetTarget)(module.as_ref(), triple);
            (self.api.LLVMDisposeMessage)(triple);
            let layout = (self.api.LLVMCreateTargetDataLayout)(self.inner);
            (self.api.LLVMSetModuleDataLayout)(module.as_ref(), layout);
            (self.api.LLVMDisposeTargetData)(layout);
        }
    }
}

fn target(api: &Api, triple: &CString) -> Result<Ref, Complaint> {
    let (mut target, mut message) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: (text) ends with 0. (out) both places are valid for a write.
    let failed = unsafe {
        (api.LLVMGetTargetFromTriple)(triple.as_ptr(), &raw mut target, &raw mut message)
    };
    if failed != 0 {
        return Err(message_of(api, message));
    }
    Ok(target)
}

impl Buffer {
    /// Owns a buffer that LLVM has made.
    pub(super) fn of(api: &'static Api, inner: Ref) -> Self {
        Self { api, inner }
    }

    /// What it holds.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: (bounds) LLVM tells begin and length of one allocation. (lifetime) that of `self`, and
        //         nothing changes a buffer.
        unsafe {
            let start: *const u8 = (self.api.LLVMGetBufferStart)(self.inner).cast();
            std::slice::from_raw_parts(start, (self.api.LLVMGetBufferSize)(self.inner))
        }
    }

    /// Gives it away.
    fn into_ref(self) -> Ref {
        std::mem::ManuallyDrop::new(self).inner
    }
}

/// Code that is linked and can be called.
pub(super) struct Jit {
    api: &'static Api,
    inner: Ref,
}

// SAFETY: (threads) LLJIT locks itself; here it is only made, asked, and disposed of by its one owner.
unsafe impl Send for Jit {}
// SAFETY: (threads) a shared reference to it gives nothing but its code's address.
unsafe impl Sync for Jit {}

impl Jit {
    pub(super) fn new(api: &'static Api) -> Result<Self, Complaint> {
        let mut inner = ptr::null_mut();
        // SAFETY: (builder) null asks for the host's settings. (out) the place is valid for a write.
        checked(api, unsafe {
            (api.LLVMOrcCreateLLJIT)(&raw mut inner, ptr::null_mut())
        })?;
        Ok(Self { api, inner })
    }

    /// Adds an object file.
    pub(super) fn add(&self, object: Buffer) -> Result<(), Complaint> {
        let object = object.into_ref();
        // SAFETY: (alive) the library belongs to the JIT. (object) given away above, to this call only.
        checked(self.api, unsafe {
            let library = (self.api.LLVMOrcLLJITGetMainJITDylib)(self.inner);
            (self.api.LLVMOrcLLJITAddObjectFile)(self.inner, library, object)
        })
    }

    /// Where the function `name` begins.
    pub(super) fn address(&self, name: &CString) -> Result<usize, Complaint> {
        let mut address = 0;
        // SAFETY: (out) the place is valid for a write. (text) ends with 0 and is only read.
        checked(self.api, unsafe {
            (self.api.LLVMOrcLLJITLookup)(self.inner, &raw mut address, name.as_ptr())
        })?;
        usize::try_from(address).map_err(|error| error.to_string())
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        // SAFETY: (once) made by LLVM for this owner. Whoever calls the code keeps the owner.
        let error = unsafe { (self.api.LLVMOrcDisposeLLJIT)(self.inner) };
        // Memory that cannot be given back is lost; there is nothing else to do.
        let _ = checked(self.api, error);
    }
}
