//! A prompt before anything is known that it is rendered with.

use std::collections::BTreeSet;

use super::error::PromptError;
use super::key;
use super::prompt::Prompt;
use super::section::Section;
use crate::session::Session;

/// A prompt without values: a name and a tree of sections.
///
/// ```
/// use wink_agent::prompt::{PromptTemplate, Section};
/// use wink_agent::session::Session;
///
/// let template = PromptTemplate::new("agents/coder", "edit-files")?
///     .section(Section::new("Instructions", "instructions", "Edit files as requested.")?)
///     .section(Section::new("Style", "style", "Be brief.")?);
/// let other = template.clone().replace("style", Section::new("Style", "style", "Explain.")?)?;
///
/// let rendered = other.prompt(&Session::new())?.render()?;
/// assert!(rendered.text.ends_with("## 2. Style\n\nExplain.\n"));
/// # Ok::<(), wink_agent::prompt::PromptError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PromptTemplate {
    pub(super) namespace: String,
    pub(super) key: String,
    pub(super) sections: Vec<Section>,
}

impl PromptTemplate {
    /// Names a template that has no sections yet.
    pub fn new(namespace: &str, key: &str) -> Result<Self, PromptError> {
        let namespace = key::checked_namespace(namespace)?;
        let key = key::checked(key)?;
        Ok(Self { namespace, key, sections: Vec::new() })
    }

    /// Adds a section after those that are there.
    #[must_use]
    pub fn section(mut self, section: impl Into<Section>) -> Self {
        self.sections.push(section.into());
        self
    }

    /// Puts a section, with all below it, in the place of the one that has a key.
    pub fn replace(mut self, key: &str, with: impl Into<Section>) -> Result<Self, PromptError> {
        let with = with.into();
        if self.sections.iter_mut().any(|section| section.replace(key, &with)) {
            Ok(self)
        } else {
            Err(PromptError::UnknownSection { key: key.to_owned() })
        }
    }

    /// Makes a prompt for a session, which must be that of its workspace sections.
    pub fn prompt(self, session: &Session) -> Result<Prompt, PromptError> {
        let mut keys = BTreeSet::new();
        for section in self.all() {
            if !keys.insert(section.key()) {
                return Err(PromptError::DuplicateSection { key: section.key().to_owned() });
            }
            if section.files().is_some_and(|files| !files.session().is_same(session)) {
                return Err(PromptError::AnotherSession { section: section.key().to_owned() });
            }
        }
        Ok(Prompt::new(self, session))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().flat_map(Section::all)
    }
}
