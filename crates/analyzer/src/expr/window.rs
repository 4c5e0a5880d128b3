//! Resolves window functions: `f(…) OVER (…)`.

use basalt_error::{Error, ErrorCode, Result, counted};
use basalt_functions::aggregate::is_aggregate;
use basalt_parser::ast::{self, FrameUnit, WindowFrame, WindowRef, WindowSpec};
use basalt_types::{DataType, least_supertype};
use datafusion::logical_expr::{Expr, SortExpr};

use super::Resolver;
use crate::plan::{Frame, WindowFunction};
use crate::query::order_by::sort_key;
use crate::query::{float_key, sorted_key};
use crate::udwf::WindowUdf;
use crate::{Typed, udaf};

/// A window function with its resolved arguments.
struct Definition {
    function: WindowFunction,
    args: Vec<Expr>,
    data_type: DataType,
    frame: FrameRule,
}

/// Which frames a function takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FrameRule {
    /// Every one.
    Any,
    /// Only the whole partition, which is also what it gets without a frame.
    Whole,
    /// As `Whole`, in RANGE or GROUPS.
    WholeInPeers,
    /// None, which is the whole partition.
    Unwritten,
}

impl FrameRule {
    /// The frame that a function of this rule has, if it takes the written one.
    fn taken(self, written: Option<&WindowFrame>, frame: Frame) -> Option<Frame> {
        let takes = match self {
            FrameRule::Any => return Some(frame),
            FrameRule::Whole => written.is_none() || is_whole(&frame),
            FrameRule::WholeInPeers => {
                let in_peers = written.is_none_or(|w| w.unit != FrameUnit::Rows);
                in_peers && (written.is_none() || is_whole(&frame))
            }
            FrameRule::Unwritten => written.is_none(),
        };
        takes.then_some(Frame::WHOLE)
    }
}

