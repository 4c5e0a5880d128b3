//! Writes a plan as `EXPLAIN json = 1` tells it: nodes in ClickHouse's shape, each with what it reads from inside.

use basalt_analyzer::plan_error;
use basalt_error::Result;
use datafusion::common::Result as PlanResult;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion, TreeNodeVisitor};
use datafusion::logical_expr::LogicalPlan;
use serde_json::Value;

/// The document, of several lines.
pub(super) fn text(plan: &LogicalPlan, has_descriptions: bool) -> Result<String> {
    let mut writer = Writer {
        has_descriptions,
        num_nodes: 0,
        // Inside `[ { "Plan":`.
        level: 2,
        is_first: true,
        out: "[\n  {\n    \"Plan\": ".to_owned(),
    };
    plan.visit(&mut writer).map_err(plan_error)?;
    writer.out.push_str("\n  }\n]");
    Ok(writer.out)
}

/// Writes nodes as it comes by them; a tree of values would be as deep as the plan when it is dropped.
struct Writer {
    has_descriptions: bool,
    num_nodes: usize,
    level: usize,
    /// Whether the next node is the first of its parent.
    is_first: bool,
    out: String,
}

impl Writer {
    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", self.level));
    }

    fn member(&mut self, name: &str, text: &str) {
        self.line();
        let text = Value::from(text);
        self.out.push_str(&format!("\"{name}\": {text}"));
    }
}

impl<'n> TreeNodeVisitor<'n> for Writer {
    type Node = LogicalPlan;

    fn f_down(&mut self, node: &'n LogicalPlan) -> PlanResult<TreeNodeRecursion> {
        let is_root = self.num_nodes == 0;
        if !is_root {
            if !self.is_first {
                self.out.push(',');
            }
            self.line();
        }
        self.out.push('{');
        self.level += 1;
        let (name, description) = told(node);
        self.member("Node Type", &name);
        self.out.push(',');
        self.member("Node Id", &format!("{name}_{}", self.num_nodes));
        self.num_nodes += 1;
        if self.has_descriptions && !description.is_empty() {
            self.out.push(',');
            self.member("Description", &description);
        }
        if !node.inputs().is_empty() {
            self.out.push(',');
            self.line();
            self.out.push_str("\"Plans\": [");
            self.level += 1;
        }
        self.is_first = true;
        Ok(TreeNodeRecursion::Continue)
    }

    fn f_up(&mut self, node: &'n LogicalPlan) -> PlanResult<TreeNodeRecursion> {
        if !node.inputs().is_empty() {
            self.level -= 1;
            self.line();
            self.out.push(']');
        }
        self.level -= 1;
        self.line();
        self.out.push('}');
        self.is_first = false;
        Ok(TreeNodeRecursion::Continue)
    }
}

/// The name of a node, and what else its line in EXPLAIN PLAN tells.
fn told(node: &LogicalPlan) -> (String, String) {
    let line = node.display().to_string();
    let (name, description) = line.split_once(':').unwrap_or((&line, ""));
    (name.trim().to_owned(), description.trim().to_owned())
}
