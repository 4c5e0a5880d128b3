//! Collects text, with line breaks and indentation or on one line.

use super::text::{backticked, identifier, is_form_word, is_risky_name};

/// A text being written.
pub(super) struct Writer {
    out: String,
    one_line: bool,
    indent: usize,
    /// Names that could be read as something else get backticks, too.
    is_careful: bool,
    /// Such a name was written.
    has_risky_names: bool,
}

impl Writer {
    pub(super) fn one_line() -> Self {
        Writer {
            out: String::new(),
            one_line: true,
            indent: 0,
            is_careful: false,
            has_risky_names: false,
        }
    }

    pub(super) fn multi_line() -> Self {
        Writer {
            one_line: false,
            ..Writer::one_line()
        }
    }

    /// What `body` writes: with names as ClickHouse quotes them, if `reads_back` says so of that text, else
    /// with all quotes that might be needed.
    pub(super) fn written(
        make: fn() -> Self,
        body: impl Fn(&mut Self),
        reads_back: impl Fn(&str) -> bool,
    ) -> String {
        let mut w = make();
        body(&mut w);
        if !w.has_risky_names || reads_back(&w.out) {
            return w.out;
        }
        let mut careful = Writer {
            is_careful: true,
            ..make()
        };
        body(&mut careful);
        careful.out
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    pub(super) fn is_one_line(&self) -> bool {
        self.one_line
    }

    pub(super) fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// A name.
    pub(super) fn put_name(&mut self, name: &str) {
        self.put_risky(name, is_risky_name(name));
    }

    /// A name that stands where an expression may.
    pub(super) fn put_expression_name(&mut self, name: &str) {
        self.put_risky(name, is_risky_name(name) || is_form_word(name));
    }

    /// A name that may be read as something else, if `is_risky`.
    pub(super) fn put_risky(&mut self, name: &str, is_risky: bool) {
        self.has_risky_names |= is_risky;
        let text = match is_risky && self.is_careful {
            true => backticked(name),
            false => identifier(name),
        };
        self.put(&text);
    }

    /// Writes `text` if `condition`.
    pub(super) fn put_if(&mut self, condition: bool, text: &str) {
        if condition {
            self.put(text);
        }
    }

    /// Writes `body`; the space that it begins with on one line is left out.
    pub(super) fn without_first_space(&mut self, body: impl FnOnce(&mut Self)) {
        let start = self.out.len();
        body(self);
        if self.out[start..].starts_with(' ') {
            self.out.remove(start);
        }
    }

    /// A line break with indentation; on one line a space.
    pub(super) fn line(&mut self) {
        if self.one_line {
            self.out.push(' ');
            return;
        }
        self.soft_line();
    }

    /// A line break with indentation; on one line nothing.
    pub(super) fn soft_line(&mut self) {
        if !self.one_line {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n("    ", self.indent));
        }
    }

    /// The spaces of this level, which ClickHouse also writes within a line before SKIP.
    pub(super) fn indentation(&mut self) {
        if !self.one_line {
            self.out.extend(std::iter::repeat_n("    ", self.indent));
        }
    }

    /// Writes `body` one level deeper.
    pub(super) fn indented(&mut self, body: impl FnOnce(&mut Self)) {
        self.indent += 1;
        body(self);
        self.indent -= 1;
    }

    /// Writes `body`, one level deeper if `condition`.
    pub(super) fn indented_if(&mut self, condition: bool, body: impl FnOnce(&mut Self)) {
        if condition {
            self.indented(body)
        } else {
            body(self)
        }
    }

    /// Items with `, ` between.
    pub(super) fn commas<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        for (i, each) in items.iter().enumerate() {
            self.put_if(i > 0, ", ");
            item(self, each);
        }
    }

    /// Items after a keyword: one on the same line, several each on a line of its own.
    pub(super) fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        if items.len() == 1 || self.one_line {
            self.put(" ");
            self.commas(items, item);
            return;
        }
        self.indented(|w| {
            for (i, each) in items.iter().enumerate() {
                w.put_if(i > 0, ",");
                w.line();
                item(w, each);
            }
        });
    }

    /// `(items)`
    pub(super) fn parentheses<T>(&mut self, items: &[T], item: impl FnMut(&mut Self, &T)) {
        self.put("(");
        self.commas(items, item);
        self.put(")");
    }

    /// `body` in parentheses over several lines.
    pub(super) fn block(&mut self, body: impl FnOnce(&mut Self)) {
        self.put("(");
        self.indented(|w| {
            w.soft_line();
            body(w);
        });
        self.soft_line();
        self.put(")");
    }
}
