//! Parses the shares of rows that SAMPLE takes.

use basalt_error::Result;

use super::Parser;
use crate::ast::{Literal, Ratio};
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    /// `1/10`, `0.1`, `1000`
    pub(super) fn ratio(&mut self) -> Result<Ratio> {
        let (numerator, scale) = self.ratio_part()?;
        let (divisor, divisor_scale) = if self.symbol(K::Slash) {
            self.ratio_part()?
        } else {
            (1, 1)
        };
        let fraction = numerator
            .checked_mul(divisor_scale)
            .zip(divisor.checked_mul(scale));
        match fraction {
            Some((numerator, denominator)) if denominator > 0 => Ok(Ratio {
                numerator,
                denominator,
            }),
            _ => self.fail("share of rows, such as 1/10"),
        }
    }

    /// A decimal number as an integer and a power of ten.
    fn ratio_part(&mut self) -> Result<(u64, u64)> {
        let what = "share of rows, such as 1/10";
        match self.try_number(false)? {
            Some(Literal::UInt(n)) => Ok((n, 1)),
            Some(Literal::Float(f)) => {
                let (whole, fraction) = f.text.split_once('.').unwrap_or((&f.text, ""));
                let digits = format!("{whole}{fraction}");
                let scale = u32::try_from(fraction.len())
                    .ok()
                    .and_then(|n| 10u64.checked_pow(n));
                match (digits.parse(), scale) {
                    (Ok(n), Some(scale)) => Ok((n, scale)),
                    _ => self.fail(what),
                }
            }
            _ => self.fail(what),
        }
    }
}
