//! The text of a section, and the parameters it is rendered with.

use std::any::Any;

use schemars::JsonSchema;

use super::error::PromptError;
use super::parameters::{Needed, Parameters, names, value_text};
use super::placeholders::{Piece, parse};
use crate::tool::suggest::nearest;

/// Markdown with places for the fields of a struct.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pieces: Vec<Piece>,
    needed: Option<Needed>,
}

impl Body {
    /// Makes a text without places.
    pub(super) fn plain(section: &str, text: &str) -> Result<Self, PromptError> {
        Self::make(section, text, &[], None)
    }

    /// Makes a text whose places are fields of a struct.
    pub(super) fn of<P: JsonSchema + Any>(section: &str, text: &str) -> Result<Self, PromptError> {
        Self::make(section, text, &names::<P>(), Some(Needed::of::<P>()))
    }

    fn make(
        section: &str,
        text: &str,
        names: &[String],
        needed: Option<Needed>,
    ) -> Result<Self, PromptError> {
        let text = text.trim_start_matches(['\r', '\n']).trim_end();
        let section = section.to_owned();
        let pieces = match parse(text) {
            Ok(pieces) => pieces,
            Err(text) => return Err(PromptError::MalformedPlaceholder { section, text }),
        };
        let unknown = places(&pieces).find(|name| !names.iter().any(|known| known == name));
        if let Some(placeholder) = unknown {
            let nearest = nearest(placeholder, names.iter().map(String::as_str));
            let placeholder = placeholder.to_owned();
            let nearest = nearest.map(str::to_owned);
            return Err(PromptError::UnknownPlaceholder { section, placeholder, nearest });
        }
        let needed = needed.filter(|_| places(&pieces).next().is_some());
        Ok(Self { pieces, needed })
    }

    /// Puts the values in their places. Nothing in a value is looked at again.
    pub(super) fn render(
        &self,
        section: &str,
        parameters: &Parameters,
    ) -> Result<String, PromptError> {
        let missing = |needed: &Needed| PromptError::MissingParameters {
            section: section.to_owned(),
            parameters: needed.name,
        };
        let fields = self
            .needed
            .as_ref()
            .map(|needed| parameters.fields(needed).ok_or_else(|| missing(needed)));
        let fields = fields.transpose()?;
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Placeholder(name) => {
                    let value = fields.and_then(|fields| value_text(fields.get(name)?));
                    text.push_str(&value.ok_or_else(|| no_value(section, name))?);
                }
            }
        }
        Ok(text)
    }
}

fn places(pieces: &[Piece]) -> impl Iterator<Item = &str> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Placeholder(name) => Some(name.as_str()),
        Piece::Text(_) => None,
    })
}

fn no_value(section: &str, placeholder: &str) -> PromptError {
    let section = section.to_owned();
    let placeholder = placeholder.to_owned();
    PromptError::MissingValue { section, placeholder }
}
