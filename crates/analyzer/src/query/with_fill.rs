//! Plans ORDER BY … WITH FILL: which columns are filled, from where, to where, how far apart.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, OrderBy};
use basalt_types::{DataType, IntervalUnit};
use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType as ArrowType, Float64Type, Int64Type};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::LogicalPlan;

use super::{Analyzer, Outer, default_array};
use crate::expr::Resolver;
use crate::expr::aliases::Aliases;
use crate::plan::{FillColumn, FillDefault, FillStep, Interpolated, StreamOperator, stream_node};
use crate::scope::{Scope, ScopeColumn};
use crate::{Typed, plan_error};

/// A constant and its type.
type Constant = (ArrayRef, DataType);

/// What WITH FILL says of one item of ORDER BY; nothing where it has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct FillConstants {
    from: Option<Constant>,
    to: Option<Constant>,
    step: Option<Constant>,
    staleness: Option<Constant>,
    /// That of the item, if it is a DateTime64.
    scale: Option<u8>,
}

impl FillConstants {
    /// The constants of each item of ORDER BY, whose names `resolver` knows.
    ///
    /// # Errors
    /// `INVALID_WITH_FILL_EXPRESSION` if one is no constant.
    pub(super) fn of_select(resolver: &Resolver<'_>, select: &ast::Select) -> Result<Vec<Self>> {
        let Some(OrderBy::Items { items, .. }) = &select.order_by else {
            return Ok(Vec::new());
        };
        let constant = |expr: &Option<ast::Expr>| match expr {
            None => Ok(None),
            Some(expr) => match resolver.constant(expr)? {
                None => {
                    let e = invalid("bounds and STEP must be constant");
                    Err(resolver.analyzer.placed(e, expr.span))
                }
                constant => Ok(constant),
            },
        };
        let of_item = |item: &ast::OrderItem| match &item.with_fill {
            None => Ok(Self::default()),
            Some(fill) => Ok(Self {
                from: constant(&fill.from)?,
                to: constant(&fill.to)?,
                step: constant(&fill.step)?,
                staleness: constant(&fill.staleness)?,
                scale: match resolver.resolve(&item.expr) {
                    Ok(Typed {
                        data_type: DataType::DateTime64(scale, _),
                        ..
                    }) => Some(scale),
                    _ => None,
                },
            }),
        };
        items.iter().map(of_item).collect()
    }
}

/// Where the parts of WITH FILL stand; those that are not there, where the sorted expression does.
struct Places {
    from: ast::Span,
    to: ast::Span,
    step: ast::Span,
    staleness: ast::Span,
}

impl Places {
    fn of(item: &ast::OrderItem) -> Self {
        let span = |part: fn(&ast::WithFill) -> &Option<ast::Expr>| {
            let expr = item.with_fill.as_ref().and_then(|fill| part(fill).as_ref());
            expr.map_or(item.expr.span, |e| e.span)
        };
        Self {
            from: span(|fill| &fill.from),
            to: span(|fill| &fill.to),
            step: span(|fill| &fill.step),
            staleness: span(|fill| &fill.staleness),
        }
    }
}

