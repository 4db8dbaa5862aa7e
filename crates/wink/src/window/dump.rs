//! Reads the dump of a session as far as it can be read, and says where it cannot.
//!
//! The library's reader refuses a damaged dump, because it makes a session that goes on. A window shows what is there.
//! Only places are kept of items, so that a dump of gigabytes fits into memory.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserializer, Serialize};
use serde_json::value::RawValue;
use wink_agent::session::{Slice as _, ToolInvoked};

use crate::sys::disk;
use crate::window::calls::CallSummary;

/// The longest line that is read.
const MOST_LINE: u64 = 256 * 1024 * 1024;

/// How many problems are named.
const MOST_NOTES: usize = 50;

/// What was found in a dump.
#[derive(Debug, Default)]
pub(crate) struct Dump {
    file: PathBuf,
    pub(crate) sessions: Vec<DumpSession>,
    /// The calls of all sessions, by the time at which they began.
    pub(crate) calls: Vec<CallSummary>,
    /// Where the record of each call is; the first number of a call's id is its index here.
    places: Vec<Place>,
    /// What could not be read.
    pub(crate) notes: Vec<String>,
}

/// One line of a dump.
#[derive(Debug, Default)]
pub(crate) struct DumpSession {
    /// Its number, from 1.
    pub(crate) line: u64,
    place: Place,
    pub(crate) id: String,
    pub(crate) parent: Option<String>,
    pub(crate) created_at: String,
    pub(crate) tags: BTreeMap<String, String>,
    pub(crate) slices: Vec<DumpSlice>,
}

/// The items of one slice.
#[derive(Debug, Default)]
pub(crate) struct DumpSlice {
    pub(crate) name: String,
    /// `state` or `log`.
    pub(crate) kind: String,
    items: Vec<Place>,
}

/// Where something is in the file.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    offset: u64,
    len: u64,
}

/// A page of the items of a slice, as they are in the file.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ItemsPage {
    /// How many items the slice has.
    pub(crate) total: u64,
    /// The number of the first item, from 0.
    pub(crate) offset: u64,
    /// Each item as JSON text, at most 64 KiB of it.
    pub(crate) items: Vec<String>,
}

/// The beginning of an item that is shown.
const MOST_ITEM: u64 = 64 * 1024;

