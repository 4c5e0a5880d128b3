//! Damages files: rows are right or an error says what is wrong, and nothing panics.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Folder, batch, columns, insert, opened, rows};

fn log(folder: &Folder) -> PathBuf {
    folder.0.join("extents.log")
}

#[test]
fn a_record_that_was_cut_off_is_not_there() {
    let folder = Folder::new("torn");
    let table = opened(&folder.0, &columns());
    insert(&table, &[batch(0, 10)]);
    let whole = fs::read(log(&folder)).unwrap().len();
    insert(&table, &[batch(10, 10)]);
    drop(table);
    let bytes = fs::read(log(&folder)).unwrap();
    for len in whole..bytes.len() {
        fs::write(log(&folder), &bytes[..len]).unwrap();
        let table = opened(&folder.0, &columns());
        assert_eq!(rows(&table).unwrap(), batch(0, 10), "{len} bytes");
        insert(&table, &[batch(10, 20)]);
        assert_eq!(rows(&table).unwrap(), batch(0, 30), "{len} bytes");
        drop(table);
        let reopened = opened(&folder.0, &columns());
        assert_eq!(rows(&reopened).unwrap(), batch(0, 30), "{len} bytes");
    }
}

#[test]
fn a_damaged_log_is_an_error_unless_its_end_is() {
    let folder = Folder::new("log");
    let table = opened(&folder.0, &columns());
    insert(&table, &[batch(0, 10)]);
    let last = fs::read(log(&folder)).unwrap().len();
    insert(&table, &[batch(10, 10)]);
    drop(table);
    let bytes = fs::read(log(&folder)).unwrap();
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            fs::write(log(&folder), &damaged).unwrap();
            let result = rows(&opened(&folder.0, &columns()));
            match at < last {
                true => {
                    let error = result.unwrap_err();
                    let message = error.message();
                    assert!(message.contains("extents.log"), "byte {at}: {error}");
                }
                false => assert_eq!(result.unwrap(), batch(0, 10), "byte {at}"),
            }
        }
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
                    let checked = reopened.checked().unwrap();
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

/// What the log and its checksums vouch for, but no array may have.
#[test]
fn impossible_offsets_and_views_are_errors() {
    use super::super::decode::Buffers;
    use super::super::encode::EncodedNode;
    use super::super::node::{Node, StoredBuffer};
    use arrow::array::{ArrayRef, make_array};
    use bytes::Bytes;
    use xxhash_rust::xxh3::xxh3_64;

    fn stored(encoded: &EncodedNode, bytes: &mut Vec<u8>) -> Node {
        let mut buffer = |buffer: &arrow::buffer::Buffer| {
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
            let start = super::super::aligned(*at).unwrap();
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
    let _ = Arc::clone(&batch.schema());
}
