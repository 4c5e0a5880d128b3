//! Expands `t.*` and `t.COLUMNS(…)` of a tuple, an array of tuples or a map: its parts as columns.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ExprKind, MatcherPattern};
use basalt_types::DataType;

use super::Resolver;
use super::matcher::{Candidate, compile};

/// What the name before the dot of a matcher means.
pub(super) enum Qualified {
    /// A value with parts.
    Parts(Vec<Candidate>),
    /// A value without parts, of this type.
    Plain(DataType),
    /// No value: at most a table.
    Unknown,
}

impl Resolver<'_> {
    /// What `qualifier` means as an expression, with those of its parts that the pattern matches.
    pub(super) fn qualified_parts(
        &self,
        qualifier: &[String],
        pattern: &MatcherPattern,
    ) -> Result<Qualified> {
        // Parts of tuples are asked for by rare queries, tables' names by most.
        let first = qualifier.first().map_or("", String::as_str);
        let is_name = self.aliases.get(first).is_some() || self.names.has(qualifier);
        if !is_name && self.nested(qualifier)?.is_none() {
            return Ok(Qualified::Unknown);
        }
        let Ok(typed) = self.identifier(qualifier) else {
            return Ok(Qualified::Unknown);
        };
        let value = ast::Expr::new(
            ExprKind::Identifier(qualifier.to_vec()),
            ast::Span::default(),
        );
        let of = |function: &str, more: Option<u64>| {
            let position = more.map(|n| ast::Expr::literal(ast::Literal::UInt(n)));
            let args = std::iter::once(value.clone()).chain(position).collect();
            ast::Expr::call(function, args)
        };
        let parts: Vec<(String, ast::Expr)> = match elements_of(&typed.data_type) {
            Some(tuple) => (0..tuple.types.len())
                .map(|i| (tuple.name(i), of("tupleElement", Some(i as u64 + 1))))
                .collect(),
            None if matches!(typed.data_type, DataType::Map(..)) => vec![
                ("keys".to_owned(), of("mapKeys", None)),
                ("values".to_owned(), of("mapValues", None)),
            ],
            None if qualifier.len() > 1 && self.is_whole_column(qualifier) => {
                return Ok(Qualified::Unknown);
            }
            None => return Ok(Qualified::Plain(typed.data_type)),
        };
        let regexp = match pattern {
            MatcherPattern::Regexp(pattern) => Some(compile(pattern)?),
            MatcherPattern::All | MatcherPattern::List(_) => None,
        };
        let is_wanted = |name: &str| match pattern {
            MatcherPattern::List(names) => names.iter().any(|n| n.join(".") == name),
            _ => regexp.as_ref().is_none_or(|r| r.is_match(name)),
        };
        let shown = qualifier.join(".");
        let parts = parts.into_iter().filter(|(name, _)| is_wanted(name));
        let parts = parts.map(|(name, expr)| Candidate::part(&shown, name, expr));
        Ok(Qualified::Parts(parts.collect()))
    }

    /// Whether `x.t` is the column of a table, and not an element of something.
    fn is_whole_column(&self, parts: &[String]) -> bool {
        matches!(self.names.find(parts), Ok(Some((_, taken))) if taken == parts.len())
    }
}

/// The elements of a tuple, or of the tuples in arrays.
fn elements_of(data_type: &DataType) -> Option<&basalt_types::TupleType> {
    match data_type {
        DataType::Tuple(tuple) => Some(tuple),
        DataType::Array(element) => elements_of(element),
        _ => None,
    }
}

/// The error for a matcher of something that is no table and has no parts.
pub(super) fn no_parts(qualifier: &[String], meaning: &Qualified) -> Error {
    let name = qualifier.join(".");
    match meaning {
        Qualified::Plain(data_type) => Error::new(
            ErrorCode::UNSUPPORTED_METHOD,
            format!("Write `{name}` without `.*`: {data_type} is no tuple and has no parts"),
        ),
        _ => Error::new(
            ErrorCode::UNKNOWN_IDENTIFIER,
            format!("Unknown table `{name}` in `{name}.*`"),
        ),
    }
}
