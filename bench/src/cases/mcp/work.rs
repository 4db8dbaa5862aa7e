//! Calls one after another over standard input and output; the median of each repetition counts.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use tempfile::TempDir;

use super::server::{Call, REFERENCE, RUST, Server, Wink};
use super::stdio::Client;
use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, output_of};
use crate::digest;
use crate::measure::{Measured, side_by_side};

/// How many files the directory has that is served.
const FILES: usize = 5_000;
const CALLS: usize = 200;
const SEARCHES: usize = 20;

pub(crate) const READ_VS_REFERENCE: Case =
    Case::new("mcp-read-vs-reference", "one file read, over stdio", 3.0, |context| {
        measure(context, &REFERENCE, read)
    });
pub(crate) const WRITE_VS_REFERENCE: Case =
    Case::new("mcp-write-vs-reference", "one file written, over stdio", 3.0, |context| {
        measure(context, &REFERENCE, write)
    });
pub(crate) const EDIT_VS_REFERENCE: Case =
    Case::new("mcp-edit-vs-reference", "one file edited, over stdio", 3.0, |context| {
        measure(context, &REFERENCE, edit)
    });
pub(crate) const SEARCH_VS_REFERENCE: Case =
    Case::new("mcp-search-vs-reference", "files found by name, over stdio", 3.0, |context| {
        measure(context, &REFERENCE, search)
    });
pub(crate) const READ_VS_RUST: Case =
    Case::new("mcp-read-vs-rust", "one file read, over stdio", 1.0, |context| {
        measure(context, &RUST, read)
    });
pub(crate) const WRITE_VS_RUST: Case =
    Case::new("mcp-write-vs-rust", "one file written, over stdio", 1.0, |context| {
        measure(context, &RUST, write)
    });
pub(crate) const EDIT_VS_RUST: Case =
    Case::new("mcp-edit-vs-rust", "one file edited, over stdio", 1.0, |context| {
        measure(context, &RUST, edit)
    });
pub(crate) const SEARCH_VS_RUST: Case =
    Case::new("mcp-search-vs-rust", "files found by name, over stdio", 1.0, |context| {
        measure(context, &RUST, search)
    });

/// One side: a server at work in a directory of its own.
struct Side<'s> {
    server: &'s dyn Server,
    root: PathBuf,
    client: Client,
    round: usize,
    _place: TempDir,
}

impl<'s> Side<'s> {
    fn new(context: &Context, server: &'s dyn Server) -> Result<Self> {
        let place = context.fresh_dir()?;
        let root = place.path().join("root");
        let mut copy = std::process::Command::new("cp");
        output_of(copy.arg("-a").arg(context.source_tree(FILES)?).arg(&root))?;
        add_editable(&root)?;
        context.settle()?;
        let client = Client::start(&mut server.command(&root, place.path())?)?;
        Ok(Self { server, root, client, round: 0, _place: place })
    }

    /// Makes calls and returns the median of their times, in microseconds, with the texts.
    fn median(&mut self, calls: Vec<Call>) -> Result<(f64, Vec<String>)> {
        let (mut times, mut texts) = (Vec::new(), Vec::new());
        for (tool, arguments) in &calls {
            let (text, took) = self.client.call(tool, arguments)?;
            times.push(took);
            texts.push(text);
        }
        times.sort();
        Ok((microseconds(times[times.len() / 2]), texts))
    }
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// What both sides must agree on after a repetition.
#[derive(PartialEq, Debug)]
enum Agreed {
    Files(digest::Digest),
    Found(usize),
}

type Work = fn(&mut Side<'_>) -> Result<Measured<Agreed>>;

fn measure(context: &Context, peer: &dyn Server, work: Work) -> Result<Outcome> {
    let (mut ours, mut theirs) = (Side::new(context, &Wink)?, Side::new(context, peer)?);
    let command = format!("{:?}", peer.command(Path::new("ROOT"), Path::new("."))?);
    let (our_samples, samples) =
        side_by_side(|| next_round(&mut ours, work), || next_round(&mut theirs, work))?;
    Ok(Outcome {
        peer: Peer::Measured { name: peer.name(), command, samples },
        ours: our_samples,
        unit: "µs",
        place: context.warm(context.scratch())?,
        note: format!("from the request to the answer; {FILES} files are served"),
    })
}

fn next_round(side: &mut Side<'_>, work: Work) -> Result<Measured<Agreed>> {
    side.round += 1;
    work(side)
}

fn read(side: &mut Side<'_>) -> Result<Measured<Agreed>> {
    let calls = (0..CALLS).map(|number| side.server.read(&side.root, &editable(number)));
    let (value, texts) = side.median(calls.collect())?;
    for (number, text) in texts.iter().enumerate() {
        ensure!(text.contains(&format!("the file of number {number}")), "another file: {text}");
    }
    Ok(Measured { value, result: Agreed::Found(texts.len()) })
}

fn write(side: &mut Side<'_>) -> Result<Measured<Agreed>> {
    let content = |number| format!("written in round {} as number {number}\n", side.round);
    let path = |number| format!("written/{}_{number}.txt", side.round);
    let calls = (0..CALLS)
        .map(|number| side.server.write(&side.root, &path(number), &content(number)))
        .collect();
    // The other servers make no directories.
    fs::create_dir_all(side.root.join("written"))?;
    let (value, _) = side.median(calls)?;
    files_after(side, value)
}

fn edit(side: &mut Side<'_>) -> Result<Measured<Agreed>> {
    let (old, new) = (format!("round {}\n", side.round - 1), format!("round {}\n", side.round));
    let calls = (0..CALLS)
        .map(|number| side.server.edit(&side.root, &editable(number), &old, &new))
        .collect();
    let (value, _) = side.median(calls)?;
    files_after(side, value)
}

fn files_after(side: &Side<'_>, value: f64) -> Result<Measured<Agreed>> {
    Ok(Measured { value, result: Agreed::Files(digest::of_disk(&side.root)?) })
}

fn search(side: &mut Side<'_>) -> Result<Measured<Agreed>> {
    let calls = (0..SEARCHES).map(|_| side.server.search(&side.root, "**/editable_1*.txt"));
    let (value, texts) = side.median(calls.collect())?;
    let found = texts.first().map_or(0, |text| text.matches("editable_1").count());
    Ok(Measured { value, result: Agreed::Found(found) })
}

fn editable(number: usize) -> String {
    format!("editable/editable_{number}.txt")
}

/// Adds files of 2 KB whose first lines say which they are and how often they were edited.
fn add_editable(root: &Path) -> Result<()> {
    fs::create_dir(root.join("editable"))?;
    for number in 0..CALLS {
        let rest = "and a line of text as it stands in many files\n".repeat(40);
        let content = format!("the file of number {number}\nround 0\n{rest}");
        fs::write(root.join(editable(number)), content)?;
    }
    Ok(())
}
