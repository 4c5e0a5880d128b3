//! Defines what a scalar function is and gives every one the usual NULL and constant handling.

use std::fmt;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, new_null_array};
use arrow::buffer::NullBuffer;
use arrow::error::ArrowError;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use crate::monotone::monotone;
use crate::steady::is_steady;
use crate::{Arg, Call, Column, Context, Fails, Interrupt, Monotone, memory};

/// Whether a function sees NULLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// A NULL in any argument makes the result NULL. The function resolves the types without
    /// Nullable, and its loop may ignore validity: what it computes in NULL rows is dropped (but
    /// it must not fail there: rows of NULL hold the type's default or any other value).
    Propagate,
    /// The function gets Nullable types and arrays with validity and does as it likes.
    Own,
    /// As `Own`, and it gets LowCardinality types as well and says itself what it returns.
    Raw,
}

/// What becomes of LowCardinality in the arguments of a function that does not see it itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dictionaries {
    /// The result of one such column and constants is one; inside arrays, tuples and maps it is taken
    /// out.
    Usual,
    /// As `Usual`, but inside arrays, tuples and maps it stays.
    KeptInside,
    /// The result is a plain column.
    Dropped,
}

/// What a function's result depends on besides its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purity {
    /// Nothing: constant arguments make a constant.
    Pure,
    /// The query (`now()`, `currentDatabase()`): constant within one, folded as well.
    PerQuery,
    /// Nothing foldable: every row may differ (`rand()`), or it is there for its effect (`sleep`,
    /// `throwIf`), or the result must not be constant (`materialize`).
    PerRow,
}

/// The entry of a scalar function in its family's table.
#[derive(Debug)]
pub struct ScalarFunction {
    /// Name as users write it and as result columns show it.
    pub name: &'static str,
    /// Other names for the same function.
    pub aliases: &'static [&'static str],
    /// Whether the name is found in any case (names from standard SQL).
    pub case_insensitive: bool,
    /// Whether a NULL argument makes a NULL.
    pub nulls: Nulls,
    /// Whether it sees values of `Variant`, or else is called for each of their types.
    pub takes_variants: bool,
    /// What becomes of LowCardinality.
    pub dictionaries: Dictionaries,
    /// What the result depends on.
    pub purity: Purity,
    /// For which values it may report an error.
    pub fails: Fails,
    /// How to call it: `substring(s, offset[, length])`.
    pub syntax: &'static str,
    /// What it returns, in one sentence.
    pub description: &'static str,
    /// Checks what must be right even where an argument is NULL and the result is known.
    pub check_null: fn(&Call<'_>) -> Result<()>,
    /// Checks the arguments' types and gives the result's type and the loop.
    pub resolve: fn(&Call<'_>) -> Result<Resolved>,
}

impl ScalarFunction {
    /// What most entries have: case-sensitive, pure, NULL in gives NULL out. Use as `..BASE`.
    pub const BASE: ScalarFunction = ScalarFunction {
        name: "",
        aliases: &[],
        case_insensitive: false,
        nulls: Nulls::Propagate,
        takes_variants: false,
        dictionaries: Dictionaries::Usual,
        purity: Purity::Pure,
        fails: Fails::Values,
        syntax: "",
        description: "",
        check_null: |_| Ok(()),
        resolve: |call| {
            Err(Error::bug(format!(
                "function {} does not resolve",
                call.name
            )))
        },
    };
}

/// A loop over whole columns: arguments and number of rows in, an array of that many rows out.
///
/// If every argument is constant, it is called with one row.
pub type Eval = Arc<dyn Fn(&[Column], usize) -> Result<ArrayRef> + Send + Sync>;

/// The types and the loop that a call was resolved to.
pub struct Resolved {
    /// Type of the result.
    pub return_type: DataType,
    /// The loop.
    pub eval: Eval,
}

impl Resolved {
    /// Pairs a type with its loop.
    pub fn new(
        return_type: DataType,
        eval: impl Fn(&[Column], usize) -> Result<ArrayRef> + Send + Sync + 'static,
    ) -> Result<Self> {
        Ok(Self {
            return_type,
            eval: Arc::new(eval),
        })
    }
}

/// A function bound to its arguments' types, ready to run.
#[derive(Clone)]
pub struct BoundFunction {
    /// Name of the function.
    pub name: String,
    /// Types of the arguments; none are known of a loop that belongs to no table entry.
    pub arg_types: Vec<DataType>,
    /// Type of the result.
    pub return_type: DataType,
    /// What the result depends on.
    pub purity: Purity,
    /// Whether it may report an error for some rows.
    pub may_fail: bool,
    /// How the results follow an argument, if they do.
    pub monotone: Option<Monotone>,
    /// The values of the only argument for which the result is 1, where they are listed: for all others it is 0 or NULL.
    pub members: Option<ArrayRef>,
    /// Bytes that one call may take.
    max_bytes: usize,
    /// Whether the query may go on.
    interrupt: Interrupt,
    eval: Eval,
}

impl fmt::Debug for BoundFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.name, self.return_type)
    }
}

