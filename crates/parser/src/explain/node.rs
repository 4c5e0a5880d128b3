//! Holds the tree that EXPLAIN AST prints.

/// A line and what is below it.
#[derive(Debug)]
pub(super) struct Node {
    text: String,
    children: Vec<Node>,
}

impl Node {
    pub(super) fn new(text: impl Into<String>, children: Vec<Node>) -> Node {
        Node {
            text: text.into(),
            children,
        }
    }

    pub(super) fn leaf(text: impl Into<String>) -> Node {
        Node::new(text, Vec::new())
    }

    /// `ExpressionList`
    pub(super) fn list(children: Vec<Node>) -> Node {
        Node::new("ExpressionList", children)
    }

    /// Whether this is the text, whatever is below it.
    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text
    }

    pub(super) fn push(&mut self, child: Node) {
        self.children.push(child);
    }

    pub(super) fn extend(&mut self, children: impl IntoIterator<Item = Node>) {
        self.children.extend(children);
    }

    /// `text` with ` (alias name)` after it.
    pub(super) fn aliased(mut self, name: &str) -> Node {
        self.text += &format!(" (alias {name})");
        self
    }

    /// The text with underscores, as part of another node's text.
    pub(super) fn id(&self) -> String {
        self.text.replacen(' ', "_", 1)
    }

    /// The text with an underscore for every space.
    pub(super) fn words(&self) -> String {
        self.text.replace(' ', "_")
    }

    pub(super) fn print(&self) -> String {
        let mut out = String::new();
        self.print_at(0, &mut out);
        out
    }

    fn print_at(&self, depth: usize, out: &mut String) {
        out.extend(std::iter::repeat_n(' ', depth));
        out.push_str(&self.text);
        if !self.children.is_empty() {
            out.push_str(&format!(" (children {})", self.children.len()));
        }
        out.push('\n');
        for child in &self.children {
            child.print_at(depth + 1, out);
        }
    }
}
