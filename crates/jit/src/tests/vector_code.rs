//! Looks at the assembly of compiled programs: their loops work on vectors.

use super::has_llvm;
use crate::compiled::assembly;
use crate::{BinaryOp, Fold, Graph, Output, Program, Type};

/// `a + b * c + 5` of three columns.
fn program(data_type: Type, output: impl Fn(crate::NodeId) -> Output) -> Program {
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
    Program::try_new(graph, None, vec![output(sum)]).unwrap()
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
    let outputs: [fn(crate::NodeId) -> Output; 2] =
        [Output::Map, |node| Output::Fold(Fold::Sum, node)];
    for output in outputs {
        let integers = assembly(&program(Type::U32, output)).unwrap();
        assert!(
            has_any(&integers, &["vpmulld", "pmulld", "mul", "mla"]),
            "{integers}"
        );
        assert!(
            has_any(&integers, &["vpaddd", "paddd", "add", "mla"]),
            "{integers}"
        );
        let floats = assembly(&program(Type::F64, output)).unwrap();
        assert!(has_any(&floats, &["vmulpd", "mulpd", "fmul"]), "{floats}");
        assert!(has_any(&floats, &["vaddpd", "addpd", "fadd"]), "{floats}");
        // A product and a sum are rounded one after the other, as the interpreter does.
        assert!(
            !floats.contains("vfmadd") && !floats.contains("fmla"),
            "{floats}"
        );
    }
}
