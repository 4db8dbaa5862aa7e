//! The frames between wink and the supervisor.
//!
//! A frame is a byte that says what it is, the length of its payload (32 bits, little-endian) and the payload.
//! One command runs at a time: every [`Request::Run`] is answered by any number of outputs, and at last by
//! [`Reply::Exited`], [`Reply::Signalled`] or [`Reply::NotStarted`].

use std::io::{self, ErrorKind, Read, Write};

/// The version of this protocol, which the supervisor sends first.
pub const VERSION: u32 = 1;

/// The most bytes in a request.
pub const MAX_REQUEST: usize = 64 * 1024 * 1024;

/// The most bytes in a reply.
pub const MAX_REPLY: usize = 64 * 1024;

/// What wink asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Request {
    /// Run a command.
    Run(Run),
    /// End every process of the command that runs.
    End,
    /// End the container.
    Leave,
}

/// A command to run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Run {
    /// The program and its arguments.
    pub argv: Vec<Vec<u8>>,
    /// Environment variables beside those of the image, each `NAME=value`.
    pub env: Vec<Vec<u8>>,
    /// The directory it is run in.
    pub cwd: Vec<u8>,
    /// Its standard input.
    pub stdin: Vec<u8>,
}

/// What the supervisor answers.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Reply {
    /// It is there, and speaks this version.
    Hello(u32),
    /// The command was not started.
    NotStarted(Obstacle),
    /// The command printed this to its standard output.
    Stdout(Vec<u8>),
    /// The command printed this to its standard error.
    Stderr(Vec<u8>),
    /// The command ended with a code, and no process of it is left.
    Exited(i32),
    /// The command was ended by a signal, and no process of it is left.
    Signalled(i32),
}

/// Why a command was not started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Obstacle {
    /// Its directory is not there.
    NoDirectory,
    /// The program is not there.
    NoProgram,
    /// Another command is running.
    Busy,
    /// The system refused, with this error number.
    System(i32),
}

impl Request {
    /// Writes the request as one frame.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Run(run) => write_frame(to, b'R', &run.encode()),
            Self::End => write_frame(to, b'E', &[]),
            Self::Leave => write_frame(to, b'L', &[]),
        }
    }

    /// Reads a request; nothing at the end of the stream.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let Some((kind, payload)) = read_frame(from, MAX_REQUEST)? else { return Ok(None) };
        match (kind, payload.is_empty()) {
            (b'R', _) => Run::decode(&payload).map(|run| Some(Self::Run(run))),
            (b'E', true) => Ok(Some(Self::End)),
            (b'L', true) => Ok(Some(Self::Leave)),
            _ => Err(malformed()),
        }
    }
}

impl Reply {
    /// Writes the reply as one frame.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Hello(version) => write_frame(to, b'H', &version.to_le_bytes()),
            Self::NotStarted(obstacle) => write_frame(to, b'N', &obstacle.encode()),
            Self::Stdout(bytes) => write_frame(to, b'o', bytes),
            Self::Stderr(bytes) => write_frame(to, b'e', bytes),
            Self::Exited(code) => write_frame(to, b'x', &code.to_le_bytes()),
            Self::Signalled(signal) => write_frame(to, b's', &signal.to_le_bytes()),
        }
    }

    /// Reads a reply; nothing at the end of the stream.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let Some((kind, payload)) = read_frame(from, MAX_REPLY)? else { return Ok(None) };
        Ok(Some(match kind {
            b'H' => Self::Hello(u32::from_le_bytes(fixed(&payload)?)),
            b'N' => Self::NotStarted(Obstacle::decode(&payload)?),
            b'o' => Self::Stdout(payload),
            b'e' => Self::Stderr(payload),
            b'x' => Self::Exited(i32::from_le_bytes(fixed(&payload)?)),
            b's' => Self::Signalled(i32::from_le_bytes(fixed(&payload)?)),
            _ => return Err(malformed()),
        }))
    }
}

impl Obstacle {
    fn encode(self) -> [u8; 5] {
        let (kind, number) = match self {
            Self::NoDirectory => (0, 0),
            Self::NoProgram => (1, 0),
            Self::Busy => (2, 0),
            Self::System(number) => (3, number),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [kind, a, b, c, d]
    }

    fn decode(payload: &[u8]) -> io::Result<Self> {
        let [kind, number @ ..]: [u8; 5] = fixed(payload)?;
        match kind {
            0 => Ok(Self::NoDirectory),
            1 => Ok(Self::NoProgram),
            2 => Ok(Self::Busy),
            3 => Ok(Self::System(i32::from_le_bytes(number))),
            _ => Err(malformed()),
        }
    }
}

impl Run {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for list in [&self.argv, &self.env] {
            bytes.extend((list.len() as u32).to_le_bytes());
            list.iter().for_each(|part| put(&mut bytes, part));
        }
        put(&mut bytes, &self.cwd);
        put(&mut bytes, &self.stdin);
        bytes
    }

