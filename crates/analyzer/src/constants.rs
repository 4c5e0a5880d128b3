//! Has constants that may take long computed where the query can be cancelled meanwhile.
//!
//! Functions are not interrupted in the middle of a value. So who runs a query gives a [`Runner`] that
//! computes on another thread, and leaves that to itself when the query is cancelled.

use std::cell::RefCell;
use std::sync::Arc;

use basalt_error::Result;
use basalt_functions::higher_order;
use datafusion::arrow::array::ArrayRef;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::Expr;

use crate::udf;

/// The computation of a constant.
pub type Work = Box<dyn FnOnce() -> Result<ArrayRef> + Send>;

/// Computes constants that may take long.
pub trait Runner {
    /// The value, or the error for which the query ends before it is there.
    ///
    /// # Errors
    /// What the computation reports; cancellation.
    fn run(&self, work: Work) -> Result<ArrayRef>;
}

thread_local! {
    static RUNNER: RefCell<Option<Arc<dyn Runner>>> = const { RefCell::new(None) };
}

/// Has `runner` compute the constants of what `f` analyzes on this thread.
pub fn with_runner<T>(runner: Arc<dyn Runner>, f: impl FnOnce() -> T) -> T {
    let _restored = Restored(RUNNER.replace(Some(runner)));
    f()
}

/// Puts the runner before back, also after a panic.
struct Restored(Option<Arc<dyn Runner>>);

impl Drop for Restored {
    fn drop(&mut self) {
        RUNNER.set(self.0.take());
    }
}

/// Computes a constant: what may take long by the runner, if there is one.
pub(crate) fn compute(expr: &Expr, work: Work) -> Result<ArrayRef> {
    let runner = RUNNER.with_borrow(|runner| runner.as_ref().map(Arc::clone));
    match runner.filter(|_| may_take_long(expr)) {
        Some(runner) => runner.run(work),
        None => work(),
    }
}

/// Functions whose results may be far larger than their arguments, and those that wait.
const GROWING: [&str; 12] = [
    "arrayResize",
    "arrayWithConstant",
    "bitmapBuild",
    "generateSerialID",
    "leftPad",
    "randomString",
    "range",
    "repeat",
    "rightPad",
    "sleep",
    "sleepEachRow",
    "space",
];

/// Whether an expression has functions that grow, go over arrays, or have large arguments.
fn may_take_long(expr: &Expr) -> bool {
    let found = expr.exists(|e| {
        let name = udf::function_name(e);
        Ok(name.is_some_and(|name| {
            GROWING.contains(&name)
                || name == udf::LARGE_CONSTANT
                || higher_order::find(name).is_some()
        }))
    });
    found.unwrap_or(true)
}
