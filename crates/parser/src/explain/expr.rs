//! Turns expressions and types into nodes.

use super::node::Node;
use super::query;
use crate::ast::{
    ColumnMatcher, ColumnTransformer, DataType, Expr, ExprKind, FrameBound, Function, Lambda,
    Literal, MatcherPattern, TypeArg, WindowRef, WindowSpec,
};
use crate::format::{quoted, shortest};

pub(super) fn exprs(items: &[Expr]) -> Vec<Node> {
    // A loop, because iterators take more stack per level when they are not optimised.
    let mut nodes = Vec::with_capacity(items.len());
    for item in items {
        nodes.push(expr(item));
    }
    nodes
}

pub(super) fn expr_list(items: &[Expr]) -> Node {
    Node::list(exprs(items))
}

pub(super) fn expr(e: &Expr) -> Node {
    match &e.kind {
        ExprKind::Alias { expr: inner, name } => expr(inner).aliased(name),
        ExprKind::Function(f) => function(f),
        ExprKind::Lambda(l) => lambda(l),
        ExprKind::Subquery(q) => Node::new("Subquery", vec![query::query(q)]),
        _ => constant_or_leaf(e),
    }
}

fn lambda(lambda: &Lambda) -> Node {
    let params = lambda
        .params
        .iter()
        .map(|p| Node::leaf(format!("Identifier {p}")));
    let params = Node::new("Function tuple", vec![Node::list(params.collect())]);
    Node::new(
        "Function lambda",
        vec![Node::list(vec![params, expr(&lambda.body)])],
    )
}

/// Constants, names and matchers; arrays and tuples that are no constants are functions.
fn constant_or_leaf(e: &Expr) -> Node {
    match &e.kind {
        ExprKind::Array(items) | ExprKind::Tuple(items) => match constant(e) {
            Some(text) => Node::leaf(format!("Literal {text}")),
            None if matches!(e.kind, ExprKind::Array(_)) => {
                Node::new("Function array", vec![expr_list(items)])
            }
            None => Node::new("Function tuple", vec![expr_list(items)]),
        },
        ExprKind::Literal(_) => Node::leaf(format!("Literal {}", constant(e).unwrap_or_default())),
        ExprKind::Identifier(parts) => Node::leaf(format!("Identifier {}", parts.join("."))),
        ExprKind::Matcher(m) => matcher(m),
        ExprKind::QueryParameter(p) => {
            let data_type = crate::format_data_type(&p.data_type);
            Node::leaf(format!("QueryParameter {}:{data_type}", p.name))
        }
        ExprKind::ParameterName(_) => Node::leaf(format!("Identifier {}", crate::format_expr(e))),
        _ => expr(e),
    }
}

/// The text of a constant. Arrays may nest; tuples of constants hold plain ones only.
fn constant(e: &Expr) -> Option<String> {
    match &e.kind {
        ExprKind::Literal(literal) => Some(match literal {
            Literal::Null => "NULL".to_owned(),
            Literal::Bool(b) => format!("Bool_{}", u8::from(*b)),
            Literal::UInt(n) => format!("UInt64_{n}"),
            Literal::Int(n) => format!("Int64_{n}"),
            Literal::Float(f) => format!("Float64_{}", shortest(f.value)),
            Literal::String(s) => quoted(s),
        }),
        ExprKind::Array(items) => {
            let plain = items.iter().all(|e| !matches!(e.kind, ExprKind::Tuple(_)));
            let texts: Option<Vec<String>> = items.iter().map(constant).collect();
            texts
                .filter(|_| plain)
                .map(|texts| format!("Array_[{}]", texts.join(", ")))
        }
        ExprKind::Tuple(items) => {
            let is_plain = |e: &Expr| matches!(e.kind, ExprKind::Literal(_) | ExprKind::Tuple(_));
            let plain = items.iter().all(is_plain);
            let texts: Option<Vec<String>> = items.iter().map(constant).collect();
            texts
                .filter(|_| plain)
                .map(|texts| format!("Tuple_({})", texts.join(", ")))
        }
        _ => None,
    }
}

fn function(f: &Function) -> Node {
    let mut node = Node::new(format!("Function {}", f.name), vec![expr_list(&f.args)]);
    if let Some(params) = &f.params {
        node.push(expr_list(params));
    }
    if let Some(WindowRef::Spec(spec)) = &f.over {
        node.push(window(spec));
    }
    node
}

