//! Writes a table to a Parquet file, its row groups made in parallel and written in order.
//!
//! Workers take the next row group's number, make its rows from a seed of its own and encode them; the calling
//! thread writes finished row groups in their order and reports progress. Row groups cost about the same, so only
//! about as many as there are threads wait in memory, encoded.
//!
//! The file is written under a temporary name and renamed when it is whole.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use arrow::datatypes::SchemaRef;
use basalt_error::{Error, ErrorCode, Result};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use crate::bench::{Abc, Dbl, Hits as BenchHits, Trips as BenchTrips};
use crate::column::{Column, Piece, Source, arrays, schema};
use crate::hits::Visits;
use crate::kind::Kind;
use crate::random::Random;
use crate::trips::Rides;

/// Rows that are made, turned into arrays and encoded in one go; their rows stay in the cache.
const BATCH_ROWS: u64 = 4096;

type FileWriter = SerializedFileWriter<BufWriter<File>>;

/// What to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The table.
    pub kind: Kind,
    /// Its number of rows.
    pub rows: u64,
    /// The same seed gives the same file.
    pub seed: u64,
    /// Worker threads, at least one; they change nothing but the time.
    pub threads: usize,
}

/// Writes the table to `path`, calling `progress` with the number of rows done so far.
///
/// # Errors
/// When the file cannot be written; then nothing is left of it.
pub fn generate(recipe: &Recipe, path: &Path, progress: &dyn Fn(u64)) -> Result<()> {
    match recipe.kind {
        Kind::Hits => write_table::<Visits>(recipe, path, progress),
        Kind::Trips => write_table::<Rides>(recipe, path, progress),
        Kind::BenchDbl => write_table::<Dbl>(recipe, path, progress),
        Kind::BenchTrips => write_table::<BenchTrips>(recipe, path, progress),
        Kind::BenchHits => write_table::<BenchHits>(recipe, path, progress),
        Kind::BenchAbc => write_table::<Abc>(recipe, path, progress),
    }
}

fn write_table<S: Source>(recipe: &Recipe, path: &Path, progress: &dyn Fn(u64)) -> Result<()> {
    let cannot = |error: Error| error.within(format!("Cannot write {}", path.display()));
    // A link stays one: its target is replaced.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if is_device(path) || std::fs::metadata(&target).is_ok_and(|m| !m.is_file()) {
        return write_part::<S>(recipe, path, progress).map_err(cannot);
    }
    let part = temporary_name(&target);
    let written = write_part::<S>(recipe, &part, progress)
        .and_then(|()| std::fs::rename(&part, &target).map_err(Error::from));
    written.map_err(|error| {
        // The file may not exist; what matters is the first error.
        drop(std::fs::remove_file(&part));
        cannot(error)
    })
}

/// Whether this is no file of its own: `/dev/stdout` may lead to one that others hold open, too.
fn is_device(path: &Path) -> bool {
    path.starts_with("/dev") || path.starts_with("/proc")
}

fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".part");
    path.with_file_name(name)
}

fn write_part<S: Source>(recipe: &Recipe, part: &Path, progress: &dyn Fn(u64)) -> Result<()> {
    let properties = properties(S::COLUMNS);
    let schema = schema(S::COLUMNS);
    let descriptor = ArrowSchemaConverter::new()
        .convert(&schema)
        .map_err(broken)?;
    let file = BufWriter::new(File::create(part)?);
    let mut writer = SerializedFileWriter::new(file, descriptor.root_schema_ptr(), properties)
        .map_err(broken)?;

    let encoder = Encoder {
        recipe: *recipe,
        groups: recipe.rows.div_ceil(S::GROUP_ROWS),
        next: AtomicU64::new(0),
        factory: ArrowRowGroupWriterFactory::new(&writer, Arc::clone(&schema)),
        schema,
    };
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(1);
        for _ in 0..recipe.threads.max(1) {
            let (sender, encoder) = (sender.clone(), &encoder);
            scope.spawn(move || encoder.work::<S>(&sender));
        }
        drop(sender);
        // Dropping the receiver at the first error ends the workers.
        write_groups(&mut writer, receiver, progress)
    })?;
    writer.close().map_err(broken)?;
    Ok(())
}

fn properties<R>(columns: &[Column<R>]) -> WriterPropertiesPtr {
    let mut builder = WriterProperties::builder().set_compression(Compression::LZ4_RAW);
    for column in columns {
        let path = ColumnPath::from(column.name);
        if !column.compressed {
            builder = builder.set_column_compression(path.clone(), Compression::UNCOMPRESSED);
        }
        builder = builder.set_column_dictionary_enabled(path, column.dictionary);
    }
    Arc::new(builder.build())
}

/// What a worker tells the thread that writes.
enum Message {
    /// So many more rows are made.
    Rows(u64),
    /// A row group is encoded.
    Group(u64, Vec<ArrowColumnChunk>),
    Failed(ParquetError),
}

struct Encoder {
    recipe: Recipe,
    groups: u64,
    next: AtomicU64,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
}

impl Encoder {
    /// Encodes row groups until none is left or nobody receives them.
    fn work<S: Source>(&self, sender: &SyncSender<Message>) {
        loop {
            let group = self.next.fetch_add(1, Ordering::Relaxed);
            if group >= self.groups {
                return;
            }
            let message = match self.encode::<S>(group, sender) {
                Ok(Some(chunks)) => Message::Group(group, chunks),
                Ok(None) => return,
                Err(error) => Message::Failed(error),
            };
            if sender.send(message).is_err() {
                return;
            }
        }
    }

