//! The journal: the list of renames, written before the first of them. See `docs/journal-format.md`.

use super::step::{Move, Step};
use crate::host::capture::stamp::{Reader, Stamp};
use crate::host::identity::Identity;
use crate::host::preimage::fingerprint::Fingerprint;
use crate::oplog::ContentId;
use crate::path::TreePath;

const MAGIC: &[u8; 7] = b"WINKJNL";
const VERSION: u8 = 7;

/// The steps to do in one root.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::host) struct Journal {
    /// The root's directory.
    pub(super) root: Identity,
    pub(super) steps: Vec<Step>,
}

impl Journal {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        self.root.encode(&mut body);
        self.steps.iter().for_each(|step| encode_step(&mut body, step));
        [&MAGIC[..], &[VERSION], blake3::hash(&body).as_bytes(), &body].concat()
    }

    /// Decodes a journal; `None` if it is damaged or of an unknown version.
    pub(in crate::host) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        (reader.take(MAGIC.len())? == MAGIC).then_some(())?;
        let version = reader.byte()?;
        let checksum: [u8; 32] = reader.array()?;
        (blake3::hash(reader.0) == checksum).then_some(())?;
        let root = match version {
            1 => Identity::decode_without_birth(&mut reader)?,
            2..=VERSION => Identity::decode(&mut reader)?,
            _ => return None,
        };
        let mut steps = Vec::new();
        while !reader.0.is_empty() {
            steps.push(decode_step(&mut reader, version)?);
        }
        Some(Self { root, steps })
    }
}

fn encode_step(into: &mut Vec<u8>, step: &Step) {
    into.push(match step.what {
        Move::Out => b'o',
        Move::In => b'i',
        Move::Exchange => b'x',
        Move::Mode => b'm',
        Move::Keep => b'k',
        Move::Return => b'r',
        Move::Purge => b'p',
    });
    for text in [step.path.as_bytes(), step.name.as_bytes()] {
        encode_text(into, text);
    }
    for stamp in [&step.at_path, &step.in_staging] {
        into.push(u8::from(stamp.is_some()));
        stamp.iter().for_each(|stamp| stamp.encode(into));
    }
    into.push(u8::from(step.inside.is_some()));
    step.inside.iter().for_each(|inside| inside.encode(into));
    into.push(u8::from(step.content.is_some()));
    step.content.iter().for_each(|content| encode_text(into, content.to_string().as_bytes()));
}

fn encode_text(into: &mut Vec<u8>, text: &[u8]) {
    // A path has at most 4,096 bytes.
    into.extend_from_slice(&(text.len() as u16).to_le_bytes());
    into.extend_from_slice(text);
}

fn decode_step(reader: &mut Reader<'_>, version: u8) -> Option<Step> {
    let what = match reader.byte()? {
        b'o' => Move::Out,
        b'i' => Move::In,
        b'x' => Move::Exchange,
        b'm' => Move::Mode,
        b'k' => Move::Keep,
        b'r' => Move::Return,
        b'p' => Move::Purge,
        _ => return None,
    };
    let path = TreePath::from_disk(text(reader)?).ok()?;
    let name = String::from_utf8(text(reader)?.to_vec()).ok()?;
    let at_path = reader.optional(Stamp::decode)?;
    let in_staging = reader.optional(Stamp::decode)?;
    let inside = if version < 3 { None } else { reader.optional(Fingerprint::decode)? };
    let content = if version < 6 { None } else { reader.optional(content)? };
    Some(Step { what, path, name, at_path, in_staging, inside, content })
}

fn content(reader: &mut Reader<'_>) -> Option<ContentId> {
    Some(ContentId::parse(std::str::from_utf8(text(reader)?).ok()?))
}

