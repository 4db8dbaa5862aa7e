//! What kind of file it is, guessed by its first bytes.

/// How many bytes are enough to guess.
pub(super) const ENOUGH: u64 = 16;

/// First bytes, each with what they begin.
const KNOWN: [(&[u8], &str); 19] = [
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"PK\x05\x06", "ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"\x7fELF", "ELF program"),
    (b"MZ", "Windows program"),
    (b"\0asm", "WebAssembly"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"\xca\xfe\xba\xbe", "Java class or Mach-O program"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
];

/// Guesses by the first bytes of a file that is not UTF-8 text.
pub(super) fn guessed(start: &[u8]) -> &'static str {
    if start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP") {
        return "WebP image";
    }
    let known = KNOWN.iter().find(|(first, _)| start.starts_with(first));
    known.map_or("unknown type", |(_, name)| name)
}

/// Returns the media type of a picture that models read.
pub(super) fn image_type(start: &[u8]) -> Option<&'static str> {
    Some(match guessed(start) {
        "PNG image" => "image/png",
        "JPEG image" => "image/jpeg",
        "GIF image" => "image/gif",
        "WebP image" => "image/webp",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::guessed;

    #[test]
    fn the_first_bytes_tell() {
        assert_eq!(guessed(b"\x89PNG\r\n\x1a\n\0\0"), "PNG image");
        assert_eq!(guessed(b"RIFF\0\0\0\0WEBPVP8 "), "WebP image");
        assert_eq!(guessed(b"RIFF\0\0\0\0WAVEfmt "), "unknown type");
        assert_eq!(guessed(b""), "unknown type");
    }
}
