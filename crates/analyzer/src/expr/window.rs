//! Resolves window functions: `f(…) OVER (…)`.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::aggregate::is_aggregate;
use basalt_parser::ast::{self, FrameBound, FrameUnit, WindowRef, WindowSpec};
use basalt_types::DataType;
use datafusion::common::ScalarValue;
use datafusion::functions_window::{cume_dist, lead_lag, nth_value, ntile, rank, row_number};
use datafusion::logical_expr::expr::{WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{
    Expr, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowFunctionDefinition, WindowUDF,
};

use super::{Resolver, literal};
use crate::query::order_by::sort_keys;
use crate::{Typed, udaf};

impl Resolver<'_> {
    /// A function over a window, by name or in place.
    pub(crate) fn window_call(&self, f: &ast::Function) -> Result<Typed> {
        let spec = match &f.over {
            Some(WindowRef::Spec(spec)) => self.refined(spec)?,
            Some(WindowRef::Named(name)) => self.named_window(name)?,
            None => return Err(Error::bug("window function without window")),
        };
        check_frame_of_offset(f, &spec)?;
        let (definition, args, data_type) = self.definition(f)?;
        let partition_by: Vec<Expr> = self
            .resolve_all(&spec.partition_by)?
            .into_iter()
            .map(|t| t.expr)
            .collect();
        let mut order_by = Vec::new();
        for item in &spec.order_by {
            let key = self.resolve(&item.expr)?;
            order_by.extend(sort_keys(&key, item, self)?);
        }
        let window_frame = self.frame(&spec, !order_by.is_empty())?;
        let params = WindowFunctionParams {
            args,
            partition_by,
            order_by,
            window_frame,
            filter: None,
            null_treatment: None,
            distinct: false,
        };
        let expr = Expr::WindowFunction(Box::new(WindowFunction {
            fun: definition,
            params,
        }));
        Ok(Typed::new(expr, data_type))
    }

    fn named_window(&self, name: &str) -> Result<WindowSpec> {
        let found = self
            .windows
            .iter()
            .find(|w| w.name == name)
            .ok_or_else(|| {
                Error::new(
                    ErrorCode::BAD_ARGUMENTS,
                    format!("Window '{name}' is not defined"),
                )
            })?;
        self.refined(&found.spec)
    }

    /// The definition with that of its parent window filled in.
    fn refined(&self, spec: &WindowSpec) -> Result<WindowSpec> {
        let Some(parent) = &spec.parent else {
            return Ok(spec.clone());
        };
        let mut whole = self.named_window(parent)?;
        whole.order_by.extend(spec.order_by.iter().cloned());
        if spec.frame.is_some() {
            whole.frame.clone_from(&spec.frame);
        }
        Ok(whole)
    }

    fn definition(
        &self,
        f: &ast::Function,
    ) -> Result<(WindowFunctionDefinition, Vec<Expr>, DataType)> {
        let lower = f.name.to_ascii_lowercase();
        if let Some((udf, data_type)) = ranking(&lower) {
            let args = self.resolve_all(&f.args)?;
            let args = args
                .into_iter()
                .map(|a| a.cast_to(&DataType::UInt64, self.analyzer));
            let args = args.map(|a| a.map(|t| t.expr)).collect::<Result<_>>()?;
            return Ok((WindowFunctionDefinition::WindowUDF(udf), args, data_type));
        }
        if let Some(udf) = offset_function(&lower) {
            let (args, data_type) = self.offset_args(&lower, &f.args)?;
            return Ok((WindowFunctionDefinition::WindowUDF(udf), args, data_type));
        }
        if !is_aggregate(&f.name) {
            return Err(Error::new(
                ErrorCode::UNKNOWN_AGGREGATE_FUNCTION,
                format!(
                    "Function {} is neither an aggregate nor a window function",
                    f.name
                ),
            ));
        }
        let resolved = self.resolve_aggregate(f)?;
        let data_type = resolved.bound.return_type.clone();
        let udaf = udaf::aggregate_udf(resolved.key, resolved.bound);
        Ok((
            WindowFunctionDefinition::AggregateUDF(udaf),
            resolved.args,
            data_type,
        ))
    }

    /// Arguments of `lag(x[, offset[, default]])` and `nth_value(x, n)`.
    fn offset_args(&self, name: &str, args: &[ast::Expr]) -> Result<(Vec<Expr>, DataType)> {
        let mut args = self.resolve_all(args)?;
        if args.is_empty() || args.len() > 3 {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!("Function {name} takes a value, an offset and a default"),
            ));
        }
        let data_type = args[0].data_type.clone();
        let mut exprs = Vec::new();
        if args.len() >= 2 {
            args[1] = args[1].clone().cast_to(&DataType::Int64, self.analyzer)?;
        } else if name != "nth_value" {
            args.push(literal::uint64(1)?.cast_to(&DataType::Int64, self.analyzer)?);
        }
        if name != "nth_value" && !data_type.is_nullable() && args.len() == 2 {
            // Outside of the frame there is the type's default, not NULL.
            args.push(self.default_of(&data_type)?);
        }
        if let Some(default) = args.get_mut(2) {
            *default = default.clone().cast_to(&data_type, self.analyzer)?;
        }
        exprs.extend(args.into_iter().map(|a| a.expr));
        Ok((exprs, data_type))
    }

    /// The default of a type as a constant.
    pub(crate) fn default_of(&self, data_type: &DataType) -> Result<Typed> {
        let array = crate::query::default_array(data_type)?;
        Typed::constant(array, data_type.clone())
    }

    fn frame(&self, spec: &WindowSpec, ordered: bool) -> Result<WindowFrame> {
        let Some(frame) = &spec.frame else {
            return Ok(WindowFrame::new(ordered.then_some(false)));
        };
        let units = match frame.unit {
            FrameUnit::Rows => WindowFrameUnits::Rows,
            FrameUnit::Range => WindowFrameUnits::Range,
            FrameUnit::Groups => WindowFrameUnits::Groups,
        };
        let start = self.bound(&frame.start, units)?;
        let end = self.bound(&frame.end, units)?;
        Ok(WindowFrame::new_bounds(units, start, end))
    }

    fn bound(&self, bound: &FrameBound, units: WindowFrameUnits) -> Result<WindowFrameBound> {
        let offset = |expr: &ast::Expr| -> Result<ScalarValue> {
            if units == WindowFrameUnits::Range {
                return Err(Error::not_implemented("A RANGE frame with an offset"));
            }
            let typed = self.resolve(expr)?;
            if typed.constant.is_none() {
                return Err(Error::new(
                    ErrorCode::BAD_ARGUMENTS,
                    "A frame's offset must be constant",
                ));
            }
            match typed.cast_to(&DataType::UInt64, self.analyzer)?.expr {
                Expr::Literal(value, _) => Ok(value),
                _ => Err(Error::bug("constant frame offset")),
            }
        };
        Ok(match bound {
            FrameBound::CurrentRow => WindowFrameBound::CurrentRow,
            FrameBound::UnboundedPreceding => WindowFrameBound::Preceding(unbounded(units)),
            FrameBound::UnboundedFollowing => WindowFrameBound::Following(unbounded(units)),
            FrameBound::Preceding(expr) => WindowFrameBound::Preceding(offset(expr)?),
            FrameBound::Following(expr) => WindowFrameBound::Following(offset(expr)?),
        })
    }
}

