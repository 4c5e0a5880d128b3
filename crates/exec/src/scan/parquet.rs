//! Reads Parquet files: a morsel is a row group that the filters cannot rule out.
//!
//! Strings come as views into the decompressed pages, without a check for UTF-8.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use basalt_error::{Error, ErrorCode, Result};
use basalt_formats::parquet_types;
use basalt_functions::scalar::core::cast::{CastMode, cast_function};
use basalt_functions::{BoundFunction, Column, Context};
use basalt_types::DataType;
use basalt_types::arrow_edge::to_physical;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::ParquetMetaDataReader;

use super::pruning::row_group_can_match;
use super::{BatchIter, FileFact, MorselSource, ScanRequest, Stored, TableKind};

/// Rows that the reader gives at once.
const BATCH_ROWS: usize = 16_384;

/// Parquet files of one structure as a table.
#[derive(Clone, Debug)]
pub struct ParquetTable {
    files: Vec<ParquetFile>,
    columns: Vec<(String, DataType)>,
    /// The columns behind `columns`.
    facts: Vec<FileFact>,
    schema: SchemaRef,
}

#[derive(Clone, Debug)]
struct ParquetFile {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    /// For each column of the table, where it lies in the file.
    sources: Vec<Option<FileColumn>>,
}

/// A table's column in a file.
#[derive(Clone, Debug)]
struct FileColumn {
    /// Its top-level column in the file.
    position: usize,
    data_type: DataType,
    /// The conversion to the table's type, if that is another one.
    cast: Option<Arc<BoundFunction>>,
}

impl ParquetTable {
    /// Opens the files; the first one gives the columns unless `structure` does.
    ///
    /// # Errors
    /// If a file is damaged or has columns of unknown types.
    pub fn open(
        paths: Vec<PathBuf>,
        structure: Option<Vec<(String, DataType)>>,
        context: &Context,
    ) -> Result<Self> {
        let mut columns = structure;
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let metadata = read_metadata(&path)?;
            let found = parquet_types::columns(metadata.schema(), metadata.parquet_schema());
            let found = found.map_err(|e| e.within(path.display()))?;
            let wanted = columns.get_or_insert_with(|| found.clone());
            let sources = wanted
                .iter()
                .map(|column| file_column(column, &found, context))
                .collect::<Result<Vec<_>>>()?;
            if sources.iter().all(Option::is_none) && !sources.is_empty() {
                return Err(Error::new(
                    ErrorCode::THERE_IS_NO_COLUMN,
                    format!("File {} has none of the columns", path.display()),
                ));
            }
            files.push(ParquetFile {
                path,
                metadata,
                sources,
            });
        }
        let columns = columns.ok_or_else(|| Error::bug("no file"))?;
        let facts = FileFact::beside(&columns);
        let fields = columns.iter().map(|(n, t)| t.field(n));
        let fact_fields = facts.iter().map(|f| f.data_type().field(f.name()));
        let fields: Vec<_> = fields.chain(fact_fields).collect();
        Ok(Self {
            files,
            columns,
            facts,
            schema: Arc::new(Schema::new(fields)),
        })
    }

    /// Names and types of the columns.
    pub fn columns(&self) -> &[(String, DataType)] {
        &self.columns
    }

    /// The facts of files that stand behind the columns.
    pub fn facts(&self) -> &[FileFact] {
        &self.facts
    }

    fn num_row_groups(&self) -> usize {
        let groups = |file: &ParquetFile| file.metadata.metadata().num_row_groups();
        self.files.iter().map(groups).sum()
    }

    /// Where column `idx` of the table comes from in a file.
    fn part(&self, file: &ParquetFile, idx: usize) -> Part {
        match file.sources.get(idx) {
            Some(Some(column)) => Part::File(column.clone()),
            Some(None) => Part::Missing,
            None => match idx.checked_sub(self.columns.len()) {
                Some(fact) if fact < self.facts.len() => Part::Fact(self.facts[fact]),
                _ => Part::Missing,
            },
        }
    }
}