    fn decode(mut bytes: &[u8]) -> io::Result<Self> {
        let from = &mut bytes;
        let argv = take_list(from)?;
        let env = take_list(from)?;
        let cwd = take(from)?;
        let stdin = take(from)?;
        if from.is_empty() && !argv.is_empty() {
            Ok(Self { argv, env, cwd, stdin })
        } else {
            Err(malformed())
        }
    }
}

fn put(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend((part.len() as u32).to_le_bytes());
    bytes.extend(part);
}

fn take_list(from: &mut &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let count = take_length(from)?;
    // Each part has a length of its own, so a list cannot have more parts than this.
    if count > from.len() / 4 {
        return Err(malformed());
    }
    (0..count).map(|_| take(from)).collect()
}

fn take(from: &mut &[u8]) -> io::Result<Vec<u8>> {
    let length = take_length(from)?;
    let (part, rest) = from.split_at_checked(length).ok_or_else(malformed)?;
    *from = rest;
    Ok(part.to_vec())
}

fn take_length(from: &mut &[u8]) -> io::Result<usize> {
    let (length, rest) = from.split_first_chunk().ok_or_else(malformed)?;
    *from = rest;
    Ok(u32::from_le_bytes(*length) as usize)
}

fn write_frame(to: &mut impl Write, kind: u8, payload: &[u8]) -> io::Result<()> {
    let length = u32::try_from(payload.len()).map_err(|_| malformed())?;
    let mut frame = Vec::with_capacity(payload.len() + 5);
    frame.push(kind);
    frame.extend(length.to_le_bytes());
    frame.extend(payload);
    // In one piece: frames of several threads must not mix, and a small one is a single system call.
    to.write_all(&frame)
}

fn read_frame(from: &mut impl Read, most: usize) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut kind = [0];
    loop {
        match from.read(&mut kind) {
            Ok(0) => return Ok(None),
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > most {
        return Err(malformed());
    }
    let mut payload = vec![0; length];
    from.read_exact(&mut payload)?;
    Ok(Some((kind[0], payload)))
}

fn fixed<const N: usize>(payload: &[u8]) -> io::Result<[u8; N]> {
    payload.try_into().map_err(|_| malformed())
}

fn malformed() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "a frame that cannot be parsed")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replies() -> Vec<Reply> {
        let outputs = [Reply::Stdout(b"out".to_vec()), Reply::Stderr(Vec::new())];
        let ends = [Reply::Hello(VERSION), Reply::Exited(-1), Reply::Signalled(9)];
        let obstacles =
            [Obstacle::NoDirectory, Obstacle::NoProgram, Obstacle::Busy, Obstacle::System(11)];
        outputs.into_iter().chain(ends).chain(obstacles.map(Reply::NotStarted)).collect()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let run = Run {
            argv: vec![b"sh".to_vec(), b"-c".to_vec(), vec![0xff, b'\n']],
            env: vec![b"A=b".to_vec()],
            cwd: b"/workspace".to_vec(),
            stdin: vec![7; 100_000],
        };
        for request in [Request::Run(run), Request::End, Request::Leave] {
            let mut bytes = Vec::new();
            request.write(&mut bytes).unwrap();
            assert_eq!(Request::read(&mut &bytes[..]).unwrap(), Some(request));
        }
        for reply in replies() {
            let mut bytes = Vec::new();
            reply.write(&mut bytes).unwrap();
            assert_eq!(Reply::read(&mut &bytes[..]).unwrap(), Some(reply));
        }
        assert_eq!(Reply::read(&mut &[][..]).unwrap(), None);
    }

    #[test]
    fn a_frame_that_is_cut_or_says_something_else_is_an_error() {
        for reply in replies() {
            let mut bytes = Vec::new();
            reply.write(&mut bytes).unwrap();
            for length in 1..bytes.len() {
                assert!(Reply::read(&mut &bytes[..length]).is_err(), "{reply:?} cut at {length}");
            }
        }
        let too_long = [&b"o"[..], &u32::MAX.to_le_bytes()].concat();
        let unknown = [&b"?"[..], &[0; 4]].concat();
        let no_number = [&b"x"[..], &3_u32.to_le_bytes(), b"abc"].concat();
        let no_obstacle = [&b"N"[..], &5_u32.to_le_bytes(), &[9, 0, 0, 0, 0]].concat();
        for bytes in [too_long, unknown, no_number, no_obstacle] {
            assert!(Reply::read(&mut &bytes[..]).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn lengths_inside_of_a_request_are_not_believed() {
        let count = u32::MAX.to_le_bytes();
        let payload = [&count[..], &[0; 12]].concat();
        let frame = [&b"R"[..], &(payload.len() as u32).to_le_bytes(), &payload].concat();
        assert!(Request::read(&mut &frame[..]).is_err());
        let nothing = [0; 16];
        let frame = [&b"R"[..], &16_u32.to_le_bytes(), &nothing].concat();
        assert!(Request::read(&mut &frame[..]).is_err(), "no program");
    }
}
