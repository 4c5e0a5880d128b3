//! Temporary comparison tool.
use std::io::{BufReader, Read, Write};
fn run() -> basalt_error::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let mut settings = basalt_formats::FormatSettings::default();
    let (mut totals, mut extremes) = (0, 0);
    for a in &args[4..] {
        let (k, v) = a.split_once('=').unwrap();
        match k {
            "totals" => totals = 1,
            "extremes" => extremes = 1,
            _ => {
                assert!(settings.set(k, v)?, "{k}");
            }
        }
    }
    let mut data = Vec::new();
    std::io::stdin().read_to_end(&mut data).unwrap();
    let src = |d: &Vec<u8>| -> Box<dyn std::io::BufRead + Send> {
        Box::new(BufReader::new(std::io::Cursor::new(d.clone())))
    };
    let columns = if args[3].is_empty() {
        basalt_formats::infer(&args[1], src(&data), &settings)?
    } else {
        basalt_types::parse::parse_structure(&args[3])?
    };
    if args[2] == "describe" {
        for (n, t) in &columns {
            println!("{n}\t{t}");
        }
        return Ok(());
    }
    let mut reader = basalt_formats::input(&args[1], &columns, &settings, src(&data))?;
    let mut sink = basalt_formats::output(&args[2], &columns, &settings)?;
    let mut out = Vec::new();
    let start = std::time::Instant::now();
    let mut rows = 0;
    let mut batches = vec![];
    while let Some(b) = reader.next_block()? {
        rows += b.num_rows();
        batches.push(b);
    }
    let parse = start.elapsed();
    let start = std::time::Instant::now();
    if totals == 1 {
        let last = batches.pop().unwrap();
        let n = last.num_rows() - 1 - 2 * extremes;
        if n > 0 {
            sink.write_batch(&last.slice(0, n), &mut out)?;
        }
        sink.totals(&last.slice(n, 1), &mut out)?;
        if extremes == 1 {
            sink.extremes(&last.slice(n + 1, 2), &mut out)?;
        }
    } else {
        for b in &batches {
            sink.write_batch(b, &mut out)?;
        }
    }
    sink.finish(
        &basalt_formats::Statistics {
            elapsed: 0.5,
            rows_read: 1,
            bytes_read: 1,
            rows_before_limit_at_least: None,
        },
        &mut out,
    )?;
    if std::env::var("TIME").is_ok() {
        eprintln!(
            "{rows} rows, parse {parse:?} ({:.0} MB/s), write {:?}",
            data.len() as f64 / parse.as_secs_f64() / 1e6,
            start.elapsed()
        );
    }
    std::io::stdout().write_all(&out).unwrap();
    Ok(())
}
fn main() {
    if let Err(e) = run() {
        println!("ERR {e}");
        std::process::exit(1)
    }
}