impl BoundFunction {
    /// Binds `function` to arguments, with the NULL and LowCardinality rules of the dialect.
    ///
    /// # Errors
    /// What the function's `resolve` finds wrong with the arguments.
    pub fn bind(function: &ScalarFunction, args: &[Arg], context: &Context) -> Result<Self> {
        if function.nulls != Nulls::Raw
            && !function.takes_variants
            && let Some(bound) = crate::variant::bind(function, args, context)
        {
            return bound;
        }
        let arg_types = args.iter().map(|a| a.data_type.clone()).collect();
        if function.nulls == Nulls::Raw {
            let resolved = resolve(function, args, context)?;
            return Ok(Self {
                name: function.name.to_owned(),
                arg_types,
                may_fail: function.fails.may(args, &resolved.return_type),
                monotone: monotone(function.name, args, &resolved.return_type, context),
                members: None,
                return_type: resolved.return_type,
                purity: function.purity,
                max_bytes: memory::limit_of(context),
                interrupt: context.interrupt.clone(),
                eval: resolved.eval,
            });
        }
        let keeps_low_cardinality = one_low_cardinality_rest_constant(args);
        let keeps_elements = function.dictionaries == Dictionaries::KeptInside;
        let plain: Vec<Arg> = args
            .iter()
            .map(|a| Arg {
                data_type: match keeps_elements {
                    true => a.data_type.without_low_cardinality().clone(),
                    false => a.data_type.without_any_low_cardinality(),
                },
                constant: a.constant.clone(),
            })
            .collect();
        let resolved = match function.nulls {
            _ if has_nothing(&plain) => resolve_nothing(function, &plain, context)?,
            Nulls::Own | Nulls::Raw => resolve(function, &plain, context)?,
            Nulls::Propagate => resolve_propagating(function, &plain, context)?,
        };
        let mut return_type = resolved.return_type;
        let is_dropped = function.dictionaries == Dictionaries::Dropped;
        let fits = fits_dictionary(&return_type) && !is_dropped;
        if keeps_low_cardinality && fits && function.purity == Purity::Pure {
            return_type = DataType::LowCardinality(Arc::new(return_type));
        }
        Ok(Self {
            name: function.name.to_owned(),
            arg_types,
            may_fail: function.fails.may(args, &return_type),
            monotone: monotone(function.name, args, &return_type, context),
            members: None,
            return_type,
            purity: function.purity,
            max_bytes: memory::limit_of(context),
            interrupt: context.interrupt.clone(),
            eval: resolved.eval,
        })
    }

    /// Makes a bound function from a loop that belongs to no table entry and may fail for some rows.
    pub fn from_parts(name: impl Into<String>, return_type: DataType, eval: Eval) -> Self {
        Self {
            name: name.into(),
            arg_types: Vec::new(),
            return_type,
            purity: Purity::Pure,
            may_fail: true,
            monotone: None,
            members: None,
            max_bytes: usize::MAX,
            interrupt: Interrupt::default(),
            eval,
        }
    }

    /// Whether it is known to give the same whatever settings and time zone a session has.
    pub fn is_steady(&self) -> bool {
        self.purity == Purity::Pure && is_steady(&self.name, &self.arg_types)
    }

    /// Runs the loop.
    ///
    /// # Errors
    /// What the function reports for these values.
    pub fn call(&self, columns: &[Column], num_rows: usize) -> Result<ArrayRef> {
        let eval = || memory::within(self.max_bytes, || (self.eval)(columns, num_rows));
        let array = self.interrupt.within(eval)?;
        if array.len() != num_rows {
            return Err(Error::bug(format!(
                "function {} gave {} rows for {num_rows}",
                self.name,
                array.len()
            )));
        }
        Ok(array)
    }
}

/// Whether an argument is an element of `[]`: nothing is known of its type, as there is no such value.
fn has_nothing(args: &[Arg]) -> bool {
    args.iter().any(|a| a.data_type == DataType::Nothing)
}