/// Finds a table's column among those of a file.
fn file_column(
    (name, to): &(String, DataType),
    found: &[(String, DataType)],
    context: &Context,
) -> Result<Option<FileColumn>> {
    let Some(position) = found.iter().position(|(n, _)| n == name) else {
        return Ok(None);
    };
    let from = &found[position].1;
    let is_same = from.without_low_cardinality() == to.without_low_cardinality()
        || from.base() == to.without_low_cardinality().base();
    let cast = if is_same {
        None
    } else {
        // A NULL is kept, and becomes the default afterwards where the table has none.
        let to = if from.is_nullable() {
            to.clone().to_nullable()
        } else {
            to.clone()
        };
        let bound = cast_function(from, &to, context, CastMode::Normal);
        Some(Arc::new(
            bound.map_err(|e| e.within(format!("Column `{name}`")))?,
        ))
    };
    Ok(Some(FileColumn {
        position,
        data_type: from.clone(),
        cast,
    }))
}

fn damaged(path: &std::path::Path, e: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorCode::INCORRECT_DATA,
        format!("Cannot read Parquet file {}: {e}", path.display()),
    )
}

/// The footer of a file.
fn read_metadata(path: &PathBuf) -> Result<ArrowReaderMetadata> {
    let file = File::open(path).map_err(|e| Error::from(e).within(path.display()))?;
    guarded(path, || {
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&file)?;
        parquet_types::reader_metadata(metadata)
    })
}

/// Runs the reader on bytes that may be damaged: what it cannot bear is an error of the file.
fn guarded<T, E: std::fmt::Display>(
    path: &std::path::Path,
    read: impl FnOnce() -> std::result::Result<T, E>,
) -> Result<T> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)) {
        Ok(result) => result.map_err(|e| damaged(path, e)),
        Err(_) => Err(damaged(path, "the file is damaged")),
    }
}

impl TableKind for ParquetTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn source(&self, request: &ScanRequest) -> Result<Arc<dyn MorselSource>> {
        let mut morsels = Vec::new();
        let mut num_rows = 0;
        for (i, file) in self.files.iter().enumerate() {
            let groups = file.metadata.metadata().row_groups();
            for (group, metadata) in groups.iter().enumerate() {
                let source = |name: &str| {
                    let column = self.columns.iter().position(|(n, _)| n == name)?;
                    let found = file.sources[column].as_ref()?;
                    let is_plain = found.cast.is_none();
                    is_plain.then(|| (found.position, found.data_type.clone()))
                };
                if row_group_can_match(&request.filters, &file.metadata, metadata, &source) {
                    morsels.push((i, group));
                    num_rows += usize::try_from(metadata.num_rows()).unwrap_or(0);
                }
            }
        }
        let schema = self.schema.project(&request.projection);
        Ok(Arc::new(ParquetSource {
            table: self.clone(),
            projection: request.projection.clone(),
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
            morsels,
            num_rows,
        }))
    }

    fn uses_filters(&self) -> bool {
        true
    }
}

/// A scan of a [`ParquetTable`].
#[derive(Debug)]
pub struct ParquetSource {
    table: ParquetTable,
    projection: Vec<usize>,
    schema: SchemaRef,
    /// File and row group.
    morsels: Vec<(usize, usize)>,
    num_rows: usize,
}

