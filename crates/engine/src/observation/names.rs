//! Tells what columns of a plan stand for: the names that the planner made up are no use to a reader.

use std::collections::HashMap;
use std::sync::Arc;

use basalt_exec::report::{Account, sql_of};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::ProjectionExec;

/// Most characters that a column's name becomes.
const MAX_CHARS: usize = 100;

/// What columns stand for, as far as the operators below have told; none for names that stand for several
/// things.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<String, Option<String>>);

impl Names {
    /// Learns the columns that an operator makes; those below it must be known.
    pub(crate) fn learn(&mut self, operator: &Arc<dyn ExecutionPlan>, account: &Account) {
        for (name, text) in &account.outputs {
            self.insert(name, text);
        }
        if let Some(projection) = operator.downcast_ref::<ProjectionExec>() {
            for output in projection.expr() {
                let text = sql_of(&output.expr);
                self.insert(&output.alias, &text);
            }
        }
    }

    fn insert(&mut self, name: &str, text: &str) {
        let text = shortened(&self.resolve(text), MAX_CHARS);
        if text != name && is_word(name) {
            let known = self.0.entry(name.to_owned());
            let known = known.or_insert_with(|| Some(text.clone()));
            if known.as_ref() != Some(&text) {
                *known = None;
            }
        }
    }

    fn known(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_deref()
    }

    /// The text with what its columns stand for; places of columns (`@1`) go.
    pub(crate) fn resolve(&self, text: &str) -> String {
        let mut resolved = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let len = match first {
                '\'' => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
                c if is_word_char(c) => word_len(rest),
                c => c.len_utf8(),
            };
            let (piece, after) = rest.split_at(len);
            resolved.push_str(self.known(piece).unwrap_or(piece));
            rest = if is_word(piece) {
                without_place(after)
            } else {
                after
            };
        }
        resolved
    }
}

/// What follows the place of a column, if there is one.
fn without_place(text: &str) -> &str {
    let Some(place) = text.strip_prefix('@') else {
        return text;
    };
    let digits = place.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 { text } else { &place[digits..] }
}

fn word_len(text: &str) -> usize {
    text.find(|c| !is_word_char(c)).unwrap_or(text.len())
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && word_len(text) == text.len()
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text, or its beginning.
pub(crate) fn shortened(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn columns_become_what_they_stand_for() {
        let mut names = Names::default();
        names.insert("number_0", "number@0");
        names.insert("key_1", "modulo(number_0@0, 3)");
        names.insert("number", "number");
        names.insert("branch_2", "number_0");
        names.insert("branch_2", "key_1");
        assert_eq!(
            names.resolve("key_1@1 DESC, [keys_1@2], 'key_1'"),
            "modulo(number, 3) DESC, [keys_1], 'key_1'"
        );
        assert_eq!(names.resolve("branch_2@0"), "branch_2");
        assert_eq!(names.resolve("a@b 'open"), "a@b 'open");
    }
}