impl Analyzer<'_> {
    /// Adds the step that fills gaps, if ORDER BY asks for it; `keys` are the sorted columns.
    pub(crate) fn with_fill(
        &self,
        plan: LogicalPlan,
        (select, outer): (&ast::Select, &Outer),
        keys: &[String],
        (shown, fills): (&Scope, &[FillConstants]),
    ) -> Result<LogicalPlan> {
        let Some(OrderBy::Items { items, interpolate }) = &select.order_by else {
            return Ok(plan);
        };
        if !items.iter().any(|i| i.with_fill.is_some()) {
            if interpolate.is_some() {
                return Err(Error::new(
                    ErrorCode::SYNTAX_ERROR,
                    "Write WITH FILL before INTERPOLATE: it is about the rows that are filled in",
                ));
            }
            return Ok(plan);
        }
        if items.len() != keys.len() {
            return Err(Error::not_implemented(
                "WITH FILL beside an item that stands for several keys",
            ));
        }
        self.check_filled_once(items, keys)?;
        let interpolated = match interpolate {
            None => Vec::new(),
            Some(items) => self.interpolated(items, outer, keys, shown)?,
        };
        let mut columns = Vec::new();
        let mut prefix = Vec::new();
        for ((item, key), fill) in items.iter().zip(keys).zip(fills) {
            if item.with_fill.is_none() && columns.is_empty() {
                prefix.push(key.clone());
            }
            if item.with_fill.is_some() {
                let field = plan
                    .schema()
                    .field_with_unqualified_name(key)
                    .map_err(plan_error)?;
                columns.push(self.fill_column(fill, item, key, field.data_type())?);
            }
        }
        let operator = StreamOperator::WithFill {
            columns,
            prefix,
            interpolated,
            defaults: defaults(shown)?,
        };
        stream_node(plan, operator).map_err(plan_error)
    }

    /// No column may be filled behind itself.
    fn check_filled_once(&self, items: &[ast::OrderItem], keys: &[String]) -> Result<()> {
        for (i, item) in items.iter().enumerate() {
            if item.with_fill.is_some() && keys[..i].contains(&keys[i]) {
                let e = invalid("an expression may stand only once in ORDER BY");
                return Err(self.placed(e, item.expr.span));
            }
        }
        Ok(())
    }

    /// The columns of INTERPOLATE; an empty list means all that are not sorted by.
    fn interpolated(
        &self,
        items: &[ast::InterpolateItem],
        outer: &Outer,
        keys: &[String],
        shown: &Scope,
    ) -> Result<Vec<Interpolated>> {
        if items.is_empty() {
            let others = shown.columns.iter().filter(|c| !keys.contains(&c.internal));
            let copied = others.map(|c| Interpolated {
                name: c.internal.clone(),
                value: c.typed().expr,
            });
            return Ok(copied.collect());
        }
        let aliases = Aliases::default();
        let resolver = Resolver::new(self, outer, shown, &aliases);
        let mut interpolated = Vec::with_capacity(items.len());
        for item in items {
            let name = std::slice::from_ref(&item.column);
            let span = item.expr.as_ref().map_or_else(Default::default, |e| e.span);
            let unknown = || self.placed(shown.unknown(name, &[]), span);
            let (column, _) = shown.find(name)?.ok_or_else(unknown)?;
            if keys.contains(&column.internal) {
                let e = invalid("INTERPOLATE cannot set a column of ORDER BY");
                return Err(self.placed(e, span));
            }
            let value = match &item.expr {
                Some(expr) => resolver.resolve(expr)?,
                None => column.typed(),
            };
            interpolated.push(Interpolated {
                name: column.internal.clone(),
                value: value.cast_to(&column.data_type, self)?.expr,
            });
        }
        Ok(interpolated)
    }

    fn fill_column(
        &self,
        fill: &FillConstants,
        item: &ast::OrderItem,
        key: &str,
        physical: &ArrowType,
    ) -> Result<FillColumn> {
        let places = Places::of(item);
        if !physical.is_integer() && !physical.is_floating() {
            let e = invalid("the column must be a number or a date");
            return Err(self.placed(e, item.expr.span));
        }
        if fill.staleness.is_some() && fill.from.is_some() {
            let e = invalid("STALENESS cannot be used together with FROM");
            return Err(self.placed(e, places.staleness));
        }
        let bound = |constant: &Option<Constant>, span| {
            let constant = constant.as_ref();
            let number = constant.map(|c| self.fill_bound(c.clone(), physical, fill.scale));
            number.transpose().map_err(|e| self.placed(e, span))
        };
        let step = |constant: &Option<Constant>, span| {
            let step = constant
                .as_ref()
                .map(|c| fill_step(c, physical, fill.scale));
            step.transpose().map_err(|e| self.placed(e, span))
        };
        let default = if item.descending { "-1" } else { "1" };
        let column = FillColumn {
            name: key.to_owned(),
            descending: item.descending,
            from: bound(&fill.from, places.from)?,
            to: bound(&fill.to, places.to)?,
            step: step(&fill.step, places.step)?.unwrap_or(FillStep::Number(default.to_owned())),
            staleness: step(&fill.staleness, places.staleness)?,
        };
        self.check_direction(&column, &places)?;
        Ok(column)
    }

    /// Bounds and steps must lead along the sort order.
    fn check_direction(&self, column: &FillColumn, places: &Places) -> Result<()> {
        if let (Some(from), Some(to)) = (&column.from, &column.to) {
            let distance = to.parse::<f64>().unwrap_or(0.0) - from.parse::<f64>().unwrap_or(0.0);
            if distance != 0.0 && (distance < 0.0) != column.descending {
                let e = invalid("TO must not come before FROM in the sort order");
                return Err(self.placed(e, places.to));
            }
        }
        let steps = [
            (Some(&column.step), places.step),
            (column.staleness.as_ref(), places.staleness),
        ];
        for (step, span) in steps {
            let forward = match step {
                Some(FillStep::Number(n)) => n.parse::<f64>().unwrap_or(0.0),
                Some(FillStep::Months { count, .. }) => *count as f64,
                None => continue,
            };
            if forward == 0.0 || (forward < 0.0) != column.descending {
                let e = invalid(
                    "STEP and STALENESS must lead from one value to the next in the sort order",
                );
                return Err(self.placed(e, span));
            }
        }
        Ok(())
    }

    /// A bound, which an unsigned column may not have below zero.
    fn fill_bound(
        &self,
        constant: Constant,
        physical: &ArrowType,
        scale: Option<u8>,
    ) -> Result<String> {
        let number = self.fill_number(constant, physical, scale)?;
        if physical.is_unsigned_integer() && number.starts_with('-') {
            return Err(invalid("a bound of an unsigned column cannot be negative"));
        }
        Ok(number)
    }

    /// A bound in the column's own unit.
    fn fill_number(
        &self,
        (value, data_type): Constant,
        physical: &ArrowType,
        scale: Option<u8>,
    ) -> Result<String> {
        let is_text = data_type == DataType::String;
        // A text bound of a date or time column is read as one; times of all scales are those of the column.
        let to = match (physical, scale) {
            (ArrowType::UInt16, _) if is_text => Some(DataType::Date),
            (ArrowType::UInt32, _) if is_text => Some(DataType::DateTime(None)),
            (_, Some(scale)) if is_text || data_type.is_date_or_time() => {
                Some(DataType::DateTime64(scale, None))
            }
            _ => None,
        };
        let value = match to {
            Some(to) => {
                let typed = Typed::constant(value, data_type)?.cast_to(&to, self)?;
                typed.constant.ok_or_else(|| Error::bug("constant bound"))?
            }
            None => value,
        };
        number_text(&value, physical)
    }
}

