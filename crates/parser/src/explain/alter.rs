//! Turns ALTER TABLE into nodes.

use super::create::{column, constraint, index, projection, refresh};
use super::expr::{expr, exprs};
use super::node::Node;
use super::query::query;
use super::statement::{after_database, literal, names, partition, with_output};
use crate::ast::{
    Alter, AlterCommand, ColumnPosition, ElementAction, ElementKind, Expr, OrderItem, Partition,
    PartitionAction, Statistics,
};

pub(super) fn alter(a: &Alter) -> Node {
    let command = if a.is_database {
        database_command
    } else {
        alter_command
    };
    let commands = Node::list(
        a.commands
            .iter()
            .map(|step| command(&step.command))
            .collect(),
    );
    let mut children = vec![commands];
    children.extend(names(&a.table));
    let name = match a.is_database {
        true => format!("{} ", a.table.name),
        false => after_database(&a.table),
    };
    let node = Node::new(format!("AlterQuery {name}"), children);
    with_output(node, &a.output)
}

fn database_command(command: &AlterCommand) -> Node {
    match command {
        AlterCommand::ModifySetting(_) => Node::new(
            "AlterCommand MODIFY_DATABASE_SETTING",
            vec![Node::leaf("Set")],
        ),
        AlterCommand::ModifyComment(text) => {
            Node::new("AlterCommand MODIFY_DATABASE_COMMENT", vec![literal(text)])
        }
        other => alter_command(other),
    }
}

fn alter_command(command: &AlterCommand) -> Node {
    use AlterCommand as C;
    let node = |name: &str, children| Node::new(format!("AlterCommand {name}"), children);
    match command {
        C::AddColumn { .. }
        | C::ModifyColumn { .. }
        | C::DropColumn { .. }
        | C::ClearColumn { .. }
        | C::RenameColumn { .. }
        | C::CommentColumn { .. }
        | C::MaterializeColumn { .. }
        | C::ModifyColumnSetting(..)
        | C::ResetColumnSetting(..) => column_command(command),
        C::AddIndex { .. }
        | C::AddProjection { .. }
        | C::AddConstraint { .. }
        | C::Element { .. }
        | C::Statistics(_) => element_command(command),
        C::Update {
            assignments,
            where_,
            partition: p,
        } => {
            let mut children = in_partition(p.as_ref());
            children.extend([expr(where_), assignment_list(assignments)]);
            node("UPDATE", children)
        }
        C::Delete {
            where_,
            partition: p,
        } => {
            let mut children = in_partition(p.as_ref());
            children.push(expr(where_));
            node("DELETE", children)
        }
        C::Partition { .. }
        | C::PartitionFrom { .. }
        | C::MovePartition { .. }
        | C::Freeze { .. }
        | C::Fetch(..)
        | C::Rewrite(..) => partition_command(command),
        _ => table_command(command),
    }
}

fn column_command(command: &AlterCommand) -> Node {
    use AlterCommand as C;
    let (name, children) = match command {
        C::AddColumn {
            column: c,
            position,
            ..
        } => ("ADD_COLUMN", placed(column(c), position.as_ref())),
        C::ModifyColumn {
            column: c,
            position,
            ..
        } => ("MODIFY_COLUMN", placed(column(c), position.as_ref())),
        C::ModifyColumnSetting(name, _) => {
            let declared = Node::leaf(format!("ColumnDeclaration {name}"));
            ("MODIFY_COLUMN", vec![declared, Node::leaf("Set")])
        }
        C::ResetColumnSetting(name, settings) => {
            let declared = Node::leaf(format!("ColumnDeclaration {name}"));
            ("MODIFY_COLUMN", vec![declared, identifiers(settings)])
        }
        C::DropColumn { name, .. } => ("DROP_COLUMN", vec![identifier(name)]),
        C::ClearColumn {
            name, partition, ..
        } => ("DROP_COLUMN", named(name, partition.as_ref())),
        C::MaterializeColumn { name, partition } => {
            ("MATERIALIZE_COLUMN", named(name, partition.as_ref()))
        }
        C::RenameColumn { from, to, .. } => {
            ("RENAME_COLUMN", vec![identifier(from), identifier(to)])
        }
        C::CommentColumn { name, comment, .. } => {
            ("COMMENT_COLUMN", vec![identifier(name), literal(comment)])
        }
        _ => ("OTHER", Vec::new()),
    };
    Node::new(format!("AlterCommand {name}"), children)
}

fn element_command(command: &AlterCommand) -> Node {
    use AlterCommand as C;
    let (name, children) = match command {
        C::AddIndex {
            index: i, position, ..
        } => ("ADD_INDEX".to_owned(), placed(index(i), position.as_ref())),
        C::AddProjection {
            projection: p,
            position,
            ..
        } => (
            "ADD_PROJECTION".to_owned(),
            placed(projection(p), position.as_ref()),
        ),
        C::AddConstraint { constraint: c, .. } => {
            ("ADD_CONSTRAINT".to_owned(), vec![constraint(c)])
        }
        C::Element {
            action,
            kind,
            name,
            partition,
            ..
        } => {
            let action = match action {
                ElementAction::Materialize => "MATERIALIZE",
                ElementAction::Drop | ElementAction::Clear => "DROP",
            };
            let kind = match kind {
                ElementKind::Index => "INDEX",
                ElementKind::Projection => "PROJECTION",
                ElementKind::Constraint => "CONSTRAINT",
            };
            (format!("{action}_{kind}"), named(name, partition.as_ref()))
        }
        C::Statistics(s) => (statistics_name(s), statistics(s)),
        _ => ("OTHER".to_owned(), Vec::new()),
    };
    Node::new(format!("AlterCommand {name}"), children)
}

