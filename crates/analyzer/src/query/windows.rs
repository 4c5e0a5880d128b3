//! Plans window functions: a step for each partition and order that they are over.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan, SortExpr};

use basalt_error::{Error, Result};

use super::Analyzer;
use super::select::{Clauses, replace};
use crate::plan::{StreamOperator, Unit, Window, WindowColumn, WindowOrder, project, stream_node};
use crate::plan_error;
use crate::typed::column;
use crate::udwf::WindowUdf;

impl Analyzer<'_> {
    /// Computes the window functions and puts their columns in their places.
    pub(crate) fn windows(&self, plan: LogicalPlan, clauses: &mut Clauses) -> Result<LogicalPlan> {
        let mut found: Vec<Expr> = Vec::new();
        for expr in clauses.exprs_mut() {
            expr.apply(|e| {
                if matches!(e, Expr::WindowFunction(_)) {
                    if !found.contains(e) {
                        found.push(e.clone());
                    }
                    return Ok(TreeNodeRecursion::Jump);
                }
                Ok(TreeNodeRecursion::Continue)
            })
            .map_err(plan_error)?;
        }
        if found.is_empty() {
            return Ok(plan);
        }
        let mut inputs = Inputs {
            analyzer: self,
            exprs: plan
                .schema()
                .iter()
                .map(|(q, f)| (Expr::from((q, f)), f.name().clone()))
                .collect(),
        };
        let mut windows: Vec<Window> = Vec::new();
        let mut outputs = Vec::with_capacity(found.len());
        for expr in &found {
            outputs.push(inputs.add(expr, &mut windows)?);
        }
        let exprs = inputs.exprs.into_iter().map(|(expr, name)| match expr {
            Expr::Column(_) => expr,
            other => other.alias(name),
        });
        let mut plan = project(plan, exprs.collect())?;
        for window in windows {
            plan = stream_node(plan, StreamOperator::Window(window)).map_err(plan_error)?;
        }
        for expr in clauses.exprs_mut() {
            *expr = replace(expr.clone(), |e| {
                let place = found.iter().position(|f| f == e)?;
                outputs.get(place).map(|name| column(name))
            })?;
        }
        Ok(plan)
    }
}

/// The columns that the steps read: those of the plan and those computed for the windows.
struct Inputs<'a> {
    analyzer: &'a Analyzer<'a>,
    exprs: Vec<(Expr, String)>,
}

impl Inputs<'_> {
    fn name(&mut self, expr: &Expr) -> String {
        if let Some((_, name)) = self.exprs.iter().find(|(e, _)| e == expr) {
            return name.clone();
        }
        let name = self.analyzer.fresh("window");
        self.exprs.push((expr.clone(), name.clone()));
        name
    }

    fn names(&mut self, exprs: &[Expr]) -> Vec<String> {
        exprs.iter().map(|e| self.name(e)).collect()
    }

    fn order(&mut self, sort: &SortExpr) -> WindowOrder {
        WindowOrder {
            name: self.name(&sort.expr),
            descending: !sort.asc,
            nulls_first: sort.nulls_first,
        }
    }

    /// Adds a call to the window that it is over; gives the name of its column.
    fn add(&mut self, expr: &Expr, windows: &mut Vec<Window>) -> Result<String> {
        let call = match expr {
            Expr::WindowFunction(call) => WindowUdf::of_call(call),
            _ => None,
        };
        let (udf, params) = call.ok_or_else(|| Error::bug("window function"))?;
        let mut args = self.names(&params.args);
        let mut frame = udf.frame.clone();
        if let Unit::Range(key @ Some(_)) = &mut frame.unit {
            *key = args.pop();
        }
        let output = self.analyzer.fresh("window");
        let function = WindowColumn {
            function: udf.function.clone(),
            frame,
            args,
            output: output.clone(),
            arrow: udf.arrow.clone(),
        };
        let partition = self.names(&params.partition_by);
        let order: Vec<WindowOrder> = params.order_by.iter().map(|s| self.order(s)).collect();
        let same = windows
            .iter_mut()
            .find(|w| w.partition == partition && w.order == order);
        match same {
            Some(window) => window.functions.push(function),
            None => windows.push(Window {
                partition,
                order,
                functions: vec![function],
            }),
        }
        Ok(output)
    }
}
