//! Writes a program with groups: a loop over the rows, whose folds lie in memory, a place for each group.
//!
//! ```text
//! for each row:  compute all nodes; group = min(ordinal, num_groups); output[group] = fold(output[group], value)
//! ```
//!
//! No row is looked at by vectors: what takes the time are the loads and stores of accumulators, of which each may
//! wait for the one before, if that was of the same group. So neighbouring rows have accumulators of their own, as
//! long as all of them stay in the nearest cache. The last place takes rows without a group, so that nothing is
//! written anywhere else, whatever the ordinals are.

use super::body::Body;
use super::fold::Folding;
use super::text::Text;
use crate::ir::Type;
use crate::program::{Grouped, Program};

/// Places up to which rows have accumulators of their own.
const FEW_PLACES: usize = 256;

/// Rows of a round that have them.
const COPIES: usize = 4;

/// How many accumulators each group has.
pub(crate) fn num_copies(grouped: Grouped) -> usize {
    if grouped.num_groups < FEW_PLACES {
        COPIES
    } else {
        1
    }
}

/// The loops, behind the entry.
pub(super) fn emit(program: &Program, grouped: Grouped, foldings: &[Folding], text: &mut Text) {
    let num_copies = num_copies(grouped);
    text.set("%num_rounds", format!("udiv i64 %num_rows, {num_copies}"));
    text.set(
        "%num_whole",
        format!("mul nuw i64 %num_rounds, {num_copies}"),
    );
    text.set("%has_whole", "icmp ne i64 %num_whole, 0");
    text.line("br i1 %has_whole, label %loop, label %rest");
    text.label("loop");
    text.set("%row", "phi i64 [ 0, %entry ], [ %row.next, %loop ]");
    for copy in 0..num_copies {
        let index = text.add(format!("add nuw i64 %row, {copy}"));
        emit_row(program, grouped, (&index, copy), foldings, text);
    }
    text.set("%row.next", format!("add nuw i64 %row, {num_copies}"));
    text.set("%has_more", "icmp ult i64 %row.next, %num_whole");
    text.line("br i1 %has_more, label %loop, label %rest, !llvm.loop !0");
    text.label("rest");
    text.set("%has_rest", "icmp ult i64 %num_whole, %num_rows");
    text.line("br i1 %has_rest, label %last, label %done");
    text.label("last");
    text.set(
        "%last.row",
        "phi i64 [ %num_whole, %rest ], [ %last.next, %last ]",
    );
    emit_row(program, grouped, ("%last.row", 0), foldings, text);
    text.set("%last.next", "add nuw i64 %last.row, 1");
    text.set("%last.more", "icmp ult i64 %last.next, %num_rows");
    text.line("br i1 %last.more, label %last, label %done, !llvm.loop !0");
    text.label("done");
    text.line("ret void");
}

fn emit_row(
    program: &Program,
    grouped: Grouped,
    (row, copy): (&str, usize),
    foldings: &[Folding],
    text: &mut Text,
) {
    let body = Body::emit(program, text, 1, row);
    let group = group(&body, grouped, text);
    let place = match copy * (grouped.num_groups + 1) {
        0 => group,
        before => text.add(format!("add nuw i64 {group}, {before}")),
    };
    for folding in foldings {
        folding.step_in_memory(&body, &place, text);
    }
}

/// The place of the row's group.
fn group(body: &Body<'_>, grouped: Grouped, text: &mut Text) -> String {
    let Grouped {
        ordinal,
        num_groups,
    } = grouped;
    let data_type = body.program.graph().type_of(ordinal);
    let wide = body.cast(data_type, Type::U64, body.value(ordinal), text);
    text.declare("i64 @llvm.umin.i64(i64, i64)".to_owned());
    let place = text.add(format!(
        "call i64 @llvm.umin.i64(i64 {wide}, i64 {num_groups})"
    ));
    match body.valid(ordinal) {
        Some(valid) => text.add(format!("select i1 {valid}, i64 {place}, i64 {num_groups}")),
        None => place,
    }
}