impl Resolver<'_> {
    /// A function over a window, by name or in place.
    pub(crate) fn window_call(&self, f: &ast::Function) -> Result<Typed> {
        self.implementation_name(f)?;
        let spec = match &f.over {
            Some(WindowRef::Spec(spec)) => self.refined(spec)?,
            Some(WindowRef::Named(name)) => self.named_window(name)?,
            None => return Err(Error::bug("window function without window")),
        };
        {
            let mut state = self.state.borrow_mut();
            if state.aggregate_depth > 0 || state.window_depth > 0 {
                return Err(Error::new(
                    ErrorCode::ILLEGAL_AGGREGATION,
                    format!(
                        "Window function {} is found inside another function",
                        f.name
                    ),
                ));
            }
            state.window_depth += 1;
        }
        let result = self.window_parts(f, &spec);
        self.state.borrow_mut().window_depth -= 1;
        result
    }

    fn window_parts(&self, f: &ast::Function, spec: &WindowSpec) -> Result<Typed> {
        let mut definition = self.definition(f, spec)?;
        let partition_by = self.resolve_all(&spec.partition_by)?;
        for key in &partition_by {
            let setting = "allow_suspicious_types_in_group_by";
            self.analyzer.check_key(&key.data_type, setting)?;
        }
        let partition_by = partition_by.into_iter();
        let partition_by = partition_by.map(|t| float_key(t.expr, &t.data_type.physical()));
        let partition_by: Vec<Expr> = partition_by.collect();
        let (mut order_by, mut keys): (Vec<SortExpr>, Vec<Typed>) = (Vec::new(), Vec::new());
        for item in &spec.order_by {
            let key = self.resolve(&item.expr)?;
            let mut sort = sort_key(&key, item, self)?;
            let expr = std::mem::take(&mut sort.expr);
            sort.expr = sorted_key(expr, &key.data_type.physical(), &sort);
            order_by.push(sort);
            keys.push(key);
        }
        let frame = self.frame(spec, &keys)?;
        let frame = definition.frame.taken(spec.frame.as_ref(), frame);
        let frame = frame.ok_or_else(|| {
            bad_arguments(format!(
                "Leave the frame out: function {} is always over the whole partition",
                f.name
            ))
        })?;
        if let (crate::plan::Unit::Range(Some(_)), Some(key)) = (&frame.unit, keys.first()) {
            definition.args.push(key.expr.clone());
        }
        let arrow = definition.data_type.physical();
        let udf = WindowUdf::new(definition.function, frame, arrow);
        let expr = udf.call(definition.args, partition_by, order_by);
        Ok(Typed::new(expr, definition.data_type))
    }

    fn named_window(&self, name: &str) -> Result<WindowSpec> {
        let found = self
            .windows
            .iter()
            .find(|w| w.name == name)
            .ok_or_else(|| bad_arguments(format!("Window '{name}' is not defined")))?;
        self.refined(&found.spec)
    }

    /// The definition with that of its parent window filled in.
    fn refined(&self, spec: &WindowSpec) -> Result<WindowSpec> {
        let Some(parent) = &spec.parent else {
            return Ok(spec.clone());
        };
        let mut whole = self.named_window(parent)?;
        let clash = if !spec.partition_by.is_empty() {
            Some("has a PARTITION BY of its own")
        } else if !spec.order_by.is_empty() && !whole.order_by.is_empty() {
            Some("orders what its parent orders already")
        } else if whole.frame.is_some() {
            Some("has a parent with a frame")
        } else {
            None
        };
        if let Some(clash) = clash {
            return Err(bad_arguments(format!(
                "Derived window definition of '{parent}' {clash}"
            )));
        }
        whole.order_by.extend(spec.order_by.iter().cloned());
        whole.frame.clone_from(&spec.frame);
        Ok(whole)
    }

    fn definition(&self, f: &ast::Function, spec: &WindowSpec) -> Result<Definition> {
        let lower = f.name.to_ascii_lowercase();
        if let Some(definition) = ranking(&lower) {
            let ignores_args = lower == "row_number" || definition.frame == FrameRule::WholeInPeers;
            if !ignores_args {
                expect_args(f, 0..=0)?;
            }
            return Ok(definition);
        }
        match lower.as_str() {
            "ntile" => self.ntile(f, spec),
            "lag" | "lead" | "laginframe" | "leadinframe" | "nth_value" => {
                self.offset_function(&lower, f)
            }
            "nonnegativederivative" => self.derivative(f),
            _ if is_aggregate(&f.name) || f.name.starts_with("countDistinct") => {
                // Its arguments may hold aggregates of the GROUP BY.
                let resolved = self.resolve_parts(f)?;
                let data_type = resolved.bound.return_type.clone();
                let udaf = udaf::aggregate_udf(resolved.key, resolved.bound);
                Ok(Definition {
                    function: WindowFunction::Aggregate(udaf),
                    args: resolved.args,
                    data_type,
                    frame: FrameRule::Any,
                })
            }
            _ => Err(Error::new(
                ErrorCode::UNKNOWN_AGGREGATE_FUNCTION,
                format!(
                    "Function {} is neither an aggregate nor a window function",
                    f.name
                ),
            )),
        }
    }

    fn ntile(&self, f: &ast::Function, spec: &WindowSpec) -> Result<Definition> {
        expect_args(f, 1..=1)?;
        let args = self.resolve_all(&f.args)?;
        let buckets = match args.first() {
            Some(n) if n.data_type.is_unsigned() => self.constant_u64(n)?,
            _ => None,
        };
        let buckets = buckets.filter(|n| *n > 0).ok_or_else(|| {
            bad_arguments("Give function ntile a constant number of buckets from 1 up")
        })?;
        if spec.order_by.is_empty() {
            return Err(bad_arguments(
                "Add ORDER BY to the window of function ntile",
            ));
        }
        Ok(Definition {
            function: WindowFunction::Ntile(buckets),
            args: Vec::new(),
            data_type: DataType::UInt64,
            frame: FrameRule::Whole,
        })
    }

    /// `lag(x[, offset[, default]])` and its kin, and `nth_value(x, n)`: value, offset, default.
    fn offset_function(&self, lower: &str, f: &ast::Function) -> Result<Definition> {
        let is_nth = lower == "nth_value";
        expect_args(f, if is_nth { 2..=2 } else { 1..=3 })?;
        let mut args = self.resolve_all(&f.args)?.into_iter();
        let value = args.next().ok_or_else(|| Error::bug("window argument"))?;
        let offset = match args.next() {
            Some(offset) => self.row_offset(f, offset)?,
            None => super::literal::uint64(1)?.cast_to(&DataType::Int64, self.analyzer)?,
        };
        let data_type = value.data_type.without_any_low_cardinality();
        let default = match args.next() {
            Some(default) => {
                let given = default.data_type.without_any_low_cardinality();
                let both = [data_type.clone(), given];
                if !least_supertype(&both).is_ok_and(|t| t == data_type) {
                    return Err(bad_arguments(format!(
                        "The default of function {} is of type {}, which type {data_type} does \
                         not hold",
                        f.name, default.data_type
                    )));
                }
                default.cast_to(&data_type, self.analyzer)?
            }
            None => self.default_of(&data_type)?,
        };
        let function = if is_nth {
            WindowFunction::NthValue
        } else {
            WindowFunction::Offset {
                lead: lower.starts_with("lead"),
            }
        };
        let frame = match lower {
            "lag" | "lead" => FrameRule::Unwritten,
            _ => FrameRule::Any,
        };
        Ok(Definition {
            function,
            args: vec![value.expr, offset.expr, default.expr],
            data_type,
            frame,
        })
    }

    /// A number of rows from 0 up; what is below 0 in some row is found when it runs.
    fn row_offset(&self, f: &ast::Function, offset: Typed) -> Result<Typed> {
        let data_type = offset.data_type.without_low_cardinality();
        if !data_type.is_integer() {
            return Err(bad_arguments(format!(
                "Give function {} an integer offset, not one of type {data_type}",
                f.name
            )));
        }
        offset.cast_to(&DataType::Int64, self.analyzer)
    }

    /// `nonNegativeDerivative(metric, time[, INTERVAL n unit])`
    fn derivative(&self, f: &ast::Function) -> Result<Definition> {
        expect_args(f, 2..=3)?;
        if f.args.len() == 3 {
            return Err(Error::not_implemented(
                "An interval in nonNegativeDerivative",
            ));
        }
        let args = self.resolve_all(&f.args)?;
        let [metric, time] = args.as_slice() else {
            return Err(Error::bug("window argument"));
        };
        let ticks = match time.data_type {
            DataType::DateTime(_) => 1,
            DataType::DateTime64(precision, _) => 10_u64.pow(u32::from(precision)),
            _ => {
                return Err(bad_arguments(
                    "Give function nonNegativeDerivative a DateTime or DateTime64",
                ));
            }
        };
        let metric = metric.clone().cast_to(&DataType::Float64, self.analyzer)?;
        let time = Typed::new(time.expr.clone(), DataType::Int64);
        let time = Expr::Cast(datafusion::logical_expr::Cast::new(
            Box::new(time.expr),
            datafusion::arrow::datatypes::DataType::Int64,
        ));
        Ok(Definition {
            function: WindowFunction::NonNegativeDerivative { ticks },
            args: vec![metric.expr, time],
            data_type: DataType::Float64,
            frame: FrameRule::Any,
        })
    }

    /// The default of a type as a constant.
    pub(crate) fn default_of(&self, data_type: &DataType) -> Result<Typed> {
        let array = crate::query::default_array(data_type)?;
        Typed::constant(array, data_type.clone())
    }
}

