//! Writes ALTER TABLE.

use super::Writer;
use super::text::{identifier, quoted};
use crate::ast::{
    Alter, AlterCommand as C, ColumnPosition, ElementAction, ElementKind, MoveTarget, Partition,
    PartitionAction,
};

impl Writer {
    pub(super) fn alter(&mut self, alter: &Alter) {
        self.put("ALTER ");
        self.put_if(alter.temporary, "TEMPORARY ");
        self.put("TABLE ");
        self.object_name(&alter.table);
        self.cluster(alter.cluster.as_deref());
        self.indented(|w| {
            for (i, command) in alter.commands.iter().enumerate() {
                w.put_if(i > 0, ",");
                w.line();
                w.put("(");
                w.alter_command(command);
                w.put(")");
            }
        });
        self.output(&alter.output);
    }

    fn alter_command(&mut self, command: &C) {
        match command {
            C::AddColumn { .. }
            | C::DropColumn { .. }
            | C::ClearColumn { .. }
            | C::ModifyColumn { .. }
            | C::RenameColumn { .. }
            | C::CommentColumn { .. }
            | C::MaterializeColumn { .. } => self.column_command(command),
            C::AddIndex { .. }
            | C::AddProjection { .. }
            | C::AddConstraint { .. }
            | C::Element { .. } => self.element_command(command),
            C::Partition { .. }
            | C::PartitionFrom { .. }
            | C::MovePartition { .. }
            | C::Freeze { .. } => self.partition_command(command),
            C::Update { .. } | C::Delete { .. } => self.mutation(command),
            _ => self.table_command(command),
        }
    }

    fn column_command(&mut self, command: &C) {
        match command {
            C::AddColumn {
                if_not_exists,
                column,
                position,
            } => {
                self.put("ADD COLUMN ");
                self.put_if(*if_not_exists, "IF NOT EXISTS ");
                self.column(column);
                self.position(position.as_ref());
            }
            C::DropColumn { if_exists, name } => self.named("DROP COLUMN ", *if_exists, name),
            C::ClearColumn {
                if_exists,
                name,
                partition,
            } => {
                self.named("CLEAR COLUMN ", *if_exists, name);
                self.in_partition(partition.as_ref());
            }
            C::ModifyColumn {
                if_exists,
                column,
                remove,
                position,
            } => {
                self.put("MODIFY COLUMN ");
                self.put_if(*if_exists, "IF EXISTS ");
                self.column(column);
                if let Some(remove) = remove {
                    self.put(" REMOVE ");
                    self.put(remove);
                }
                self.position(position.as_ref());
            }
            C::RenameColumn {
                if_exists,
                from,
                to,
            } => {
                self.named("RENAME COLUMN ", *if_exists, from);
                self.put(" TO ");
                self.put(&identifier(to));
            }
            C::CommentColumn {
                if_exists,
                name,
                comment,
            } => {
                self.named("COMMENT COLUMN ", *if_exists, name);
                self.put(" ");
                self.put(&quoted(comment));
            }
            C::MaterializeColumn { name, partition } => {
                self.named("MATERIALIZE COLUMN ", false, name);
                self.in_partition(partition.as_ref());
            }
            _ => {}
        }
    }

    fn named(&mut self, words: &str, if_exists: bool, name: &str) {
        self.put(words);
        self.put_if(if_exists, "IF EXISTS ");
        self.put(&identifier(name));
    }

    fn position(&mut self, position: Option<&ColumnPosition>) {
        match position {
            Some(ColumnPosition::First) => self.put(" FIRST "),
            Some(ColumnPosition::After(name)) => {
                self.put(" AFTER ");
                self.put(&identifier(name));
            }
            None => {}
        }
    }

    fn element_command(&mut self, command: &C) {
        match command {
            C::AddIndex {
                if_not_exists,
                index,
                position,
            } => {
                self.put("ADD INDEX ");
                self.put_if(*if_not_exists, "IF NOT EXISTS ");
                self.index(index);
                self.position(position.as_ref());
            }
            C::AddProjection {
                if_not_exists,
                projection,
                position,
            } => {
                self.put("ADD PROJECTION ");
                self.put_if(*if_not_exists, "IF NOT EXISTS ");
                self.projection(projection);
                self.position(position.as_ref());
            }
            C::AddConstraint {
                if_not_exists,
                constraint,
            } => {
                self.put("ADD CONSTRAINT ");
                self.put_if(*if_not_exists, "IF NOT EXISTS ");
                self.constraint(constraint);
            }
            C::Element {
                action,
                kind,
                if_exists,
                name,
                partition,
            } => {
                self.put(match action {
                    ElementAction::Drop => "DROP ",
                    ElementAction::Clear => "CLEAR ",
                    ElementAction::Materialize => "MATERIALIZE ",
                });
                let kind = match kind {
                    ElementKind::Index => "INDEX ",
                    ElementKind::Projection => "PROJECTION ",
                    ElementKind::Constraint => "CONSTRAINT ",
                    ElementKind::Statistics => "STATISTICS ",
                };
                self.named(kind, *if_exists, name);
                self.in_partition(partition.as_ref());
            }
            _ => {}
        }
    }

