//! Parses INTERVAL.

use basalt_error::Result;

use super::Parser;
use crate::ast::{Expr, ExprKind, Literal, Span};
use crate::lexer::TokenKind as K;

/// Units as in `toInterval<Unit>`, with their spellings in upper case.
const UNITS: &[(&str, &[&str])] = &[
    (
        "Nanosecond",
        &["NANOSECOND", "NANOSECONDS", "SQL_TSI_NANOSECOND", "NS"],
    ),
    (
        "Microsecond",
        &["MICROSECOND", "MICROSECONDS", "SQL_TSI_MICROSECOND", "US"],
    ),
    (
        "Millisecond",
        &["MILLISECOND", "MILLISECONDS", "SQL_TSI_MILLISECOND", "MS"],
    ),
    (
        "Second",
        &["SECOND", "SECONDS", "SQL_TSI_SECOND", "SS", "S"],
    ),
    (
        "Minute",
        &["MINUTE", "MINUTES", "SQL_TSI_MINUTE", "MI", "N"],
    ),
    ("Hour", &["HOUR", "HOURS", "SQL_TSI_HOUR", "HH", "H"]),
    ("Day", &["DAY", "DAYS", "SQL_TSI_DAY", "DD", "D"]),
    ("Week", &["WEEK", "WEEKS", "SQL_TSI_WEEK", "WK", "WW"]),
    ("Month", &["MONTH", "MONTHS", "SQL_TSI_MONTH", "MM", "M"]),
    (
        "Quarter",
        &["QUARTER", "QUARTERS", "SQL_TSI_QUARTER", "QQ", "Q"],
    ),
    ("Year", &["YEAR", "YEARS", "SQL_TSI_YEAR", "YYYY", "YY"]),
];

/// The unit that `word` spells, in any case.
pub(crate) fn unit_of(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_uppercase();
    UNITS
        .iter()
        .find(|(_, names)| names.contains(&word.as_str()))
        .map(|(unit, _)| *unit)
}

/// Whether a quoted string holds a number and nothing else.
fn is_number(quoted: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&crate::lexer::decode_quoted(quoted)).into_owned();
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let starts_well = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    starts_well && digits.parse::<f64>().is_ok()
}

