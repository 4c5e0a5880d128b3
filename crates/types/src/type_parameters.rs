//! Defines the parameters of types: names of enums, elements of tuples, aggregate functions, units of intervals.

use crate::DataType;

/// The names and numbers of an `Enum8` or `Enum16`, ordered by number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EnumType {
    values: Vec<(String, i16)>,
}

impl EnumType {
    /// Makes the type from its pairs; they may come in any order.
    pub fn new(mut values: Vec<(String, i16)>) -> Self {
        values.sort_by_key(|(_, number)| *number);
        Self { values }
    }

    /// Pairs of name and number, by number.
    pub fn values(&self) -> &[(String, i16)] {
        &self.values
    }

    /// The name of `number`, if the type has it.
    pub fn name_of(&self, number: i16) -> Option<&str> {
        let i = self
            .values
            .binary_search_by_key(&number, |(_, n)| *n)
            .ok()?;
        Some(&self.values[i].0)
    }

    /// The number of `name`, if the type has it.
    pub fn number_of(&self, name: &[u8]) -> Option<i16> {
        self.values
            .iter()
            .find(|(n, _)| n.as_bytes() == name)
            .map(|(_, v)| *v)
    }
}

/// The elements of a tuple; `names` is empty for an unnamed one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TupleType {
    /// Types of the elements, in order.
    pub types: Vec<DataType>,
    /// Names of the elements, either none or as many as types.
    pub names: Vec<String>,
}

impl TupleType {
    /// The name of element `idx` (from 0): its own, or its position from 1.
    pub fn name(&self, idx: usize) -> String {
        self.names
            .get(idx)
            .cloned()
            .unwrap_or_else(|| (idx + 1).to_string())
    }
}

/// What an `AggregateFunction(name(params), args…)` holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AggregateType {
    /// Name of the function with its combinators, without `State`.
    pub name: String,
    /// Parameters as SQL literals.
    pub params: Vec<String>,
    /// Types of the arguments.
    pub args: Vec<DataType>,
}

/// The unit of an `IntervalX` type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the variants are units of time")]
pub enum IntervalUnit {
    Nanosecond,
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

impl IntervalUnit {
    /// Every unit, from the smallest on.
    pub const ALL: [IntervalUnit; 11] = [
        IntervalUnit::Nanosecond,
        IntervalUnit::Microsecond,
        IntervalUnit::Millisecond,
        IntervalUnit::Second,
        IntervalUnit::Minute,
        IntervalUnit::Hour,
        IntervalUnit::Day,
        IntervalUnit::Week,
        IntervalUnit::Month,
        IntervalUnit::Quarter,
        IntervalUnit::Year,
    ];

    /// The unit by its capitalised name (`Second`).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|u| format!("{u:?}") == name)
    }
}
