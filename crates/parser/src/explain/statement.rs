//! Turns statements into nodes.

use super::alter::{alter, assignment_list};
use super::create::{create_table, create_view, storage};
use super::expr::{expr, expr_list};
use super::node::Node;
use super::query::{full_name, output, query, table_expr, table_function};
use crate::ast::{
    Explain, ExplainKind, Expr, Insert, InsertSource, InsertTarget, ObjectKind, ObjectName,
    OutputOptions, Partition, ShowKind, Statement,
};

/// The root of a statement's tree.
pub(super) fn statement(s: &Statement) -> Node {
    match s {
        Statement::Query(q) => query(q),
        Statement::Insert(i) => insert(i),
        Statement::CreateTable(c) => create_table(c),
        Statement::CreateView(c) => create_view(c),
        Statement::CreateDatabase(c) => {
            let mut node = Node::new(format!("CreateQuery {} ", c.name.name), names(&c.name));
            storage(&c.storage, &mut node);
            node.extend(c.comment.iter().map(|comment| literal(comment)));
            with_output(node, &c.output)
        }
        Statement::CreateFunction(f) => {
            let lambda = crate::ast::ExprKind::Lambda(Box::new(f.lambda.clone()));
            let lambda = Expr::new(lambda, crate::ast::Span::default());
            let name = Node::leaf(format!("Identifier {}", f.name));
            Node::new(
                format!("CreateSQLFunctionQuery {}", f.name),
                vec![name, expr(&lambda)],
            )
        }
        Statement::Alter(a) => alter(a),
        Statement::Explain(e) => explain(e),
        Statement::Describe(d) => with_output(
            Node::new("DescribeQuery", vec![table_expr(&d.table)]),
            &d.output,
        ),
        Statement::Set(_) => Node::leaf("Set"),
        Statement::System(_) => Node::leaf("SYSTEM query"),
        Statement::Tokens(t) => Node::leaf(format!("{}Query", camel(&t.construct))),
        _ => named_statement(s),
    }
}

/// Statements that are little more than a name.
fn named_statement(s: &Statement) -> Node {
    match s {
        Statement::Drop(d) => drop_statement(d),
        Statement::Truncate(t) => {
            with_output(on_object("TruncateQuery", t.kind, &t.name), &t.output)
        }
        Statement::Rename(r) => {
            let pairs = r
                .pairs
                .iter()
                .flat_map(|p| names(&p.from).into_iter().chain(names(&p.to)));
            with_output(Node::new("Rename", pairs.collect()), &r.output)
        }
        Statement::Show(s) => show(s),
        Statement::Exists(e) => {
            let kind = format!("Exists{}Query", kind_name(e.kind));
            with_output(on_object(&kind, e.kind, &e.name), &e.output)
        }
        Statement::Use(u) => {
            let name = Node::leaf(format!("Identifier {}", u.database));
            Node::new(format!("UseQuery {}", u.database), vec![name])
        }
        Statement::Optimize(o) => {
            let mut text = format!("OptimizeQuery {}", after_database(&o.table));
            text += if o.final_ { "_final" } else { "" };
            text += if o.deduplicate { "_deduplicate" } else { "" };
            let mut children: Vec<Node> = o.partition.iter().map(partition).collect();
            children.extend(names(&o.table));
            with_output(Node::new(text, children), &o.output)
        }
        Statement::Kill(k) => {
            let condition = expr(&k.where_);
            let mode = if k.sync {
                "SYNC"
            } else if k.test {
                "TEST"
            } else {
                "ASYNC"
            };
            let text = format!("KillQueryQuery {} {mode}", condition.id());
            with_output(Node::new(text, vec![condition]), &k.output)
        }
        Statement::Check(c) => match &c.table {
            Some(table) => {
                with_output(on_object("CheckQuery", ObjectKind::Table, table), &c.output)
            }
            None => Node::leaf("CheckAllTablesQuery"),
        },
        Statement::Delete { table, where_, .. } => mutation("DeleteQuery", table, where_),
        Statement::Update {
            table,
            where_,
            assignments,
            ..
        } => {
            let mut children = names(table);
            children.push(expr(where_));
            children.push(assignment_list(assignments));
            Node::new(format!("UpdateQuery {}", after_database(table)), children)
        }
        _ => Node::leaf("Query"),
    }
}

fn show(s: &crate::ast::Show) -> Node {
    match &s.kind {
        ShowKind::Create { object, name, .. } => {
            let kind = format!("ShowCreate{}Query", kind_name(*object));
            with_output(on_object(&kind, *object, name), &s.output)
        }
        ShowKind::Tables {
            database: Some(name),
            ..
        }
        | ShowKind::Dictionaries {
            database: Some(name),
        } => {
            let database = Node::leaf(format!("Identifier {name}"));
            with_output(Node::new("ShowTables", vec![database]), &s.output)
        }
        kind => with_output(Node::leaf(show_name(kind)), &s.output),
    }
}