impl Parser<'_> {
    /// `INTERVAL n unit`, `INTERVAL '1 day 2 hours'`; `None` if `interval` is just a name.
    pub(super) fn interval(&mut self, start: Span) -> Result<Option<Expr>> {
        let amount_follows = match self.token(1).kind {
            K::Word | K::QuotedIdentifier | K::Number | K::String | K::OpenRound | K::OpenCurly => {
                true
            }
            // `interval - a` subtracts from a column of that name.
            K::Minus => self.token(2).kind == K::Number,
            _ => false,
        };
        if !amount_follows {
            return Ok(None);
        }
        // A word may be an amount, or what follows a column named `interval`.
        let mark = self.mark();
        let is_word = self.token(1).kind == K::Word;
        self.advance();
        if self.kind() == K::String {
            let bytes = self.token_text(0);
            let followed_by_unit = self.token(1).kind == K::Word
                && unit_of(&String::from_utf8_lossy(self.token_text(1))).is_some();
            let is_compound = followed_by_unit && self.is_word(2, "TO");
            if !is_compound && !is_number(bytes) {
                return self.interval_string(bytes, start);
            }
        }
        let parenthesised = self.kind() == K::OpenRound;
        let amount = match self.expr() {
            Err(_) if is_word => {
                self.back(mark);
                return Ok(None);
            }
            amount => amount?,
        };
        match self.interval_unit() {
            Some(unit) => {
                if let Some(text) = amount.as_string().filter(|_| self.at_second_unit()) {
                    let text = String::from_utf8_lossy(text).into_owned();
                    return self.compound_interval(unit, &text, start).map(Some);
                }
                Ok(Some(self.to_interval(unit, amount, start)))
            }
            None if is_word => {
                self.back(mark);
                Ok(None)
            }
            // `interval(1)`: a function after all.
            None if parenthesised => {
                let args = match amount.kind {
                    ExprKind::Tuple(items) => items,
                    kind => vec![Expr::new(
                        kind,
                        Span {
                            parenthesised: false,
                            ..amount.span
                        },
                    )],
                };
                Ok(Some(self.call_expr("interval", args, start)))
            }
            None => self.fail("YEAR, MONTH, DAY, HOUR or another unit of time"),
        }
    }

    /// Whether `TO unit` is next.
    fn at_second_unit(&mut self) -> bool {
        self.is_word(0, "TO")
            && self.token(1).kind == K::Word
            && unit_of(&String::from_utf8_lossy(self.token_text(1))).is_some()
    }

    /// `'1 2:3' DAY TO MINUTE`: a tuple of intervals, the first unit consumed.
    fn compound_interval(&mut self, first: &str, text: &str, start: Span) -> Result<Expr> {
        const CHAINS: [(&[&str], &[char]); 2] = [
            (&["Year", "Month"], &['-']),
            (&["Day", "Hour", "Minute", "Second"], &[' ', ':', ':']),
        ];
        self.advance();
        let last = self.interval_unit().unwrap_or_default();
        let of = |units: &[&str], unit: &str| units.iter().position(|u| *u == unit);
        let found = CHAINS.iter().find_map(|(units, signs)| {
            let (from, to) = (of(units, first)?, of(units, last)?);
            (from < to).then(|| (&units[from..=to], &signs[from..to]))
        });
        let Some((units, signs)) = found else {
            return self
                .fail("units of time, the second one a part of the first, such as DAY TO HOUR");
        };
        let (is_negative, mut rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let mut intervals = Vec::new();
        for (i, unit) in units.iter().enumerate() {
            let digits = match signs.get(i) {
                Some(sign) => match rest.split_once(*sign) {
                    Some((digits, after)) => {
                        rest = after;
                        digits
                    }
                    None => return self.fail("a number for each unit of time"),
                },
                None => rest,
            };
            let Ok(number) = digits.parse::<u64>() else {
                return self.fail("a number for each unit of time");
            };
            let number = Expr::new(ExprKind::Literal(Literal::UInt(number)), start);
            let interval = self.to_interval(unit, number, start);
            intervals.push(match is_negative {
                true => self.call_expr("negate", vec![interval], start),
                false => interval,
            });
        }
        Ok(Expr::new(ExprKind::Tuple(intervals), self.span_from(start)))
    }

    fn interval_unit(&mut self) -> Option<&'static str> {
        if self.kind() != K::Word {
            return None;
        }
        let unit = unit_of(&String::from_utf8_lossy(self.token_text(0)))?;
        self.advance();
        Some(unit)
    }

    fn to_interval(&self, unit: &str, amount: Expr, start: Span) -> Expr {
        self.call_expr(&format!("toInterval{unit}"), vec![amount], start)
    }

    /// `'1 day 2 hours'`: one interval, or a tuple of them.
    fn interval_string(&mut self, quoted: &[u8], start: Span) -> Result<Option<Expr>> {
        let text = String::from_utf8_lossy(&crate::lexer::decode_quoted(quoted)).into_owned();
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let mut intervals = Vec::new();
        for pair in words.chunks(2) {
            let [amount, unit] = pair else {
                return self.fail("number and unit of time");
            };
            let (negative, digits) = match amount.strip_prefix('-') {
                Some(digits) => (true, digits),
                None => (false, *amount),
            };
            let starts_well = digits.starts_with(|c: char| c.is_ascii_digit());
            let number = starts_well
                .then(|| super::constant::number(digits, negative))
                .flatten();
            let (Some(number), Some(unit)) = (number, unit_of(unit)) else {
                return self.fail("number and unit of time");
            };
            let amount = Expr::new(ExprKind::Literal(number), self.start_span());
            intervals.push(self.to_interval(unit, amount, start));
        }
        if intervals.is_empty() {
            return self.fail("number and unit of time");
        }
        self.advance();
        let span = self.span_from(start);
        if intervals.len() == 1 {
            return Ok(intervals.pop().map(|e| Expr { span, ..e }));
        }
        Ok(Some(Expr::new(ExprKind::Tuple(intervals), span)))
    }
}
