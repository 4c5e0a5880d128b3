//! Writes a program as the text of one LLVM function.
//!
//! ```text
//! void kernel(ptr columns, i64 num_rows, ptr outputs)
//!   columns   two addresses for each column: values, and bits of validity from the first row on
//!   outputs   two addresses for each output: values (or accumulators), and bits of validity
//!
//!   for every 32 rows:          as 4 vectors of 8 rows: load, compute, filter, accumulate
//!   for each of the last rows:  the same with numbers in place of vectors
//! ```
//!
//! 1. Nothing is read or written beyond `num_rows`: what is left of 32 rows goes through the second loop.
//! 2. Vectors are written out and not left to LLVM's vectoriser, because the order of float sums is given
//!    in lanes ([`basalt_kernels::twofold`]). Where there is such a sum, the loop runs twice, by 16 rows: over the
//!    first half of the rows, which have the lower half of the lanes, and over the second. Several columns are
//!    several streams of memory already; two halves at once would gain nothing.
//! 3. Accumulators are read from the outputs first and written back in the end; the caller fills them
//!    with what a fold begins with, and joins the lanes afterwards. Other folds may use fewer lanes.
//! 4. Programs with groups have another loop ([`grouped`]).
//! 5. The accumulator of a count is one number; where every row counts there is none.

mod body;
mod fold;
mod grouped;
mod text;
mod twofold;

use crate::column::LANES;
use crate::ir::NodeId;
use crate::program::{Fold, Output, Program};
use body::Body;
use fold::Folding;
pub(crate) use grouped::num_copies;
use text::Text;

/// Name of the function.
pub(crate) const KERNEL: &str = "basalt_kernel";

/// Rows of a vector: two registers of AVX2 for values of 64 bits. With 16 rows registers spill, with 4 a
/// bitmap has no whole byte for them (example `fused`).
const WIDTH: usize = 8;

/// Vectors of a round, and of all lanes.
const PARTS: usize = LANES / WIDTH;

/// How the loop over whole rounds goes through the rows.
#[derive(Clone, Copy)]
struct Rounds {
    /// Runs of the loop: 2 where floats are summed, else 1.
    num_runs: usize,
}

impl Rounds {
    fn of(foldings: &[Folding]) -> Self {
        let has_order = foldings.iter().any(Folding::has_order);
        Self {
            num_runs: if has_order { 2 } else { 1 },
        }
    }

    /// Vectors of a round.
    fn num_parts(self) -> usize {
        PARTS / self.num_runs
    }

    /// Rows of a round.
    fn num_rows(self) -> usize {
        LANES / self.num_runs
    }
}

/// Whether all rows count for `output`, so that nothing has to be counted.
pub(crate) fn counts_all(program: &Program, output: Output) -> bool {
    let is_dense = |id: NodeId| !program.graph().is_nullable(id);
    program.filter().is_none()
        && program.grouped().is_none()
        && match output {
            Output::Rows => true,
            Output::Fold(Fold::Count, id) => is_dense(id),
            _ => false,
        }
}

/// The function's text.
pub(crate) fn emit(program: &Program) -> String {
    let mut text = Text::default();
    let foldings: Vec<Folding> = program
        .outputs()
        .iter()
        .enumerate()
        .filter_map(|(place, output)| Folding::of(program, place, *output))
        .collect();
    text.open(format!("define void @{KERNEL}(ptr noalias %columns, i64 %num_rows, ptr noalias %outputs) nounwind {{"));
    text.label("entry");
    load_addresses(program, &mut text);
    if let Some(grouped) = program.grouped() {
        grouped::emit(program, grouped, &foldings, &mut text);
        return text.finish();
    }
    let rounds = Rounds::of(&foldings);
    text.set("%num_rounds", format!("udiv i64 %num_rows, {LANES}"));
    text.set("%num_whole", format!("mul nuw i64 %num_rounds, {LANES}"));
    text.set(
        "%run.rows",
        format!("mul nuw i64 %num_rounds, {}", rounds.num_rows()),
    );
    text.set("%has_whole", "icmp ne i64 %num_whole, 0");
    text.line("br i1 %has_whole, label %run, label %rest");
    emit_run(&foldings, rounds, &mut text);
    emit_loop(program, &foldings, rounds, &mut text);
    emit_rest(program, &foldings, &mut text);
    text.finish()
}

