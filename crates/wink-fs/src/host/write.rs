//! Changes a directory of the host, one entry at a time.

use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use rustix::fd::OwnedFd;
use rustix::fs::Mode;

use super::rename::{self, Relocation};
use super::root::Owner;
use super::staging::{Area, Temporary, TemporaryWriter};
use super::{HostBackend, displace, entry, failure, install};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::filesystem::staged::{Staged, Staging};
use crate::filesystem::{
    Filesystem, Properties, Put, PutCondition, PutOptions, Recursion, Removed, Replacement,
};
use crate::path::TreePath;
use crate::tree::FileMode;
use crate::tree::content::Content;

impl Filesystem for HostBackend {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn stage(&self) -> Result<Staging> {
        let temporary = self.host.temporary().map_err(|e| Error::system(Operation::Write, e));
        let temporary = temporary.map_err(|error| self.host.or_root_gone(error))?;
        Ok(Staging::new(Box::new(TemporaryWriter::new(temporary))))
    }

    fn put(&mut self, path: &TreePath, staged: &mut Staged, options: &PutOptions) -> Result<Put> {
        self.changing(|this| {
            if path.is_root() && options.condition != PutCondition::Absent {
                return Err(Error::new(Operation::Write, ErrorKind::IsADirectory).with_path(path));
            }
            let slot = this.host.new_slot(Operation::Write, path)?;
            let area = this.host.area().map_err(|e| failure::any(Operation::Write, path, e))?;
            let preimage = this.host.preimage_path(path);
            match staged.body_mut::<Temporary>() {
                // Staged in our own staging directory: the file itself is renamed, without a copy.
                Some(own) if Arc::ptr_eq(own.area(), &area) && !own.is_placed() => {
                    install::put(&this.host, path, &slot, own, options, preimage)
                }
                _ => {
                    let mut copy = copy_of(&staged.content(), &area)
                        .map_err(|error| Error::system(Operation::Write, error).with_path(path))?;
                    install::put(&this.host, path, &slot, &mut copy, options, preimage)
                }
            }
        })
    }

    fn create_dir(&mut self, path: &TreePath) -> Result<()> {
        self.changing(|this| {
            let slot = this.host.new_slot(Operation::Mkdir, path)?;
            rustix::fs::mkdirat(&slot.directory, slot.name, Mode::from_raw_mode(0o777))
                .and_then(|()| Owner::take_at(this.host.root.owner(), &slot.directory, slot.name))
                .map_err(|errno| failure::creating(Operation::Mkdir, path, errno))
        })
    }

    fn symlink(&mut self, path: &TreePath, target: &[u8]) -> Result<()> {
        self.changing(|this| {
            checks::check_target(path, target)?;
            let slot = this.host.new_slot(Operation::Symlink, path)?;
            rustix::fs::symlinkat(target, &slot.directory, slot.name)
                .and_then(|()| Owner::take_at(this.host.root.owner(), &slot.directory, slot.name))
                .map_err(|errno| failure::creating(Operation::Symlink, path, errno))
        })
    }

    fn set_mode(&mut self, path: &TreePath, mode: FileMode) -> Result<()> {
        self.changing(|this| {
            let (fd, stat) = this.host.open_file(Operation::SetMode, path)?;
            // Other hard links of the file, which may be outside of the workspace, must keep their mode.
            if stat.st_nlink > 1 {
                return this.replace_by_copy(path, fd, &stat, mode);
            }
            let bits = Mode::from_raw_mode(entry::bits_with(stat.st_mode, mode));
            rustix::fs::fchmod(&fd, bits)
                .map_err(|errno| failure::any(Operation::SetMode, path, errno))
        })
    }

    fn remove(&mut self, path: &TreePath, recursion: Recursion) -> Result<Removed> {
        self.changing(|this| {
            let slot = this.host.slot(Operation::Delete, path)?;
            displace::remove(&this.host, path, &slot, recursion)
        })
    }

    fn rename(&mut self, from: &TreePath, to: &TreePath, replacement: Replacement) -> Result<()> {
        self.changing(|this| {
            checks::check_not_root(Operation::Rename, to)?;
            let source = this.host.slot(Operation::Rename, from)?;
            let moved = rename::look_at_source(&source, from)?;
            checks::check_not_into_itself(Operation::Rename, moved.kind, from, to)?;
            let target = this.host.new_slot(Operation::Rename, to)?;
            let host = &this.host;
            let preimage = this.host.preimage_path(to);
            Relocation { host, source, moved, from, target, to, preimage }.run(replacement)
        })
    }
}

impl HostBackend {
    /// Runs a change, and notes its time.
    pub(super) fn changing<T>(&mut self, change: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let changed = change(self);
        self.host.clear_preimage_paths();
        self.host.touch();
        changed.map_err(|error| self.host.or_root_gone(error))
    }

    /// Changes the mode of one of several hard links, by making it a separate file.
    fn replace_by_copy(
        &mut self,
        path: &TreePath,
        fd: OwnedFd,
        stat: &rustix::fs::Stat,
        mode: FileMode,
    ) -> Result<()> {
        let failed = |error| Error::system(Operation::SetMode, error).with_path(path);
        let content = Content::positional(Arc::new(File::from(fd)), stat.st_size as u64);
        let mut staging = self.stage()?;
        staging.carry_over(&content).map_err(failed)?;
        let unchanged = PutCondition::Unchanged(staging.hash_so_far());
        let mut staged = staging.finish().map_err(failed)?;
        let options = PutOptions::default().condition(unchanged).mode(mode);
        self.put(path, &mut staged, &options).map_err(|error| error.during(Operation::SetMode))?;
        Ok(())
    }
}

/// Copies content that another backend staged, or that is in memory, into our own staging file.
fn copy_of(content: &Content, area: &Arc<Area>) -> std::io::Result<Temporary> {
    let temporary = Temporary::create(area)?;
    content.for_each_chunk(|chunk| temporary.file().write_all(chunk))?;
    Ok(temporary)
}