fn drop_statement(d: &crate::ast::DropStatement) -> Node {
    let word = if d.detach { "Detach" } else { "Drop" };
    let node = match (d.kind, d.names.as_slice()) {
        (ObjectKind::Function, _) => Node::leaf("DropFunctionQuery"),
        (ObjectKind::Index, [index]) => {
            let table = d.on_table.clone().unwrap_or_default();
            let children = names(index).into_iter().chain(names(&table)).collect();
            Node::new(
                format!("DropIndexQuery {}", after_database(&table)),
                children,
            )
        }
        (kind, [name]) => on_object(&format!("{word}Query"), kind, name),
        (_, many) => {
            let identifier =
                |n: &ObjectName| Node::leaf(format!("TableIdentifier {}", full_name(n)));
            let list = Node::list(many.iter().map(identifier).collect());
            Node::new(format!("{word}Query  "), vec![list])
        }
    };
    with_output(node, &d.output)
}

fn mutation(word: &str, table: &ObjectName, where_: &Expr) -> Node {
    let mut children = vec![expr(where_)];
    children.extend(names(table));
    Node::new(format!("{word} {}", after_database(table)), children)
}

/// The identifiers of a name.
pub(super) fn names(name: &ObjectName) -> Vec<Node> {
    let parts = name.database.iter().chain([&name.name]);
    parts
        .map(|part| Node::leaf(format!("Identifier {part}")))
        .collect()
}

/// `database name`, with the space also without a database.
pub(super) fn after_database(name: &ObjectName) -> String {
    format!(
        "{} {}",
        name.database.as_deref().unwrap_or_default(),
        name.name
    )
}

fn on_object(word: &str, kind: ObjectKind, name: &ObjectName) -> Node {
    let text = match kind {
        ObjectKind::Database => format!("{word} {} ", name.name),
        _ => format!("{word} {}", after_database(name)),
    };
    Node::new(text, names(name))
}

pub(super) fn with_output(mut node: Node, options: &OutputOptions) -> Node {
    node.extend(output(options));
    node
}

fn kind_name(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Database => "Database",
        ObjectKind::View => "View",
        ObjectKind::Dictionary => "Dictionary",
        _ => "Table",
    }
}

fn show_name(kind: &ShowKind) -> String {
    match kind {
        ShowKind::Columns { .. } => "ShowColumns".to_owned(),
        ShowKind::Indexes { .. } => "ShowIndexes".to_owned(),
        ShowKind::Functions => "ShowFunctions".to_owned(),
        ShowKind::ProcessList => "ShowProcesslistQuery".to_owned(),
        ShowKind::Engines => "ShowEngineQuery".to_owned(),
        ShowKind::Setting(_) => "ShowSetting".to_owned(),
        ShowKind::Other(tokens) => format!("{}Query", camel(&tokens.construct)),
        _ => "ShowTables".to_owned(),
    }
}

/// `CREATE USER` as `CreateUser`.
fn camel(words: &str) -> String {
    let word = |w: &str| {
        let (head, tail) = w.split_at(w.chars().next().map_or(0, char::len_utf8));
        head.to_uppercase() + &tail.to_lowercase()
    };
    words.split_whitespace().map(word).collect()
}

fn insert(i: &Insert) -> Node {
    let mut children = match &i.target {
        InsertTarget::Table(name) => names(name),
        InsertTarget::Function(function) => vec![table_function(function)],
    };
    children.extend(i.partition_by.iter().map(expr));
    children.extend(i.columns.iter().map(|columns| expr_list(columns)));
    if let InsertSource::Query(q) = &i.source {
        children.push(query(&crate::ast::Query::new(q.body.clone())));
    }
    if let Some(infile) = &i.infile {
        let parts = [Some(&infile.path), infile.compression.as_ref()];
        children.splice(..0, parts.into_iter().flatten().map(expr));
    }
    if !i.settings.is_empty() {
        children.push(Node::leaf("Set"));
    }
    Node::new("InsertQuery  ", children)
}

fn explain(e: &Explain) -> Node {
    let kind = match e.kind {
        ExplainKind::Ast => "Explain EXPLAIN AST",
        ExplainKind::Syntax => "Explain EXPLAIN SYNTAX",
        ExplainKind::QueryTree => "Explain EXPLAIN QUERY TREE",
        ExplainKind::Plan => "Explain EXPLAIN",
        ExplainKind::Pipeline => "Explain EXPLAIN PIPELINE",
        ExplainKind::Estimate => "Explain EXPLAIN ESTIMATE",
        ExplainKind::Analyze => "Explain EXPLAIN ANALYZE",
        ExplainKind::CurrentTransaction => "Explain EXPLAIN CURRENT TRANSACTION",
    };
    let mut children = Vec::new();
    if !e.settings.is_empty() {
        children.push(Node::leaf("Set"));
    }
    children.extend(e.statement.as_deref().map(statement));
    with_output(Node::new(kind, children), &e.output)
}

pub(super) fn partition(p: &Partition) -> Node {
    match p {
        Partition::Value(e) => Node::new("Partition", vec![expr(e)]),
        Partition::Id(id) | Partition::Part(id) => {
            let id = literal(id);
            Node::new("Partition", vec![id])
        }
        Partition::All => Node::leaf("Partition"),
    }
}

pub(super) fn literal(bytes: &[u8]) -> Node {
    Node::leaf(format!("Literal {}", crate::format::quoted(bytes)))
}
