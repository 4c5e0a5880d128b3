//! A temporary file that compressed batches are appended to.

use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use arrow::array::RecordBatch;
use arrow::ipc::CompressionType;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::{IpcWriteOptions, StreamWriter};
use basalt_analyzer::into_plan_error;
use basalt_error::{Error, ErrorCode};
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;

use crate::temporary::{TemporaryFile, TemporaryFiles, write_error};

/// Batches in a file; gone when it is dropped.
#[derive(Debug)]
pub(crate) struct SpillFile(Mutex<TemporaryFile>);

impl SpillFile {
    /// An empty file.
    pub(crate) fn create(files: &TemporaryFiles) -> Result<Self> {
        let file = files.create().map_err(into_plan_error)?;
        Ok(Self(Mutex::new(file)))
    }

    /// Appends a batch; gives where it lies.
    pub(crate) fn append(&self, batch: &RecordBatch) -> Result<Range<u64>> {
        let options =
            IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))?;
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options)?;
        writer.write(batch)?;
        let bytes = writer.into_inner()?;
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.count(bytes.len()).map_err(into_plan_error)?;
        let start = file.file.seek(SeekFrom::End(0));
        let start = start.and_then(|start| file.file.write_all(&bytes).map(|()| start));
        let start = start.map_err(|e| into_plan_error(write_error(file.path(), &e)))?;
        Ok(start..start + bytes.len() as u64)
    }

    /// The batch that lies at `place`.
    pub(crate) fn read(&self, place: &Range<u64>) -> Result<RecordBatch> {
        let mut bytes = vec![0; (place.end - place.start) as usize];
        {
            let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let start = file.file.seek(SeekFrom::Start(place.start));
            let read = start.and_then(|_| file.file.read_exact(&mut bytes));
            read.map_err(|e| {
                let path = file.path().display();
                into_plan_error(Error::new(
                    ErrorCode::CANNOT_READ_FROM_FILE_DESCRIPTOR,
                    format!("Leave temporary files alone: cannot read {path}: {e}"),
                ))
            })?;
        }
        let mut reader = StreamReader::try_new(Cursor::new(bytes), None)?;
        let batch = reader.next();
        Ok(batch.ok_or_else(|| internal_datafusion_err!("no batch in a temporary file"))??)
    }
}
