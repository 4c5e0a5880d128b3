//! Turns statements into nodes.

use super::alter::{alter, assignment_list};
use super::create::{create_table, create_view, storage, table_override};
use super::expr::{expr, expr_list};
use super::node::Node;
use super::query::{full_name, output, query, table_expr, table_function};
use crate::ast::{
    CreateIndex, Explain, ExplainKind, Expr, ExprKind, Insert, InsertSource, InsertTarget,
    ObjectKind, ObjectName, Optimize, OutputOptions, Partition, ShowKind, Statement,
    TokenStatement,
};

/// The root of a statement's tree.
pub(super) fn statement(s: &Statement) -> Node {
    match s {
        Statement::Query(q) => query(q),
        Statement::Insert(i) => insert(i),
        Statement::CreateTable(c) => create_table(c),
        Statement::CreateView(c) => create_view(c),
        Statement::CreateDatabase(c) => {
            let word = if c.attach {
                "AttachQuery"
            } else {
                "CreateQuery"
            };
            let mut node = Node::new(format!("{word} {} ", c.name.name), names(&c.name));
            storage(&c.storage, &mut node);
            if !c.table_overrides.is_empty() {
                let overrides = c.table_overrides.iter().map(table_override).collect();
                node.push(Node::new("TableOverrideList", overrides));
            }
            node.extend(c.comment.iter().map(|comment| literal(comment)));
            with_output(node, &c.output)
        }
        Statement::CreateFunction(f) => {
            let lambda = ExprKind::Lambda(Box::new(f.lambda.clone()));
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
        Statement::Parallel(statements) => parallel(statements),
        Statement::System(command) => {
            let names = command.rest.subjects.iter().map(expr).collect();
            let node = Node::new("SYSTEM query", names);
            with_output(node, &command.rest.output)
        }
        Statement::Tokens(t) => tokens(t),
        Statement::CreateIndex(i) => create_index(i),
        Statement::ExecuteAs { user, statement } => {
            let name = Node::leaf(format!("Identifier {user}"));
            let mut node = Node::new(
                "ExecuteAsQuery",
                vec![Node::new("UserNameWithHost", vec![name])],
            );
            node.extend(statement.iter().map(|s| self::statement(s)));
            node
        }
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
        Statement::Optimize(o) => optimize(o),
        Statement::Kill(k) => {
            let condition = expr(&k.where_);
            let mode = if k.sync { "SYNC" } else { "ASYNC" };
            let text = format!("KillQueryQuery {} {mode}", condition.id());
            with_output(Node::new(text, vec![condition]), &k.output)
        }
        Statement::Check(c) => match &c.table {
            Some(table) => {
                with_output(on_object("CheckQuery", ObjectKind::Table, table), &c.output)
            }
            None => Node::leaf("CheckAllQuery"),
        },
        Statement::Delete {
            table,
            where_,
            partition: p,
            settings,
            ..
        } => {
            let mut children: Vec<Node> = p.iter().map(|p| partition(p)).collect();
            children.push(expr(where_));
            children.extend(names(table));
            children.extend((!settings.is_empty()).then(|| Node::leaf("Set")));
            Node::new(format!("DeleteQuery {}", after_database(table)), children)
        }
        Statement::Update {
            table,
            where_,
            assignments,
            partition: p,
            ..
        } => {
            let mut children = names(table);
            children.extend(p.iter().map(|p| partition(p)));
            children.push(expr(where_));
            children.push(assignment_list(assignments));
            Node::new(format!("UpdateQuery {}", after_database(table)), children)
        }
        _ => Node::leaf("Query"),
    }
}

fn optimize(o: &Optimize) -> Node {
    let mut text = format!("OptimizeQuery {}", after_database(&o.table));
    text += if o.final_ { "_final" } else { "" };
    text += if o.deduplicate { "_deduplicate" } else { "" };
    text += if o.cleanup { "_cleanup" } else { "" };
    let mut children: Vec<Node> = o.partition.iter().map(partition).collect();
    children.extend(names(&o.table));
    with_output(Node::new(text, children), &o.output)
}

fn parallel(statements: &[Statement]) -> Node {
    let nodes: Vec<Node> = statements.iter().map(statement).collect();
    let first = nodes.first().map(Node::words).unwrap_or_default();
    Node::new(format!("ParallelWithQuery {} {first}", nodes.len()), nodes)
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
        ShowKind::Other(other) if other.construct == "SHOW FILESYSTEM CACHES" => {
            with_output(Node::leaf("ShowTables"), &other.output)
        }
        ShowKind::Other(other) => tokens(other),
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
        ObjectKind::Database | ObjectKind::AllTables => format!("{word} {} ", name.name),
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
        _ => "ShowTables".to_owned(),
    }
}