impl MorselSource for ParquetSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn num_morsels(&self) -> usize {
        self.morsels.len()
    }

    fn open(&self, morsel: usize) -> Result<BatchIter> {
        let (file_idx, group) = self.morsels[morsel];
        let file = &self.table.files[file_idx];
        let path = file.path.clone();
        let handle = File::open(&path).map_err(|e| Error::from(e).within(path.display()))?;
        let wanted: Vec<usize> = self
            .projection
            .iter()
            .filter_map(|c| file.sources.get(*c)?.as_ref().map(|s| s.position))
            .collect();
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(handle, file.metadata.clone());
        let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
        let reader = guarded(&path, || {
            builder
                .with_projection(mask)
                .with_row_groups(vec![group])
                .with_batch_size(BATCH_ROWS)
                .build()
        })?;
        let mut sorted = wanted;
        sorted.sort_unstable();
        sorted.dedup();
        let convert = Conversion {
            columns: self
                .projection
                .iter()
                .map(|c| {
                    let mut part = self.table.part(file, *c);
                    if let Part::File(column) = &mut part {
                        column.position = sorted.binary_search(&column.position).unwrap_or(0);
                    }
                    let columns = &self.table.columns;
                    let data_type = columns.get(*c).map_or(DataType::Nothing, |c| c.1.clone());
                    (part, data_type)
                })
                .collect(),
            path: path.clone(),
            schema: Arc::clone(&self.schema),
        };
        let mut reader = Some(reader);
        Ok(Box::new(std::iter::from_fn(move || {
            let mut taken = reader.take()?;
            let next = guarded(&path, || {
                let next = taken.next().transpose();
                next.map(|batch| (batch, taken))
            });
            match next {
                Ok((Some(batch), rest)) => {
                    reader = Some(rest);
                    Some(convert.batch(&batch).map_err(|e| e.within(path.display())))
                }
                Ok((None, _)) => None,
                Err(e) => Some(Err(e)),
            }
        })))
    }

    fn num_rows(&self) -> Option<usize> {
        Some(self.num_rows)
    }

    fn describe(&self) -> String {
        format!(
            "Parquet, {} files, {} of {} row groups",
            self.table.files.len(),
            self.morsels.len(),
            self.table.num_row_groups()
        )
    }

    fn stored(&self) -> Option<Stored> {
        Some(Stored {
            num_files: self.table.files.len(),
            num_row_groups: self.table.num_row_groups(),
        })
    }

    fn stored_bytes(&self, morsel: usize) -> u64 {
        let (file, group) = self.morsels[morsel];
        let file = &self.table.files[file];
        let metadata = file.metadata.metadata();
        let roots = metadata.file_metadata().schema_descr();
        let is_wanted = |leaf: usize| {
            let root = roots.get_column_root_idx(leaf);
            let mut columns = self.projection.iter();
            columns.any(|c| matches!(file.sources.get(*c), Some(Some(s)) if s.position == root))
        };
        let leaves = metadata.row_group(group).columns().iter().enumerate();
        let wanted = leaves.filter(|(leaf, _)| is_wanted(*leaf));
        let bytes = wanted.map(|(_, column)| u64::try_from(column.compressed_size()).unwrap_or(0));
        bytes.sum()
    }
}

/// Where a column of the table comes from.
enum Part {
    File(FileColumn),
    /// The file has no such column.
    Missing,
    Fact(FileFact),
}

/// How a file's batches become the table's.
struct Conversion {
    /// Where each column comes from (positions are those of the batch) and its type in the table.
    columns: Vec<(Part, DataType)>,
    path: PathBuf,
    schema: SchemaRef,
}

impl Conversion {
    fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let num_rows = batch.num_rows();
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for (source, data_type) in &self.columns {
            columns.push(match source {
                Part::File(source) => {
                    let array = to_physical(batch.column(source.position), &source.data_type)?;
                    let array = match &source.cast {
                        Some(cast) => cast.call(&[Column::new(array)], num_rows)?,
                        None => array,
                    };
                    without_nulls(array, data_type)?
                }
                Part::Missing => defaults(data_type, num_rows)?,
                Part::Fact(fact) => fact.array(&self.path, num_rows),
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .map_err(|e| Error::bug(e.to_string()))
    }
}

/// A NULL in a column that the user declared without NULLs is the type's default.
fn without_nulls(array: ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    if array.null_count() == 0 || data_type.is_nullable() || *data_type == DataType::Nothing {
        return Ok(array);
    }
    let default = defaults(data_type, 1)?;
    let sources: [&dyn arrow::array::Array; 2] = [&array, &default];
    let pick: Vec<(usize, usize)> = (0..array.len())
        .map(|i| if array.is_null(i) { (1, 0) } else { (0, i) })
        .collect();
    arrow::compute::interleave(&sources, &pick).map_err(|e| Error::bug(e.to_string()))
}

fn defaults(data_type: &DataType, num_rows: usize) -> Result<ArrayRef> {
    let mut builder = basalt_types::ColumnBuilder::new(data_type, num_rows)?;
    for _ in 0..num_rows {
        builder.append_default();
    }
    builder.finish()
}
