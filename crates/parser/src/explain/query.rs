//! Turns queries into nodes.

use super::expr::{expr, expr_list, window};
use super::node::Node;
use crate::ast::{
    FromElement, GroupBy, Join, JoinConstraint, ObjectName, OrderBy, OrderItem, OutputOptions,
    Query, Select, SetExpr, SetOperator, TableExpr, TableFunction, TableSource, WithItem,
};

/// `SelectWithUnionQuery`
pub(super) fn query(q: &Query) -> Node {
    let mut node = union(&q.body);
    node.extend(output(&q.output));
    node
}

/// INTO OUTFILE, SETTINGS and FORMAT.
pub(super) fn output(output: &OutputOptions) -> Vec<Node> {
    let mut nodes = Vec::new();
    if let Some(file) = &output.into_outfile {
        nodes.extend(
            [
                Some(&file.path),
                file.compression.as_ref(),
                file.level.as_ref(),
            ]
            .into_iter()
            .flatten()
            .map(expr),
        );
    }
    if !output.settings.is_empty() {
        nodes.push(Node::leaf("Set"));
    }
    nodes.extend(
        output
            .format
            .iter()
            .map(|name| Node::leaf(format!("Identifier {name}"))),
    );
    nodes
}

fn union(body: &SetExpr) -> Node {
    let branches = match body {
        SetExpr::Operation { operator, branches } if is_union(*operator) => {
            let mut nodes = Vec::new();
            union_branches(*operator, branches, &mut nodes);
            nodes
        }
        SetExpr::Nested(inner) => return union(inner),
        other => vec![branch(other)],
    };
    Node::new("SelectWithUnionQuery", vec![Node::list(branches)])
}

/// Branches of a union; a union on the left without parentheses continues the list, unless this one
/// keeps duplicates and that one drops them.
fn union_branches(operator: SetOperator, branches: &[SetExpr], nodes: &mut Vec<Node>) {
    for (i, each) in branches.iter().enumerate() {
        match each {
            SetExpr::Operation {
                operator: inner,
                branches,
            } if i == 0 && is_union(*inner) => {
                if operator == SetOperator::UnionAll && *inner == SetOperator::UnionDistinct {
                    nodes.push(union(each));
                } else {
                    union_branches(*inner, branches, nodes);
                }
            }
            other => nodes.push(branch(other)),
        }
    }
}

fn is_union(operator: SetOperator) -> bool {
    use SetOperator::{UnionAll, UnionDefault, UnionDistinct};
    matches!(operator, UnionDefault | UnionAll | UnionDistinct)
}

fn is_except(operator: SetOperator) -> bool {
    use SetOperator::{ExceptAll, ExceptDefault, ExceptDistinct};
    matches!(operator, ExceptDefault | ExceptAll | ExceptDistinct)
}

fn branch(body: &SetExpr) -> Node {
    match body {
        SetExpr::Select(s) => select(s),
        SetExpr::Nested(inner) => match inner.as_ref() {
            SetExpr::Operation { operator, .. } if !is_union(*operator) => branch(inner),
            _ => union(inner),
        },
        SetExpr::Operation { operator, .. } if is_union(*operator) => union(body),
        SetExpr::Operation { operator, branches } => intersect_except(*operator, branches),
    }
}

/// Chains longer than this are shown as one node, so that no chain makes a tree too deep to print.
const MAX_FOLDED: usize = 100;

/// `SelectIntersectExceptQuery`: of two operands, the first of them a chain's other ones.
fn intersect_except(operator: SetOperator, branches: &[SetExpr]) -> Node {
    let name = "SelectIntersectExceptQuery";
    let nodes = branches.iter().map(branch);
    if branches.len() > MAX_FOLDED {
        return Node::new(name, nodes.collect());
    }
    let folded = nodes.reduce(|left, right| {
        let left = match is_except(operator) && !left.is("SelectWithUnionQuery") {
            true => Node::new("SelectWithUnionQuery", vec![Node::list(vec![left])]),
            false => left,
        };
        Node::new(name, vec![left, right])
    });
    folded.unwrap_or_else(|| Node::leaf(name))
}

pub(super) fn with_list(items: &[WithItem]) -> Node {
    Node::list(items.iter().map(with_item).collect())
}

/// `SelectQuery`
pub(super) fn select(s: &Select) -> Node {
    let mut node = Node::new("SelectQuery", Vec::new());
    if !s.with.is_empty() {
        node.push(with_list(&s.with));
    }
    node.push(expr_list(&s.columns));
    if !s.from.is_empty() {
        node.push(Node::new(
            "TablesInSelectQuery",
            s.from.iter().map(from_element).collect(),
        ));
    }
    node.extend(s.prewhere.iter().chain(&s.where_).map(expr));
    match &s.group_by {
        Some(GroupBy::Exprs { exprs, .. }) => node.push(expr_list(exprs)),
        Some(GroupBy::GroupingSets(sets)) => {
            node.push(Node::list(sets.iter().map(|set| expr_list(set)).collect()));
        }
        Some(GroupBy::All(_)) | None => {}
    }
    node.extend(s.having.iter().map(expr));
    if !s.windows.is_empty() {
        let windows = s
            .windows
            .iter()
            .map(|w| Node::new("WindowListElement", vec![window(&w.spec)]));
        node.push(Node::list(windows.collect()));
    }
    node.extend(s.qualify.iter().map(expr));
    order_by(s, &mut node);
    limits(s, &mut node);
    if !s.settings.is_empty() {
        node.push(Node::leaf("Set"));
    }
    node.extend(s.with.iter().filter_map(with_columns));
    node
}

