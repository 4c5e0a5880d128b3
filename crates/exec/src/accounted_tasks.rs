//! Lets the tasks that operators start work for the query that starts them.

use std::any::Any;

use basalt_profile::{Account, Accounted};
use datafusion::common::runtime::{JoinSetTracer, set_join_set_tracer};
use futures::future::BoxFuture;

type Ended = Box<dyn Any + Send>;

struct WorkForStarter;

impl JoinSetTracer for WorkForStarter {
    fn trace_future(&self, task: BoxFuture<'static, Ended>) -> BoxFuture<'static, Ended> {
        let account = Account::current();
        match account.is_nobody() {
            true => task,
            false => Box::pin(Accounted::new(account, task)),
        }
    }

    fn trace_block(
        &self,
        work: Box<dyn FnOnce() -> Ended + Send>,
    ) -> Box<dyn FnOnce() -> Ended + Send> {
        let account = Account::current();
        Box::new(move || {
            let _entered = account.enter();
            work()
        })
    }
}

/// Makes DataFusion's tasks of this process count for the queries that start them.
pub fn count_tasks() {
    // A host that has set another tracer keeps it; its queries are counted less exactly.
    let _ = set_join_set_tracer(&WorkForStarter);
}
