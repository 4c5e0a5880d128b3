//! Accumulates the rows of a fold: in vectors that live in registers, and by lane in memory.

use super::body::Body;
use super::text::{Text, element, splat, vector};
use super::twofold::{Twofold, addresses};
use super::{WIDTH, counts_all};
use crate::ir::{NodeId, Type};
use crate::program::{Fold, Output, Program};

/// A fold among the outputs of a program.
pub(super) struct Folding {
    place: usize,
    arg: Option<NodeId>,
    kind: Kind,
    /// Type of the accumulator.
    data_type: Type,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Count,
    SumOfIntegers,
    SumOfFloats,
    Min,
    Max,
}

impl Folding {
    /// The folding of an output; `None` if it needs no accumulator.
    pub(super) fn of(program: &Program, place: usize, output: Output) -> Option<Self> {
        if counts_all(program, output) {
            return None;
        }
        let arg_type = |id| program.graph().type_of(id);
        let (arg, kind, data_type) = match output {
            Output::Map(_) => return None,
            Output::Rows => (None, Kind::Count, Type::U64),
            Output::Fold(Fold::Count, id) => (Some(id), Kind::Count, Type::U64),
            Output::Fold(Fold::Sum, id) if arg_type(id).is_float() => {
                (Some(id), Kind::SumOfFloats, Type::F64)
            }
            Output::Fold(Fold::Sum, id) => (Some(id), Kind::SumOfIntegers, Type::U64),
            Output::Fold(Fold::Min, id) => (Some(id), Kind::Min, arg_type(id).ordered()),
            Output::Fold(Fold::Max, id) => (Some(id), Kind::Max, arg_type(id).ordered()),
        };
        Some(Self {
            place,
            arg,
            kind,
            data_type,
        })
    }

    /// Lanes of an accumulator in a register.
    fn width(&self) -> usize {
        if self.kind == Kind::Count { 1 } else { WIDTH }
    }

    /// Whether the order of rows in lanes matters.
    pub(super) fn has_order(&self) -> bool {
        self.kind == Kind::SumOfFloats
    }

    /// Accumulators for the parts of a round: floats must not share lanes.
    fn num_accumulators(&self, num_parts: usize) -> usize {
        if self.has_order() { num_parts } else { 1 }
    }

    fn vector(&self) -> String {
        vector(self.data_type, self.width())
    }

    /// Type of an accumulator in registers.
    fn accumulator(&self) -> String {
        match self.kind {
            Kind::SumOfFloats => Twofold::pair_type(&self.vector()),
            _ => self.vector(),
        }
    }

    fn name(&self, part: usize, of: &str) -> String {
        format!("%acc{}.{part}{of}", self.place)
    }

    /// Where the sums and rests of a part begin: in the lanes of this run.
    fn addresses(&self, part: usize, text: &mut Text) -> (String, String) {
        let lane = text.add(format!("add nuw i64 %run.lane, {}", part * WIDTH));
        addresses(self.place, &lane, text)
    }

    /// Reads the accumulators before the loop.
    pub(super) fn load(&self, num_parts: usize, text: &mut Text) {
        let vector = self.vector();
        for part in 0..self.num_accumulators(num_parts) {
            let name = self.name(part, ".first");
            if self.kind == Kind::SumOfFloats {
                let lanes = self.addresses(part, text);
                let pair = Twofold::load(&lanes, &vector, text).pair(&vector, text);
                text.set(&name, self.renamed(&pair));
            } else {
                let place = self.place;
                text.set(&name, format!("load {vector}, ptr %out{place}, align 8"));
            }
        }
    }

    /// The accumulators at the beginning of a round.
    pub(super) fn phis(&self, num_parts: usize, text: &mut Text) {
        for part in 0..self.num_accumulators(num_parts) {
            let (first, next) = (self.name(part, ".first"), self.name(part, ".next"));
            let accumulator = self.accumulator();
            let phi = format!("phi {accumulator} [ {first}, %run ], [ {next}, %loop ]");
            text.set(&self.name(part, ""), phi);
        }
    }

    /// The operands of the accumulators at the beginning of a round.
    pub(super) fn begin(&self, num_parts: usize) -> Vec<String> {
        (0..self.num_accumulators(num_parts))
            .map(|part| self.name(part, ""))
            .collect()
    }

    /// Adds a part of the round's rows.
    pub(super) fn step(
        &self,
        body: &Body<'_>,
        part: usize,
        current: &mut [String],
        text: &mut Text,
    ) {
        let place = part % current.len().max(1);
        if let Some(value) = current.get_mut(place) {
            *value = self.folded(body, value, text);
        }
    }

    /// Names the accumulators at the end of a round, as the next one knows them.
    pub(super) fn end_round(&self, current: &[String], text: &mut Text) {
        for (part, value) in current.iter().enumerate() {
            text.set(&self.name(part, ".next"), self.renamed(value));
        }
    }

    /// An instruction that does nothing but to give an accumulator another name.
    fn renamed(&self, value: &str) -> String {
        let accumulator = self.accumulator();
        format!("select i1 true, {accumulator} {value}, {accumulator} {value}")
    }

    /// Writes the accumulators back after the loop.
    pub(super) fn store(&self, num_parts: usize, text: &mut Text) {
        for part in 0..self.num_accumulators(num_parts) {
            let (vector, next) = (self.vector(), self.name(part, ".next"));
            if self.kind == Kind::SumOfFloats {
                let lanes = self.addresses(part, text);
                Twofold::of_pair(&next, &vector, text).store(&lanes, &vector, text);
            } else {
                let place = self.place;
                text.line(&format!("store {vector} {next}, ptr %out{place}, align 8"));
            }
        }
    }

