//! Parses CREATE QUOTA and ALTER QUOTA.

use basalt_error::Result;

use super::super::Parser;
use super::super::interval::unit_of;
use super::{Place, Verb};
use crate::ast::{Literal, Statement};
use crate::format::{identifier, quoted};
use crate::lexer::TokenKind as K;

/// What a quota counts, in the order in which limits are written out.
const COUNTED: &[&str] = &[
    "queries",
    "query_selects",
    "query_inserts",
    "errors",
    "result_rows",
    "result_bytes",
    "read_rows",
    "read_bytes",
    "execution_time",
    "written_bytes",
    "failed_sequential_authentications",
    "queries_per_normalized_hash",
];

/// What a quota may be kept for one by one, and how it is written out.
const KEYS: &[(&str, &str)] = &[
    ("none", ""),
    ("user_name", "user_name"),
    ("ip_address", "ip_address"),
    ("forwarded_ip_address", "forwarded_ip_address"),
    ("client_key", "client_key"),
    ("normalized_query_hash", "normalized_query_hash"),
    ("client_key_or_user_name", "client_key, user_name"),
    ("client_key_or_ip_address", "client_key, ip_address"),
];

/// Units of time with their seconds, the longest first.
const UNITS: [(&str, u64); 8] = [
    ("year", 31_556_952),
    ("quarter", 7_889_238),
    ("month", 2_629_746),
    ("week", 604_800),
    ("day", 86_400),
    ("hour", 3_600),
    ("minute", 60),
    ("second", 1),
];

impl Parser<'_> {
    pub(super) fn quota(&mut self, verb: Verb) -> Result<Statement> {
        let mut text = self.beginning(verb, "QUOTA");
        let names = self.plain_names()?;
        let shown: Vec<String> = names.iter().map(|n| identifier(n)).collect();
        text.push(&shown.join(", "));
        let mut place = Place::new(verb, names.len() == 1, identifier);
        let (mut key, mut limits, mut to) = (None, None, None);
        loop {
            if self.place_clause(&mut place)? {
                continue;
            }
            if self.keyword("NOT KEYED") {
                key = Some("NOT KEYED".to_owned());
            } else if self.keyword_of(&["KEYED BY", "KEY BY"]).is_some() {
                key = Some(self.quota_key()?);
            } else if limits.is_none() && self.peek_keyword("FOR") {
                let all = self.list(Self::quota_limits)?;
                limits = Some(all.join(", "));
            } else if self.peek_keyword("TO") {
                to = self.recipients_clause(verb)?;
            } else {
                break;
            }
        }
        text.push_place(place);
        for clause in [key, limits, to] {
            text.push_some(clause);
        }
        self.finished(format!("{} QUOTA", verb.words()), text)
    }

    fn quota_key(&mut self) -> Result<String> {
        let one = |p: &mut Self| -> Result<&'static str> {
            let name = p.name_or_string("key of a quota")?;
            let name = name.to_ascii_lowercase().replace(' ', "_");
            match KEYS.iter().find(|(known, _)| *known == name) {
                Some((_, shown)) => Ok(*shown),
                None => p.fail("key of a quota"),
            }
        };
        let keys = self.list(one)?.join(", ");
        Ok(match keys.is_empty() {
            true => "NOT KEYED".to_owned(),
            false => format!("KEYED BY {keys}"),
        })
    }

    /// `FOR [RANDOMIZED] INTERVAL 1 hour MAX queries = 5, … | NO LIMITS | TRACKING ONLY`
    fn quota_limits(&mut self) -> Result<String> {
        self.expect_keyword("FOR")?;
        let randomized = match self.keyword("RANDOMIZED") {
            true => "RANDOMIZED ",
            false => "",
        };
        self.keyword("INTERVAL");
        let interval = self.quota_interval()?;
        let start = format!("FOR {randomized}INTERVAL {interval}");
        if self.keyword("NO LIMITS") {
            return Ok(format!("{start} NO LIMITS"));
        }
        if self.keyword("TRACKING ONLY") {
            return Ok(format!("{start} TRACKING ONLY"));
        }
        let mut limits: Vec<(usize, String)> = Vec::new();
        loop {
            limits.push(self.quota_limit()?);
            // Behind a comma may be another limit, or the next interval.
            if self.kind() != K::Comma || self.is_word(1, "FOR") {
                break;
            }
            self.advance();
        }
        limits.sort_unstable();
        let limits: Vec<String> = limits.into_iter().map(|(_, text)| text).collect();
        Ok(format!("{start} MAX {}", limits.join(", ")))
    }

    /// `MAX queries = 5`, `queries MAX 5`, `MAX queries 5`
    fn quota_limit(&mut self) -> Result<(usize, String)> {
        self.keyword("MAX");
        let name = self.identifier("what a quota counts")?.to_ascii_lowercase();
        let Some(place) = COUNTED.iter().position(|known| *known == name) else {
            return self.fail("what a quota counts");
        };
        self.keyword("MAX");
        self.symbol(K::Equals);
        let limit = match self.try_string() {
            Some(bytes) => scaled(&bytes).map_or_else(|| quoted(&bytes), |n| n.to_string()),
            None => {
                let number = self.literal_text("number")?;
                number.trim_end_matches('.').to_owned()
            }
        };
        Ok((place, format!("{name} = {limit}")))
    }

    /// A number and its unit, in the longest unit of which it is a whole number.
    fn quota_interval(&mut self) -> Result<String> {
        let amount = match self.try_number(false)? {
            Some(Literal::UInt(n)) => n as f64,
            Some(Literal::Float(f)) => f.value,
            _ => return self.fail("number"),
        };
        let word = String::from_utf8_lossy(self.token_text(0)).into_owned();
        let seconds = unit_of(&word)
            .map(str::to_ascii_lowercase)
            .and_then(|unit| UNITS.iter().find(|(name, _)| *name == unit));
        let Some((_, seconds)) = seconds else {
            return self.fail("unit of time");
        };
        self.advance();
        let total = (amount * *seconds as f64) as u64;
        let (unit, seconds) = UNITS
            .into_iter()
            .find(|(_, seconds)| total > 0 && total.is_multiple_of(*seconds))
            .unwrap_or(("second", 1));
        Ok(format!("{} {unit}", total / seconds))
    }
}

/// `'1K'`, `'2Mi'`: a number with the ending of a size.
fn scaled(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor: u64 = match text.get(digits.len()..)? {
        "" => 1,
        "K" => 1000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "T" => 1_000_000_000_000,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        "Ti" => 1 << 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}