/// The names of a WITH subquery's columns.
fn with_columns(item: &WithItem) -> Option<Node> {
    match item {
        WithItem::Subquery { columns, .. } if !columns.is_empty() => Some(name_list(columns)),
        _ => None,
    }
}

fn name_list(names: &[String]) -> Node {
    Node::list(
        names
            .iter()
            .map(|name| Node::leaf(format!("Identifier {name}")))
            .collect(),
    )
}

fn with_item(item: &WithItem) -> Node {
    match item {
        WithItem::Expr(e) => expr(e),
        WithItem::Subquery { query: q, .. } => {
            Node::new("WithElement", vec![Node::new("Subquery", vec![query(q)])])
        }
    }
}

fn order_by(s: &Select, node: &mut Node) {
    match &s.order_by {
        Some(OrderBy::All(_)) => {
            let all = Node::new("OrderByElement", vec![Node::leaf("Identifier all")]);
            node.push(Node::list(vec![all]));
        }
        Some(OrderBy::Items { items, interpolate }) => {
            node.push(Node::list(items.iter().map(order_item).collect()));
            let Some(interpolate) = interpolate else {
                return;
            };
            let items = interpolate.iter().map(|item| {
                let children = item.expr.iter().map(expr).collect();
                Node::new(
                    format!("InterpolateElement (column {})", item.column),
                    children,
                )
            });
            node.push(Node::list(items.collect()));
        }
        None => {}
    }
}

pub(super) fn order_item(item: &OrderItem) -> Node {
    let mut node = Node::new("OrderByElement", vec![expr(&item.expr)]);
    if let Some(collate) = &item.collate {
        node.push(Node::leaf(format!(
            "Literal {}",
            crate::format::quoted(collate.as_bytes())
        )));
    }
    if let Some(fill) = &item.with_fill {
        let parts = [&fill.from, &fill.to, &fill.step, &fill.staleness];
        node.extend(parts.into_iter().flatten().map(expr));
    }
    node
}

fn limits(s: &Select, node: &mut Node) {
    if let Some(limit_by) = &s.limit_by {
        node.extend(limit_by.offset.iter().chain([&limit_by.limit]).map(expr));
        node.push(expr_list(&limit_by.by));
    }
    node.extend(s.offset.iter().chain(&s.limit).map(expr));
    if let Some(range) = &s.limit_range {
        node.extend(range.after.iter().chain(&range.until).map(expr));
    }
}

fn from_element(element: &FromElement) -> Node {
    let children = match element {
        FromElement::Table { join, table } => {
            let mut children = vec![table_expr(table)];
            children.extend(join.as_ref().map(table_join));
            children
        }
        FromElement::ArrayJoin { exprs, .. } => {
            vec![Node::new("ArrayJoin", vec![expr_list(exprs)])]
        }
    };
    Node::new("TablesInSelectQueryElement", children)
}

fn table_join(join: &Join) -> Node {
    let children = match &join.constraint {
        Some(JoinConstraint::On(condition)) => vec![expr(condition)],
        Some(JoinConstraint::Using(columns)) => vec![expr_list(columns)],
        None => Vec::new(),
    };
    Node::new("TableJoin", children)
}

/// `TableExpression`
pub(super) fn table_expr(table: &TableExpr) -> Node {
    let source = match &table.source {
        TableSource::Table(name) => Node::leaf(format!("TableIdentifier {}", full_name(name))),
        TableSource::Function(function) => table_function(function),
        TableSource::Subquery(q) => Node::new("Subquery", vec![query(q)]),
        TableSource::File(path) => Node::leaf(format!("TableIdentifier {path}")),
    };
    let source = match &table.alias {
        Some(alias) => source.aliased(alias),
        None => source,
    };
    let mut node = Node::new("TableExpression", vec![source]);
    if !table.column_aliases.is_empty() {
        node.push(name_list(&table.column_aliases));
    }
    if let Some(sample) = &table.sample {
        for ratio in [Some(sample.ratio), sample.offset].into_iter().flatten() {
            let denominator = match ratio.denominator {
                1 => String::new(),
                n => format!(" / {n}"),
            };
            node.push(Node::leaf(format!(
                "SampleRatio {}{denominator}",
                ratio.numerator
            )));
        }
    }
    if table.stream {
        node.push(Node::leaf("ASTStreamSettings"));
    }
    node
}

pub(super) fn table_function(function: &TableFunction) -> Node {
    let argument = |e: &crate::ast::Expr| match &e.kind {
        crate::ast::ExprKind::Subquery(q) if crate::ast::takes_bare_query(&function.name) => {
            query(q)
        }
        _ => expr(e),
    };
    let mut args: Vec<Node> = function.args.iter().map(argument).collect();
    if !function.settings.is_empty() {
        args.push(Node::leaf("Set"));
    }
    Node::new(
        format!("Function {}", function.name),
        vec![Node::list(args)],
    )
}

/// `database.name`
pub(super) fn full_name(name: &ObjectName) -> String {
    match &name.database {
        Some(database) => format!("{database}.{}", name.name),
        None => name.name.clone(),
    }
}
