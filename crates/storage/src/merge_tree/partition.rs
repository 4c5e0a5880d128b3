//! Takes parts out of a table and puts them into it; checks them.

use std::io::ErrorKind;
use std::sync::Arc;

use basalt_error::{Error, Result};

use super::attaching;
use super::order::Partition;
use super::part::{Part, PartName};
use super::table::{DETACHED, MergeTree};
use super::written::Written;

/// What was found of a part.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Its name.
    pub part: String,
    /// What is wrong with it.
    pub error: Option<String>,
}

impl MergeTree {
    /// Removes parts for which `is_meant`, by partition and name; gives how many.
    ///
    /// # Errors
    /// If the list of parts cannot be written.
    pub fn drop_parts(&self, is_meant: &dyn Fn(&Part) -> bool) -> Result<usize> {
        let parts = self.parts()?;
        let removed = parts.iter().filter(|p| is_meant(p));
        let removed: Vec<PartName> = removed.map(|p| p.name_parts().clone()).collect();
        let num_removed = removed.len();
        if num_removed > 0 {
            self.change(|_| Ok((Vec::new(), removed)))?;
        }
        Ok(num_removed)
    }

    /// Puts parts for which `is_meant` into the folder `detached`, where no query sees them; gives how
    /// many.
    ///
    /// # Errors
    /// If files cannot be linked or the list of parts cannot be written.
    pub fn detach_parts(&self, is_meant: &dyn Fn(&Part) -> bool) -> Result<usize> {
        let _merging = self.merging();
        let parts = self.parts()?;
        let meant: Vec<_> = parts.iter().filter(|p| is_meant(p)).collect();
        let copied = meant.iter().try_for_each(|part| self.copy(part));
        let changed = copied.and_then(|()| {
            let removed = meant.iter().map(|p| p.name_parts().clone()).collect();
            self.change(|_| Ok((Vec::new(), removed)))
        });
        changed.inspect_err(|_| self.remove_copies())?;
        Ok(meant.len())
    }

    /// Removes detached parts that the table has: of a change that was not finished.
    pub(super) fn remove_copies(&self) {
        if let Ok(parts) = self.parts() {
            self.remove_copies_of(parts.iter().map(|p| p.name_parts()));
        }
    }

    pub(super) fn remove_copies_of<'p>(&self, parts: impl Iterator<Item = &'p PartName>) {
        let detached = self.detached_parts().unwrap_or_default();
        for name in parts
            .map(ToString::to_string)
            .filter(|n| detached.contains(n))
        {
            let _ = self
                .disk()
                .remove_folder(&self.folder().join(DETACHED).join(name));
        }
    }

    /// Links the files of a part into the folder `detached`.
    fn copy(&self, part: &Part) -> Result<()> {
        let detached = self.folder().join(DETACHED);
        let folder = detached.join(part.name());
        let link = || -> std::io::Result<()> {
            // What an attempt that failed has left there.
            let _ = self.disk().remove_folder(&folder);
            self.disk().create_folder(&folder)?;
            for file in part.files() {
                self.disk()
                    .link(&part.folder().join(&file), &folder.join(&file))?;
            }
            self.disk().sync_folder(&folder)?;
            self.disk().sync_folder(&detached)?;
            self.disk().sync_folder(self.folder())
        };
        link().map_err(|e| Error::from(e).within(folder.display()))
    }

    /// The parts in the folder `detached`, by name.
    ///
    /// # Errors
    /// If the folder is there and cannot be read.
    pub fn detached_parts(&self) -> Result<Vec<String>> {
        let folder = self.folder().join(DETACHED);
        let entries = match self.disk().list(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(Error::from(e).within(folder.display())),
        };
        let folders = entries.into_iter().filter(|entry| entry.is_folder);
        let mut names: Vec<String> = folders.map(|entry| entry.name).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Puts detached parts for which `is_meant`, by partition and name, back into the table; gives how
    /// many.
    ///
    /// # Errors
    /// If one of them is damaged or has other columns than the table.
    pub fn attach_parts(&self, is_meant: &dyn Fn(&str, &str) -> bool) -> Result<usize> {
        let _merging = self.merging();
        // What others left behind goes now, not when there is something of this change.
        self.parts()?;
        let detached = self.folder().join(DETACHED);
        let mut written = Written::new(self);
        let mut names = Vec::new();
        for text in self.detached_parts()? {
            let Some(name) = PartName::parse(&text) else {
                continue;
            };
            if !is_meant(&name.partition_id, &text) {
                continue;
            }
            let part = self.open_part(&detached, &name)?;
            check_part(&part, self.layout().columns.len())?;
            let folder = self.new_folder();
            let partition = Partition {
                text: part.metadata().partition.clone(),
                id: name.partition_id,
            };
            written.add(folder.clone(), partition);
            let link = || -> std::io::Result<()> {
                self.disk().create_folder(&folder)?;
                for file in part.files() {
                    self.disk()
                        .link(&part.folder().join(&file), &folder.join(&file))?;
                }
                self.disk().sync_folder(&folder)
            };
            link().map_err(|e| Error::from(e).within(folder.display()))?;
            names.push(text);
        }
        let published = self.publish_with(written, &mut |manifest| {
            attaching::begin(self.disk(), self.folder(), (&names, manifest))
        });
        self.end_attaching();
        published.map(|()| names.len())
    }

    /// Removes detached parts for which `is_meant`; gives how many.
    ///
    /// # Errors
    /// If a folder cannot be removed.
    pub fn drop_detached_parts(&self, is_meant: &dyn Fn(&str, &str) -> bool) -> Result<usize> {
        let mut num_removed = 0;
        for text in self.detached_parts()? {
            let partition = text.split('_').next().unwrap_or_default();
            if is_meant(partition, &text) {
                let folder = self.folder().join(DETACHED).join(&text);
                let removed = self.disk().remove_folder(&folder);
                removed.map_err(|e| Error::from(e).within(folder.display()))?;
                num_removed += 1;
            }
        }
        Ok(num_removed)
    }

    /// Reads all values of the parts for which `is_meant`.
    ///
    /// # Errors
    /// If the list of parts is damaged.
    pub fn check(&self, is_meant: &dyn Fn(&Part) -> bool) -> Result<Vec<Checked>> {
        let parts = self.parts()?;
        let meant = parts.iter().filter(|p| is_meant(p));
        let num_columns = self.layout().columns.len();
        let checked = meant.map(|part: &Arc<Part>| {
            let found = check_part(part, num_columns).and_then(|()| part.check_indexes());
            Checked {
                part: part.name(),
                error: found.err().map(|e| e.message().to_owned()),
            }
        });
        Ok(checked.collect())
    }
}

/// Reads all values of a part.
fn check_part(part: &Part, num_columns: usize) -> Result<()> {
    for group in 0..part.metadata().group_rows.len() {
        for column in 0..num_columns {
            part.read(column, group)?;
        }
    }
    Ok(())
}
