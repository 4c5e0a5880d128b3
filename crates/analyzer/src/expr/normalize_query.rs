//! Resolves the functions that make queries comparable, which need the lexer: `normalizeQuery` and its kin.
//!
//! Literals become `?`, several in a row `?..`; long names with many digits, as generated ones are, become
//! `?` in backticks unless the function keeps names.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::scalar::hash::sip::sip_hash_64;
use basalt_functions::{BoundFunction, Column};
use basalt_parser::lexer::{Lexer, TokenKind};
use basalt_types::DataType;
use datafusion::arrow::array::{ArrayRef, BinaryViewBuilder, UInt64Array};

use super::Resolver;
use super::native::fold_if;
use crate::{Typed, udf};

/// Names of the functions: whether names are kept, and whether the result is a hash.
const FUNCTIONS: [(&str, bool, bool); 4] = [
    ("normalizeQuery", false, false),
    ("normalizeQueryKeepNames", true, false),
    ("normalizedQueryHash", false, true),
    ("normalizedQueryHashKeepNames", true, true),
];

/// Names with more digits are taken for generated ones.
const MAX_DIGITS: usize = 2;

/// Whether the name is one of these functions.
pub(crate) fn is_normalize_query(name: &str) -> bool {
    FUNCTIONS.iter().any(|(n, _, _)| *n == name)
}

impl Resolver<'_> {
    /// `normalizeQuery(text)` and its kin.
    pub(crate) fn normalize_query(&self, name: &str, args: Vec<Typed>) -> Result<Typed> {
        let entry = FUNCTIONS.iter().find(|(n, _, _)| *n == name);
        let (name, keeps_names, is_hash) = *entry.ok_or_else(|| Error::bug("no such function"))?;
        let [arg] = <[Typed; 1]>::try_from(args).map_err(|args| {
            Error::new(
                ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
                format!("Function {name} takes 1 argument, got {}", args.len()),
            )
        })?;
        if arg.data_type.without_low_cardinality().base() != &DataType::String {
            return Err(Error::new(
                ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                format!(
                    "Illegal type {} of argument of function {name}",
                    arg.data_type
                ),
            ));
        }
        let plain = if is_hash {
            DataType::UInt64
        } else {
            DataType::String
        };
        let data_type = if arg.data_type.is_nullable() {
            plain.to_nullable()
        } else {
            plain
        };
        let eval = move |columns: &[Column], num_rows: usize| {
            normalized(&columns[0], num_rows, keeps_names, is_hash)
        };
        let bound = BoundFunction::from_parts(name, data_type.clone(), Arc::new(eval));
        let constant = arg.constant.is_some();
        let key = format!("{name}->{data_type}");
        let typed = Typed::new(udf::call(key, bound, vec![arg.expr]), data_type);
        fold_if(constant, typed)
    }
}

fn normalized(
    column: &Column,
    num_rows: usize,
    keeps_names: bool,
    is_hash: bool,
) -> Result<ArrayRef> {
    let strings = column.strings()?;
    let validity = column.validity(num_rows);
    let text = |row: usize| {
        let is_valid = validity.as_ref().is_none_or(|v| v.is_valid(row));
        is_valid.then(|| strings.value(row))
    };
    if is_hash {
        let hash = |text: &[u8]| {
            let mut writer = HashWriter::default();
            walk(text, keeps_names, &mut writer);
            sip_hash_64(&writer.0, (0, 0))
        };
        let hashes = (0..num_rows).map(|row| text(row).map(hash));
        return Ok(Arc::new(hashes.collect::<UInt64Array>()));
    }
    let mut out = BinaryViewBuilder::with_capacity(num_rows);
    for row in 0..num_rows {
        out.append_option(text(row).map(|text| {
            let mut writer = TextWriter::default();
            walk(text, keeps_names, &mut writer);
            writer.0
        }));
    }
    Ok(Arc::new(out.finish()))
}

