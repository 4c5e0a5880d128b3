//! Checks the project itself, and every rule against text that breaks it.

use super::{Finding, Rule, Tree, check, finding::Exception, rules, scan::Scan, tree::SourceFile};

fn tree(files: &[(&str, &str)]) -> Tree {
    let files = files
        .iter()
        .map(|(path, text)| SourceFile::new(path, (*text).to_owned()));
    Tree {
        files: files.collect(),
    }
}

/// The lines at which `rule` finds something in one file.
fn lines(rule: &Rule, path: &str, text: &str) -> Vec<usize> {
    let findings = (rule.check)(&tree(&[(path, text)]));
    let mut lines: Vec<usize> = findings.into_iter().map(|finding| finding.line).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn the_project_is_tidy() {
    let tree = Tree::read(&crate::workspace_root()).unwrap();
    let findings = check(&tree, rules::ALL);
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn the_rules_look_at_files() {
    let tree = Tree::read(&crate::workspace_root()).unwrap();
    assert!(tree.rust().count() > 10);
    assert!(
        tree.ending("xtask/src/tidy/tests.rs")
            .next()
            .is_some_and(SourceFile::is_test)
    );
}

#[test]
fn scan_blanks_comments_and_literals() {
    let text = r####"let a = "un\"safe {"; // unsafe }
/* unsafe /* nested */ unsafe */ let b = r#"unsafe "quoted" {"#; let c = '"'; let d: &'a str = b"x";
let e = '\''; let f = br"unsafe\"; let g = 'é'; attr"####;
    let scan = Scan::new(text);
    assert_eq!(scan.words("unsafe").count(), 0);
    assert_eq!(scan.code.matches('{').count(), 0);
    assert_eq!(scan.code.lines().count(), text.lines().count());
    assert!(scan.code.ends_with("; attr"));
    assert!(scan.code.contains("&'a str"));
    assert_eq!(scan.comments, [(1, " unsafe }".to_owned())]);
}

#[test]
fn scan_leaves_test_items_out() {
    let scan = Scan::new("fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() { {} }\n}\nfn c() {}\n");
    let in_tests: Vec<bool> = scan
        .words("fn")
        .map(|position| scan.in_tests(position))
        .collect();
    assert_eq!(in_tests, [false, true, false]);
    assert_eq!(scan.num_lines(), 3);
}

#[test]
fn long_files_are_found_but_not_for_their_tests() {
    let rule = &rules::file_size::RULE;
    let code = "fn a() {}\n".repeat(901);
    assert_eq!(lines(rule, "crates/x/src/a.rs", &code), [1]);
    assert!(lines(rule, "crates/x/src/tests.rs", &code).is_empty());
    assert!(lines(rule, "crates/x/tests/sql.rs", &code).is_empty());
    let tests = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{code}}}\n");
    assert!(lines(rule, "crates/x/src/a.rs", &tests).is_empty());
    let noted = tree(&[("crates/x/src/a.rs", &"fn a() {}\n".repeat(501))]);
    assert_eq!(rules::file_size::notes(&noted).len(), 1);
}

#[test]
fn long_functions_are_found() {
    let rule = &rules::function_size::RULE;
    let body = "    f();\n".repeat(69);
    let path = "crates/x/src/a.rs";
    assert_eq!(lines(rule, path, &format!("\nfn a() {{\n{body}}}\n")), [2]);
    let commented = format!("fn a() {{\n{}    // reason\n}}\n", "    f();\n".repeat(68));
    assert!(lines(rule, path, &commented).is_empty());
    let expected = format!("#[expect(clippy::too_many_lines, reason = \"\")]\nfn a() {{\n{body}}}");
    assert!(lines(rule, path, &expected).is_empty());
    assert!(lines(rule, path, &format!("fn a();\n{body}")).is_empty());
}

#[test]
fn headers_say_something() {
    let rule = &rules::header::RULE;
    assert!(lines(rule, "a.rs", "//! Groups rows by one key.\n").is_empty());
    for text in [
        "",
        "//! Tasks.\n",
        "//! (to be written later)\n",
        "// Groups rows by one key.\n",
    ] {
        assert_eq!(lines(rule, "a.rs", text), [1], "{text}");
    }
}

#[test]
fn tables_of_modules_have_all_of_them() {
    let rule = &rules::module_table::RULE;
    let table =
        "//! Groups rows.\n//!\n//! | module | owns |\n//! |---|---|\n//! | [`one`] | keys |\n";
    let modules = "mod one;\npub(crate) mod two;\n#[cfg(test)]\nmod tests;\n";
    assert_eq!(lines(rule, "a.rs", &format!("{table}{modules}")), [7]);
    let others = "//! | the others | sums |\n";
    assert!(lines(rule, "a.rs", &format!("{table}{others}{modules}")).is_empty());
    assert!(lines(rule, "a.rs", modules).is_empty());
}