/// `lagInFrame` and `leadInFrame` see no row outside of the frame; only frames that hold all rows
/// on their side run.
fn check_frame_of_offset(f: &ast::Function, spec: &WindowSpec) -> Result<()> {
    let frame = spec.frame.as_ref();
    let from_first = frame.is_none_or(|f| f.start == FrameBound::UnboundedPreceding);
    let to_last = frame.is_some_and(|f| f.end == FrameBound::UnboundedFollowing);
    let runs = match f.name.as_str() {
        "lagInFrame" => from_first,
        "leadInFrame" => to_last,
        _ => true,
    };
    if runs {
        return Ok(());
    }
    Err(Error::not_implemented(format!(
        "{} over a frame that leaves rows out",
        f.name
    )))
}

fn unbounded(units: WindowFrameUnits) -> ScalarValue {
    if units == WindowFrameUnits::Range {
        ScalarValue::Null
    } else {
        ScalarValue::UInt64(None)
    }
}

/// Functions that number rows.
fn ranking(lower: &str) -> Option<(Arc<WindowUDF>, DataType)> {
    Some(match lower {
        "row_number" => (row_number::row_number_udwf(), DataType::UInt64),
        "rank" => (rank::rank_udwf(), DataType::UInt64),
        "dense_rank" | "denserank" => (rank::dense_rank_udwf(), DataType::UInt64),
        "percent_rank" | "percentrank" => (rank::percent_rank_udwf(), DataType::Float64),
        "cume_dist" => (cume_dist::cume_dist_udwf(), DataType::Float64),
        "ntile" => (ntile::ntile_udwf(), DataType::UInt64),
        _ => return None,
    })
}

/// Functions that look at another row.
fn offset_function(lower: &str) -> Option<Arc<WindowUDF>> {
    Some(match lower {
        "lag" | "laginframe" => lead_lag::lag_udwf(),
        "lead" | "leadinframe" => lead_lag::lead_udwf(),
        "nth_value" => nth_value::nth_value_udwf(),
        _ => return None,
    })
}
