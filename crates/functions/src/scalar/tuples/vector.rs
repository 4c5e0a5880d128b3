//! Computes with tuples as vectors, element by element.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::compose::Node;
use crate::scalar::arrays::vectors::{self, Norm, power, without_last};
use crate::{Call, Context, Resolved, ScalarFunction};

macro_rules! element_wise {
    ($($name:literal $aliases:expr, $resolve:expr;)*) => {
        /// The functions of this file.
        pub const FUNCTIONS: &[ScalarFunction] = &[$(
            ScalarFunction {
                name: $name,
                aliases: $aliases,
                syntax: concat!($name, "(tuple, ...)"),
                description: "The tuple of the results for each element.",
                resolve: $resolve,
                ..ScalarFunction::BASE
            },
        )*];
    };
}

element_wise! {
    "tuplePlus" &["vectorSum"], |call| with_tuple(call, "plus");
    "tupleMinus" &["vectorDifference"], |call| with_tuple(call, "minus");
    "tupleMultiply" &[], |call| with_tuple(call, "multiply");
    "tupleDivide" &[], |call| with_tuple(call, "divide");
    "tupleModulo" &[], |call| with_tuple(call, "modulo");
    "tupleIntDiv" &[], |call| with_tuple(call, "intDiv");
    "tupleIntDivOrZero" &[], |call| with_tuple(call, "intDivOrZero");
    "tupleMultiplyByNumber" &[], |call| with_number(call, "multiply");
    "tupleDivideByNumber" &[], |call| with_number(call, "divide");
    "tupleModuloByNumber" &[], |call| with_number(call, "modulo");
    "tuplePositiveModuloByNumber" &[], |call| with_number(call, "positiveModulo");
    "tupleIntDivByNumber" &[], |call| with_number(call, "intDiv");
    "tupleIntDivOrZeroByNumber" &[], |call| with_number(call, "intDivOrZero");
    "tupleNegate" &[], resolve_negate;
    "L1Normalize" &["normalizeL1"], |call| resolve_normalize(call, Norm::L1);
    "L2Normalize" &["normalizeL2"], |call| resolve_normalize(call, Norm::L2);
    "LinfNormalize" &["normalizeLinf"], |call| resolve_normalize(call, Norm::Linf);
    "LpNormalize" &["normalizeLp"], |call| {
        call.expect_args(2..=2)?;
        let norm = Norm::Lp(power(call)?);
        resolve_normalize(&without_last(call), norm)
    };
}

/// The elements of the two first arguments, tuples of the same size.
fn pairs(call: &Call<'_>) -> Result<Vec<(Node, Node)>> {
    call.expect_args(2..=2)?;
    let (a, b) = (Node::elements(call, 0)?, Node::elements(call, 1)?);
    expect_same_size(call, (a.len(), b.len()))?;
    Ok(a.into_iter().zip(b).collect())
}

fn each_pair(call: &Call<'_>, name: &str) -> Result<Vec<Node>> {
    let apply = |(a, b): &(Node, Node)| Node::apply(name, &[a, b], call.context);
    pairs(call)?.iter().map(apply).collect()
}

/// Combines two tuples or more from left to right.
fn with_tuple(call: &Call<'_>, name: &str) -> Result<Resolved> {
    let (least, context) = (2, call.context);
    if call.args.len() < least {
        return Err(Error::new(
            ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION,
            format!("Function {} takes at least {least} tuples", call.name),
        ));
    }
    let first_pair = Call {
        args: &call.args[..least],
        ..*call
    };
    let mut results = each_pair(&first_pair, name)?;
    for idx in least..call.args.len() {
        let next = Node::elements(call, idx)?;
        expect_same_size(call, (results.len(), next.len()))?;
        let pairs = results.iter().zip(&next);
        results = pairs
            .map(|(a, b)| Node::apply(name, &[a, b], context))
            .collect::<Result<Vec<_>>>()?;
    }
    Node::tuple(results)
}

fn expect_same_size(call: &Call<'_>, (a, b): (usize, usize)) -> Result<()> {
    if a == b {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
        format!(
            "Expected tuples of the same size as arguments of function {}, got {a} and {b} elements",
            call.name
        ),
    ))
}

