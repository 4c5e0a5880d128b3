//! Runs a command of ALTER TABLE for a table on disk.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{
    AlterCommand, AlterStep, ElementAction, ElementKind, ObjectName, Partition, PartitionAction,
};
use basalt_storage::Part;

use super::partition::partition_id;
use super::{alter_columns, mutation};
use crate::catalog::Table;
use crate::merge_tree::MergeTreeTable;
use crate::session::{RunningQuery, Session};
use crate::statement::alter::clauses::{changes_definition, check_index};

/// Runs a step.
pub(in crate::statement) fn alter(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table): (&ObjectName, &Table),
    step: &[AlterStep],
) -> Result<()> {
    match row_command(step) {
        Some(AlterCommand::Delete { partition, where_ }) => {
            let which = (partition.as_ref(), where_);
            mutation::delete(
                session,
                query,
                (name, table),
                which,
                mutation::Deletion::Rewrite,
            )
        }
        Some(AlterCommand::Update {
            assignments,
            partition,
            where_,
        }) => {
            let which = (partition.as_ref(), where_);
            mutation::update(session, query, (name, table), assignments, which)
        }
        Some(AlterCommand::Partition { action, partition }) => {
            partitions(session, query, table, (*action, partition))
        }
        Some(AlterCommand::MaterializeTtl(None)) => merge_expired(session, name),
        Some(AlterCommand::Rewrite(words, partition)) => {
            mutation::rewrite(session, query, table, (words, partition.as_ref()))
        }
        Some(other) => check_other(table, other),
        None => {
            alter_columns::replace(session, query, (name, table), step)?;
            let is_ttl = |s: &AlterStep| matches!(s.command, AlterCommand::ModifyTtl(_));
            match step.iter().any(is_ttl) {
                true => merge_expired(session, name),
                false => Ok(()),
            }
        }
    }
}

/// Finds what is wrong with a step, and gives the table with the definition that it makes.
pub(in crate::statement) fn check_alter(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table): (&ObjectName, &Arc<Table>),
    step: &[AlterStep],
) -> Result<Arc<Table>> {
    match row_command(step) {
        Some(AlterCommand::Delete { partition, where_ }) => {
            let which = (partition.as_ref(), where_);
            let deletion = mutation::Deletion::Rewrite;
            mutation::check_delete(session, query, (name, table), which, deletion)?;
        }
        Some(AlterCommand::Update {
            assignments,
            partition,
            where_,
        }) => {
            let which = (partition.as_ref(), where_);
            mutation::check_update(session, query, (name, table), assignments, which)?;
        }
        Some(AlterCommand::Partition { action, partition }) => {
            let on_disk = mutation::on_disk(table)?;
            let meant = Meant::of(session, query, on_disk, partition)?;
            meant.check_parts(on_disk, *action)?;
        }
        Some(AlterCommand::Rewrite(_, partition)) => {
            mutation::check_rewrite(session, query, table, partition.as_ref())?;
        }
        Some(AlterCommand::MaterializeTtl(None)) => {}
        Some(other) => check_other(table, other)?,
        None => {
            let prepared = alter_columns::prepared(session, query, table, step)?;
            return Ok(Arc::new(prepared.table));
        }
    }
    Ok(Arc::clone(table))
}

/// The command of a step that is not about the definition.
fn row_command(step: &[AlterStep]) -> Option<&AlterCommand> {
    let command = step.first().map(|s| &s.command);
    command.filter(|command| !changes_definition(command))
}

/// What there is nothing to do for, or is not supported.
fn check_other(table: &Table, command: &AlterCommand) -> Result<()> {
    match command {
        // All parts have the entries of all indexes.
        AlterCommand::Element {
            kind: ElementKind::Index,
            action: ElementAction::Materialize,
            partition: None,
            if_exists,
            name,
        } => {
            let indexes = &mutation::on_disk(table)?.storage.layout().indexes;
            check_index(indexes.iter().any(|i| i.name == *name), name, *if_exists)
        }
        other => Err(Error::not_implemented(format!(
            "ALTER TABLE … {} of a MergeTree table",
            words(other)
        ))),
    }
}

/// How a command that is not supported begins.
fn words(command: &AlterCommand) -> &'static str {
    match command {
        AlterCommand::MaterializeColumn { .. } => "MATERIALIZE COLUMN",
        AlterCommand::PartitionFrom { replace: true, .. } => "REPLACE PARTITION",
        AlterCommand::PartitionFrom { .. } => "ATTACH PARTITION … FROM",
        AlterCommand::MovePartition { .. } => "MOVE PARTITION",
        AlterCommand::Freeze { unfreeze: true, .. } => "UNFREEZE",
        AlterCommand::Freeze { .. } => "FREEZE",
        AlterCommand::Fetch(..) => "FETCH PARTITION",
        AlterCommand::Statistics(_) => "STATISTICS",
        AlterCommand::AddProjection { .. } => "ADD PROJECTION",
        AlterCommand::AddConstraint { .. } => "ADD CONSTRAINT",
        AlterCommand::MaterializeTtl(_) => "MATERIALIZE TTL IN PARTITION",
        AlterCommand::ModifyQuery(_) => "MODIFY QUERY",
        AlterCommand::ModifyRefresh(_) => "MODIFY REFRESH",
        AlterCommand::ModifySecurity(_) => "MODIFY SQL SECURITY",
        AlterCommand::ModifySampleBy(_) | AlterCommand::RemoveSampleBy => "SAMPLE BY",
        _ => "with this command",
    }
}

