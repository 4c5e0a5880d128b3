//! Writes data types.

use super::Writer;
use super::text::{backticked, identifier, quoted};
use crate::ast::{DataType, TypeArg};

impl Writer {
    pub(super) fn data_type(&mut self, data_type: &DataType) {
        // Names of several words stay as they are.
        if data_type.name.contains(' ') {
            self.put(&data_type.name);
        } else {
            self.put_name(&data_type.name);
        }
        if let Some(args) = &data_type.args {
            let named = |arg: &TypeArg| matches!(arg, TypeArg::Named(..));
            let lines = data_type.name == "Tuple" && !args.is_empty() && args.iter().all(named);
            self.put("(");
            self.indented_if(lines, |w| {
                for (i, arg) in args.iter().enumerate() {
                    match (lines, i) {
                        (true, 0) => w.soft_line(),
                        (true, _) => {
                            w.put(",");
                            w.line();
                        }
                        (false, 0) => {}
                        (false, _) => w.put(", "),
                    }
                    w.type_arg(arg);
                }
            });
            self.put(")");
        }
    }

    fn type_arg(&mut self, arg: &TypeArg) {
        match arg {
            TypeArg::Type(data_type) => self.data_type(data_type),
            TypeArg::Named(name, data_type) => {
                self.put(&element_name(name));
                self.put(" ");
                self.data_type(data_type);
            }
            _ => self.type_value(arg),
        }
    }

    #[inline(never)]
    fn type_value(&mut self, arg: &TypeArg) {
        match arg {
            TypeArg::Value(e) => self.expr(e),
            TypeArg::Assigned(name, value) => {
                self.put(&quoted(name));
                self.put(&format!(" = {value}"));
            }
            TypeArg::Parameter(name, value) => {
                self.put_name(name);
                self.put(" = ");
                self.expr(value);
            }
            TypeArg::Function(name, params) => {
                self.put_name(name);
                if !params.is_empty() {
                    self.parentheses(params, |w, e| w.expr(e));
                }
            }
            TypeArg::Skip(path) => {
                self.indentation();
                self.put("SKIP ");
                self.put(&element_name(path));
            }
            TypeArg::SkipRegexp(re) => {
                self.indentation();
                self.put("SKIP REGEXP ");
                self.put(&quoted(re));
            }
            TypeArg::Type(_) | TypeArg::Named(..) => {}
        }
    }
}

/// An element's name; one that could be taken for `SKIP` gets backticks.
fn element_name(name: &str) -> String {
    if name.eq_ignore_ascii_case("SKIP") {
        backticked(name)
    } else {
        identifier(name)
    }
}