pub(super) fn window(spec: &WindowSpec) -> Node {
    let mut children = Vec::new();
    if !spec.partition_by.is_empty() {
        children.push(expr_list(&spec.partition_by));
    }
    if !spec.order_by.is_empty() {
        children.push(Node::list(
            spec.order_by.iter().map(query::order_item).collect(),
        ));
    }
    if let Some(frame) = &spec.frame {
        for bound in [&frame.start, &frame.end] {
            if let FrameBound::Preceding(e) | FrameBound::Following(e) = bound {
                children.push(expr(e));
            }
        }
    }
    Node::new("WindowDefinition", children)
}

fn matcher(m: &ColumnMatcher) -> Node {
    let name = match (&m.pattern, m.qualifier.is_some()) {
        (MatcherPattern::All, false) => "Asterisk",
        (MatcherPattern::All, true) => "QualifiedAsterisk",
        (MatcherPattern::Regexp(_), false) => "ColumnsRegexpMatcher",
        (MatcherPattern::Regexp(_), true) => "QualifiedColumnsRegexpMatcher",
        (MatcherPattern::List(_), false) => "ColumnsListMatcher",
        (MatcherPattern::List(_), true) => "QualifiedColumnsListMatcher",
    };
    let mut children: Vec<Node> = m.qualifier.iter().map(|parts| identifier(parts)).collect();
    if let MatcherPattern::List(names) = &m.pattern {
        children.push(Node::list(
            names.iter().map(|parts| identifier(parts)).collect(),
        ));
    }
    if !m.transformers.is_empty() {
        let transformers = m.transformers.iter().map(transformer).collect();
        children.push(Node::new("ColumnsTransformerList", transformers));
    }
    Node::new(name, children)
}

fn transformer(t: &ColumnTransformer) -> Node {
    match t {
        ColumnTransformer::Except { columns, .. } => {
            let names = columns.iter().map(|parts| identifier(parts)).collect();
            Node::new("ColumnsExceptTransformer", names)
        }
        ColumnTransformer::ExceptRegexp(_) => Node::leaf("ColumnsExceptTransformer"),
        ColumnTransformer::Replace { items, .. } => {
            let replacement = "ColumnsReplaceTransformer::Replacement";
            let items = items
                .iter()
                .map(|(e, _)| Node::new(replacement, vec![expr(e)]));
            Node::new("ColumnsReplaceTransformer", items.collect())
        }
        ColumnTransformer::Apply { .. } | ColumnTransformer::ApplyLambda(_) => {
            Node::leaf("ColumnsApplyTransformer")
        }
    }
}

fn identifier(parts: &[String]) -> Node {
    Node::leaf(format!("Identifier {}", parts.join(".")))
}

pub(super) fn data_type(t: &DataType) -> Node {
    let has_values = t
        .args
        .iter()
        .flatten()
        .any(|a| matches!(a, TypeArg::Assigned(..)));
    let kind = match t.name.as_str() {
        name if name.starts_with("Enum") && has_values => {
            return Node::leaf(format!("EnumDataType {name}"));
        }
        "Tuple" => "TupleDataType",
        _ => "DataType",
    };
    let children = match &t.args {
        Some(args) => {
            let arg = |arg: &TypeArg| type_arg(&t.name, arg);
            vec![Node::list(args.iter().map(arg).collect())]
        }
        None => Vec::new(),
    };
    Node::new(format!("{kind} {}", t.name), children)
}

/// An argument of the type of that name.
fn type_arg(of: &str, arg: &TypeArg) -> Node {
    let node = match arg {
        TypeArg::Named(name, t) if of == "Nested" => {
            Node::new(format!("NameTypePair {name}"), vec![data_type(t)])
        }
        TypeArg::Named(name, t) if of == "JSON" => {
            Node::new(format!("ObjectTypedPath {name}"), vec![data_type(t)])
        }
        TypeArg::Type(t) | TypeArg::Named(_, t) => data_type(t),
        TypeArg::Value(e) => expr(e),
        TypeArg::Parameter(name, e) => {
            let name = Node::leaf(format!("Identifier {name}"));
            Node::new("Function equals", vec![Node::list(vec![name, expr(e)])])
        }
        TypeArg::Assigned(name, _) => Node::leaf(format!("Literal {}", quoted(name))),
        TypeArg::Function(name, params) => {
            if params.is_empty() {
                return Node::leaf(format!("Identifier {name}"));
            }
            Node::new(format!("Function {name}"), vec![expr_list(params)])
        }
        TypeArg::Skip(path) => Node::leaf(format!("Identifier {path}")),
        TypeArg::SkipRegexp(re) => Node::leaf(format!("Literal {}", quoted(re))),
    };
    match of {
        "JSON" => Node::new("ASTObjectTypeArgument", vec![node]),
        _ => node,
    }
}
