//! Checks hash functions against values from ClickHouse.

use crate::strings_testing::{check, check_table};

#[test]
fn hashes_are_those_of_clickhouse() {
    check_table(include_str!("hash/hash.tsv"));
}

#[test]
fn digests_are_those_of_their_specifications() {
    let digits = "1234567890".repeat(8);
    for (call, expected) in [
        ("MD4('')", "31D6CFE0D16AE931B73C59D7E0C089C0"),
        ("MD4('abc')", "A448017AAF21D8525FC10AE87AA6729D"),
        (
            "RIPEMD160('abc')",
            "8EB208F7E05D987A9B044A8E98C6B087F15A0BFC",
        ),
        (
            &format!("RIPEMD160('{digits}')"),
            "9B752E45573D4B39F4DBD3323CAB82BF63326BFB",
        ),
        (
            "keccak256('')",
            "C5D2460186F7233C927E7DB2DCC703C0E500B653CA82273B7BFAD8045D85A470",
        ),
        (
            "keccak256('abc')",
            "4E03657AEA45A94FC7D47BA826C8D667C0D1E6E33A64A036EC44F58FA12D6C45",
        ),
    ] {
        check(&[(&format!("hex({call})"), &format!("String\t{expected}"))]);
    }
}
