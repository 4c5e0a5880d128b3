//! Runs a command of ALTER TABLE for a table on disk.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{
    AlterCommand, CreateTable, ElementAction, ElementKind, ObjectName, Partition, PartitionAction,
};
use basalt_storage::Part;

use super::partition::partition_id;
use super::{alter_columns, mutation};
use crate::catalog::Table;
use crate::merge_tree::MergeTreeTable;
use crate::session::{RunningQuery, Session};
use crate::statement::altered_columns::{altered_columns, same_columns};

/// Runs one command.
pub(in crate::statement) fn alter(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table): (&ObjectName, &Table),
    command: &AlterCommand,
) -> Result<()> {
    match command {
        AlterCommand::Delete { partition, where_ } => {
            let which = (partition.as_ref(), where_);
            mutation::delete(session, query, (name, table), which)
        }
        AlterCommand::Update {
            assignments,
            partition,
            where_,
        } => {
            let which = (partition.as_ref(), where_);
            mutation::update(session, query, (name, table), assignments, which)
        }
        AlterCommand::Partition { action, partition } => {
            partitions(session, query, table, (*action, partition))
        }
        AlterCommand::ModifyTtl(_)
        | AlterCommand::RemoveTtl
        | AlterCommand::ModifySetting(_)
        | AlterCommand::ResetSetting(_) => {
            let same = same_columns(table);
            let change = |create: &mut CreateTable| change_clauses(create, command);
            alter_columns::replace(session, query, (name, table), same, &change)?;
            if matches!(command, AlterCommand::ModifyTtl(_)) {
                merge_expired(session, name)?;
            }
            Ok(())
        }
        AlterCommand::AddIndex { position: None, .. }
        | AlterCommand::Element {
            kind: ElementKind::Index,
            partition: None,
            ..
        } => index(session, query, (name, table), command),
        AlterCommand::MaterializeTtl(None) => merge_expired(session, name),
        AlterCommand::AddColumn { .. }
        | AlterCommand::DropColumn { .. }
        | AlterCommand::ClearColumn {
            partition: None, ..
        }
        | AlterCommand::ModifyColumn { .. }
        | AlterCommand::RenameColumn { .. }
        | AlterCommand::CommentColumn { .. } => {
            let columns = altered_columns(session, query, table, command)?;
            alter_columns::replace(session, query, (name, table), columns, &|_| {})
        }
        _ => Err(Error::not_implemented(
            "ALTER of a MergeTree table other than UPDATE, DELETE, columns, partitions, TTL, \
             settings, indexes and the comment",
        )),
    }
}

/// `ADD | DROP | MATERIALIZE INDEX`
fn index(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table): (&ObjectName, &Table),
    command: &AlterCommand,
) -> Result<()> {
    match command {
        AlterCommand::AddIndex {
            if_not_exists,
            index,
            ..
        } => {
            let add = |create: &mut CreateTable| {
                let indexes = create.schema.iter_mut().map(|s| &mut s.indexes);
                for indexes in indexes {
                    if !(*if_not_exists && indexes.iter().any(|i| i.name == index.name)) {
                        indexes.push(index.as_ref().clone());
                    }
                }
            };
            let same = same_columns(table);
            alter_columns::replace(session, query, (name, table), same, &add)
        }
        AlterCommand::Element {
            action,
            if_exists,
            name: index,
            ..
        } => {
            let known = table.merge_tree().map(|m| &m.storage.layout().indexes);
            if !known.into_iter().flatten().any(|i| i.name == *index) {
                return match if_exists {
                    true => Ok(()),
                    false => Err(Error::new(
                        ErrorCode::BAD_ARGUMENTS,
                        format!("Wrong index name. Cannot find index `{index}`"),
                    )),
                };
            }
            match action {
                ElementAction::Drop => {
                    let remove = |create: &mut CreateTable| {
                        if let Some(schema) = &mut create.schema {
                            schema.indexes.retain(|i| i.name != *index);
                        }
                    };
                    let same = same_columns(table);
                    alter_columns::replace(session, query, (name, table), same, &remove)
                }
                // All parts have the entries of all indexes.
                ElementAction::Materialize => Ok(()),
                ElementAction::Clear => Err(Error::not_implemented("CLEAR INDEX")),
            }
        }
        _ => Err(Error::bug("a command that is not about an index")),
    }
}

/// What a command changes of the clauses behind the columns.
fn change_clauses(create: &mut CreateTable, command: &AlterCommand) {
    let storage = &mut create.storage;
    match command {
        AlterCommand::ModifyTtl(items) => storage.ttl.clone_from(items),
        AlterCommand::RemoveTtl => storage.ttl.clear(),
        AlterCommand::ModifySetting(settings) => {
            for setting in settings {
                let mut known = storage.settings.iter_mut();
                match known.find(|s| s.name == setting.name) {
                    Some(known) => *known = setting.clone(),
                    None => storage.settings.push(setting.clone()),
                }
            }
        }
        AlterCommand::ResetSetting(names) => {
            storage.settings.retain(|s| !names.contains(&s.name));
        }
        _ => {}
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
            Partition::Part(name) => Ok(Self::Part(String::from_utf8_lossy(name).into_owned())),
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
    if let Meant::Part(name) = &meant
        && !basalt_storage::merge_tree::is_part_name(name)
    {
        return Err(Error::new(
            ErrorCode::BAD_DATA_PART_NAME,
            format!("Write a name as in system.parts: unexpected part name {name}"),
        ));
    }
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
        PartitionAction::Forget => Err(Error::not_implemented("FORGET PARTITION")),
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
