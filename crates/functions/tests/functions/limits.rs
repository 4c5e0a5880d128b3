//! What one call may take of memory and time, also where a function calls another.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::ArrayRef;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use crate::testing::constant;
use basalt_functions::{
    Arg, BoundFunction, Call, Context, Interrupt, Nulls, Resolved, ScalarFunction, SettingValues,
    registry,
};

/// Calls a function of one small number.
fn call_in(context: &Context, name: &str, number: &str) -> Result<ArrayRef> {
    let number = constant("UInt8", number);
    let arg = Arg {
        data_type: number.data_type,
        constant: Some(ArrayRef::clone(&number.column.array)),
    };
    let bound = BoundFunction::bind(registry::get_scalar(name)?, &[arg], context)?;
    bound.call(&[number.column], 1)
}

/// Calls a function without arguments that `resolve` makes.
fn call_around(context: &Context, resolve: fn(&Call<'_>) -> Result<Resolved>) -> Result<ArrayRef> {
    let function = ScalarFunction {
        name: "around",
        nulls: Nulls::Raw,
        resolve,
        ..ScalarFunction::BASE
    };
    BoundFunction::bind(&function, &[], context)?.call(&[], 1)
}

/// A query whose calls may take so many bytes.
fn limited(size_bytes: usize) -> Context {
    let setting = ("max_memory_usage".to_owned(), size_bytes.to_string());
    Context {
        settings: SettingValues::new(BTreeMap::from([setting]), |_| None),
        ..Context::default()
    }
}

/// A query that may go on for so many looks, and then ends.
fn ended_after(num_checks: usize, code: ErrorCode) -> Context {
    let done = AtomicUsize::new(0);
    let interrupt = Interrupt::new(move || {
        if done.fetch_add(1, Ordering::Relaxed) < num_checks {
            return Ok(());
        }
        Err(Error::new(code, "enough"))
    });
    Context {
        interrupt,
        ..Context::default()
    }
}

#[test]
fn the_lesser_limit_holds_and_goes_with_its_call() {
    let code_of = |result: Result<ArrayRef>| result.map_err(|error| error.code());
    let too_much = Err(ErrorCode::MEMORY_LIMIT_EXCEEDED);
    assert!(call_in(&Context::default(), "range", "255").is_ok());
    let all = call_around(&limited(100), |_| {
        Resolved::new(DataType::Array(DataType::UInt8.into()), |_, _| {
            call_in(&limited(10), "range", "10")?;
            call_in(&limited(10), "range", "11").expect_err("more than the call may");
            // The limit of the call around holds again.
            call_in(&limited(1_000), "range", "100")
        })
    });
    assert!(all.is_ok());
    let all = call_around(&limited(100), |_| {
        Resolved::new(DataType::Array(DataType::UInt8.into()), |_, _| {
            call_in(&limited(1_000), "range", "101")
        })
    });
    assert_eq!(code_of(all), too_much);
    assert!(call_in(&limited(1_000), "range", "101").is_ok());
    let alone = call_in(&limited(100), "range", "101");
    assert_eq!(code_of(alone), too_much);
}

#[test]
fn a_wait_ends_with_its_query() {
    let context = ended_after(3, ErrorCode::QUERY_WAS_CANCELLED);
    let waited = call_in(&context, "sleep", "3");
    let error = waited.expect_err("cancelled");
    assert_eq!(error.code(), ErrorCode::QUERY_WAS_CANCELLED);
    assert!(call_in(&Context::default(), "sleep", "0").is_ok());
}

#[test]
fn calls_without_a_check_are_under_the_one_around() {
    let late = |num_checks| ended_after(num_checks, ErrorCode::TIMEOUT_EXCEEDED);
    assert!(call_in(&late(0), "range", "1").is_err());
    let sleeps: fn(&Call<'_>) -> Result<Resolved> = |_| {
        Resolved::new(DataType::UInt8, |_, _| {
            call_in(&Context::default(), "sleep", "0")
        })
    };
    // The first look is that of the call around, before its work.
    let error = call_around(&late(1), sleeps).expect_err("late");
    assert_eq!(error.code(), ErrorCode::TIMEOUT_EXCEEDED);
    assert!(call_around(&late(2), sleeps).is_ok());
    assert!(call_around(&Context::default(), sleeps).is_ok());
}
