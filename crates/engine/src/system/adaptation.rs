//! Lists what the processor can do, and what Basalt chose for it while it ran.

use basalt_adapt::{Cpu, SimdLevel, WorkUnit, decisions};
use basalt_analyzer::TableEntry;
use basalt_error::Result;

use super::rows::Rows;
use crate::environment::QueryEnvironment;

/// `system.adaptive_choices`: each way of each choice between ways to do the same work.
pub(crate) fn adaptive_choices(_environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    let arms = decisions();
    let unit = |unit: WorkUnit| match unit {
        WorkUnit::Byte => "byte",
        WorkUnit::Row => "row",
    };
    Rows::default()
        .text("name", arms.iter().map(|arm| arm.name))
        .text("arm", arms.iter().map(|arm| arm.arm))
        .number("pulls", arms.iter().map(|arm| arm.pulls))
        .measure("share", arms.iter().map(|arm| Some(arm.share)))
        .measure("mean_ns", arms.iter().map(|arm| arm.mean_ns))
        .text("unit", arms.iter().map(|arm| unit(arm.unit)))
        .flag("forced", arms.iter().map(|arm| arm.is_forced))
        .text("description", arms.iter().map(|arm| arm.description))
        .table()
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
