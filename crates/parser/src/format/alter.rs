//! Writes ALTER TABLE.

use super::Writer;
use super::text::{backticked, quoted};
use crate::ast::{
    Alter, AlterCommand as C, ColumnPosition, ElementAction, ElementKind, MoveTarget, Partition,
    PartitionAction, Statistics,
};

impl Writer {
    pub(super) fn alter(&mut self, alter: &Alter) {
        self.put("ALTER ");
        self.put(if alter.is_database {
            "DATABASE "
        } else {
            "TABLE "
        });
        self.object_name(&alter.table);
        self.cluster(alter.cluster.as_deref());
        self.indented(|w| {
            for (i, step) in alter.commands.iter().enumerate() {
                w.put_if(i > 0, ",");
                w.line();
                w.put("(");
                w.alter_command(&step.command);
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
            C::DropColumn { if_exists, name } => {
                self.column_named("DROP COLUMN ", *if_exists, name)
            }
            C::ClearColumn {
                if_exists,
                name,
                partition,
            } => {
                self.column_named("CLEAR COLUMN ", *if_exists, name);
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
                self.column_named("RENAME COLUMN ", *if_exists, from);
                self.put(" TO ");
                self.dotted(to);
            }
            C::CommentColumn {
                if_exists,
                name,
                comment,
            } => {
                self.column_named("COMMENT COLUMN ", *if_exists, name);
                self.put(" ");
                self.put(&quoted(comment));
            }
            C::MaterializeColumn { name, partition } => {
                self.column_named("MATERIALIZE COLUMN ", false, name);
                self.in_partition(partition.as_ref());
            }
            _ => {}
        }
    }

    fn named(&mut self, words: &str, if_exists: bool, name: &str) {
        self.put(words);
        self.put_if(if_exists, "IF EXISTS ");
        self.put_name(name);
    }

    fn column_named(&mut self, words: &str, if_exists: bool, name: &str) {
        self.put(words);
        self.put_if(if_exists, "IF EXISTS ");
        self.dotted(name);
    }

    /// A column's name, each part for itself.
    fn dotted(&mut self, name: &str) {
        for (i, part) in name.split('.').enumerate() {
            self.put_if(i > 0, ".");
            self.put_name(part);
        }
    }

    fn position(&mut self, position: Option<&ColumnPosition>) {
        match position {
            Some(ColumnPosition::First) => self.put(" FIRST "),
            Some(ColumnPosition::After(name, _)) => {
                self.put(" AFTER ");
                self.dotted(name);
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
                    MoveTarget::Shard(path) => self.put(&format!(" TO SHARD {}", quoted(path))),
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
                self.put("RESET SETTING");
                self.names(names);
            }
            C::ModifyColumnSetting(column, settings) => {
                self.put(&format!(
                    "MODIFY COLUMN {} MODIFY SETTING ",
                    backticked(column)
                ));
                self.settings(settings);
            }
            C::ResetColumnSetting(column, names) => {
                self.put(&format!(
                    "MODIFY COLUMN {} RESET SETTING",
                    backticked(column)
                ));
                self.names(names);
            }
            C::Statistics(statistics) => self.statistics(statistics),
            C::ModifyRefresh(refresh) => {
                self.put("MODIFY");
                self.put(if self.is_one_line() { " " } else { "\n" });
                self.put(&refresh.text);
            }
            C::ModifySecurity(text) => self.put(&format!("MODIFY {text}")),
            C::Rewrite(words, partition) => {
                self.put(words);
                self.in_partition(partition.as_ref());
            }
            C::Fetch(partition, from) => {
                self.put("FETCH ");
                self.partition(partition);
                self.put(&format!(" FROM {}", quoted(from)));
            }
            C::ModifyComment(text) => self.put(&format!("MODIFY COMMENT {}", quoted(text))),
            C::ModifyQuery(query) => {
                self.put("MODIFY QUERY");
                self.line();
                self.query(query);
            }
            C::Tokens(tokens) => self.put(&tokens.text),
            _ => {}
        }
    }

    fn statistics(&mut self, s: &Statistics) {
        self.put(&format!("{} STATISTICS", s.action));
        let lenient = if s.action == "ADD" {
            " IF NOT EXISTS"
        } else {
            " IF EXISTS"
        };
        self.put_if(s.is_lenient, lenient);
        match &s.columns {
            Some(columns) => self.names(columns),
            None => self.put("  ALL"),
        }
        if !s.types.is_empty() {
            self.put(" TYPE");
            self.list_start();
            self.commas(&s.types, |w, e| w.expr(e));
        }
        self.in_partition(s.partition.as_ref());
    }

    fn names(&mut self, names: &[String]) {
        self.list_start();
        self.commas(names, |w, name| w.put_name(name));
    }

    /// ClickHouse writes one space more before lists where all stands on one line.
    fn list_start(&mut self) {
        self.put(if self.is_one_line() { "  " } else { " " });
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