fn statistics_name(s: &Statistics) -> String {
    let action = match s.action.as_str() {
        "CLEAR" => "DROP",
        action => action,
    };
    format!("{action}_STATISTICS")
}

fn statistics(s: &Statistics) -> Vec<Node> {
    let mut parts: Vec<Node> = s.columns.iter().map(|names| identifiers(names)).collect();
    if !s.types.is_empty() {
        let types = s.types.iter().map(super::create::index_type).collect();
        parts.push(Node::list(types));
    }
    let mut children = Vec::new();
    if !parts.is_empty() {
        children.push(Node::new("Stat", parts));
    }
    children.extend(in_partition(s.partition.as_ref()));
    children
}

fn partition_command(command: &AlterCommand) -> Node {
    use AlterCommand as C;
    let (name, children) = match command {
        C::Partition {
            action,
            partition: p,
        } => {
            let name = match action {
                PartitionAction::Drop | PartitionAction::Detach => "DROP_PARTITION",
                PartitionAction::DropDetached => "DROP_DETACHED_PARTITION",
                PartitionAction::Attach => "ATTACH_PARTITION",
                PartitionAction::Forget => "FORGET_PARTITION",
            };
            (name.to_owned(), vec![partition(p)])
        }
        C::PartitionFrom { partition: p, .. } => {
            ("REPLACE_PARTITION".to_owned(), vec![partition(p)])
        }
        C::MovePartition { partition: p, .. } => ("MOVE_PARTITION".to_owned(), vec![partition(p)]),
        C::Fetch(p, _) => ("FETCH_PARTITION".to_owned(), vec![partition(p)]),
        C::Rewrite(words, p) => (words.replace(' ', "_"), in_partition(p.as_ref())),
        C::Freeze {
            unfreeze,
            partition: p,
            ..
        } => {
            let word = if *unfreeze { "UNFREEZE" } else { "FREEZE" };
            let which = if p.is_some() { "PARTITION" } else { "ALL" };
            (format!("{word}_{which}"), in_partition(p.as_ref()))
        }
        _ => ("OTHER".to_owned(), Vec::new()),
    };
    Node::new(format!("AlterCommand {name}"), children)
}

fn table_command(command: &AlterCommand) -> Node {
    use AlterCommand as C;
    let (name, children) = match command {
        C::ModifyOrderBy(items) => ("MODIFY_ORDER_BY", vec![sorting_key(items)]),
        C::ModifySampleBy(e) => ("MODIFY_SAMPLE_BY", vec![expr(e)]),
        C::RemoveSampleBy => ("REMOVE_SAMPLE_BY", Vec::new()),
        C::ModifyTtl(items) => ("MODIFY_TTL", vec![super::create::ttl(items)]),
        C::RemoveTtl => ("REMOVE_TTL", Vec::new()),
        C::MaterializeTtl(p) => ("MATERIALIZE_TTL", in_partition(p.as_ref())),
        C::ModifySetting(_) => ("MODIFY_SETTING", vec![Node::leaf("Set")]),
        C::ResetSetting(names) => ("RESET_SETTING", vec![identifiers(names)]),
        C::ModifyComment(text) => ("MODIFY_COMMENT", vec![literal(text)]),
        C::ModifyQuery(q) => ("MODIFY_QUERY", vec![query(q)]),
        C::ModifyRefresh(strategy) => ("MODIFY_REFRESH", vec![refresh(strategy)]),
        C::ModifySecurity(_) => {
            let security = Node::leaf("View SQL Security");
            ("MODIFY_SQL_SECURITY", vec![security])
        }
        C::Tokens(tokens) => {
            let name = tokens.construct.trim_start_matches("ALTER TABLE ");
            return Node::leaf(format!("AlterCommand {}", name.replace(' ', "_")));
        }
        _ => ("OTHER", Vec::new()),
    };
    Node::new(format!("AlterCommand {name}"), children)
}

fn sorting_key(items: &[OrderItem]) -> Node {
    match items {
        [one] => expr(&one.expr),
        many => {
            let keys: Vec<Expr> = many.iter().map(|item| item.expr.clone()).collect();
            Node::new("Function tuple", vec![Node::list(exprs(&keys))])
        }
    }
}

fn identifier(name: &str) -> Node {
    Node::leaf(format!("Identifier {name}"))
}

fn identifiers(names: &[String]) -> Node {
    Node::list(names.iter().map(|name| identifier(name)).collect())
}

fn named(name: &str, partition: Option<&Partition>) -> Vec<Node> {
    let mut nodes = vec![identifier(name)];
    nodes.extend(in_partition(partition));
    nodes
}

fn in_partition(which: Option<&Partition>) -> Vec<Node> {
    which.map(partition).into_iter().collect()
}

/// An element and the name of the one before it.
fn placed(element: Node, position: Option<&ColumnPosition>) -> Vec<Node> {
    let mut nodes = vec![element];
    if let Some(ColumnPosition::After(name, _)) = position {
        nodes.push(identifier(name));
    }
    nodes
}

pub(super) fn assignment_list(assignments: &[(String, Expr)]) -> Node {
    let each = |(name, e): &(String, Expr)| Node::new(format!("Assignment {name}"), vec![expr(e)]);
    Node::list(assignments.iter().map(each).collect())
}
