//! Text that looks like source code from some way off.

use crate::rng::Rng;

/// The words that names and contents are made of.
pub(crate) const WORDS: [&str; 64] = [
    "account", "adapter", "buffer", "builder", "cache", "channel", "client", "codec", "config",
    "context", "cursor", "decoder", "device", "driver", "encoder", "engine", "entry", "error",
    "event", "export", "filter", "format", "frame", "handler", "header", "helper", "image",
    "index", "input", "iterator", "journal", "kernel", "layer", "layout", "lexer", "limit", "link",
    "loader", "manager", "matrix", "memory", "message", "module", "network", "object", "output",
    "packet", "parser", "queue", "record", "render", "request", "router", "scanner", "schema",
    "server", "session", "socket", "state", "stream", "table", "token", "value", "worker",
];

const JOINTS: [&str; 10] = [" ", " ", " ", "_", "_", ".", "(", ") ", " = ", ", "];

/// Appends exactly `len` bytes of ASCII text in lines; the last byte is a newline.
pub(crate) fn append(rng: &mut Rng, out: &mut Vec<u8>, len: usize) {
    let end = out.len() + len;
    while out.len() < end {
        append_line(rng, out);
    }
    out.truncate(end);
    if len > 0 {
        out[end - 1] = b'\n';
    }
}

fn append_line(rng: &mut Rng, out: &mut Vec<u8>) {
    if !rng.one_in(8) {
        let indent = 4 * rng.below(4);
        out.resize(out.len() + indent, b' ');
        for _ in 0..2 + rng.below(8) {
            out.extend_from_slice(rng.pick(&WORDS).as_bytes());
            out.extend_from_slice(rng.pick(&JOINTS).as_bytes());
        }
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_the_exact_length_and_ends_a_line() {
        for len in [0, 1, 2, 100, 10_000] {
            let mut out = b"before".to_vec();
            append(&mut Rng::new(7, 0), &mut out, len);
            assert_eq!(out.len(), 6 + len);
            assert!(len == 0 || out.ends_with(b"\n"));
        }
    }
}