fn resolve_nothing(function: &ScalarFunction, args: &[Arg], context: &Context) -> Result<Resolved> {
    check_count(function, args, context)?;
    let physical = DataType::Nothing.physical();
    Resolved::new(DataType::Nothing, move |_, num_rows| {
        Ok(new_null_array(&physical, num_rows))
    })
}

/// Whether `LowCardinality` of the type exists.
fn fits_dictionary(data_type: &DataType) -> bool {
    let base = data_type.base();
    let is_plain_number = base.is_number() && !base.is_decimal();
    let is_short_time = base.is_date_or_time() && !matches!(base, DataType::DateTime64(..));
    let is_other = matches!(
        base,
        DataType::Uuid | DataType::Ipv4 | DataType::Ipv6 | DataType::Interval(_)
    );
    base.is_string() || is_plain_number || is_short_time || is_other
}

fn resolve(function: &ScalarFunction, args: &[Arg], context: &Context) -> Result<Resolved> {
    (function.resolve)(&Call {
        name: function.name,
        args,
        context,
    })
}

/// `upper(lc)` and `concat(lc, 'x')` stay LowCardinality, as they could run on the dictionary; so they do
/// beside constants that are LowCardinality themselves.
fn one_low_cardinality_rest_constant(args: &[Arg]) -> bool {
    let is_low = |a: &&Arg| matches!(a.data_type, DataType::LowCardinality(_));
    let mut columns = args.iter().filter(|a| a.constant.is_none());
    match columns.next() {
        Some(column) => is_low(&column) && columns.next().is_none(),
        None => args.iter().any(|a| is_low(&a)),
    }
}

fn resolve_propagating(
    function: &ScalarFunction,
    args: &[Arg],
    context: &Context,
) -> Result<Resolved> {
    if !args.iter().any(|a| a.data_type.is_nullable()) {
        return resolve(function, args, context);
    }
    let only_null = |a: &Arg| *a.data_type.base() == DataType::Nothing;
    let constant_null = |a: &Arg| a.constant.as_ref().is_some_and(|c| c.is_null(0));
    if args.iter().any(|a| only_null(a) || constant_null(a)) && args.iter().any(only_null) {
        check_count(function, args, context)?;
        (function.check_null)(&Call {
            name: function.name,
            args,
            context,
        })?;
        let return_type = DataType::Nothing.to_nullable();
        let physical = return_type.physical();
        return Resolved::new(return_type, move |_, rows| {
            Ok(new_null_array(&physical, rows))
        });
    }
    let inner: Vec<Arg> = args
        .iter()
        .map(|a| Arg {
            data_type: a.data_type.base().clone(),
            constant: a.constant.clone(),
        })
        .collect();
    let resolved = resolve(function, &inner, context)?;
    let return_type = resolved.return_type.to_nullable();
    let (eval, physical) = (resolved.eval, return_type.physical());
    let nullable = return_type.is_nullable();
    Resolved::new(return_type, move |columns, num_rows| {
        let mut nulls: Option<NullBuffer> = None;
        for column in columns {
            nulls = NullBuffer::union(nulls.as_ref(), column.validity(num_rows).as_ref());
        }
        if nullable && nulls.as_ref().is_some_and(|n| n.null_count() == num_rows) && num_rows > 0 {
            return Ok(new_null_array(&physical, num_rows));
        }
        let array = eval(columns, num_rows)?;
        if nullable {
            with_nulls(&array, nulls)
        } else {
            Ok(array)
        }
    })
}

/// Checks the number of arguments only, which counts before what they are.
fn check_count(function: &ScalarFunction, args: &[Arg], context: &Context) -> Result<()> {
    let inner: Vec<Arg> = args
        .iter()
        .map(|a| Arg::new(a.data_type.base().clone()))
        .collect();
    match resolve(function, &inner, context) {
        Err(e) if e.code() == ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH => Err(e),
        _ => Ok(()),
    }
}

/// `array` with the rows that are NULL in `nulls` NULL as well.
///
/// # Errors
/// `LOGICAL_ERROR` if the lengths differ.
pub fn with_nulls(array: &ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let Some(nulls) = nulls else {
        return Ok(Arc::clone(array));
    };
    let union = NullBuffer::union(array.logical_nulls().as_ref(), Some(&nulls));
    let array_data = array.to_data().into_builder().nulls(union).build();
    Ok(arrow::array::make_array(
        array_data.map_err(|e| Error::bug(e.to_string()))?,
    ))
}

/// Arrow's error as a broken invariant of ours.
pub(crate) fn bug(e: ArrowError) -> Error {
    Error::bug(e.to_string())
}