impl Dump {
    /// Reads a dump; fails only if the file itself cannot be read.
    pub(crate) fn read(file: &Path) -> io::Result<Self> {
        let mut dump = Self { file: file.to_owned(), ..Self::default() };
        let mut from = BufReader::with_capacity(1 << 20, disk::open(file)?);
        let mut offset = 0;
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let read = from.by_ref().take(MOST_LINE + 1).read_until(b'\n', &mut line)? as u64;
            if read == 0 {
                break;
            }
            if read > MOST_LINE && line.last() != Some(&b'\n') {
                dump.note(number, "it is longer than 256 MiB and was skipped");
                offset += read + from.skip_until(b'\n')? as u64;
                continue;
            }
            let is_whole = line.last() == Some(&b'\n');
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            dump.add(number, offset, text, is_whole);
            offset += read;
        }
        dump.order();
        Ok(dump)
    }

    /// Adds what a line has; it may have less than it should.
    fn add(&mut self, number: u64, offset: u64, line: &[u8], is_whole: bool) {
        let (text, is_text) = match std::str::from_utf8(line) {
            Ok(text) => (text, true),
            Err(error) => {
                // What comes before the damage is text.
                (std::str::from_utf8(&line[..error.valid_up_to()]).unwrap_or_default(), false)
            }
        };
        let mut found = Found { line: text, ..Found::default() };
        let mut json = serde_json::Deserializer::from_str(text);
        let read = (&mut found).deserialize(&mut json).and_then(|()| json.end());
        let Found { mut session, format, version, calls, .. } = found;
        session.line = number;
        session.place = Place { offset, len: line.len() as u64 };
        let slices = session.slices.iter_mut();
        slices.flat_map(|slice| &mut slice.items).for_each(|item| item.offset += offset);
        match (read, format.as_deref(), version) {
            (Err(_), None, _) => self.note(number, "it is not a line of a session dump"),
            (Ok(()), None, _) => self.note(number, "it does not say that it is a session"),
            (_, Some(format), _) if format != "wink session" => {
                self.note(number, &format!("it is a `{}`, not a session", plain(format)));
                return;
            }
            (_, _, Some(version)) if version != 1 => {
                self.note(number, &format!("it has version {version}; this wink reads version 1"));
                return;
            }
            (Err(error), ..) => {
                let why = if !is_text {
                    "it is not UTF-8 from some point on".to_owned()
                } else if error.is_eof() && !is_whole {
                    format!("the file ends within it, after {} bytes", line.len())
                } else {
                    format!("it is not JSON from byte {} on", error.column())
                };
                self.note(number, &format!("{why}; what comes before is shown"));
            }
            (Ok(()), ..) => {}
        }
        if session.id.is_empty() && session.slices.is_empty() {
            return;
        }
        for (place, item) in calls {
            let place = Place { offset: place.offset + offset, ..place };
            match serde_json::from_str::<ToolInvoked>(item) {
                Ok(call) => {
                    self.calls.push(CallSummary::of_dump(self.places.len(), &call, &session.id));
                    self.places.push(place);
                }
                Err(_) => self.note(number, "a record of a tool call in it cannot be read"),
            }
        }
        self.sessions.push(session);
    }

    fn note(&mut self, line: u64, what: &str) {
        match self.notes.len() {
            MOST_NOTES => self.notes.push("More lines cannot be read.".to_owned()),
            ..MOST_NOTES => self.notes.push(format!("Line {line}: {what}.")),
            _ => {}
        }
    }

    fn order(&mut self) {
        self.calls.sort_by_key(|call| call.at);
    }

    /// Returns the record of a call by its id.
    pub(crate) fn call(&self, id: &str) -> Option<ToolInvoked> {
        let place = self.places.get(id.parse::<usize>().ok()?)?;
        let bytes = self.bytes(*place, u64::MAX).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Returns the items of a slice.
    pub(crate) fn items(
        &self,
        session: usize,
        slice: &str,
        offset: usize,
        limit: usize,
    ) -> Option<io::Result<ItemsPage>> {
        let slice = self.sessions.get(session)?.slices.iter().find(|it| it.name == slice)?;
        let shown = slice.items.iter().skip(offset).take(limit);
        let read = |place: &Place| {
            let bytes = self.bytes(*place, MOST_ITEM)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        Some(shown.map(read).collect::<io::Result<Vec<_>>>().map(|items| ItemsPage {
            total: slice.items.len() as u64,
            offset: offset as u64,
            items,
        }))
    }

    /// Returns a part of the raw line of a session.
    pub(crate) fn raw(&self, session: usize, from: u64, most: u64) -> Option<io::Result<Vec<u8>>> {
        let place = self.sessions.get(session)?.place;
        let from = from.min(place.len);
        let part = Place { offset: place.offset + from, len: place.len - from };
        Some(self.bytes(part, most))
    }

    fn bytes(&self, place: Place, most: u64) -> io::Result<Vec<u8>> {
        disk::read_range(&self.file, place.offset, place.len.min(most))
    }
}

impl DumpSession {
    /// Returns the length of its line.
    pub(crate) fn bytes(&self) -> u64 {
        self.place.len
    }
}

impl DumpSlice {
    pub(crate) fn count(&self) -> u64 {
        self.items.len() as u64
    }
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}

/// What was found in a line before it ended, or was damaged.
#[derive(Default)]
struct Found<'l> {
    line: &'l str,
    session: DumpSession,
    format: Option<String>,
    version: Option<u64>,
    calls: Vec<(Place, &'l str)>,
}

impl Found<'_> {
    fn place(&self, item: &str) -> Place {
        // The item borrows from the line.
        let offset = item.as_ptr().addr() - self.line.as_ptr().addr();
        Place { offset: offset as u64, len: item.len() as u64 }
    }
}

