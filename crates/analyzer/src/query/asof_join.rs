//! Plans ASOF JOIN: of the rows that match, the one whose value is closest.
//!
//! The rows of both sides become one table, sorted by what must be equal and then by what must be
//! closest; a step over it gives each row of the left the last row of the right that it has seen.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ExprKind};
use basalt_types::least_supertype;
use datafusion::common::{JoinType, ScalarValue};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Operator, binary_expr, lit};

use super::Analyzer;
use super::join::{Sides, all_columns, join_conditions};
use crate::expr::Resolver;
use crate::plan::{AsofColumns, StreamOperator, filter, project, stream_node};
use crate::plan_error;
use crate::typed::column;

impl Analyzer<'_> {
    pub(super) fn asof_joined(
        &self,
        mut sides: Sides,
        join_type: JoinType,
        conditions: Vec<Expr>,
    ) -> Result<LogicalPlan> {
        if !matches!(join_type, JoinType::Inner | JoinType::Left) {
            return Err(Error::not_implemented(
                "ASOF JOIN that is neither INNER nor LEFT",
            ));
        }
        let parts = AsofConditions::new(&sides, conditions)?;
        if let Some(condition) = conjunction(parts.of_right) {
            sides.right.plan = filter(sides.right.plan, condition)?;
        }
        let keys: Vec<String> = parts.keys.iter().map(|_| self.fresh("asof_key")).collect();
        let (time, is_left) = (self.fresh("asof_time"), self.fresh("asof_side"));
        let (left_keys, right_keys): (Vec<Expr>, Vec<Expr>) = parts.keys.into_iter().unzip();
        let shown = [
            all_columns(&sides.left.plan),
            all_columns(&sides.right.plan),
        ]
        .concat();
        let row = |own: &LogicalPlan, (is_of_left, side_keys, side_time): (u8, Vec<Expr>, Expr)| {
            let mut exprs = either_side(&sides, own)?;
            exprs.extend(side_keys.into_iter().zip(&keys).map(|(k, n)| k.alias(n)));
            exprs.push(side_time.alias(&time));
            exprs.push(lit(is_of_left).alias(&is_left));
            project(own.clone(), exprs)
        };
        let left = row(&sides.left.plan, (1, left_keys, parts.left_time))?;
        let right = row(&sides.right.plan, (0, right_keys, parts.right_time))?;
        let (descending, inclusive) = match parts.op {
            Operator::Gt => (false, false),
            Operator::Lt => (true, false),
            Operator::LtEq => (true, true),
            _ => (false, true),
        };
        let mut order: Vec<_> = keys.iter().map(|k| column(k).sort(true, false)).collect();
        order.push(column(&time).sort(!descending, false));
        // Of equal times, what stands first decides whether they match.
        order.push(column(&is_left).sort(inclusive, false));
        let both = LogicalPlanBuilder::from(left)
            .union(right)
            .and_then(|b| b.build())
            .and_then(|b| stream_node(b, StreamOperator::Unordered))
            .and_then(|b| LogicalPlanBuilder::from(b).sort(order)?.build())
            .map_err(plan_error)?;
        let of_right = sides.right.plan.schema().fields().iter();
        let operator = StreamOperator::AsofJoin(AsofColumns {
            right: of_right.map(|f| f.name().clone()).collect(),
            keys,
            time,
            is_left,
            keeps_unmatched: join_type == JoinType::Left,
        });
        let shown = shown.into_iter().map(|e| match e {
            Expr::Column(c) => column(&c.name),
            other => other,
        });
        project(
            stream_node(both, operator).map_err(plan_error)?,
            shown.collect(),
        )
    }
}

