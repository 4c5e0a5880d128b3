//! Turns ALTER TABLE into nodes.

use super::create::column;
use super::expr::{expr, exprs};
use super::node::Node;
use super::query::order_item;
use super::statement::{after_database, literal, names, partition, with_output};
use crate::ast::{Alter, AlterCommand, ColumnDef, ColumnPosition, Expr};

pub(super) fn alter(a: &Alter) -> Node {
    let commands = Node::list(a.commands.iter().map(alter_command).collect());
    let mut children = vec![commands];
    children.extend(names(&a.table));
    let node = Node::new(format!("AlterQuery {}", after_database(&a.table)), children);
    with_output(node, &a.output)
}

fn alter_command(command: &AlterCommand) -> Node {
    use AlterCommand as C;
    let identifier = |name: &str| Node::leaf(format!("Identifier {name}"));
    let (name, children) = match command {
        C::AddColumn {
            column: c,
            position,
            ..
        } => ("ADD_COLUMN", placed(c, position.as_ref())),
        C::ModifyColumn {
            column: c,
            position,
            ..
        } => ("MODIFY_COLUMN", placed(c, position.as_ref())),
        C::DropColumn { name, .. } => ("DROP_COLUMN", vec![identifier(name)]),
        C::ClearColumn { name, .. } => ("DROP_COLUMN", vec![identifier(name)]),
        C::RenameColumn { from, to, .. } => {
            ("RENAME_COLUMN", vec![identifier(from), identifier(to)])
        }
        C::CommentColumn { name, comment, .. } => {
            let text = literal(comment);
            ("COMMENT_COLUMN", vec![identifier(name), text])
        }
        C::Update {
            assignments,
            where_,
            ..
        } => ("UPDATE", vec![expr(where_), assignment_list(assignments)]),
        C::Delete { where_, .. } => ("DELETE", vec![expr(where_)]),
        C::ModifyOrderBy(items) => ("MODIFY_ORDER_BY", items.iter().map(order_item).collect()),
        C::ModifyTtl(items) => {
            let items: Vec<Expr> = items.iter().map(|item| item.expr.clone()).collect();
            ("MODIFY_TTL", exprs(&items))
        }
        C::Partition { partition: p, .. } => ("DROP_PARTITION", vec![partition(p)]),
        C::Tokens(tokens) => return Node::leaf(format!("AlterCommand {}", tokens.construct)),
        other => (other_name(other), Vec::new()),
    };
    Node::new(format!("AlterCommand {name}"), children)
}

/// A column and the name of the one before it.
fn placed(c: &ColumnDef, position: Option<&ColumnPosition>) -> Vec<Node> {
    let mut nodes = vec![column(c)];
    if let Some(ColumnPosition::After(name)) = position {
        nodes.push(Node::leaf(format!("Identifier {name}")));
    }
    nodes
}

pub(super) fn assignment_list(assignments: &[(String, Expr)]) -> Node {
    let each = |(name, e): &(String, Expr)| Node::new(format!("Assignment {name}"), vec![expr(e)]);
    Node::list(assignments.iter().map(each).collect())
}

fn other_name(command: &AlterCommand) -> &'static str {
    use AlterCommand as C;
    match command {
        C::MaterializeColumn { .. } => "MATERIALIZE_COLUMN",
        C::AddIndex { .. } => "ADD_INDEX",
        C::AddProjection { .. } => "ADD_PROJECTION",
        C::AddConstraint { .. } => "ADD_CONSTRAINT",
        C::ModifySampleBy(_) => "MODIFY_SAMPLE_BY",
        C::RemoveSampleBy => "REMOVE_SAMPLE_BY",
        C::RemoveTtl => "REMOVE_TTL",
        C::MaterializeTtl(_) => "MATERIALIZE_TTL",
        C::ModifySetting(_) => "MODIFY_SETTING",
        C::ResetSetting(_) => "RESET_SETTING",
        C::ModifyComment(_) => "MODIFY_COMMENT",
        C::ModifyQuery(_) => "MODIFY_QUERY",
        C::PartitionFrom { .. } => "REPLACE_PARTITION",
        C::MovePartition { .. } => "MOVE_PARTITION",
        C::Freeze { .. } => "FREEZE_PARTITION",
        _ => "OTHER",
    }
}
