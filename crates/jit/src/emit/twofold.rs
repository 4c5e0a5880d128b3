//! Adds floats as `basalt_kernels::twofold` does: a sum, and what its additions have rounded away.
//!
//! In memory the sums of all lanes come first, then the rests.

use super::text::Text;
use crate::column::LANES;

/// A sum and its rest in registers of one type.
pub(super) struct Twofold {
    pub(super) sum: String,
    pub(super) rest: String,
}

impl Twofold {
    /// The type of both together.
    pub(super) fn pair_type(vector: &str) -> String {
        format!("{{ {vector}, {vector} }}")
    }

    /// Takes a pair apart.
    pub(super) fn of_pair(pair: &str, vector: &str, text: &mut Text) -> Self {
        let pair_type = Self::pair_type(vector);
        let mut part = |place| text.add(format!("extractvalue {pair_type} {pair}, {place}"));
        Self {
            sum: part(0),
            rest: part(1),
        }
    }

    /// Both as a pair.
    pub(super) fn pair(&self, vector: &str, text: &mut Text) -> String {
        let pair_type = Self::pair_type(vector);
        let sum = &self.sum;
        let half = text.add(format!("insertvalue {pair_type} poison, {vector} {sum}, 0"));
        let rest = &self.rest;
        text.add(format!(
            "insertvalue {pair_type} {half}, {vector} {rest}, 1"
        ))
    }

    /// Reads both from where the sum and the rest lie.
    pub(super) fn load((sum, rest): &(String, String), vector: &str, text: &mut Text) -> Self {
        let mut load = |address| text.add(format!("load {vector}, ptr {address}, align 8"));
        Self {
            sum: load(sum),
            rest: load(rest),
        }
    }

    /// Writes both to where the sum and the rest lie.
    pub(super) fn store(&self, (sum, rest): &(String, String), vector: &str, text: &mut Text) {
        for (value, address) in [(&self.sum, sum), (&self.rest, rest)] {
            text.line(&format!("store {vector} {value}, ptr {address}, align 8"));
        }
    }

    /// The same with another value in each lane.
    pub(super) fn plus(&self, value: &str, vector: &str, text: &mut Text) -> Self {
        let Self { sum: old, rest } = self;
        let mut of = |op: &str, a: &str, b: &str| text.add(format!("{op} {vector} {a}, {b}"));
        let sum = of("fadd", old, value);
        let added = of("fsub", &sum, old);
        let kept = of("fsub", &sum, &added);
        let lost_of_old = of("fsub", old, &kept);
        let lost_of_value = of("fsub", value, &added);
        let lost = of("fadd", &lost_of_old, &lost_of_value);
        Self {
            rest: of("fadd", rest, &lost),
            sum,
        }
    }
}

/// Where the sum and the rest of a lane lie.
pub(super) fn addresses(place: usize, lane: &str, text: &mut Text) -> (String, String) {
    let rest = text.add(format!("add nuw i64 {lane}, {LANES}"));
    let mut address = |lane: &str| {
        text.add(format!(
            "getelementptr inbounds double, ptr %out{place}, i64 {lane}"
        ))
    };
    (address(lane), address(&rest))
}