    /// One row group, or nothing if nobody receives any more.
    fn encode<S: Source>(
        &self,
        group: u64,
        sender: &SyncSender<Message>,
    ) -> Result<Option<Vec<ArrowColumnChunk>>, ParquetError> {
        let Recipe {
            rows: total, seed, ..
        } = self.recipe;
        let first = group * S::GROUP_ROWS;
        let num_rows = S::GROUP_ROWS.min(total - first);
        let random = Random::new(seed, group);
        let mut source = S::new(Piece {
            first,
            total,
            seed,
            random,
        });
        let mut writers = self
            .factory
            .create_column_writers(usize::try_from(group)?)?;
        let mut left = num_rows;
        let mut rows = Vec::new();
        while left > 0 {
            let batch = left.min(BATCH_ROWS);
            rows.clear();
            rows.extend((0..batch).map(|_| source.next_row()));
            let columns = arrays(S::COLUMNS, &rows);
            for ((field, array), writer) in
                self.schema.fields().iter().zip(&columns).zip(&mut writers)
            {
                for leaf in compute_leaves(field, array)? {
                    writer.write(&leaf)?;
                }
            }
            if sender.send(Message::Rows(batch)).is_err() {
                return Ok(None);
            }
            left -= batch;
        }
        writers
            .into_iter()
            .map(|writer| writer.close())
            .collect::<Result<_, _>>()
            .map(Some)
    }
}

fn write_groups(
    writer: &mut FileWriter,
    messages: Receiver<Message>,
    progress: &dyn Fn(u64),
) -> Result<()> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    let mut rows = 0;
    for message in messages {
        match message {
            Message::Rows(more) => {
                rows += more;
                progress(rows);
            }
            Message::Group(group, chunks) => {
                waiting.insert(group, chunks);
            }
            Message::Failed(error) => return Err(broken(error)),
        }
        while let Some(chunks) = waiting.remove(&next) {
            write_group(writer, chunks).map_err(broken)?;
            next += 1;
        }
    }
    Ok(())
}

fn write_group(writer: &mut FileWriter, chunks: Vec<ArrowColumnChunk>) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for chunk in chunks {
        chunk.append_to_row_group(&mut group)?;
    }
    group.close()?;
    Ok(())
}

fn broken(error: ParquetError) -> Error {
    Error::new(
        ErrorCode::CANNOT_WRITE_TO_FILE_DESCRIPTOR,
        error.to_string(),
    )
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs::File;
    use std::path::PathBuf;

    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::{Recipe, generate};
    use crate::kind::Kind;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("basalt-datagen-{}-{name}", std::process::id()))
    }

    fn bytes(kind: Kind, rows: u64, seed: u64, threads: usize) -> Vec<u8> {
        let path = path(&format!("{}-{rows}-{seed}-{threads}", kind.name()));
        let done = Cell::new(0);
        generate(
            &Recipe {
                kind,
                rows,
                seed,
                threads,
            },
            &path,
            &|rows| done.set(rows),
        )
        .unwrap();
        assert_eq!(done.get(), rows);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        bytes
    }

    #[test]
    fn a_file_depends_on_the_seed_and_not_on_the_threads() {
        let one = bytes(Kind::BenchTrips, 2_300_000, 7, 1);
        assert!(one == bytes(Kind::BenchTrips, 2_300_000, 7, 3));
        assert!(one != bytes(Kind::BenchTrips, 2_300_000, 8, 3));
        for &kind in Kind::ALL {
            let one = bytes(kind, 5_000, 1, 1);
            assert!(one == bytes(kind, 5_000, 1, 2), "{}", kind.name());
            assert!(one != bytes(kind, 5_000, 2, 1), "{}", kind.name());
        }
    }

    #[test]
    fn files_have_the_columns_rows_and_statistics() {
        for &kind in Kind::ALL {
            for rows in [0, 1, 4_097] {
                let path = path(&format!("{}-{rows}-check", kind.name()));
                generate(
                    &Recipe {
                        kind,
                        rows,
                        seed: 1,
                        threads: 2,
                    },
                    &path,
                    &|_| {},
                )
                .unwrap();
                let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
                let metadata = reader.metadata();
                assert_eq!(metadata.file_metadata().num_rows().unsigned_abs(), rows);
                let columns = metadata.file_metadata().schema_descr().columns();
                assert_eq!(columns.len(), kind.columns().len());
                let groups = metadata.row_groups();
                assert!(
                    groups
                        .iter()
                        .all(|g| g.columns().iter().all(|c| c.statistics().is_some()))
                );
                std::fs::remove_file(path).unwrap();
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_devices_devices() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let recipe = Recipe {
            kind: Kind::BenchDbl,
            rows: 10,
            seed: 1,
            threads: 1,
        };
        let (target, link) = (path("target"), path("link"));
        std::fs::write(&target, "old").unwrap();
        symlink(&target, &link).unwrap();
        generate(&recipe, &link, &|_| {}).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(std::fs::read(&target).unwrap().starts_with(b"PAR1"));
        std::fs::remove_file(link).unwrap();
        std::fs::remove_file(target).unwrap();
        let null = PathBuf::from("/dev/null");
        generate(&recipe, &null, &|_| {}).unwrap();
        let kind = std::fs::symlink_metadata(null).unwrap().file_type();
        assert!(kind.is_char_device());
    }

    #[test]
    fn a_failure_names_the_file_and_leaves_nothing() {
        let path = path("no-such-folder").join("x.parquet");
        let recipe = Recipe {
            kind: Kind::Trips,
            rows: 10,
            seed: 1,
            threads: 2,
        };
        let error = generate(&recipe, &path, &|_| {}).unwrap_err();
        assert!(error.message().contains("x.parquet"), "{error}");
        assert!(!path.exists());
        let folder = std::env::temp_dir();
        assert!(generate(&recipe, &folder, &|_| {}).is_err());
    }
}
