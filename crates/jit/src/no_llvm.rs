//! Stands in for LLVM in builds without the feature `llvm`: nothing is compiled, and callers go on in their other way.

use basalt_adapt::SimdLevel;

const WHY: &str = "Build with the feature llvm of basalt-jit to have programs compiled: it was built without LLVM";

/// Machine code, of which there is none.
pub(crate) enum Code {}

/// Why nothing is compiled.
pub(crate) type Complaint = String;

impl Code {
    pub(crate) fn address(&self) -> usize {
        match *self {}
    }

    pub(crate) fn size_bytes(&self) -> usize {
        match *self {}
    }
}

pub(crate) fn available() -> Result<(), &'static str> {
    Err(WHY)
}

/// There is nothing to end.
pub(crate) fn stop() {}

pub(crate) fn compile(_text: &str, _name: &str, _level: SimdLevel) -> Result<Code, Complaint> {
    Err(WHY.to_owned())
}

pub(crate) fn assembly(_text: &str, _level: SimdLevel) -> Result<String, Complaint> {
    Err(WHY.to_owned())
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_says_why_nothing_is_compiled() {
        let why = crate::compiled::availability().unwrap_err();
        assert!(why.contains("built without LLVM"), "{why}");
    }
}