impl<'l> DeserializeSeed<'l> for &mut Found<'l> {
    type Value = ();

    fn deserialize<D: Deserializer<'l>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'l> Visitor<'l> for &mut Found<'l> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a session")
    }

    fn visit_map<M: MapAccess<'l>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            match &*key {
                "format" => self.format = map.next_value()?,
                "version" => self.version = map.next_value()?,
                "session_id" => self.session.id = map.next_value()?,
                "parent" => self.session.parent = map.next_value()?,
                "created_at" => self.session.created_at = map.next_value()?,
                "tags" => self.session.tags = map.next_value()?,
                "slices" => map.next_value_seed(Slices(self))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The slices of a line.
struct Slices<'f, 'l>(&'f mut Found<'l>);

impl<'l> DeserializeSeed<'l> for Slices<'_, 'l> {
    type Value = ();

    fn deserialize<D: Deserializer<'l>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'l> Visitor<'l> for Slices<'_, 'l> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("slices")
    }

    fn visit_seq<S: SeqAccess<'l>>(self, mut seq: S) -> Result<(), S::Error> {
        while seq.next_element_seed(OneSlice(self.0))?.is_some() {}
        Ok(())
    }
}

struct OneSlice<'f, 'l>(&'f mut Found<'l>);

impl<'l> DeserializeSeed<'l> for OneSlice<'_, 'l> {
    type Value = ();

