//! Runs `basalt datagen` as a process: which files it writes.

use std::process::{Command, Stdio};

#[test]
fn names_of_other_formats_are_refused() {
    let folder = std::env::temp_dir().join(format!("datagen-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let generate = |name: &str| {
        let path = folder.join(name);
        let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
        command.args(["datagen", "trips", "--rows", "5", "--out"]);
        let output = command.arg(&path).stdin(Stdio::null()).output();
        let output = output.expect("a process");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), path.exists(), said)
    };
    let (code, exists, said) = generate("tr.csv");
    assert_eq!((code, exists), (Some(36), false));
    assert!(
        said.contains("Code: 36") && said.contains(".parquet"),
        "{said}"
    );
    for name in ["tr.parquet", "tr"] {
        let (code, exists, said) = generate(name);
        assert_eq!((code, exists), (Some(0), true), "{said}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder is there");
}
