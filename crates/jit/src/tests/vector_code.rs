//! Looks at the assembly of compiled programs: their loops work on vectors, as wide as the level allows.

use basalt_adapt::SimdLevel;

use super::has_llvm;
use crate::compiled::assembly;
use crate::{BinaryOp, Fold, Graph, NodeId, Output, Program, Type};

/// `a + b * c + 5` of three columns, of the rows with `a > 5` if there is a filter.
fn program(data_type: Type, has_filter: bool, output: impl Fn(NodeId) -> Output) -> Program {
    let mut graph = Graph::default();
    let [a, b, c] = [0, 1, 2].map(|place| graph.column(place, data_type, false).unwrap());
    let five = if data_type.is_float() {
        5_f64.to_bits()
    } else {
        5
    };
    let five = graph.constant(data_type, Some(five));
    let product = graph.binary(BinaryOp::Multiply, b, c).unwrap();
    let sum = graph.binary(BinaryOp::Add, a, product).unwrap();
    let sum = graph.binary(BinaryOp::Add, sum, five).unwrap();
    let filter = has_filter.then(|| graph.binary(BinaryOp::Greater, a, five).unwrap());
    Program::try_new(graph, filter, vec![output(sum)]).unwrap()
}

fn sum(node: NodeId) -> Output {
    Output::Fold(Fold::Sum, node)
}

/// Whether an instruction of these names works on a whole register.
fn has_any(assembly: &str, names: &[&str]) -> bool {
    assembly.lines().any(|line| {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or("");
        let is_vector = if cfg!(target_arch = "x86_64") {
            line.contains("%xmm") || line.contains("%ymm") || line.contains("%zmm")
        } else {
            line.contains(".4s") || line.contains(".2d") || line.contains("q")
        };
        is_vector && names.contains(&name)
    })
}