    fn deserialize<D: Deserializer<'l>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'l> Visitor<'l> for OneSlice<'_, 'l> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a slice")
    }

    fn visit_map<M: MapAccess<'l>>(self, mut map: M) -> Result<(), M::Error> {
        let at = self.0.session.slices.len();
        self.0.session.slices.push(DumpSlice::default());
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            match &*key {
                "name" => self.0.session.slices[at].name = map.next_value()?,
                "kind" => self.0.session.slices[at].kind = map.next_value()?,
                "items" => map.next_value_seed(SliceItems(self.0, at))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The items of a slice; the number is its index.
struct SliceItems<'f, 'l>(&'f mut Found<'l>, usize);

impl<'l> DeserializeSeed<'l> for SliceItems<'_, 'l> {
    type Value = ();

    fn deserialize<D: Deserializer<'l>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'l> Visitor<'l> for SliceItems<'_, 'l> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("items")
    }

    fn visit_seq<S: SeqAccess<'l>>(self, mut seq: S) -> Result<(), S::Error> {
        let Self(found, at) = self;
        while let Some(item) = seq.next_element::<&'l RawValue>()? {
            let place = found.place(item.get());
            found.session.slices[at].items.push(place);
            if found.session.slices[at].name == ToolInvoked::NAME {
                found.calls.push((place, item.get()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "writes dumps to read")]
mod tests {
    use super::*;

    fn line(id: &str, calls: usize) -> String {
        let call = |number: usize| {
            format!(
                r#"{{"call_id":"{number}","turn":1,"at":"2026-11-16T05:40:{:02}Z","tool":"ls","parameters":{{"text":"{{}}","full_bytes":2}},"result":{{"text":"","full_bytes":0}},"path":null,"mode":null,"duration_us":5,"success":true,"snapshot_before":null,"snapshot_after":null}}"#,
                59 - number
            )
        };
        let calls: Vec<_> = (0..calls).map(call).collect();
        format!(
            r#"{{"format":"wink session","version":1,"session_id":"{id}","parent":null,"created_at":"2026-11-16T05:40:19Z","tags":{{"a":"b"}},"slices":[{{"name":"fact","kind":"state","items":[1,{{"x":2}}]}},{{"name":"tool_invoked","kind":"log","items":[{}]}}]}}"#,
            calls.join(",")
        )
    }

    /// Reads a dump; the file is there as long as the second value.
    fn read(bytes: &[u8]) -> (Dump, tempfile::NamedTempFile) {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), bytes).expect("written");
        (Dump::read(file.path()).expect("read"), file)
    }

    #[test]
    fn a_whole_dump_is_read_with_its_items_and_calls_in_the_order_of_time() {
        let (dump, _file) = read(format!("{}\n{}\n", line("one", 2), line("two", 1)).as_bytes());
        assert_eq!(dump.notes, Vec::<String>::new());
        assert_eq!(dump.sessions.len(), 2);
        assert_eq!(dump.sessions[1].tags["a"], "b");
        let ids: Vec<_> = dump.calls.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids, ["1", "0", "2"]);
        assert_eq!(dump.call("1").expect("a record").call_id, "1");
        let page = dump.items(1, "fact", 1, 10).expect("a slice").expect("readable");
        assert_eq!((page.total, page.items), (2, vec![r#"{"x":2}"#.to_owned()]));
        let raw = dump.raw(1, 0, 25).expect("a line").expect("readable");
        assert_eq!(raw, br#"{"format":"wink session","#);
    }

    #[test]
    fn of_a_truncated_dump_everything_before_the_end_is_shown_and_the_line_is_named() {
        let whole = line("one", 3);
        let (dump, _file) = read(&whole.as_bytes()[..whole.len() - 20]);
        assert_eq!(dump.calls.len(), 2);
        assert_eq!(dump.sessions[0].id, "one");
        let why = format!(
            "Line 1: the file ends within it, after {} bytes; what comes before is shown.",
            whole.len() - 20
        );
        assert_eq!(dump.notes, [why]);
    }

    #[test]
    fn a_dump_that_ends_anywhere_is_read_without_a_panic() {
        let whole = line("one", 2) + "\n";
        // A number that divides nothing in it, so that it ends in every part.
        for end in (0..whole.len()).step_by(7) {
            let (dump, _file) = read(&whole.as_bytes()[..end]);
            assert_eq!(dump.notes.is_empty(), end == 0, "{end}");
        }
    }

    #[test]
    fn malformed_lines_are_named_and_the_others_shown() {
        let other = line("x", 0).replace("wink session", "other\\u0007");
        let newer = line("x", 0).replace("\"version\":1", "\"version\":7");
        let lines = [line("one", 1), "{".into(), "[1]".into(), other, newer, line("two", 1)];
        let mut bytes = lines.join("\n").into_bytes();
        bytes.extend(b"\n\xff\xfe\n");
        let (dump, _file) = read(&bytes);
        assert_eq!(dump.sessions.iter().map(|it| it.line).collect::<Vec<_>>(), [1, 6]);
        assert_eq!(
            dump.notes,
            [
                "Line 2: it is not a line of a session dump.",
                "Line 3: it is not a line of a session dump.",
                "Line 4: it is a `other`, not a session.",
                "Line 5: it has version 7; this wink reads version 1.",
                "Line 7: it is not a line of a session dump.",
            ]
        );
    }

    /// The file has a hole, so that it takes no space.
    #[test]
    fn a_line_of_two_gigabytes_is_skipped_and_named_and_the_others_are_shown() {
        let (_, file) = read(b"");
        file.as_file().set_len(2 << 30).expect("a hole");
        let mut all = std::fs::File::options().append(true).open(file.path()).expect("a file");
        std::io::Write::write_all(&mut all, format!("\n{}\n", line("one", 1)).as_bytes())
            .expect("written");
        let dump = Dump::read(file.path()).expect("read");
        assert_eq!(dump.notes, ["Line 1: it is longer than 256 MiB and was skipped."]);
        assert_eq!((dump.sessions[0].line, dump.calls.len()), (2, 1));
        assert_eq!(dump.call("0").expect("a record").call_id, "0");
    }

    #[test]
    fn a_record_of_a_call_that_cannot_be_read_is_named() {
        let (dump, _file) =
            read(line("one", 2).replacen("\"turn\":1", "\"turn\":[]", 1).as_bytes());
        assert_eq!(dump.calls.len(), 1);
        assert_eq!(dump.notes, ["Line 1: a record of a tool call in it cannot be read."]);
    }
}