/// Takes expired rows away.
fn merge_expired(session: &Session, name: &ObjectName) -> Result<()> {
    let table = session.find_table(name)?;
    match table.merge_tree() {
        Some(on_disk) if !on_disk.storage.layout().ttl.is_empty() => {
            on_disk.storage.merge(None, true)
        }
        _ => Ok(()),
    }
}

/// Which parts a statement means.
enum Meant {
    Partition(Option<String>),
    Part(String),
}

impl Meant {
    fn of(
        session: &Session,
        query: &RunningQuery<'_>,
        table: &MergeTreeTable,
        partition: &Partition,
    ) -> Result<Self> {
        match partition {
            Partition::Part(name) => {
                let name = String::from_utf8_lossy(name).into_owned();
                match basalt_storage::merge_tree::is_part_name(&name) {
                    true => Ok(Self::Part(name)),
                    false => Err(Error::new(
                        ErrorCode::BAD_DATA_PART_NAME,
                        format!("Write a name as in system.parts: unexpected part name {name}"),
                    )),
                }
            }
            other => partition_id(session, query, table, other).map(Self::Partition),
        }
    }

    fn is(&self, partition: &str, part: &str) -> bool {
        match self {
            Self::Partition(None) => true,
            Self::Partition(Some(id)) => id == partition,
            Self::Part(name) => name == part,
        }
    }

    fn is_part(&self, part: &Part) -> bool {
        self.is(part.partition_id(), &part.name())
    }

    /// Refuses a part that is not there.
    fn check_parts(&self, table: &MergeTreeTable, action: PartitionAction) -> Result<()> {
        let storage = &table.storage;
        match action {
            PartitionAction::Drop | PartitionAction::Detach => {
                let parts = storage.parts()?;
                let num_found = parts.iter().filter(|part| self.is_part(part)).count();
                self.check(num_found, ErrorCode::NO_SUCH_DATA_PART)
            }
            PartitionAction::Attach | PartitionAction::DropDetached => {
                let names = storage.detached_parts()?;
                let is_part = |name: &&String| matches!(self, Self::Part(part) if part == *name);
                let num_found = names.iter().filter(is_part).count();
                self.check(num_found, ErrorCode::BAD_DATA_PART_NAME)
            }
            PartitionAction::Forget => Err(unsupported_forget()),
        }
    }

    /// Refuses a part that was not found.
    fn check(&self, num_found: usize, code: ErrorCode) -> Result<()> {
        match self {
            Self::Part(name) if num_found == 0 => {
                let message = format!("Look into system.parts: there is no part {name}");
                Err(Error::new(code, message))
            }
            _ => Ok(()),
        }
    }
}

fn unsupported_forget() -> Error {
    Error::not_implemented("FORGET PARTITION")
}

/// `DROP | DETACH | ATTACH PARTITION | PART`
fn partitions(
    session: &Session,
    query: &RunningQuery<'_>,
    table: &Table,
    (action, partition): (PartitionAction, &Partition),
) -> Result<()> {
    let Some(on_disk) = table.merge_tree() else {
        return Err(Error::bug("partitions of a table that has no parts"));
    };
    let meant = Meant::of(session, query, on_disk, partition)?;
    let storage = &on_disk.storage;
    match action {
        PartitionAction::Drop => {
            let num_found = storage.drop_parts(&|part| meant.is_part(part))?;
            meant.check(num_found, ErrorCode::NO_SUCH_DATA_PART)
        }
        PartitionAction::Detach => {
            let num_found = storage.detach_parts(&|part| meant.is_part(part))?;
            meant.check(num_found, ErrorCode::NO_SUCH_DATA_PART)
        }
        PartitionAction::Attach => {
            let num_found = storage.attach_parts(&|partition, part| meant.is(partition, part))?;
            meant.check(num_found, ErrorCode::BAD_DATA_PART_NAME)
        }
        PartitionAction::DropDetached => {
            let is_meant = |partition: &str, part: &str| meant.is(partition, part);
            let num_found = storage.drop_detached_parts(&is_meant)?;
            meant.check(num_found, ErrorCode::BAD_DATA_PART_NAME)
        }
        PartitionAction::Forget => Err(unsupported_forget()),
    }
}

/// The parts that CHECK TABLE means, each with what is wrong with it.
pub(in crate::statement) fn checked(
    session: &Session,
    query: &RunningQuery<'_>,
    table: &Arc<MergeTreeTable>,
    partition: Option<&Partition>,
) -> Result<Vec<basalt_storage::merge_tree::Checked>> {
    let meant = match partition {
        Some(partition) => Meant::of(session, query, table, partition)?,
        None => Meant::Partition(None),
    };
    table.storage.check(&|part| meant.is_part(part))
}
