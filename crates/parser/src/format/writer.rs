//! Collects text, with line breaks and indentation or on one line.

/// A text being written.
pub(super) struct Writer {
    out: String,
    one_line: bool,
    indent: usize,
}

impl Writer {
    pub(super) fn one_line() -> Self {
        Writer {
            out: String::new(),
            one_line: true,
            indent: 0,
        }
    }

    pub(super) fn multi_line() -> Self {
        Writer {
            out: String::new(),
            one_line: false,
            indent: 0,
        }
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

    /// Writes `text` if `condition`.
    pub(super) fn put_if(&mut self, condition: bool, text: &str) {
        if condition {
            self.put(text);
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
