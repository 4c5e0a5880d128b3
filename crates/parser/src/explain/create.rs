//! Turns CREATE TABLE and CREATE VIEW into nodes.

use super::expr::{data_type, expr, expr_list};
use super::node::Node;
use super::query::{full_name, query, table_function};
use super::statement::{literal, names, with_output};
use crate::ast::{
    ColumnDef, Constraint, CreateTable, CreateView, Expr, IndexDef, ObjectName, ProjectionBody,
    ProjectionDef, Refresh, Select, Storage, TableOverride, TableSchema, TtlItem,
};

pub(super) fn create_table(c: &CreateTable) -> Node {
    let word = if c.attach {
        "AttachQuery"
    } else {
        "CreateQuery"
    };
    let mut node = create_node(word, &c.name);
    schema(c.schema.as_ref(), &mut node);
    if let Some(function) = &c.as_function {
        node.push(table_function(function));
    }
    storage(&c.storage, &mut node);
    node.extend(c.comment.iter().map(|comment| literal(comment)));
    node.extend(c.query.iter().map(|q| query(q)));
    with_output(node, &c.output)
}

fn create_node(word: &str, name: &ObjectName) -> Node {
    let full = match &name.database {
        Some(database) => format!("{database} {}", name.name),
        None => name.name.clone(),
    };
    Node::new(format!("{word} {full}"), names(name))
}

pub(super) fn create_view(c: &CreateView) -> Node {
    let mut node = create_node(
        if c.attach {
            "AttachQuery"
        } else {
            "CreateQuery"
        },
        &c.name,
    );
    match c.schema.as_ref().and_then(TableSchema::names) {
        Some(names) => {
            let identifier = |name| Node::leaf(format!("Identifier {name}"));
            node.push(Node::list(names.into_iter().map(identifier).collect()));
        }
        None => schema(c.schema.as_ref(), &mut node),
    }
    node.extend(c.comment.iter().map(|comment| literal(comment)));
    node.extend(c.security.iter().map(|_| Node::leaf("View SQL Security")));
    node.extend(c.refresh.iter().map(refresh));
    node.extend(c.query.iter().map(|q| query(q)));
    if c.to_table.is_some() || c.storage != Storage::default() {
        let mut targets = Node::leaf("ViewTargets");
        storage(&c.storage, &mut targets);
        node.push(targets);
    }
    with_output(node, &c.output)
}

pub(super) fn refresh(r: &Refresh) -> Node {
    let mut node = Node::leaf("Refresh strategy definition");
    node.extend((0..r.num_intervals).map(|_| Node::leaf("TimeInterval")));
    if !r.depends_on.is_empty() {
        let name = |name| Node::leaf(format!("TableIdentifier {}", full_name(name)));
        node.push(Node::list(r.depends_on.iter().map(name).collect()));
    }
    node.extend(r.has_settings.then(|| Node::leaf("Set")));
    node
}

/// A table of TABLE OVERRIDE: its storage is there even if nothing is written of it.
pub(super) fn table_override(table: &TableOverride) -> Node {
    let mut node = Node::leaf(format!("TableOverride {}", table.name));
    if table.storage == Storage::default() {
        node.push(Node::leaf("Storage definition"));
    }
    storage(&table.storage, &mut node);
    schema(table.schema.as_ref(), &mut node);
    node
}

fn schema(schema: Option<&TableSchema>, node: &mut Node) {
    let Some(schema) = schema else { return };
    let mut children = Vec::new();
    let lists = [
        schema.columns.iter().map(column).collect::<Vec<_>>(),
        schema.indexes.iter().map(index).collect(),
        schema.constraints.iter().map(constraint).collect(),
        schema.projections.iter().map(projection).collect(),
    ];
    for list in lists {
        if !list.is_empty() {
            children.push(Node::list(list));
        }
    }
    node.push(Node::new("Columns definition", children));
}

pub(super) fn index(i: &IndexDef) -> Node {
    Node::new("Index", vec![expr(&i.expr), index_type(&i.index_type)])
}

pub(super) fn constraint(c: &Constraint) -> Node {
    Node::new("Constraint", vec![expr(&c.expr)])
}

pub(super) fn projection(p: &ProjectionDef) -> Node {
    let mut node = Node::new(
        "Projection",
        match &p.body {
            ProjectionBody::Query(query) => vec![projection_query(query)],
            ProjectionBody::Index {
                expr: of,
                index_type: kind,
            } => vec![expr(of), index_type(kind)],
        },
    );
    if !p.settings.is_empty() {
        node.push(Node::leaf("Set"));
    }
    node
}

