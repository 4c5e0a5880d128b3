//! Compares functions of dates with a calendar that goes from day to day.

use super::has_llvm;
use crate::calendar::{
    DayPart, DayUnit, day_of_seconds, day_of_week, part_of_day, part_of_seconds, start_of_day_unit,
    start_of_seconds,
};
use crate::{
    Column, Compiled, Graph, IllTyped, NodeId, Outcome, Output, Program, Type, Values, interpret,
};

const PARTS: [DayPart; 7] = [
    DayPart::Year,
    DayPart::Quarter,
    DayPart::Month,
    DayPart::DayOfMonth,
    DayPart::DayOfYear,
    DayPart::YearMonth,
    DayPart::YearMonthDay,
];

const UNITS: [DayUnit; 4] = [
    DayUnit::Year,
    DayUnit::Month,
    DayUnit::Week,
    DayUnit::SundayWeek,
];

/// A date, and the day that it is.
#[derive(Clone, Copy, Debug)]
struct Date {
    day: i64,
    year: i64,
    month: i64,
    day_of_month: i64,
    /// From January on.
    day_of_year: i64,
    /// From Monday on.
    weekday: i64,
}

/// The first of January of 1600, a Saturday.
const START: Date = Date {
    day: -135_140,
    year: 1600,
    month: 1,
    day_of_month: 1,
    day_of_year: 0,
    weekday: 5,
};

