//! What commands of ALTER TABLE change of the statement that makes a table.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{
    AlterCommand, AlterStep, ColumnDef, CreateTable, ElementAction, ElementKind, Setting, Statement,
};

use crate::catalog::Table;
use crate::statement::columns::rename;

/// Whether a command changes the table's definition, and rows only so far as columns do.
pub(in crate::statement) fn changes_definition(command: &AlterCommand) -> bool {
    changes_columns(command) || changes_clauses(command)
}

/// Whether a command is about columns.
pub(super) fn changes_columns(command: &AlterCommand) -> bool {
    matches!(
        command,
        AlterCommand::AddColumn { .. }
            | AlterCommand::DropColumn { .. }
            | AlterCommand::ClearColumn {
                partition: None,
                ..
            }
            | AlterCommand::ModifyColumn { .. }
            | AlterCommand::RenameColumn { .. }
            | AlterCommand::CommentColumn { .. }
    )
}

fn changes_clauses(command: &AlterCommand) -> bool {
    matches!(
        command,
        AlterCommand::ModifyTtl(_)
            | AlterCommand::RemoveTtl
            | AlterCommand::ModifySetting(_)
            | AlterCommand::ResetSetting(_)
            | AlterCommand::ModifyComment(_)
            | AlterCommand::AddIndex { position: None, .. }
            | AlterCommand::Element {
                kind: ElementKind::Index,
                action: ElementAction::Drop,
                partition: None,
                ..
            }
    )
}

/// The statement that makes the table after a step, with other columns if there are some.
pub(in crate::statement) fn changed_statement(
    table: &Table,
    columns: Option<Vec<ColumnDef>>,
    step: &[AlterStep],
) -> Result<CreateTable> {
    let statement = basalt_parser::parse_statement(&table.create_sql)?.statement;
    let Statement::CreateTable(mut create) = statement else {
        return Err(Error::bug("a table that no CREATE TABLE has made"));
    };
    if let Some(columns) = columns {
        create.schema.get_or_insert_default().columns = columns;
    }
    for step in step {
        change(&mut create, &step.command)?;
    }
    Ok(*create)
}

fn change(create: &mut CreateTable, command: &AlterCommand) -> Result<()> {
    let storage = &mut create.storage;
    match command {
        AlterCommand::ModifyTtl(items) => storage.ttl.clone_from(items),
        AlterCommand::RemoveTtl => storage.ttl.clear(),
        AlterCommand::ModifySetting(settings) => {
            for setting in settings {
                set(&mut storage.settings, setting);
            }
        }
        AlterCommand::ResetSetting(names) => {
            storage.settings.retain(|s| !names.contains(&s.name));
        }
        AlterCommand::ModifyComment(comment) => {
            create.comment = (!comment.is_empty()).then(|| comment.clone());
        }
        AlterCommand::AddIndex {
            if_not_exists,
            index,
            ..
        } => {
            let indexes = &mut create.schema.get_or_insert_default().indexes;
            if !(*if_not_exists && indexes.iter().any(|i| i.name == index.name)) {
                indexes.push(index.as_ref().clone());
            }
        }
        // Indexes follow a column's name.
        AlterCommand::RenameColumn { from, to, .. } => {
            for index in &mut create.schema.get_or_insert_default().indexes {
                rename(&mut index.expr, from, to);
            }
        }
        AlterCommand::Element {
            kind: ElementKind::Index,
            action: ElementAction::Drop,
            if_exists,
            name,
            ..
        } => {
            let indexes = &mut create.schema.get_or_insert_default().indexes;
            check_index(indexes.iter().any(|i| i.name == *name), name, *if_exists)?;
            indexes.retain(|i| i.name != *name);
        }
        _ => {}
    }
    Ok(())
}

fn set(settings: &mut Vec<Setting>, setting: &Setting) {
    match settings.iter_mut().find(|s| s.name == setting.name) {
        Some(known) => *known = setting.clone(),
        None => settings.push(setting.clone()),
    }
}

/// Refuses the name of an index that is not there, unless the command says IF EXISTS.
pub(in crate::statement) fn check_index(is_there: bool, name: &str, if_exists: bool) -> Result<()> {
    match is_there || if_exists {
        true => Ok(()),
        false => Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Wrong index name. Cannot find index `{name}`"),
        )),
    }
}
