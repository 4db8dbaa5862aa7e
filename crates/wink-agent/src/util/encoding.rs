//! How content travels in a call: as text, or as base64.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tool::error::ToolError;

/// The usual alphabet; what models leave out at the end is not asked for.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

#[derive(Clone, Copy, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Encoding {
    #[default]
    Text,
    Base64,
}

/// Makes text of bytes.
pub(crate) fn encoded(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Makes bytes of text in which there may be line breaks.
pub(crate) fn decoded(text: &str) -> Result<Vec<u8>, ToolError> {
    let given: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    BASE64.decode(given).map_err(|why| {
        let why = why.to_string().to_lowercase().trim_end_matches('.').to_owned();
        ToolError::invalid_argument(format!(
            "Nothing was written: `content` is not base64 ({why}); send the bytes in the alphabet \
             A-Z a-z 0-9 + /, or set encoding to text."
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_with_or_without_what_fills_them_up() {
        for len in 0..10_u8 {
            let bytes: Vec<u8> = (250 - len..250).collect();
            let text = encoded(&bytes);
            let broken: String = text.chars().flat_map(|c| [c, '\n']).collect();
            for text in [&text, text.trim_end_matches('='), &broken] {
                assert_eq!(decoded(text).unwrap(), bytes);
            }
        }
    }

    #[test]
    fn what_is_no_base64_is_refused() {
        for text in ["é", "a", "ab-_", "QQ=A", "QR=="] {
            assert!(decoded(text).is_err(), "{text}");
        }
    }
}