impl Date {
    fn days_in_month(self) -> i64 {
        let is_leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        match self.month {
            2 => 28 + i64::from(is_leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    fn next(self) -> Self {
        let mut next = Self {
            day: self.day + 1,
            day_of_month: self.day_of_month + 1,
            day_of_year: self.day_of_year + 1,
            weekday: (self.weekday + 1) % 7,
            ..self
        };
        if self.day_of_month == self.days_in_month() {
            (next.month, next.day_of_month) = (self.month + 1, 1);
        }
        if next.month == 13 {
            (next.year, next.month, next.day_of_year) = (self.year + 1, 1, 0);
        }
        next
    }

    /// What the functions of [`outputs`] have to give.
    fn expected(self) -> [u64; 12] {
        let unsigned = |value: i64| u64::from(value as u32);
        let start = |since: i64| (self.day - since).clamp(0, 65_535).cast_unsigned();
        let month = self.year * 100 + self.month;
        [
            unsigned(self.year),
            unsigned((self.month + 2) / 3),
            unsigned(self.month),
            unsigned(self.day_of_month),
            unsigned(self.day_of_year + 1),
            unsigned(month),
            unsigned(month * 100 + self.day_of_month),
            unsigned(self.weekday + 1),
            start(self.day_of_year),
            start(self.day_of_month - 1),
            start(self.weekday),
            start((self.weekday + 1) % 7),
        ]
    }
}

/// The days from 1600 on.
fn dates() -> impl Iterator<Item = Date> {
    std::iter::successors(Some(START), |date| Some(date.next()))
}

fn outputs(graph: &mut Graph, day: NodeId) -> Result<Vec<NodeId>, IllTyped> {
    let mut nodes = Vec::new();
    for part in PARTS {
        nodes.push(part_of_day(graph, part, day)?);
    }
    nodes.push(day_of_week(graph, day)?);
    for unit in UNITS {
        nodes.push(start_of_day_unit(graph, unit, day)?);
    }
    Ok(nodes)
}

/// What the nodes are for each row, in both ways.
fn results(graph: Graph, nodes: &[NodeId], values: Values<'_>) -> Vec<Vec<u64>> {
    let outputs = nodes.iter().map(|node| Output::Map(*node)).collect();
    let program = Program::try_new(graph, None, outputs).unwrap();
    let (num_rows, columns) = (
        values.len(),
        [Some(Column {
            values,
            validity: None,
        })],
    );
    let outcomes = interpret(&program, &columns, num_rows).unwrap();
    if has_llvm() {
        let compiled = Compiled::try_new(program.clone()).unwrap();
        assert_eq!(compiled.run(&columns, num_rows).unwrap(), outcomes);
    }
    let of_node = |(outcome, node): (&Outcome, &NodeId)| {
        let Outcome::Rows(rows) = outcome else {
            panic!("a value for each row")
        };
        let data_type = program.graph().type_of(*node);
        let (bits, per_word) = (data_type.bits(), 64 / data_type.bits() as usize);
        let value = |row: usize| {
            let word = rows.words[row / per_word] >> (row % per_word * bits as usize);
            word & data_type.mask()
        };
        (0..num_rows).map(value).collect()
    };
    outcomes.iter().zip(nodes).map(of_node).collect()
}

fn check(values: Values<'_>, expected: &[Date]) {
    let mut graph = Graph::default();
    let mut day = graph.column(0, values.data_type(), false).unwrap();
    if values.data_type() == Type::U32 {
        day = day_of_seconds(&mut graph, day).unwrap();
    }
    let nodes = outputs(&mut graph, day).unwrap();
    let found = results(graph, &nodes, values);
    for (row, date) in expected.iter().enumerate() {
        let found: Vec<u64> = found.iter().map(|of_node| of_node[row]).collect();
        assert_eq!(found, date.expected(), "{date:?}");
    }
}

#[test]
fn all_days_of_16_bits_are_those_of_the_calendar() {
    let dates: Vec<Date> = dates().skip_while(|d| d.day < 0).take(1 << 16).collect();
    let days: Vec<u16> = dates.iter().map(|d| d.day as u16).collect();
    assert_eq!((days[0], days[65_535]), (0, 65_535));
    check(Values::U16(&days), &dates);
    // Seconds do not go as far.
    let dates: Vec<Date> = dates.into_iter().take(49_710).collect();
    let seconds: Vec<u32> = dates
        .iter()
        .map(|d| d.day as u32 * 86_400 + d.day as u32 % 86_400)
        .collect();
    check(Values::U32(&seconds), &dates);
}

#[test]
fn days_with_a_sign_are_those_of_the_calendar() {
    // Until 2439, and in the eras far before and behind, as the calendar repeats itself after 400 years.
    let dates: Vec<Date> = dates().take(2 * 146_097 + 14_000).collect();
    for eras in [0, -4, -4_700, 20, 4_700] {
        let moved = |date: &Date| Date {
            day: date.day + eras * 146_097,
            year: date.year + eras * 400,
            ..*date
        };
        let dates: Vec<Date> = dates.iter().map(moved).collect();
        let days: Vec<i32> = dates.iter().map(|d| d.day as i32).collect();
        check(Values::I32(&days), &dates);
    }
}

#[test]
fn days_beyond_the_calendar_are_its_ends() {
    let mut graph = Graph::default();
    let day = graph.column(0, Type::I32, false).unwrap();
    let year = part_of_day(&mut graph, DayPart::Year, day).unwrap();
    let weekday = day_of_week(&mut graph, day).unwrap();
    let month = start_of_day_unit(&mut graph, DayUnit::Month, day).unwrap();
    let days = [i32::MIN, -700_000_001, -700_000_000, 700_000_000, i32::MAX];
    let found = results(graph, &[year, weekday, month], Values::I32(&days));
    let (least, greatest) = (u64::from((-1_914_565_i32).cast_unsigned()), 1_918_504);
    assert_eq!(found[0], [least, least, least, greatest, greatest]);
    let weekdays = days.map(|day| (i64::from(day) + 3).rem_euclid(7).cast_unsigned() + 1);
    assert_eq!(found[1], weekdays);
    assert_eq!(found[2], [0, 0, 0, 65_535, 65_535]);
}

#[test]
fn seconds_are_cut_into_steps() {
    let mut random = basalt_adapt::Random::new(3);
    let mut seconds: Vec<u32> = (0..20_000).map(|_| (random.bits() >> 20) as u32).collect();
    seconds.extend([0, 1, 59, 60, 3_599, 3_600, 86_399, 86_400, u32::MAX]);
    let mut graph = Graph::default();
    let column = graph.column(0, Type::U32, false).unwrap();
    let parts = [(3_600, 24), (60, 60), (1, 60)];
    let steps = [60, 300, 600, 900, 1_800, 3_600, 86_400];
    let mut nodes = Vec::new();
    for (step, count) in parts {
        nodes.push(part_of_seconds(&mut graph, column, step, count).unwrap());
    }
    for step in steps {
        nodes.push(start_of_seconds(&mut graph, column, step).unwrap());
    }
    let found = results(graph, &nodes, Values::U32(&seconds));
    for (row, second) in seconds.iter().enumerate() {
        let parts = parts.map(|(step, count)| second / step % count);
        let starts = steps.map(|step| second - second % step);
        let expected = parts.iter().chain(&starts).map(|value| u64::from(*value));
        assert!(
            found.iter().map(|of_node| of_node[row]).eq(expected),
            "{second}"
        );
    }
}