    fn partition_command(&mut self, command: &C) {
        match command {
            C::Partition { action, partition } => {
                self.put(match action {
                    PartitionAction::Drop => "DROP ",
                    PartitionAction::Detach => "DETACH ",
                    PartitionAction::DropDetached => "DROP DETACHED ",
                    PartitionAction::Attach => "ATTACH ",
                    PartitionAction::Forget => "FORGET ",
                });
                self.partition(partition);
            }
            C::PartitionFrom {
                replace,
                partition,
                from,
            } => {
                self.put(if *replace { "REPLACE " } else { "ATTACH " });
                self.partition(partition);
                self.put(" FROM ");
                self.object_name(from);
            }
            C::MovePartition { partition, to } => {
                self.put("MOVE ");
                self.partition(partition);
                match to {
                    MoveTarget::Disk(name) => self.put(&format!(" TO DISK {}", quoted(name))),
                    MoveTarget::Volume(name) => self.put(&format!(" TO VOLUME {}", quoted(name))),
                    MoveTarget::Table(name) => {
                        self.put(" TO TABLE ");
                        self.object_name(name);
                    }
                }
            }
            C::Freeze {
                unfreeze,
                partition,
                name,
            } => {
                self.put(if *unfreeze { "UNFREEZE" } else { "FREEZE" });
                if let Some(partition) = partition {
                    self.put(" ");
                    self.partition(partition);
                }
                if let Some(name) = name {
                    self.put(&format!(" WITH NAME {}", quoted(name)));
                }
            }
            _ => {}
        }
    }

    fn mutation(&mut self, command: &C) {
        match command {
            C::Update {
                assignments,
                partition,
                where_,
            } => {
                self.put(if self.is_one_line() {
                    "UPDATE  "
                } else {
                    "UPDATE "
                });
                self.assignments(assignments);
                self.in_partition(partition.as_ref());
                self.put(" WHERE ");
                self.expr(where_);
            }
            C::Delete { partition, where_ } => {
                self.put("DELETE");
                self.in_partition(partition.as_ref());
                self.put(" WHERE ");
                self.expr(where_);
            }
            _ => {}
        }
    }

    fn table_command(&mut self, command: &C) {
        match command {
            C::ModifyOrderBy(items) => {
                self.put("MODIFY ORDER BY ");
                self.sorting_key(items);
            }
            C::ModifySampleBy(expr) => {
                self.put("MODIFY SAMPLE BY ");
                self.expr(expr);
            }
            C::RemoveSampleBy => self.put("REMOVE SAMPLE BY"),
            C::ModifyTtl(items) => {
                self.put("MODIFY TTL ");
                self.commas(items, |w, item| w.ttl_item(item));
            }
            C::RemoveTtl => self.put("REMOVE TTL"),
            C::MaterializeTtl(partition) => {
                self.put("MATERIALIZE TTL");
                self.in_partition(partition.as_ref());
            }
            C::ModifySetting(settings) => {
                self.put("MODIFY SETTING ");
                self.settings(settings);
            }
            C::ResetSetting(names) => {
                self.put("RESET SETTING ");
                self.commas(names, |w, name| w.put(&identifier(name)));
            }
            C::ModifyComment(text) => self.put(&format!("MODIFY COMMENT {}", quoted(text))),
            C::ModifyQuery(query) => {
                self.put("MODIFY QUERY");
                self.indented(|w| {
                    w.line();
                    w.query(query);
                });
            }
            C::Tokens(tokens) => self.put(&tokens.text),
            _ => {}
        }
    }

    pub(super) fn in_partition(&mut self, partition: Option<&Partition>) {
        if let Some(partition) = partition {
            self.put(" IN ");
            self.partition(partition);
        }
    }

    pub(super) fn partition(&mut self, partition: &Partition) {
        match partition {
            Partition::Value(expr) => {
                self.put("PARTITION ");
                self.expr(expr);
            }
            Partition::Id(id) => self.put(&format!("PARTITION ID {}", quoted(id))),
            Partition::All => self.put("PARTITION ALL"),
            Partition::Part(name) => self.put(&format!("PART {}", quoted(name))),
        }
    }
}