/// A statement that keeps its text.
fn tokens(t: &TokenStatement) -> Node {
    let names: Vec<Node> = t.subjects.iter().map(expr).collect();
    let text = match t.construct.as_str() {
        // ClickHouse's own name for it is the command.
        "CREATE ROW POLICY" | "ALTER ROW POLICY" => {
            "CREATE ROW POLICY or ALTER ROW POLICY query".to_owned()
        }
        "CREATE MASKING POLICY" | "ALTER MASKING POLICY" => {
            "CREATE MASKING POLICY or ALTER MASKING POLICY query".to_owned()
        }
        "KILL TRANSACTION" | "KILL PART_MOVE_TO_SHARD" => {
            let mode = if t.text.ends_with(" SYNC") {
                "SYNC"
            } else {
                "ASYNC"
            };
            let condition = names.first().map(Node::id).unwrap_or_default();
            format!("KillQueryQuery {condition} {mode}")
        }
        "DESCRIBE FILESYSTEM CACHE" => "DescribeCacheQuery".to_owned(),
        "UNDROP" => format!("UndropQuery {}", name_of_table(&t.subjects)),
        "CREATE WORKLOAD" | "CREATE RESOURCE" => {
            let name = t.subjects.first().map(identifier_text).unwrap_or_default();
            format!("{}Query {name}", camel(&t.construct))
        }
        "BEGIN TRANSACTION" | "COMMIT" | "ROLLBACK" | "SET TRANSACTION" => {
            "ASTTransactionControl".to_owned()
        }
        "SET DEFAULT ROLE" => "SetRoleQuery".to_owned(),
        "REVOKE" => "GrantQuery".to_owned(),
        construct if is_named_by_words(construct) => format!("{construct} query"),
        construct if construct.starts_with("ALTER ") && !construct.ends_with("COLLECTION") => {
            format!("{}Query", camel(&construct.replacen("ALTER", "CREATE", 1)))
        }
        "MOVE" => {
            let whole = ["ROW POLICY", "SETTINGS PROFILE"];
            let two = whole.iter().find(|kind| t.text.contains(*kind)).copied();
            let kind = two.or_else(|| t.text.split(' ').nth(1)).unwrap_or_default();
            format!("MOVE {kind} query")
        }
        construct => format!("{}Query", camel(construct)),
    };
    with_output(Node::new(text, names), &t.output)
}

/// DROP and SHOW of users and the like.
fn is_named_by_words(construct: &str) -> bool {
    const ENTITIES: &[&str] = &[
        "USER", "ROLE", "QUOTA", "POLICY", "PROFILE", "USERS", "ROLES", "QUOTAS", "POLICIES",
        "PROFILES",
    ];
    let last = construct.rsplit(' ').next().unwrap_or_default();
    (construct.starts_with("DROP ") || construct.starts_with("SHOW ")) && ENTITIES.contains(&last)
}

fn identifier_text(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Identifier(parts) => parts.join("."),
        _ => String::new(),
    }
}

/// `database table`, with the space also without a database.
fn name_of_table(parts: &[Expr]) -> String {
    match parts {
        [table] => format!(" {}", identifier_text(table)),
        parts => parts
            .iter()
            .map(identifier_text)
            .collect::<Vec<_>>()
            .join(" "),
    }
}

fn create_index(i: &CreateIndex) -> Node {
    let mut index = Node::new("Index", vec![expr(&i.expr)]);
    index.extend(i.index_type.iter().map(super::create::index_type));
    let name = Node::leaf(format!("Identifier {}", i.name));
    let mut children = vec![name, index];
    children.extend(names(&i.table));
    let text = format!("CreateIndexQuery {}", after_database(&i.table));
    with_output(Node::new(text, children), &i.output)
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
        Partition::Part(name) => literal(name),
        Partition::Id(id) => {
            let id = literal(id);
            Node::new(format!("Partition_ID {}", id.id()), vec![id])
        }
        Partition::All => Node::leaf("Partition_ID "),
    }
}

pub(super) fn literal(bytes: &[u8]) -> Node {
    Node::leaf(format!("Literal {}", crate::format::quoted(bytes)))
}
