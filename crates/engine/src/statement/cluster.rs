//! Refuses statements for a cluster: an embedded engine is part of none.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::Statement;

/// Fails for `ON CLUSTER`.
///
/// # Errors
/// `CLUSTER_DOESNT_EXIST`.
pub(super) fn refuse(statement: &Statement) -> Result<()> {
    let cluster = match statement {
        Statement::CreateTable(create) => &create.cluster,
        Statement::CreateView(create) => &create.cluster,
        Statement::CreateDatabase(create) => &create.cluster,
        Statement::CreateFunction(create) => &create.cluster,
        Statement::CreateIndex(create) => &create.cluster,
        Statement::Drop(drop) => &drop.cluster,
        Statement::Truncate(truncate) => &truncate.cluster,
        Statement::Rename(rename) => &rename.cluster,
        Statement::Alter(alter) => &alter.cluster,
        Statement::Delete { cluster, .. } | Statement::Update { cluster, .. } => cluster,
        Statement::Optimize(optimize) => &optimize.cluster,
        Statement::Kill(kill) => &kill.cluster,
        _ => return Ok(()),
    };
    match cluster {
        None => Ok(()),
        Some(name) => Err(Error::new(
            ErrorCode::CLUSTER_DOESNT_EXIST,
            format!("Leave ON CLUSTER out: requested cluster '{name}' not found, there are none"),
        )),
    }
}
