//! Lists what the processor can do, and what Basalt chose for it while it ran.

use std::sync::Arc;

use basalt_adapt::{ArmRecord, Cpu, SimdLevel, WorkUnit, decisions};
use basalt_analyzer::TableEntry;
use basalt_codec::lz4;
use basalt_error::Result;
use basalt_exec::report::Decision;
use basalt_storage::merge_tree::FormUse;

use super::objects::all_tables;
use super::rows::Rows;
use crate::catalog::Table;
use crate::environment::QueryEnvironment;
use crate::observation::choices::QueryChoices;

/// A way to do some work, as a row of `system.adaptive_choices`.
#[derive(Default)]
struct ArmRow {
    query: Option<Arc<QueryChoices>>,
    operator: String,
    name: &'static str,
    arm: &'static str,
    is_chosen: bool,
    num_rows: u64,
    pulls: u64,
    share: f64,
    mean_ns: Option<f64>,
    unit: &'static str,
    changed_at_rows: Option<u64>,
    is_forced: bool,
    reason: String,
    description: &'static str,
}

/// `system.adaptive_choices`: each way of each choice between ways to do the same work: those that
/// kernels make all the time, those for the columns of tables on disk, which have the column as their operator, and
/// those of the operators of the last queries.
pub(crate) fn adaptive_choices(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    let mut rows = kernels();
    rows.extend(of_columns(environment)?);
    for query in environment.database.choices.all() {
        for (operator, decision) in &query.decisions {
            rows.extend(of_operator(&query, operator, decision));
        }
    }
    let query = |of: fn(&QueryChoices) -> &str| {
        let text = move |row: &ArmRow| row.query.as_deref().map_or(String::new(), |q| of(q).into());
        rows.iter().map(text)
    };
    Rows::default()
        .text("query_id", query(|q| &q.query_id))
        .text("query", query(|q| &q.text))
        .text("operator", rows.iter().map(|row| &row.operator))
        .text("name", rows.iter().map(|row| row.name))
        .text("arm", rows.iter().map(|row| row.arm))
        .flag("chosen", rows.iter().map(|row| row.is_chosen))
        .number("rows", rows.iter().map(|row| row.num_rows))
        .number("pulls", rows.iter().map(|row| row.pulls))
        .measure("share", rows.iter().map(|row| Some(row.share)))
        .measure("mean_ns", rows.iter().map(|row| row.mean_ns))
        .text("unit", rows.iter().map(|row| row.unit))
        .maybe(
            "changed_at_rows",
            rows.iter().map(|row| row.changed_at_rows),
        )
        .flag("forced", rows.iter().map(|row| row.is_forced))
        .text("reason", rows.iter().map(|row| &row.reason))
        .text("description", rows.iter().map(|row| row.description))
        .table()
}

/// The choices that kernels made since the process began.
fn kernels() -> Vec<ArmRow> {
    let arms = decisions();
    let row = |arm: &ArmRecord| {
        let same = arms.iter().filter(|other| other.name == arm.name);
        let most = same.map(|other| other.pulls).max().unwrap_or(0);
        ArmRow {
            name: arm.name,
            arm: arm.arm,
            is_chosen: arm.pulls > 0 && arm.pulls == most,
            pulls: arm.pulls,
            share: arm.share,
            mean_ns: arm.mean_ns,
            unit: match arm.unit {
                WorkUnit::Byte => "byte",
                WorkUnit::Row => "row",
            },
            is_forced: arm.is_forced,
            description: arm.description,
            ..ArmRow::default()
        }
    };
    arms.iter().map(row).collect()
}

/// What was chosen for the blocks of each column of tables on disk.
fn of_columns(environment: &QueryEnvironment<'_>) -> Result<Vec<ArmRow>> {
    let mut rows = Vec::new();
    for listed in all_tables(environment)? {
        let Some(on_disk) = listed.table.as_deref().and_then(Table::merge_tree) else {
            continue;
        };
        let layout = on_disk.storage.layout();
        for (column, stored) in layout.columns.iter().enumerate() {
            let forms = on_disk.storage.lz4_forms(column);
            let all: u64 = forms.iter().map(|form| form.pulls).sum();
            // The last of those that are preferred alike.
            let preferred = forms
                .iter()
                .enumerate()
                .max_by_key(|(_, form)| form.num_preferring);
            let preferred = preferred.map(|(form, _)| lz4::FORMS[form].name);
            let row = |(form, known): (&lz4::Form, &FormUse)| ArmRow {
                operator: format!("{}.{}.{}", listed.database, listed.name, stored.name),
                name: lz4::CHOICE.name(),
                arm: form.name,
                is_chosen: preferred == Some(form.name),
                pulls: known.pulls,
                share: known.pulls as f64 / all.max(1) as f64,
                mean_ns: known.mean_ns,
                unit: "byte",
                is_forced: lz4::CHOICE
                    .forced()
                    .is_some_and(|arm| lz4::FORMS[arm].name == form.name),
                description: "How blocks of this column are decompressed",
                ..ArmRow::default()
            };
            if all > 0 {
                rows.extend(lz4::FORMS.iter().zip(&forms).map(row));
            }
        }
    }
    Ok(rows)
}

/// The ways that an operator of a query had.
fn of_operator(
    query: &Arc<QueryChoices>,
    operator: &str,
    decision: &Decision,
) -> impl Iterator<Item = ArmRow> {
    let all: u64 = decision.arms.iter().map(|arm| arm.num_rows).sum();
    decision.arms.iter().map(move |arm| ArmRow {
        query: Some(Arc::clone(query)),
        operator: operator.to_owned(),
        name: decision.name,
        arm: arm.name,
        is_chosen: arm.is_chosen,
        num_rows: arm.num_rows,
        share: match all {
            0 => f64::from(u8::from(arm.is_chosen)),
            _ => arm.num_rows as f64 / all as f64,
        },
        mean_ns: arm.ns_per_row(),
        unit: "row",
        changed_at_rows: arm.changed_at_rows,
        is_forced: decision.is_forced,
        reason: decision.reason.clone(),
        description: decision.description,
        ..ArmRow::default()
    })
}

/// `system.cpu`: facts about the processor, as text.
pub(crate) fn cpu(_environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    let cpu = Cpu::detect();
    let facts = [
        ("model", cpu.model.clone(), "The maker's name for it"),
        (
            "simd_detected",
            cpu.level.to_string(),
            "The widest instructions that it has",
        ),
        (
            "simd_level",
            SimdLevel::current().to_string(),
            "The widest instructions that loops may use: see the setting simd_level",
        ),
        (
            "features",
            cpu.features.join(" "),
            "Instructions that loops ask for",
        ),
        ("cores", cpu.num_cores.to_string(), "Threads at a time"),
        (
            "l1d_bytes",
            cpu.l1d_bytes.to_string(),
            "Data cache of a core, first level",
        ),
        (
            "l2_bytes",
            cpu.l2_bytes.to_string(),
            "Cache of a core, second level",
        ),
        ("l3_bytes", cpu.l3_bytes.to_string(), "Cache of all cores"),
    ];
    Rows::default()
        .text("name", facts.iter().map(|(name, _, _)| *name))
        .text("value", facts.iter().map(|(_, value, _)| value))
        .text("description", facts.iter().map(|(_, _, text)| *text))
        .table()
}