#[test]
fn empty_names_are_found() {
    let rule = &rules::names::RULE;
    assert_eq!(lines(rule, "crates/x/src/string_utils.rs", ""), [1]);
    assert_eq!(lines(rule, "crates/x/src/common/sum.rs", ""), [1]);
    assert_eq!(lines(rule, "crates/x/src/data.rs", ""), [1]);
    assert_eq!(
        lines(rule, "a.rs", "\nstruct TableManager;\nmod misc {}\n"),
        [2, 3]
    );
    assert!(lines(rule, "crates/x/src/data_type.rs", "struct DataType;").is_empty());
}

#[test]
fn forbidden_dependencies_are_found() {
    let rule = &rules::dependencies::RULE;
    let manifest = |dependency: &str| format!("[dependencies]\n{dependency}\n");
    let is_clean = |name: &str, dependency: &str| {
        lines(
            rule,
            &format!("crates/{name}/Cargo.toml"),
            &manifest(dependency),
        )
        .is_empty()
    };
    assert!(is_clean("exec", "basalt-functions.workspace = true"));
    assert!(is_clean("exec", "datafusion = { workspace = true }"));
    assert!(is_clean("exec", "memchr.workspace = true"));
    assert!(!is_clean("exec", "basalt-engine.workspace = true"));
    assert!(!is_clean("exec", "memchr = \"2\""));
    assert!(!is_clean("functions", "basalt-parser.workspace = true"));
    assert!(!is_clean("functions", "datafusion-expr.workspace = true"));
    assert!(!is_clean("parser", "arrow-schema.workspace = true"));
    assert!(!is_clean("unheard_of", ""));
}

#[test]
fn unsafe_is_found_where_it_has_no_place() {
    let rule = &rules::unsafety::RULE;
    let code = "fn a() {\n    unsafe {}\n}\n";
    assert_eq!(lines(rule, "crates/exec/src/a.rs", code), [2]);
    assert!(lines(rule, "crates/kernels/src/a.rs", code).is_empty());
    assert_eq!(lines(rule, "crates/exec/src/lib.rs", "mod a;"), [1]);
    assert!(lines(rule, "crates/exec/src/lib.rs", "#![forbid(unsafe_code)]").is_empty());
}

#[test]
fn commented_out_code_is_found() {
    let rule = &rules::comments::RULE;
    let is_code = |comment: &str| !lines(rule, "a.rs", &format!("// {comment}\n")).is_empty();
    for code in [
        "let x = 1;",
        "use a::b;",
        "foo.bar(1, 2);",
        "x.y = 3;",
        "for a in b {",
        "}",
    ] {
        assert_eq!(is_code(code), code != "}", "{code}");
    }
    let prose = [
        "Let x be the sum; then stop.",
        "The table keeps it (see `grow`).",
        "a = b, so",
    ];
    assert!(!prose.into_iter().any(is_code));
    assert!(lines(rule, "a.rs", "/// let x = 1;\n").is_empty());
}

#[test]
fn machine_paths_are_found() {
    let rule = &rules::machine_paths::RULE;
    let home = ["", "home", "ann", "x"].join("/");
    assert_eq!(lines(rule, "Makefile", &format!("\nA := {home}\n")), [2]);
    assert_eq!(lines(rule, "a.rs", &format!("let p = \"{home}\";")), [1]);
    assert!(lines(rule, "a.slt", &format!("SELECT 'http://example.com{home}'")).is_empty());
    assert!(lines(rule, "a.md", &format!("~{home} $x}}{home}")).is_empty());
}

#[test]
fn sql_tests_say_what_they_are_about() {
    let rule = &rules::sql_description::RULE;
    assert!(lines(rule, "tests/sql/a/b.slt", "# description: sums\n").is_empty());
    assert_eq!(lines(rule, "tests/sql/a/b.slt", "# description:\n"), [1]);
    assert_eq!(lines(rule, "tests/sql/a/b.slt", "query I\n"), [1]);
}

#[test]
fn records_that_differ_are_listed() {
    let rule = &rules::sql_differences::RULE;
    let differing = "# description: sums\n\n# basalt-differs: why\n";
    assert_eq!(lines(rule, "tests/sql/a/b.slt", differing), [3]);
    assert!(lines(rule, "tests/sql/a/b.slt", "# description: sums\n").is_empty());
}

#[test]
fn exceptions_excuse_and_run_out() {
    const EXCEPTIONS: &[Exception] = &[
        Exception {
            path: "a.rs",
            reason: "a table",
        },
        Exception {
            path: "b.rs",
            reason: "was a table",
        },
    ];
    fn find(_: &Tree) -> Vec<Finding> {
        vec![
            Finding::new("a.rs", 3, "excused"),
            Finding::new("c.rs", 4, "bad"),
        ]
    }
    let rule = Rule {
        name: "test",
        exceptions: EXCEPTIONS,
        check: find,
    };
    let found = check(&tree(&[]), &[rule]);
    let expected = [
        "b.rs:1: no longer needs its exception (was a table): remove it [test]",
        "c.rs:4: bad [test]",
    ];
    assert_eq!(found, expected);
}
