//! Runs statements of several sessions at once: folders that they share, KILL, cancelled constants.

use std::sync::Arc;
use std::time::Duration;

use basalt_engine::{Database, Session};

use crate::{Folder, run};

/// One value that is computed while the query is planned, for longer than the limit of the test.
const LONG_CONSTANT: &str = "SELECT arraySum(arrayMap(x -> arraySum(arrayMap(y -> sipHash64(y, x) % 7, range(20000))), range(2000)))";

#[test]
fn constants_are_cancelled() {
    let database = Database::in_memory().unwrap();
    let mut session = Session::new(&database);
    let limited = format!("{LONG_CONSTANT} SETTINGS max_execution_time = 0.05");
    let error = run(&mut session, &limited).unwrap_err();
    assert!(error.contains("TIMEOUT_EXCEEDED"), "{error}");
}

#[test]
fn kill_ends_the_query_of_another_session() {
    let database = Database::in_memory().unwrap();
    let victim = {
        let database = Arc::clone(&database);
        std::thread::spawn(move || {
            let sql = "SELECT count() FROM system.numbers WHERE sipHash64(number) = 1";
            run(&mut Session::new(&database), sql)
        })
    };
    let mut session = Session::new(&database);
    let running = "SELECT count() FROM system.processes WHERE query LIKE '%sipHash64(number)%' AND query NOT LIKE '%processes%'";
    while run(&mut session, running).unwrap() != "1\n" {
        std::thread::sleep(Duration::from_millis(5));
    }
    let condition = "WHERE query LIKE '%sipHash64(number)%'";
    let test = run(&mut session, &format!("KILL QUERY {condition} TEST")).unwrap();
    assert!(test.starts_with("unknown_status\t"), "{test}");
    let killed = run(&mut session, &format!("KILL QUERY {condition} SYNC")).unwrap();
    assert!(killed.starts_with("finished\t"), "{killed}");
    let error = victim.join().unwrap().unwrap_err();
    assert!(error.contains("QUERY_WAS_CANCELLED"), "{error}");
    assert_eq!(
        run(&mut session, &format!("KILL QUERY {condition}")),
        Ok(String::new())
    );
}

#[test]
fn a_folder_is_waited_for_and_its_changes_are_taken_over() {
    let folder = Folder::new("sharing");
    let first = Database::open(&folder.0).unwrap();
    let second = Database::open(&folder.0).unwrap();
    run(
        &mut Session::new(&first),
        "CREATE TABLE a (x UInt8) ENGINE = Memory",
    )
    .unwrap();
    let mut session = Session::new(&second);
    let create = "CREATE TABLE b (x UInt8) ENGINE = Memory";
    let error = run(&mut session, create).unwrap_err();
    assert!(error.contains("Wait until process"), "{error}");
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        drop(first);
    });
    assert_eq!(run(&mut session, create), Ok(String::new()));
    other.join().unwrap();
    assert_eq!(run(&mut session, "SHOW TABLES"), Ok("a\nb\n".to_owned()));
    drop(second);
    drop(session);
    let third = Database::open(&folder.0).unwrap();
    assert_eq!(
        run(&mut Session::new(&third), "SHOW TABLES"),
        Ok("a\nb\n".to_owned())
    );
}