/// Reads where columns and outputs lie.
fn load_addresses(program: &Program, text: &mut Text) {
    let columns = program.columns().iter().enumerate();
    for (place, (_, is_nullable)) in columns.filter_map(|(i, c)| c.map(|c| (i, c))) {
        text.load_address(&format!("%col{place}"), "%columns", 2 * place);
        if is_nullable {
            text.load_address(&format!("%col{place}.valid"), "%columns", 2 * place + 1);
        }
    }
    for place in 0..program.outputs().len() {
        text.load_address(&format!("%out{place}"), "%outputs", 2 * place);
        text.load_address(&format!("%out{place}.valid"), "%outputs", 2 * place + 1);
    }
}

/// What comes before each run of the loop.
fn emit_run(foldings: &[Folding], rounds: Rounds, text: &mut Text) {
    text.label("run");
    text.set(
        "%run.first",
        "phi i64 [ 0, %entry ], [ %run.end, %loop.end ]",
    );
    let lanes = rounds.num_rows();
    text.set(
        "%run.lane",
        format!("phi i64 [ 0, %entry ], [ {lanes}, %loop.end ]"),
    );
    text.set("%run.end", "add nuw i64 %run.first, %run.rows");
    for folding in foldings {
        folding.load(rounds.num_parts(), text);
    }
    text.line("br label %loop");
}

/// The loop over whole rounds.
fn emit_loop(program: &Program, foldings: &[Folding], rounds: Rounds, text: &mut Text) {
    let num_parts = rounds.num_parts();
    text.label("loop");
    text.set("%row", "phi i64 [ %run.first, %run ], [ %row.next, %loop ]");
    for folding in foldings {
        folding.phis(num_parts, text);
    }
    let mut current: Vec<Vec<String>> = foldings.iter().map(|f| f.begin(num_parts)).collect();
    for part in 0..num_parts {
        let index = text.add(format!("add nuw i64 %row, {}", part * WIDTH));
        let body = Body::emit(program, text, WIDTH, &index);
        for (folding, values) in foldings.iter().zip(&mut current) {
            folding.step(&body, part, values, text);
        }
        body.store_outputs(text);
    }
    for (folding, values) in foldings.iter().zip(&current) {
        folding.end_round(values, text);
    }
    text.set(
        "%row.next",
        format!("add nuw i64 %row, {}", rounds.num_rows()),
    );
    text.set("%has_more", "icmp ult i64 %row.next, %run.end");
    text.line("br i1 %has_more, label %loop, label %loop.end, !llvm.loop !0");
    text.label("loop.end");
    for folding in foldings {
        folding.store(num_parts, text);
    }
    text.set("%has_run", "icmp ult i64 %run.end, %num_whole");
    text.line("br i1 %has_run, label %run, label %rest");
}

/// The loop over the rows that are left.
fn emit_rest(program: &Program, foldings: &[Folding], text: &mut Text) {
    text.label("rest");
    text.set("%has_rest", "icmp ult i64 %num_whole, %num_rows");
    text.line("br i1 %has_rest, label %last, label %done");
    text.label("last");
    text.set(
        "%last.row",
        "phi i64 [ %num_whole, %rest ], [ %last.next, %last ]",
    );
    text.set("%lane", "sub nuw i64 %last.row, %num_whole");
    let body = Body::emit(program, text, 1, "%last.row");
    for folding in foldings {
        folding.step_in_memory(&body, folding.lane(), text);
    }
    body.store_outputs(text);
    text.set("%last.next", "add nuw i64 %last.row, 1");
    text.set("%last.more", "icmp ult i64 %last.next, %num_rows");
    text.line("br i1 %last.more, label %last, label %done, !llvm.loop !0");
    text.label("done");
    text.line("ret void");
}