fn fill_step(
    (value, data_type): &Constant,
    physical: &ArrowType,
    scale: Option<u8>,
) -> Result<FillStep> {
    const NANOS_PER_DAY: i128 = 86_400 * NANOS_PER_SECOND;
    let DataType::Interval(unit) = data_type else {
        return Ok(FillStep::Number(number_text(value, physical)?));
    };
    let count = value.as_primitive::<Int64Type>().value(0);
    let ticks_per_day = match (physical, scale) {
        (ArrowType::UInt16 | ArrowType::Int32, _) => 1,
        (ArrowType::UInt32, _) => 86_400,
        (_, Some(scale)) => 86_400 * 10_i64.pow(scale.into()),
        _ => {
            return Err(invalid(
                "an interval as STEP needs a column of dates or times",
            ));
        }
    };
    let nanos = match length_of(*unit) {
        Length::Nanos(nanos) => nanos,
        Length::Months(months) => {
            let count = count.saturating_mul(months);
            return Ok(FillStep::Months {
                count,
                ticks_per_day,
            });
        }
    };
    let nanos = i128::from(count) * nanos * i128::from(ticks_per_day);
    if nanos % NANOS_PER_DAY != 0 {
        return Err(invalid("STEP is finer than the column's values"));
    }
    Ok(FillStep::Number((nanos / NANOS_PER_DAY).to_string()))
}

const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// How long an interval is.
enum Length {
    Nanos(i128),
    Months(i64),
}

fn length_of(unit: IntervalUnit) -> Length {
    match unit {
        IntervalUnit::Nanosecond => Length::Nanos(1),
        IntervalUnit::Microsecond => Length::Nanos(1_000),
        IntervalUnit::Millisecond => Length::Nanos(1_000_000),
        IntervalUnit::Second => Length::Nanos(NANOS_PER_SECOND),
        IntervalUnit::Minute => Length::Nanos(60 * NANOS_PER_SECOND),
        IntervalUnit::Hour => Length::Nanos(3_600 * NANOS_PER_SECOND),
        IntervalUnit::Day => Length::Nanos(86_400 * NANOS_PER_SECOND),
        IntervalUnit::Week => Length::Nanos(7 * 86_400 * NANOS_PER_SECOND),
        IntervalUnit::Month => Length::Months(1),
        IntervalUnit::Quarter => Length::Months(3),
        IntervalUnit::Year => Length::Months(12),
    }
}

/// What inserted rows have in the columns that are shown.
fn defaults(shown: &Scope) -> Result<Vec<FillDefault>> {
    let default = |column: &ScopeColumn| {
        let value = default_array(&column.data_type)?;
        Ok(FillDefault {
            name: column.internal.clone(),
            value: ScalarValue::try_from_array(&value, 0).map_err(plan_error)?,
        })
    };
    shown.columns.iter().map(default).collect()
}

fn number_text(value: &ArrayRef, physical: &ArrowType) -> Result<String> {
    let wrong = |_| invalid("bounds and STEP must be numbers or dates, as the column");
    if matches!(physical, ArrowType::Float32 | ArrowType::Float64) {
        let value = cast(value, &ArrowType::Float64).map_err(wrong)?;
        return Ok(value.as_primitive::<Float64Type>().value(0).to_string());
    }
    let value = cast(value, &ArrowType::Int64).map_err(wrong)?;
    Ok(value.as_primitive::<Int64Type>().value(0).to_string())
}

fn invalid(why: &str) -> Error {
    Error::new(
        ErrorCode::INVALID_WITH_FILL_EXPRESSION,
        format!("WITH FILL: {why}"),
    )
}