impl Analyzer<'_> {
    /// The parts of ON. What compares both sides becomes an operator over values of one type, by which the
    /// rows of both can be sorted together.
    pub(super) fn asof_conditions(
        &self,
        sides: &Sides,
        on: &ast::Expr,
        resolver: &Resolver<'_>,
    ) -> Result<Vec<Expr>> {
        let on = on.unaliased();
        if let ExprKind::Function(f) = &on.kind
            && f.name == "and"
        {
            let parts = f.args.iter();
            let parts = parts.map(|part| self.asof_conditions(sides, part, resolver));
            return Ok(parts.collect::<Result<Vec<_>>>()?.concat());
        }
        let conditions = join_conditions(on, resolver)?;
        let [condition] = conditions.as_slice() else {
            return Ok(conditions);
        };
        if sides.compared(condition).is_some() {
            return Ok(conditions);
        }
        let compared = self.compared_by_value(on, resolver)?;
        let compared = compared.filter(|c| sides.compared(c).is_some());
        Ok(compared.map_or(conditions, |c| vec![c]))
    }

    /// A comparison as an operator over values of the type that both sides can have.
    fn compared_by_value(&self, on: &ast::Expr, resolver: &Resolver<'_>) -> Result<Option<Expr>> {
        let ExprKind::Function(f) = &on.kind else {
            return Ok(None);
        };
        let op = match f.name.as_str() {
            "equals" => Operator::Eq,
            "less" => Operator::Lt,
            "lessOrEquals" => Operator::LtEq,
            "greater" => Operator::Gt,
            "greaterOrEquals" => Operator::GtEq,
            _ => return Ok(None),
        };
        let [left, right] = f.args.as_slice() else {
            return Ok(None);
        };
        let (left, right) = (resolver.resolve(left)?, resolver.resolve(right)?);
        let types = [left.data_type.clone(), right.data_type.clone()];
        let Ok(common) = least_supertype(&types) else {
            return Ok(None);
        };
        let (left, right) = (left.cast_to(&common, self)?, right.cast_to(&common, self)?);
        Ok(Some(binary_expr(left.expr, op, right.expr)))
    }
}

/// The conditions of an ASOF JOIN.
struct AsofConditions {
    /// What must be equal, on the left and on the right.
    keys: Vec<(Expr, Expr)>,
    left_time: Expr,
    op: Operator,
    right_time: Expr,
    of_right: Vec<Expr>,
}

impl AsofConditions {
    fn new(sides: &Sides, conditions: Vec<Expr>) -> Result<Self> {
        let (mut keys, mut of_right) = (Vec::new(), Vec::new());
        let mut closest = None;
        for condition in conditions {
            match sides.compared(&condition) {
                Some((left, Operator::Eq, right)) => keys.push((left, right)),
                Some((
                    left,
                    op @ (Operator::Gt | Operator::GtEq | Operator::Lt | Operator::LtEq),
                    right,
                )) => {
                    if closest.replace((left, op, right)).is_some() {
                        return Err(invalid("has more than one inequality"));
                    }
                }
                _ if Sides::is_only_of(&condition, &sides.right) => of_right.push(condition),
                _ if Sides::is_only_of(&condition, &sides.left) => {
                    // Rows that it does not hold for stay in a LEFT JOIN, but match nothing.
                    let key = datafusion::logical_expr::when(condition, lit(1_u8)).end();
                    keys.push((key.map_err(plan_error)?, lit(1_u8)));
                }
                _ => {
                    return Err(invalid("takes equalities and one inequality of both sides"));
                }
            }
        }
        if keys.is_empty() {
            keys.push((lit(1_u8), lit(1_u8)));
        }
        let (left_time, op, right_time) = closest
            .ok_or_else(|| invalid("needs an inequality, such as left.time >= right.time"))?;
        Ok(Self {
            keys,
            left_time,
            op,
            right_time,
            of_right,
        })
    }
}

fn invalid(why: &str) -> Error {
    Error::new(
        ErrorCode::INVALID_JOIN_ON_EXPRESSION,
        format!("ASOF JOIN {why}"),
    )
}

/// The columns of both sides in a row of one side: its own, and NULL for the other's.
fn either_side(sides: &Sides, own: &LogicalPlan) -> Result<Vec<Expr>> {
    let mut exprs = Vec::new();
    for side in [&sides.left.plan, &sides.right.plan] {
        for field in side.schema().fields() {
            let name = field.name();
            exprs.push(if own.schema().has_column_with_unqualified_name(name) {
                column(name)
            } else {
                let null = ScalarValue::try_from(field.data_type()).map_err(plan_error)?;
                Expr::Literal(null, None).alias(name)
            });
        }
    }
    Ok(exprs)
}
