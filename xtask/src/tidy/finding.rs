//! Names a place that breaks a rule, and the files that may.

use std::fmt;

/// A place in the tree and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) path: String,
    /// Line of the file, from 1.
    pub(crate) line: usize,
    pub(crate) text: String,
}

impl Finding {
    pub(crate) fn new(path: impl Into<String>, line: usize, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            line,
            text: text.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// A file that may break one rule, and why.
pub(crate) struct Exception {
    /// Path from the workspace's root, with `/`.
    pub(crate) path: &'static str,
    pub(crate) reason: &'static str,
}
