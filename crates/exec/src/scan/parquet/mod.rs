//! Reads Parquet files: a morsel is a row group that the filters cannot rule out.
//!
//! Strings come as views into the decompressed pages, without a check for UTF-8.
//!
//! | module | owns |
//! |---|---|
//! | [`source`] | a scan: morsels and how they are read |
//! | [`conversion`] | a file's batches as the table's |
//! | [`bounds`] | constants beside least and greatest values |
//! | [`pruning`] | which row groups filters can match |
//! | [`pages`] | which pages of a row group they can match |

mod bounds;
mod conversion;
mod pages;
mod pruning;
mod source;

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use basalt_error::{Error, ErrorCode, Result};
use basalt_formats::parquet_types;
use basalt_functions::scalar::core::cast::{CastMode, cast_function};
use basalt_functions::{BoundFunction, Context};
use basalt_types::DataType;
use basalt_types::arrow_edge::read_as;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaDataReader};

use self::conversion::Part;
use self::pruning::row_group_can_match;
use self::source::ParquetSource;
use super::late::LateFilter;
use super::{FileFact, MorselSource, ScanRequest, TableKind};

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

    /// Where a file has a column of the table as it is, and its type.
    fn plain_column(&self, file: &ParquetFile, name: &str) -> Option<(usize, DataType)> {
        let column = self.columns.iter().position(|(n, _)| n == name)?;
        let found = file.sources[column].as_ref()?;
        let is_plain = found.cast.is_none();
        is_plain.then(|| (found.position, found.data_type.clone()))
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
    let mut positions = (0..found.len()).filter(|i| found[*i].0 == *name);
    let Some(position) = positions.next() else {
        return Ok(None);
    };
    if positions.next().is_some() {
        let message = format!("There are multiple columns with name `{name}` in the Parquet file");
        return Err(Error::new(ErrorCode::DUPLICATE_COLUMN, message));
    }
    let from = &read_as(&found[position].1, to);
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

/// The footer with the index of pages, which only filters have a use for; none if it cannot be read.
fn with_page_index(file: &ParquetFile) -> Option<ArrowReaderMetadata> {
    let handle = File::open(&file.path).ok()?;
    let footer = file.metadata.metadata().as_ref().clone();
    guarded(&file.path, || {
        let mut reader = ParquetMetaDataReader::new_with_metadata(footer)
            .with_page_index_policy(PageIndexPolicy::Optional);
        reader.read_page_indexes(&handle)?;
        parquet_types::reader_metadata(reader.finish()?)
    })
    .ok()
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
        let mut table = self.clone();
        let mut morsels = Vec::new();
        let mut num_rows = 0;
        for (i, file) in table.files.iter_mut().enumerate() {
            let source = |name: &str| self.plain_column(&self.files[i], name);
            let groups = file.metadata.metadata().row_groups();
            let mut has_pages = false;
            for (group, metadata) in groups.iter().enumerate() {
                if row_group_can_match(&request.filters, &file.metadata, metadata, &source) {
                    morsels.push((i, group));
                    num_rows += usize::try_from(metadata.num_rows()).unwrap_or(0);
                    has_pages = metadata
                        .columns()
                        .iter()
                        .any(|c| c.offset_index_offset().is_some());
                }
            }
            if has_pages
                && !request.filters.is_empty()
                && let Some(metadata) = with_page_index(file)
            {
                file.metadata = metadata;
            }
        }
        let late = request.condition.as_ref().and_then(|condition| {
            let (num_columns, projection) = (self.columns.len(), &request.projection);
            LateFilter::new(condition, &self.schema, num_columns, projection)
        });
        Ok(Arc::new(ParquetSource::new(
            table,
            request,
            (morsels, num_rows),
            late,
        )?))
    }

    fn uses_filters(&self) -> bool {
        true
    }
}