/// Whether a function needs a window: no aggregate function does, but those that look at the last row.
pub(crate) fn needs_window(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    name.starts_with("exponentialTimeDecayed")
        || ranking(&lower).is_some()
        || [
            "ntile",
            "lag",
            "lead",
            "laginframe",
            "leadinframe",
            "nth_value",
            "nonnegativederivative",
        ]
        .contains(&lower.as_str())
}

fn is_whole(frame: &Frame) -> bool {
    frame.start == Frame::WHOLE.start && frame.end == Frame::WHOLE.end
}

pub(super) fn bad_arguments(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::BAD_ARGUMENTS, message.into())
}

fn expect_args(f: &ast::Function, range: std::ops::RangeInclusive<usize>) -> Result<()> {
    if range.contains(&f.args.len()) {
        return Ok(());
    }
    let (from, to) = (range.start(), range.end());
    let expected = match from == to {
        true => from.to_string(),
        false => format!("{from} to {to}"),
    };
    Err(Error::new(
        ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
        format!(
            "Window function {} takes {}, got {}",
            f.name,
            counted(expected, "argument"),
            f.args.len()
        ),
    ))
}

/// Functions that number rows.
fn ranking(lower: &str) -> Option<Definition> {
    use WindowFunction::{CumeDist, DenseRank, PercentRank, Rank, RowNumber};
    let (function, data_type, frame) = match lower {
        "row_number" => (RowNumber, DataType::UInt64, FrameRule::Any),
        "rank" => (Rank, DataType::UInt64, FrameRule::Any),
        "dense_rank" | "denserank" => (DenseRank, DataType::UInt64, FrameRule::Any),
        "percent_rank" | "percentrank" => (PercentRank, DataType::Float64, FrameRule::WholeInPeers),
        "cume_dist" => (CumeDist, DataType::Float64, FrameRule::WholeInPeers),
        _ => return None,
    };
    Some(Definition {
        function,
        args: Vec::new(),
        data_type,
        frame,
    })
}