#[test]
fn loops_are_vector_code() {
    if !has_llvm() {
        return;
    }
    for output in [Output::Map, sum] {
        let of = |data_type| assembly(&program(data_type, false, output), SimdLevel::detected());
        let integers = of(Type::U32).unwrap();
        assert!(
            has_any(&integers, &["vpmulld", "pmulld", "mul", "mla"]),
            "{integers}"
        );
        assert!(
            has_any(&integers, &["vpaddd", "paddd", "add", "mla"]),
            "{integers}"
        );
        let floats = of(Type::F64).unwrap();
        assert!(has_any(&floats, &["vmulpd", "mulpd", "fmul"]), "{floats}");
        assert!(has_any(&floats, &["vaddpd", "addpd", "fadd"]), "{floats}");
        // A product and a sum are rounded one after the other, as the interpreter does.
        assert!(
            !floats.contains("vfmadd") && !floats.contains("fmla"),
            "{floats}"
        );
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;

    /// Registers of a level by their names, and the bytes of the widest. LLVM leaves the widest of AVX-512 alone on
    /// processors that it says are slow with them, and where eight values take less.
    fn registers(level: SimdLevel) -> (&'static [&'static str], usize) {
        match level {
            SimdLevel::Scalar | SimdLevel::Neon | SimdLevel::Sse42 => (&["%xmm"], 16),
            SimdLevel::Avx2 => (&["%ymm"], 32),
            SimdLevel::Avx512 => (&["%ymm", "%zmm"], 64),
        }
    }

    /// The lines of each loop with no other loop in it, in the order of the text.
    fn loops(assembly: &str) -> Vec<Vec<&str>> {
        let (mut loops, mut block, mut label) = (Vec::new(), Vec::new(), "");
        for line in assembly.lines().map(str::trim) {
            if let Some(name) = line.strip_suffix(':') {
                (label, block) = (name, Vec::new());
            } else if line.starts_with('j') && line.split_whitespace().last() == Some(label) {
                loops.push(std::mem::take(&mut block));
            } else if !line.starts_with('.') {
                block.push(line);
            }
        }
        loops
    }

    /// Whether an operand is an element of an array: it has a base and an index.
    fn has_element(line: &str) -> bool {
        let inside = line.split_once('(').and_then(|(_, rest)| {
            let (inside, _) = rest.split_once(')')?;
            Some(inside)
        });
        inside.is_some_and(|inside| inside.contains(','))
    }

    /// Whether an instruction works on one number, although it may name a vector register.
    fn is_scalar(name: &str) -> bool {
        let name = name.strip_prefix('v').unwrap_or(name);
        let has_part = ["pinsr", "movl", "movh", "pextr", "broadcast", "pbroadcast"];
        let is_part = has_part.iter().any(|prefix| name.starts_with(prefix));
        name.ends_with("sd") || name.ends_with("ss") || matches!(name, "movq" | "movd") || is_part
    }

    /// Whether the loop over whole rounds reads columns with nothing but loads of whole registers, and adds up registers.
    fn check(program: &Program, (data_type, level): (Type, SimdLevel)) {
        let assembly = assembly(program, level).unwrap();
        let loops = loops(&assembly);
        let [rounds, rest] = loops.as_slice() else {
            panic!("two loops:\n{assembly}")
        };
        let (registers, register_bytes) = registers(level);
        let is_wide = |line: &str| registers.iter().any(|register| line.contains(register));
        let name = |line: &str| line.split_whitespace().next().unwrap_or("").to_owned();
        let elements: Vec<&&str> = rounds.iter().filter(|line| has_element(line)).collect();
        for line in &elements {
            let is_whole = is_wide(line) && !is_scalar(&name(line));
            assert!(is_whole, "{level}, {data_type}: {line}\n{assembly}");
        }
        let is_map = matches!(program.outputs(), [Output::Map(_)]);
        let num_rows = if data_type.is_float() && !is_map {
            16
        } else {
            32
        };
        let num_registers = num_rows * data_type.size_bytes() / register_bytes;
        // A result for each row is stored.
        let num_columns = if is_map { 4 } else { 3 };
        assert!(
            elements.len() >= num_columns * num_registers,
            "{level}, {data_type}:\n{assembly}"
        );
        let adds = ["padd", "addpd"];
        let is_add =
            |line: &&&str| is_wide(line) && adds.iter().any(|add| name(line).contains(add));
        let num_adds = rounds.iter().filter(is_add).count();
        assert!(
            num_adds >= 2 * num_registers,
            "{level}, {data_type}: {num_adds}\n{assembly}"
        );
        // Else it would not be seen if the first loop were the second.
        assert!(rest.iter().any(|line| is_scalar(&name(line))) || !data_type.is_float());
    }

    #[test]
    fn whole_registers_are_loaded_and_added() {
        if !has_llvm() {
            return;
        }
        let levels = SimdLevel::ALL.into_iter();
        for level in levels.filter(|level| *level <= SimdLevel::detected()) {
            for data_type in [Type::I64, Type::I32, Type::F64] {
                for (has_filter, output) in [
                    (false, Output::Map as fn(_) -> _),
                    (false, sum),
                    (true, sum),
                ] {
                    let program = program(data_type, has_filter, output);
                    check(&program, (data_type, level));
                }
            }
        }
    }

    /// Instructions of a level stay out of the code for those below it.
    #[test]
    fn levels_are_kept_to() {
        if !has_llvm() {
            return;
        }
        for data_type in [Type::I64, Type::F64] {
            let of = |level| assembly(&program(data_type, true, sum), level).unwrap();
            for level in [SimdLevel::Scalar, SimdLevel::Sse42] {
                let code = of(level);
                let is_wide = code.contains("%ymm") || code.contains("%zmm");
                assert!(!is_wide && !code.contains("\tv"), "{code}");
            }
            assert!(!of(SimdLevel::Avx2).contains("%zmm"));
        }
        let scalar = assembly(&program(Type::I32, false, Output::Map), SimdLevel::Scalar);
        // It came with SSE4.1.
        assert!(!scalar.unwrap().contains("pmulld"));
    }

    /// Extremes of floats and functions of dates leave nothing to be done number by number.
    #[test]
    fn extremes_and_dates_are_vector_code() {
        if !has_llvm() || SimdLevel::detected() < SimdLevel::Avx2 {
            return;
        }
        let least = program(Type::F64, true, |node| Output::Fold(Fold::Min, node));
        let mut graph = Graph::default();
        let day = graph.column(0, Type::U16, false).unwrap();
        let month = crate::calendar::DayPart::YearMonth;
        let month = crate::calendar::part_of_day(&mut graph, month, day).unwrap();
        let months = Program::try_new(graph, None, vec![Output::Map(month)]).unwrap();
        for program in [least, months] {
            let assembly = assembly(&program, SimdLevel::Avx2).unwrap();
            let loops = loops(&assembly);
            let is_wide = |line: &&str| line.contains("%ymm");
            let others = loops[0].iter().filter(|line| !is_wide(line)).count();
            // The row is counted and compared.
            assert!(others <= 2, "{assembly}");
        }
    }
}