fn projection_query(query: &Select) -> Node {
    let mut node = Node::leaf("ProjectionSelectQuery");
    if !query.with.is_empty() {
        node.push(super::query::with_list(&query.with));
    }
    node.push(expr_list(&query.columns));
    if let Some(crate::ast::GroupBy::Exprs { exprs, .. }) = &query.group_by {
        node.push(expr_list(exprs));
    }
    if let Some(crate::ast::OrderBy::Items { items, .. }) = &query.order_by {
        match items.as_slice() {
            [one] => node.push(expr(&one.expr)),
            many => {
                let keys = many.iter().map(|item| expr(&item.expr)).collect();
                node.push(Node::new("Function tuple", vec![Node::list(keys)]));
            }
        }
    }
    node
}

/// A name without arguments is a function, too.
pub(super) fn index_type(e: &Expr) -> Node {
    match &e.kind {
        crate::ast::ExprKind::Identifier(parts) => {
            Node::leaf(format!("Function {}", parts.join(".")))
        }
        _ => expr(e),
    }
}

pub(super) fn column(c: &ColumnDef) -> Node {
    let mut node = Node::leaf(format!("ColumnDeclaration {}", c.name));
    node.extend(c.data_type.iter().map(data_type));
    if let Some(default) = &c.default {
        node.push(match (&default.expr, &c.data_type) {
            (Some(e), _) => expr(e),
            (None, data_type) => default_value(data_type.as_ref()),
        });
    }
    node.extend(c.comment.iter().map(|comment| literal(comment)));
    node.extend(c.codec.iter().map(|codec| {
        let codecs = codec.iter().map(index_type).collect();
        Node::new("Function CODEC", vec![Node::list(codecs)])
    }));
    if !c.settings.is_empty() {
        node.push(Node::leaf("Set"));
    }
    node.extend(c.statistics.iter().map(|types| {
        let types = types.iter().map(index_type).collect();
        Node::new("Function STATISTICS", vec![Node::list(types)])
    }));
    node.extend(c.ttl.iter().map(expr));
    node.extend(c.collate.iter().map(|_| Node::leaf("Collation")));
    node
}

/// What EPHEMERAL alone stands for.
fn default_value(data_type: Option<&crate::ast::DataType>) -> Node {
    let name = data_type.map(crate::format_data_type).unwrap_or_default();
    let args = Node::list(vec![literal(name.as_bytes())]);
    Node::new("Function defaultValueOfTypeName", vec![args])
}

pub(super) fn storage(s: &Storage, node: &mut Node) {
    let mut children = Vec::new();
    children.extend(s.engine.iter().map(|engine| {
        let args = engine.args.as_ref().filter(|args| !args.is_empty());
        let args = args.map(|args| expr_list(args)).into_iter().collect();
        Node::new(format!("Function {}", engine.name), args)
    }));
    children.extend(s.partition_by.iter().chain(&s.primary_key).map(expr));
    match s.order_by.as_deref() {
        Some([one]) if !one.descending => children.push(expr(&one.expr)),
        Some([one]) => children.push(Node::new("StorageOrderByElement", vec![expr(&one.expr)])),
        Some(many) => {
            let descending = many.iter().any(|item| item.descending);
            let element = |item: &crate::ast::OrderItem| match descending {
                true => Node::new("StorageOrderByElement", vec![expr(&item.expr)]),
                false => expr(&item.expr),
            };
            let items = many.iter().map(element).collect();
            children.push(Node::new("Function tuple", vec![Node::list(items)]));
        }
        None => {}
    }
    children.extend(s.unique_key.iter().chain(&s.sample_by).map(expr));
    if !s.ttl.is_empty() {
        children.push(ttl(&s.ttl));
    }
    if !s.settings.is_empty() {
        children.push(Node::leaf("Set"));
    }
    if !children.is_empty() {
        node.push(Node::new("Storage definition", children));
    }
}

pub(super) fn ttl(items: &[TtlItem]) -> Node {
    let item = |item: &TtlItem| {
        let parts = [Some(&item.expr), item.where_.as_ref()];
        Node::new(
            "TTLElement",
            parts.into_iter().flatten().map(expr).collect(),
        )
    };
    Node::list(items.iter().map(item).collect())
}
