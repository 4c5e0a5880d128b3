//! Builds the text of a function: names, lines, types, constants.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::ir::Type;

/// The text so far.
#[derive(Default)]
pub(super) struct Text {
    lines: String,
    num_names: usize,
    declarations: BTreeSet<String>,
}

impl Text {
    /// The first line of the function.
    pub(super) fn open(&mut self, line: String) {
        self.lines.push_str(&line);
        self.lines.push('\n');
    }

    /// A place that can be jumped to.
    pub(super) fn label(&mut self, name: &str) {
        // Writing into a String cannot fail, here and below.
        let _ = writeln!(self.lines, "{name}:");
    }

    /// An instruction without a result.
    pub(super) fn line(&mut self, instruction: &str) {
        let _ = writeln!(self.lines, "  {instruction}");
    }

    /// An instruction whose result has this name.
    pub(super) fn set(&mut self, name: &str, instruction: impl AsRef<str>) {
        let _ = writeln!(self.lines, "  {name} = {}", instruction.as_ref());
    }

    /// An instruction whose result gets a name of its own.
    pub(super) fn add(&mut self, instruction: impl AsRef<str>) -> String {
        let name = format!("%v{}", self.num_names);
        self.num_names += 1;
        self.set(&name, instruction);
        name
    }

    /// Reads an address from an array of addresses.
    pub(super) fn load_address(&mut self, name: &str, array: &str, place: usize) {
        let slot = self.add(format!(
            "getelementptr inbounds ptr, ptr {array}, i64 {place}"
        ));
        self.set(name, format!("load ptr, ptr {slot}, align 8"));
    }

    /// Makes an intrinsic function known.
    pub(super) fn declare(&mut self, declaration: String) {
        self.declarations.insert(declaration);
    }

    /// The whole text.
    pub(super) fn finish(mut self) -> String {
        self.lines.push_str("}\n");
        for declaration in &self.declarations {
            let _ = writeln!(self.lines, "declare {declaration}");
        }
        // Nothing is left for the vectoriser to do.
        self.lines.push_str(
            "!0 = distinct !{!0, !1, !2}\n\
             !1 = !{!\"llvm.loop.vectorize.enable\", i1 false}\n\
             !2 = !{!\"llvm.loop.unroll.disable\"}\n",
        );
        self.lines
    }
}

/// LLVM's type of one value.
pub(super) fn element(data_type: Type) -> &'static str {
    match data_type {
        Type::Bool => "i1",
        Type::I8 | Type::U8 => "i8",
        Type::I16 | Type::U16 => "i16",
        Type::I32 | Type::U32 => "i32",
        Type::I64 | Type::U64 => "i64",
        Type::F32 => "float",
        Type::F64 => "double",
    }
}

/// LLVM's type of `width` values: a vector, or a number.
pub(super) fn vector(data_type: Type, width: usize) -> String {
    match width {
        1 => element(data_type).to_owned(),
        _ => format!("<{width} x {}>", element(data_type)),
    }
}

/// The type as part of an intrinsic's name.
pub(super) fn mangled(data_type: Type, width: usize) -> String {
    let element = match data_type {
        Type::F32 => "f32",
        Type::F64 => "f64",
        _ => element(data_type),
    };
    match width {
        1 => element.to_owned(),
        _ => format!("v{width}{element}"),
    }
}

/// `width` times the same value.
pub(super) fn splat(data_type: Type, bits: u64, width: usize) -> String {
    let value = literal(data_type, bits);
    if width == 1 {
        return value;
    }
    let one = format!("{} {value}", element(data_type));
    format!("<{}>", vec![one; width].join(", "))
}

/// A constant. Floats are written as the bits of 64, whatever their width is.
fn literal(data_type: Type, bits: u64) -> String {
    match data_type {
        Type::Bool => if bits == 0 { "false" } else { "true" }.to_owned(),
        Type::F64 => format!("0x{bits:016X}"),
        Type::F32 => {
            let value = f64::from(f32::from_bits(bits as u32));
            format!("0x{:016X}", value.to_bits())
        }
        _ => {
            let unused = 64 - data_type.bits();
            ((bits << unused).cast_signed() >> unused).to_string()
        }
    }
}