fn with_number(call: &Call<'_>, name: &str) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let number = Node::argument(call, 1);
    let apply = |x: &Node| Node::apply(name, &[x, &number], call.context);
    let results = Node::elements(call, 0)?
        .iter()
        .map(apply)
        .collect::<Result<Vec<_>>>();
    Node::tuple(results?)
}

fn resolve_negate(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let apply = |x: &Node| Node::apply("negate", &[x], call.context);
    let results = Node::elements(call, 0)?
        .iter()
        .map(apply)
        .collect::<Result<Vec<_>>>();
    Node::tuple(results?)
}

/// The norm of a vector of values.
fn norm_of(vector: &[Node], norm: Norm, context: &Context) -> Result<Node> {
    let each = |f: &dyn Fn(&Node) -> Result<Node>| vector.iter().map(f).collect::<Result<Vec<_>>>();
    let abs = |x: &Node| Node::apply("abs", &[x], context);
    let square = |x: &Node| Node::apply("multiply", &[x, x], context);
    match norm {
        Norm::L1 => Node::fold("plus", &each(&abs)?, context),
        Norm::L2Squared => Node::fold("plus", &each(&square)?, context),
        Norm::L2 => {
            let sum = Node::fold("plus", &each(&square)?, context)?;
            Node::apply("sqrt", &[&sum], context)
        }
        Norm::Linf => Node::fold("max2", &each(&abs)?, context),
        Norm::Lp(p) => {
            let exponent = Node::constant(DataType::Float64, &p.to_string())?;
            let power = |x: &Node| Node::apply("pow", &[&abs(x)?, &exponent], context);
            let sum = Node::fold("plus", &each(&power)?, context)?;
            let root = Node::constant(DataType::Float64, &(1.0 / p).to_string())?;
            Node::apply("pow", &[&sum, &root], context)
        }
    }
}

/// The norm of the first argument, a tuple.
///
/// # Errors
/// What the arithmetic functions find wrong with its elements.
pub fn resolve_norm(call: &Call<'_>, norm: Norm) -> Result<Resolved> {
    norm_of(&Node::elements(call, 0)?, norm, call.context)?.resolved()
}

/// The distance of the two first arguments, tuples.
///
/// # Errors
/// What the arithmetic functions find wrong with their elements.
pub fn resolve_distance(call: &Call<'_>, norm: Norm) -> Result<Resolved> {
    norm_of(&each_pair(call, "minus")?, norm, call.context)?.resolved()
}

fn dot(call: &Call<'_>) -> Result<Node> {
    Node::fold("plus", &each_pair(call, "multiply")?, call.context)
}

/// The product of two tuples as vectors.
///
/// # Errors
/// What the arithmetic functions find wrong with their elements.
pub fn resolve_dot(call: &Call<'_>) -> Result<Resolved> {
    dot(call)?.resolved()
}

/// One minus the cosine of the angle between two tuples as vectors.
///
/// # Errors
/// What the arithmetic functions find wrong with their elements.
pub fn resolve_cosine(call: &Call<'_>) -> Result<Resolved> {
    let context = call.context;
    let length = |idx| norm_of(&Node::elements(call, idx)?, Norm::L2, context);
    let lengths = Node::apply("multiply", &[&length(0)?, &length(1)?], context)?;
    let cosine = Node::apply("divide", &[&dot(call)?, &lengths], context)?;
    let one = Node::constant(DataType::UInt8, "1")?;
    Node::apply("minus", &[&one, &cosine], context)?.resolved()
}

fn resolve_normalize(call: &Call<'_>, norm: Norm) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    if matches!(call.data_type(0), DataType::Array(_)) {
        return vectors::resolve_normalize(call, norm);
    }
    let vector = Node::elements(call, 0)?;
    let norm = norm_of(&vector, norm, call.context)?;
    let divide = |x: &Node| Node::apply("divide", &[x, &norm], call.context);
    Node::tuple(vector.iter().map(divide).collect::<Result<Vec<_>>>()?)
}

/// Number of elements in which two tuples differ.
pub(super) fn resolve_hamming(call: &Call<'_>) -> Result<Resolved> {
    Node::fold("plus", &each_pair(call, "notEquals")?, call.context)?.resolved()
}