fn text<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let len = u16::from_le_bytes(reader.array()?);
    reader.take(len.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::ContentHash;
    use crate::host::capture::stamp::tests::stamp;

    /// A journal as version 1 wrote it; it can be read for ever.
    const FIRST: &[u8] = include_bytes!("../../../tests/golden/journal-v1");

    /// One as version 2 wrote it.
    const SECOND: &[u8] = include_bytes!("../../../tests/golden/journal-v2");

    /// One as version 3 wrote it.
    const THIRD: &[u8] = include_bytes!("../../../tests/golden/journal-v3");

    /// One as version 4 wrote it.
    const FOURTH: &[u8] = include_bytes!("../../../tests/golden/journal-v4");

    /// One as version 5 wrote it.
    const FIFTH: &[u8] = include_bytes!("../../../tests/golden/journal-v5");

    /// One as version 6 wrote it.
    const SIXTH: &[u8] = include_bytes!("../../../tests/golden/journal-v6");

    /// One as version 7 writes it.
    const GOLDEN: &[u8] = include_bytes!("../../../tests/golden/journal-v7");

    /// What the golden files say; what was in a directory is not known before version 3.
    fn sample(version: u8) -> Journal {
        let step = |what, path: &[u8], at_path, in_staging| {
            let path = TreePath::from_disk(path).unwrap();
            let name = "17".into();
            let inside = None;
            let content = None;
            Step { what, path, name, at_path, in_staging, inside, content }
        };
        let mut steps = vec![
            step(Move::Out, b"gone", Some(stamp(1)), None),
            step(Move::In, b"new/caf\xe9\n", None, Some(stamp(2))),
            step(Move::Exchange, b"changed", Some(stamp(3)), Some(stamp(4))),
        ];
        if let (3.., Some(gone)) = (version, steps.first_mut()) {
            gone.inside = Fingerprint::decode(&mut Reader(&[7; 32]));
        }
        if version >= 4 {
            steps.push(step(Move::Keep, b"open", Some(stamp(6)), None));
            steps.push(step(Move::Return, b"deleted", None, None));
        }
        if version >= 5 {
            steps.push(step(Move::Purge, b"emptied", Some(stamp(8)), None));
        }
        if version >= 6 {
            let content = Some(ContentId::parse(&format!("file 0 {}", ContentHash::of(b"mapped"))));
            steps.push(Step { content, ..step(Move::Keep, b"mapped", Some(stamp(9)), None) });
        }
        if version >= 7 {
            let private = stamp(10).with_bits(0o700);
            steps.push(step(Move::Mode, b"private", Some(stamp(10)), Some(private)));
        }
        let birth = Some(stamp(5).modified());
        Journal { root: Identity { device: 2049, inode: 12, birth }, steps }
    }

    #[test]
    fn version_7_is_read_and_written_byte_for_byte() {
        assert_eq!(Journal::decode(GOLDEN), Some(sample(7)));
        assert_eq!(sample(7).encode(), GOLDEN);
    }

    #[test]
    fn version_6_is_read_and_changes_no_mode() {
        assert_eq!(Journal::decode(SIXTH), Some(sample(6)));
    }

    #[test]
    fn version_5_is_read_and_does_not_know_contents() {
        assert_eq!(Journal::decode(FIFTH), Some(sample(5)));
    }

    #[test]
    fn version_4_is_read_and_removes_no_directory() {
        assert_eq!(Journal::decode(FOURTH), Some(sample(4)));
    }

    #[test]
    fn version_3_is_read_and_keeps_nothing_for_programs() {
        assert_eq!(Journal::decode(THIRD), Some(sample(3)));
    }

    #[test]
    fn version_2_is_read_and_does_not_know_what_was_in_a_directory() {
        assert_eq!(Journal::decode(SECOND), Some(sample(2)));
    }

    #[test]
    fn version_1_is_read_and_knows_no_birth() {
        let sample = sample(1);
        let root = Identity { birth: None, ..sample.root };
        assert_eq!(Journal::decode(FIRST), Some(Journal { root, ..sample }));
    }

    #[test]
    fn fault_19_a_journal_that_is_damaged_is_none() {
        for at in 0..GOLDEN.len() {
            let mut damaged = GOLDEN.to_vec();
            damaged[at] ^= 1 << (at % 8);
            assert_eq!(Journal::decode(&damaged), None, "bit of byte {at}");
            assert_eq!(Journal::decode(&GOLDEN[..at]), None, "cut at {at}");
        }
    }

    #[test]
    fn fault_34_a_journal_of_another_version_is_none() {
        let mut later = GOLDEN.to_vec();
        later[MAGIC.len()] = VERSION + 1;
        assert_eq!(Journal::decode(&later), None);
    }
}
