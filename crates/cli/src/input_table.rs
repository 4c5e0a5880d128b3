//! Whether statements name the table that standard input is.

use basalt_parser::ast::{ObjectName, ShowKind, Statement, TableSource};
use basalt_parser::lexer::{Lexer, TokenKind};

/// Keywords that the table of a query stands behind.
const BEFORE_TABLES: [&str; 3] = ["FROM", "JOIN", "IN"];

/// Whether a statement of the text reads a table of this name or tells of it.
pub(crate) fn is_named(text: &[u8], name: &str) -> bool {
    is_read(text, name) || is_described(text, name)
}

/// Whether the name stands behind FROM and the like, not in a string, a comment or before a point.
fn is_read(text: &[u8], name: &str) -> bool {
    let means_something = |kind| {
        !matches!(
            kind,
            TokenKind::Whitespace | TokenKind::Comment | TokenKind::End
        )
    };
    let tokens = Lexer::new(text).filter(|t| means_something(t.kind));
    let tokens: Vec<(TokenKind, &[u8])> = tokens
        .filter_map(|t| {
            let text = text.get(t.span.start as usize..t.span.end as usize)?;
            Some((t.kind, text))
        })
        .collect();
    let is_keyword = |(kind, text): (TokenKind, &[u8])| {
        let mut keywords = BEFORE_TABLES.iter();
        kind == TokenKind::Word && keywords.any(|k| text.eq_ignore_ascii_case(k.as_bytes()))
    };
    let is_name = |(kind, text): (TokenKind, &[u8])| match kind {
        TokenKind::Word => text == name.as_bytes(),
        TokenKind::QuotedIdentifier => text[1..text.len() - 1] == *name.as_bytes(),
        _ => false,
    };
    (1..tokens.len()).any(|idx| {
        let ends = tokens.get(idx + 1).is_none_or(|t| t.0 != TokenKind::Dot);
        ends && is_keyword(tokens[idx - 1]) && is_name(tokens[idx])
    })
}

/// Whether a statement shows how a table of this name is made.
fn is_described(text: &[u8], name: &str) -> bool {
    let is_it = |table: &ObjectName| table.database.is_none() && table.name == name;
    let statements = basalt_parser::parse_statements(text).map_while(Result::ok);
    let mut statements = statements.map(|parsed| parsed.statement);
    statements.any(|statement| match &statement {
        Statement::Describe(describe) => {
            matches!(&describe.table.source, TableSource::Table(table) if is_it(table))
        }
        Statement::Exists(exists) => is_it(&exists.name),
        Statement::Show(show) => match &show.kind {
            ShowKind::Create { name, .. } | ShowKind::Columns { table: name, .. } => is_it(name),
            _ => false,
        },
        _ => false,
    })
}