    /// The lane of the last rows, which are looked at one by one.
    pub(super) fn lane(&self) -> &'static str {
        match self.kind {
            Kind::Count => "0",
            _ => "%lane",
        }
    }

    /// Adds one row to a lane in memory.
    pub(super) fn step_in_memory(&self, body: &Body<'_>, lane: &str, text: &mut Text) {
        if self.kind == Kind::SumOfFloats {
            let lane = addresses(self.place, lane, text);
            let old = Twofold::load(&lane, "double", text).pair("double", text);
            let new = self.folded(body, &old, text);
            Twofold::of_pair(&new, "double", text).store(&lane, "double", text);
            return;
        }
        let (element, place) = (element(self.data_type), self.place);
        let address = text.add(format!(
            "getelementptr inbounds {element}, ptr %out{place}, i64 {lane}"
        ));
        let align = self.data_type.size_bytes();
        let old = text.add(format!("load {element}, ptr {address}, align {align}"));
        let new = self.folded(body, &old, text);
        text.line(&format!(
            "store {element} {new}, ptr {address}, align {align}"
        ));
    }

    /// The accumulator `old` with the rows of `body`.
    fn folded(&self, body: &Body<'_>, old: &str, text: &mut Text) -> String {
        let kept = body.kept(self.arg, text);
        let Some(arg) = self.arg.filter(|_| self.kind != Kind::Count) else {
            return counted(body, kept.as_deref(), old, text);
        };
        let arg_type = body.program.graph().type_of(arg);
        let vector = vector(self.data_type, body.width);
        let value = body.value(arg);
        match self.kind {
            Kind::Min | Kind::Max if arg_type.is_float() => {
                let key = self.key(body, arg_type, value, text);
                return self.extreme(body, (&key, old), kept, text);
            }
            Kind::Min | Kind::Max => return self.extreme(body, (value, old), kept, text),
            _ => {}
        }
        // Zero is dropped in before the value gets wider: less to select. It changes no sum: that of
        // floats begins with +0.0 and is never -0.0.
        let value = match kept {
            Some(kept) => {
                let zero = splat(arg_type, 0, body.width);
                body.select(arg_type, &kept, (value, &zero), text)
            }
            None => value.to_owned(),
        };
        let wide = body.cast(arg_type, self.data_type, &value, text);
        if self.kind == Kind::SumOfFloats {
            let sum = Twofold::of_pair(old, &vector, text);
            return sum.plus(&wide, &vector, text).pair(&vector, text);
        }
        text.add(format!("add {vector} {old}, {wide}"))
    }

    /// The keys of floats, which are compared in their place; of a NaN that of the worst.
    ///
    /// Without a sign the bits have the order of the floats; with one it is turned around, which an exclusive or with
    /// all bits but the sign turns back. Comparisons of floats would need as many instructions to see a NaN, and would
    /// not tell zeros apart.
    fn key(&self, body: &Body<'_>, float: Type, value: &str, text: &mut Text) -> String {
        let (floats, keys) = (
            vector(float, body.width),
            vector(self.data_type, body.width),
        );
        let sign_bit = u64::from(float.bits() - 1);
        let greatest = float.mask() >> 1;
        let worst = match self.kind {
            Kind::Min => greatest,
            _ => !greatest,
        };
        let constant = |bits| splat(self.data_type, bits, body.width);
        let bits = text.add(format!("bitcast {floats} {value} to {keys}"));
        let signs = text.add(format!("ashr {keys} {bits}, {}", constant(sign_bit)));
        let turned = text.add(format!("and {keys} {signs}, {}", constant(greatest)));
        let key = text.add(format!("xor {keys} {bits}, {turned}"));
        let is_nan = text.add(format!("fcmp uno {floats} {value}, {value}"));
        body.select(self.data_type, &is_nan, (&constant(worst), &key), text)
    }

    fn extreme(
        &self,
        body: &Body<'_>,
        (value, old): (&str, &str),
        kept: Option<String>,
        text: &mut Text,
    ) -> String {
        let vector = vector(self.data_type, body.width);
        let comparison = match (self.kind, self.data_type.is_signed()) {
            (Kind::Min, true) => "slt",
            (Kind::Min, false) => "ult",
            (_, true) => "sgt",
            (_, false) => "ugt",
        };
        let is_better = text.add(format!("icmp {comparison} {vector} {value}, {old}"));
        let best = body.select(self.data_type, &is_better, (value, old), text);
        match kept {
            Some(kept) => body.select(self.data_type, &kept, (&best, old), text),
            None => best,
        }
    }
}

/// The number `old` and that of the rows that are kept.
fn counted(body: &Body<'_>, kept: Option<&str>, old: &str, text: &mut Text) -> String {
    let width = body.width;
    let number = match kept {
        None => width.to_string(),
        Some(kept) if width == 1 => text.add(format!("zext i1 {kept} to i64")),
        Some(kept) => {
            let word = text.add(format!("bitcast <{width} x i1> {kept} to i{width}"));
            text.declare(format!("i{width} @llvm.ctpop.i{width}(i{width})"));
            let ones = text.add(format!(
                "call i{width} @llvm.ctpop.i{width}(i{width} {word})"
            ));
            text.add(format!("zext i{width} {ones} to i64"))
        }
    };
    text.add(format!("add i64 {old}, {number}"))
}
