//! Lets DataFusion's own operators write to our temporary files, which are gone even after a kill.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use basalt_analyzer::into_plan_error;
use bytes::Bytes;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SpillFile, SpillWriter, TempFileFactory};
use futures::{Stream, stream};

use crate::temporary::{TemporaryFile, TemporaryFiles, write_error};

/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 256 << 10;

/// Makes temporary files for DataFusion's operators.
#[derive(Debug)]
pub struct PlanFiles(pub Arc<TemporaryFiles>);

impl TempFileFactory for PlanFiles {
    fn create_temp_file(&self, _description: &str) -> Result<Arc<dyn SpillFile>> {
        let file = self.0.create().map_err(into_plan_error)?;
        Ok(Arc::new(PlanFile(Arc::new(file))))
    }
}

/// A temporary file that is known by its path.
#[derive(Debug)]
struct PlanFile(Arc<TemporaryFile>);

impl SpillFile for PlanFile {
    fn path(&self) -> Option<&Path> {
        Some(self.0.path())
    }

    fn size(&self) -> Option<u64> {
        let metadata = self.0.file.metadata();
        metadata.ok().map(|metadata| metadata.len())
    }

    fn read_stream(&self) -> Result<Pin<Box<dyn Stream<Item = Result<Bytes>> + Send>>> {
        let mut file = File::open(self.0.path()).map_err(DataFusionError::IoError)?;
        let chunks = std::iter::from_fn(move || next_chunk(&mut file).transpose());
        Ok(Box::pin(stream::iter(chunks)))
    }

    fn open_writer(&self) -> Result<Box<dyn SpillWriter>> {
        let path = self.0.path();
        let file = OpenOptions::new().append(true).open(path);
        let file = file.map_err(|e| into_plan_error(write_error(path, &e)))?;
        Ok(Box::new(PlanWriter {
            out: BufWriter::new(file),
            file: Arc::clone(&self.0),
        }))
    }
}

fn next_chunk(file: &mut File) -> Result<Option<Bytes>> {
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    let read = file.take(CHUNK_BYTES as u64).read_to_end(&mut chunk);
    read.map_err(DataFusionError::IoError)?;
    Ok((!chunk.is_empty()).then(|| Bytes::from(chunk)))
}

/// Appends to a file.
struct PlanWriter {
    out: BufWriter<File>,
    /// Counts what is written.
    file: Arc<TemporaryFile>,
}

impl Write for PlanWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.count(bytes.len()).map_err(io::Error::other)?;
        self.out.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl SpillWriter for PlanWriter {
    fn finish(&mut self) -> Result<()> {
        self.out.flush().map_err(DataFusionError::IoError)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use datafusion::execution::TempFileFactory;
    use futures::TryStreamExt;

    use super::PlanFiles;
    use crate::temporary::TemporaryFiles;

    #[tokio::test]
    async fn what_is_written_is_read_and_gone() {
        let parent = std::env::temp_dir().join(format!("test-plan-files-{}", std::process::id()));
        let files = PlanFiles(Arc::new(TemporaryFiles::new(parent.clone())));
        let file = files.create_temp_file("a test").unwrap();
        let text: Vec<u8> = (0..600_000u32).map(|i| i as u8).collect();
        for half in text.chunks(400_000) {
            let mut writer = file.open_writer().unwrap();
            writer.write_all(half).unwrap();
            writer.finish().unwrap();
        }
        assert_eq!(file.size(), Some(600_000));
        let chunks: Vec<_> = file.read_stream().unwrap().try_collect().await.unwrap();
        assert_eq!(chunks.concat(), text);
        drop(file);
        assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 0);
        std::fs::remove_dir_all(parent).unwrap();
    }
}
