//! Damages files: rows are right or an error says what is wrong, and nothing panics.

use std::fs;
use std::path::PathBuf;

use arrow::array::{ArrayRef, make_array};
use arrow::buffer::Buffer;
use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use super::super::aligned;
use super::super::decode::Buffers;
use super::super::encode::EncodedNode;
use super::super::node::{Node, StoredBuffer};
use super::{Folder, batch, columns, insert, opened, rows, waits};

fn log(folder: &Folder) -> PathBuf {
    folder.0.join("1/extents.log")
}

fn committed(folder: &Folder) -> PathBuf {
    folder.0.join("committed.txt")
}

#[test]
fn what_an_insert_leaves_that_did_not_end_is_not_there() {
    let folder = Folder::new("torn");
    let table = opened(&folder.0, &columns());
    insert(&table, &[batch(0, 10)]);
    let before = fs::read(committed(&folder)).unwrap();
    insert(&table, &[batch(10, 10)]);
    drop(table);
    fs::write(committed(&folder), before).unwrap();
    for name in ["committed.txt.new", "1/extents.log", "1/5.column"] {
        let path = folder.0.join(name);
        let mut bytes = fs::read(&path).unwrap_or_default();
        bytes.extend(b"half");
        fs::write(&path, bytes).unwrap();
    }
    let table = opened(&folder.0, &columns());
    assert_eq!(rows(&table).unwrap(), batch(0, 10));
    insert(&table, &[batch(10, 20)]);
    assert_eq!(rows(&table).unwrap(), batch(0, 30));
    drop(table);
    let reopened = opened(&folder.0, &columns());
    assert_eq!(rows(&reopened).unwrap(), batch(0, 30));
    assert!(
        reopened
            .checked(&waits)
            .unwrap()
            .iter()
            .all(|c| c.error.is_none())
    );
}

#[test]
fn a_log_that_is_damaged_or_too_short_is_an_error_and_never_fewer_rows() {
    let folder = Folder::new("log");
    let table = opened(&folder.0, &columns());
    insert(&table, &[batch(0, 10)]);
    insert(&table, &[batch(10, 10)]);
    drop(table);
    for (path, name) in [
        (log(&folder), "extents.log"),
        (committed(&folder), "committed.txt"),
    ] {
        let is_error = |place: &str| {
            let table = opened(&folder.0, &columns());
            let error = rows(&table).unwrap_err();
            assert!(error.message().contains(name), "{place}: {error}");
            let mut refused = table.insert(&waits);
            refused.push(batch(0, 1)).unwrap();
            assert!(refused.finish().is_err(), "{place}: rows behind damage");
            assert!(table.truncate(&waits).is_err(), "{place}: truncated");
        };
        let bytes = fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            for flip in [1, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                fs::write(&path, &damaged).unwrap();
                is_error(&format!("byte {at}"));
            }
            fs::write(&path, &bytes[..at]).unwrap();
            is_error(&format!("{at} bytes"));
        }
        fs::remove_file(&path).unwrap();
        is_error("missing");
        fs::write(&path, &bytes).unwrap();
        assert_eq!(rows(&opened(&folder.0, &columns())).unwrap(), batch(0, 20));
    }
}

#[test]
fn damaged_values_are_an_error_that_names_the_column() {
    let folder = Folder::new("values");
    let table = opened(&folder.0, &columns());
    insert(&table, &[batch(0, 40)]);
    for column in 0..columns().len() {
        let path = folder.0.join(format!("1/{column}.column"));
        let bytes = fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            fs::write(&path, &damaged).unwrap();
            let reopened = opened(&folder.0, &columns());
            match rows(&reopened) {
                // Between buffers.
                Ok(rows) => assert_eq!(rows, batch(0, 40)),
                Err(error) => {
                    let name = format!("`c{column}`");
                    assert!(error.message().contains(&name), "{error}");
                    let checked = reopened.checked(&waits).unwrap();
                    assert!(checked[column].error.is_some());
                }
            }
        }
        for len in [0, bytes.len().saturating_sub(1)] {
            fs::write(&path, &bytes[..len]).unwrap();
            let is_short = len < bytes.len();
            assert_eq!(rows(&opened(&folder.0, &columns())).is_err(), is_short);
        }
        fs::write(&path, &bytes).unwrap();
    }
    assert_eq!(rows(&table).unwrap(), batch(0, 40));
}

fn stored(encoded: &EncodedNode, bytes: &mut Vec<u8>) -> Node {
    let mut buffer = |buffer: &Buffer| {
        bytes.resize(bytes.len().next_multiple_of(64), 0);
        bytes.extend_from_slice(buffer);
        StoredBuffer {
            num_bytes: buffer.len() as u64,
            checksum: xxh3_64(buffer),
        }
    };
    let buffers = encoded.buffers.iter().map(&mut buffer).collect();
    let children = encoded.children.iter().map(|child| stored(child, bytes));
    Node {
        num_values: encoded.num_values as u64,
        buffers,
        children: children.collect(),
    }
}
/// The same bytes, other checksums.
fn vouched(node: &Node, bytes: &[u8], at: &mut u64) -> Node {
    let mut buffer = |stored: &StoredBuffer| {
        let start = aligned(*at).unwrap();
        *at = start + stored.num_bytes;
        StoredBuffer {
            checksum: xxh3_64(&bytes[start as usize..*at as usize]),
            ..*stored
        }
    };
    let buffers = node.buffers.iter().map(&mut buffer).collect();
    let children = node.children.iter().map(|child| vouched(child, bytes, at));
    Node {
        num_values: node.num_values,
        buffers,
        children: children.collect(),
    }
}

/// What the log and its checksums vouch for, but no array may have.
#[test]
fn impossible_offsets_and_views_are_errors() {
    let batch = batch(0, 9);
    for (column, field) in batch.columns().iter().zip(batch.schema().fields()) {
        let mut bytes = Vec::new();
        let node = stored(&EncodedNode::of(column.as_ref()).unwrap(), &mut bytes);
        let decode = |bytes: &[u8], node: &Node| -> Result<ArrayRef, String> {
            let bytes = basalt_codec::PaddedBuffer::copied(bytes);
            let mut buffers = Buffers::new(Bytes::from_owner(bytes));
            buffers.array(node, field.data_type()).map(make_array)
        };
        assert_eq!(&decode(&bytes, &node).unwrap(), column);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xa5;
            if let Ok(array) = decode(&damaged, &vouched(&node, &damaged, &mut 0)) {
                // Whatever it holds can be read.
                let _ = format!("{array:?}");
            }
        }
        for buffer in 0..node.buffers.len() {
            for other in [0, 1, 7, 63] {
                let mut node = node.clone();
                let num_bytes = &mut node.buffers[buffer].num_bytes;
                *num_bytes = (*num_bytes).saturating_sub(other);
                let _ = decode(&bytes, &vouched(&node, &bytes, &mut 0));
            }
        }
        let longer = |num_values| Node {
            num_values,
            ..node.clone()
        };
        for num_values in [10, 1 << 20, u64::from(u32::MAX), u64::MAX] {
            let result = decode(&bytes, &longer(num_values));
            let is_possible = field.data_type().is_null() && num_values < 1 << 31;
            assert_eq!(result.is_ok(), is_possible, "{field:?} {num_values}");
        }
    }
}
