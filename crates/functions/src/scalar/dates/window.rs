//! Windows of time that follow each other (`tumble`) or overlap (`hop`).

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::entry;
use crate::scalar::tuples::compose::Node;
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    entry(
        &["tumble"],
        "tumble(time, interval[, time_zone])",
        "Start and end of the window of that length that a time is in.",
        |call| {
            let (start, end) = tumble(call)?;
            Node::tuple(vec![start, end])
        },
    ),
    entry(
        &["tumbleStart"],
        "tumbleStart(time, interval[, time_zone]) or tumbleStart(window)",
        "Start of the window that a time is in.",
        |call| bound(call, tumble, true),
    ),
    entry(
        &["tumbleEnd"],
        "tumbleEnd(time, interval[, time_zone]) or tumbleEnd(window)",
        "End of the window that a time is in.",
        |call| bound(call, tumble, false),
    ),
    entry(
        &["hop"],
        "hop(time, hop_interval, window_interval[, time_zone])",
        "Start and end of the first window of that length and distance that a time is in.",
        |call| {
            let (start, end) = hop(call)?;
            Node::tuple(vec![start, end])
        },
    ),
    entry(
        &["hopStart"],
        "hopStart(time, hop_interval, window_interval[, time_zone]) or hopStart(window)",
        "Start of the first window that a time is in.",
        |call| bound(call, hop, true),
    ),
    entry(
        &["hopEnd"],
        "hopEnd(time, hop_interval, window_interval[, time_zone]) or hopEnd(window)",
        "End of the first window that a time is in.",
        |call| bound(call, hop, false),
    ),
];

type Window = fn(&Call<'_>) -> Result<(Node, Node)>;

/// One bound of a window, which may also be given as the tuple.
fn bound(call: &Call<'_>, window: Window, is_start: bool) -> Result<Resolved> {
    let (start, end) = match call.args {
        [only] if matches!(only.data_type, DataType::Tuple(_)) => {
            let mut bounds = Node::elements(call, 0)?.into_iter();
            match (bounds.next(), bounds.next(), bounds.next()) {
                (Some(start), Some(end), None) => (start, end),
                _ => return Err(call.illegal_type(0)),
            }
        }
        _ => window(call)?,
    };
    if is_start { start } else { end }.resolved()
}

fn expect_interval(call: &Call<'_>, idx: usize) -> Result<i64> {
    call.expect_type(idx, |t| matches!(t, DataType::Interval(_)))?;
    let constant = call.constant(idx)?;
    let numbers = crate::scalar::core::numeric::values::<i64>(constant.as_ref())?;
    let amount = numbers.first().copied().unwrap_or(0);
    if amount > 0 {
        return Ok(amount);
    }
    Err(Error::new(
        ErrorCode::ARGUMENT_OUT_OF_BOUND,
        format!("An interval of function {} must be positive", call.name),
    ))
}

/// The start of the `step` that the first argument is in.
fn start_of(call: &Call<'_>, step: &Node, zone_idx: usize) -> Result<Node> {
    call.expect_type(0, |t| matches!(t, DataType::DateTime(_)))?;
    let time = Node::argument(call, 0);
    if call.args.len() <= zone_idx {
        return Node::apply("toStartOfInterval", &[&time, step], call.context);
    }
    let zone = Node::argument(call, zone_idx);
    Node::apply("toStartOfInterval", &[&time, step, &zone], call.context)
}

fn tumble(call: &Call<'_>) -> Result<(Node, Node)> {
    call.expect_args(2..=3)?;
    expect_interval(call, 1)?;
    let interval = Node::argument(call, 1);
    let start = start_of(call, &interval, 2)?;
    let end = Node::apply("plus", &[&start, &interval], call.context)?;
    Ok((start, end))
}

fn hop(call: &Call<'_>) -> Result<(Node, Node)> {
    call.expect_args(3..=4)?;
    let (hop, window) = (expect_interval(call, 1)?, expect_interval(call, 2)?);
    if call.data_type(1) != call.data_type(2) {
        return Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            format!("The intervals of function {} must have one unit", call.name),
        ));
    }
    if hop > window {
        return Err(Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            format!(
                "The hop of function {} must not be longer than the window",
                call.name
            ),
        ));
    }
    let (hop, window) = (Node::argument(call, 1), Node::argument(call, 2));
    let start = start_of(call, &hop, 3)?;
    let end = Node::apply("plus", &[&start, &hop], call.context)?;
    let start = Node::apply("minus", &[&end, &window], call.context)?;
    Ok((start, end))
}