/// What becomes of the parts of a query.
trait Writer {
    /// The first of literals in a row.
    fn literal(&mut self, after_space: bool);
    /// There were more of them.
    fn more_literals(&mut self);
    /// A comma behind literals.
    fn comma(&mut self);
    /// A name in place of which stands a sign.
    fn generated_name(&mut self, after_space: bool);
    /// Any other token.
    fn token(&mut self, text: &[u8], after_space: bool);
    /// The end of what is a query.
    fn end(&mut self, after_space: bool);
}

fn walk(text: &[u8], keeps_names: bool, writer: &mut impl Writer) {
    let mut lexer = Lexer::new(text);
    let (mut num_literals, mut after_comma, mut after_space) = (0, false, false);
    loop {
        let token = lexer.next_token();
        let end = token.span.end as usize;
        let bytes = &text[token.span.start as usize..end];
        match token.kind {
            TokenKind::Whitespace | TokenKind::Comment => {
                after_space = true;
                continue;
            }
            TokenKind::Number | TokenKind::String | TokenKind::Heredoc => {
                if num_literals == 0 {
                    writer.literal(after_space);
                }
                num_literals += 1;
                (after_comma, after_space) = (false, false);
                continue;
            }
            TokenKind::Comma if num_literals > 0 => {
                (after_comma, after_space) = (true, false);
                continue;
            }
            _ => {}
        }
        if num_literals > 1 {
            writer.more_literals();
        }
        if std::mem::take(&mut after_comma) {
            writer.comma();
        }
        num_literals = 0;
        if matches!(token.kind, TokenKind::End | TokenKind::Error(_)) {
            return writer.end(after_space);
        }
        let is_name = token.kind == TokenKind::QuotedIdentifier
            || (token.kind == TokenKind::Word && text.get(end) != Some(&b'('));
        if is_name && !keeps_names && is_generated(token.kind, bytes) {
            writer.generated_name(after_space);
        } else {
            writer.token(bytes, after_space);
        }
        after_space = false;
    }
}

/// Whether a name has many digits, or signs that only quotes allow.
fn is_generated(kind: TokenKind, name: &[u8]) -> bool {
    let is_quoted = kind == TokenKind::QuotedIdentifier;
    let inner = match name {
        [_, inner @ .., _] if is_quoted => inner,
        name => name,
    };
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let num_digits = inner.iter().filter(|b| b.is_ascii_digit()).count();
    num_digits > MAX_DIGITS || (is_quoted && !inner.iter().all(is_word))
}

#[derive(Default)]
struct TextWriter(Vec<u8>);

impl TextWriter {
    fn space(&mut self, after_space: bool) {
        if after_space && !self.0.is_empty() {
            self.0.push(b' ');
        }
    }
}

impl Writer for TextWriter {
    fn literal(&mut self, after_space: bool) {
        self.space(after_space);
        self.0.push(b'?');
    }

    fn more_literals(&mut self) {
        self.0.extend_from_slice(b"..");
    }

    fn comma(&mut self) {
        self.0.push(b',');
    }

    fn generated_name(&mut self, after_space: bool) {
        self.space(after_space);
        self.0.extend_from_slice(b"`?`");
    }

    fn token(&mut self, text: &[u8], after_space: bool) {
        self.space(after_space);
        self.0.extend_from_slice(text);
    }

    fn end(&mut self, after_space: bool) {
        self.space(after_space);
    }
}

/// The bytes that are hashed: the tokens without what is between them.
#[derive(Default)]
struct HashWriter(Vec<u8>);

impl Writer for HashWriter {
    fn literal(&mut self, _after_space: bool) {
        self.0.push(0);
    }

    fn more_literals(&mut self) {
        self.0.push(0);
    }

    fn comma(&mut self) {
        self.0.push(b',');
    }

    fn generated_name(&mut self, _after_space: bool) {
        self.0.push(1);
    }

    fn token(&mut self, text: &[u8], _after_space: bool) {
        self.0.extend_from_slice(text);
    }

    fn end(&mut self, _after_space: bool) {}
}
