//! One section of a prompt.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;

use super::body::Body;
use super::error::PromptError;
use super::given::Given;
use super::key;
use super::workspace::files::SectionFiles;
use super::workspace::guidance::{self, ToolSource};
use crate::session::caught;
use crate::tool::Tool;
use crate::tool::set::Toolset;

type Predicate = dyn Fn(&Given<'_>) -> bool + Send + Sync;

/// A part of a prompt: text for the model, tools it may call, and the sections below it.
///
/// The text is Markdown. `${name}` in it is the placeholder of a field of the section's parameters, a struct
/// whose value is [bound](super::Prompt::bind) to the prompt. A value stands there as it is, and
/// nothing in it is looked at again; [`inline_code`](super::inline_code) is for names that come from
/// elsewhere. `$${` stands for a `${` that is text.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Serialize;
/// use wink_agent::prompt::{PromptTemplate, Section};
/// use wink_agent::session::Session;
///
/// #[derive(Serialize, JsonSchema)]
/// struct Task {
///     what: String,
///     urgent: bool,
/// }
///
/// let template = PromptTemplate::new("agents/coder", "fix")?
///     .section(Section::of::<Task>("Task", "task", "Fix ${what}.")?)
///     .section(
///         Section::new("Hurry", "hurry", "A user is waiting.")?
///             .enabled(|given| given.get::<Task>().is_some_and(|task| task.urgent)),
///     );
/// let prompt = template.prompt(&Session::new())?;
/// let prompt = prompt.bind(Task { what: "the ${bug}".into(), urgent: false })?;
/// assert_eq!(prompt.render()?.text, "## 1. Task\n\nFix the ${bug}.\n");
/// # Ok::<(), wink_agent::prompt::PromptError>(())
/// ```
#[derive(Clone)]
pub struct Section {
    pub(super) title: String,
    pub(super) key: String,
    content: Content,
    pub(super) tools: Vec<Tool>,
    pub(super) children: Vec<Section>,
    enabled: Option<Arc<Predicate>>,
}

/// What the text of a section is made of.
#[derive(Clone)]
enum Content {
    Text(Body),
    Files(Arc<SectionFiles>, ToolSource),
}

impl Section {
    /// Creates a section whose text has no placeholders.
    pub fn new(title: &str, key: &str, text: &str) -> Result<Self, PromptError> {
        Self::make(title, key, Content::Text(Body::plain(key, text)?))
    }

    /// Creates a section whose text has placeholders for the fields of a struct.
    pub fn of<P: JsonSchema + Any>(
        title: &str,
        key: &str,
        text: &str,
    ) -> Result<Self, PromptError> {
        Self::make(title, key, Content::Text(Body::of::<P>(key, text)?))
    }

    fn make(title: &str, key: &str, content: Content) -> Result<Self, PromptError> {
        let key = key::checked(key)?;
        let title = title.trim().to_owned();
        if title.is_empty() || title.chars().any(char::is_control) {
            return Err(PromptError::InvalidTitle { section: key });
        }
        Ok(Self::bare(title, key, content))
    }

    /// Creates the section of a workspace.
    pub(super) fn over(title: &str, files: Arc<SectionFiles>, tools: ToolSource) -> Self {
        let section =
            Self::bare(title.to_owned(), files.key.to_owned(), Content::Files(files, tools));
        match tools {
            ToolSource::Section => section.tools(Toolset::FILES.tools().cloned()),
            ToolSource::Harness => section,
        }
    }

    fn bare(title: String, key: String, content: Content) -> Self {
        Self { title, key, content, tools: Vec::new(), children: Vec::new(), enabled: None }
    }

    /// Adds tools, which the model may call while the section is enabled.
    ///
    /// A prompt offers them for its own session, and for another one they refuse to be called.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Adds a section below this one, after those that are there.
    #[must_use]
    pub fn child(mut self, child: impl Into<Section>) -> Self {
        self.children.push(child.into());
        self
    }

    /// Sets the predicate that decides whether the section, with all below it, is a part of the prompt.
    #[must_use]
    pub fn enabled(mut self, enabled: impl Fn(&Given<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.enabled = Some(Arc::new(enabled));
        self
    }

    /// Returns the key, which no other section of a prompt has.
    pub fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn is_enabled(&self, given: &Given<'_>) -> Result<bool, PromptError> {
        let Some(enabled) = &self.enabled else { return Ok(true) };
        caught(|| enabled(given)).map_err(|message| PromptError::PredicatePanicked {
            section: self.key.clone(),
            message,
        })
    }

    pub(super) fn text(&self, given: &Given<'_>) -> Result<String, PromptError> {
        match &self.content {
            Content::Text(body) => body.render(&self.key, given.parameters),
            Content::Files(files, tools) => guidance::text(files, *tools)
                .map_err(|error| PromptError::Files { section: self.key.clone(), error }),
        }
    }

    /// Returns the files that the section owns.
    pub(super) fn files(&self) -> Option<&Arc<SectionFiles>> {
        match &self.content {
            Content::Files(files, _) => Some(files),
            Content::Text(_) => None,
        }
    }

    /// Returns the files that are changed by tools of which nothing is known here.
    pub(super) fn native_files(&self) -> Option<&Arc<SectionFiles>> {
        match &self.content {
            Content::Files(files, ToolSource::Harness) => Some(files),
            _ => None,
        }
    }

    /// Returns this section and all below it, in the order they are shown.
    pub(super) fn all(&self) -> Vec<&Section> {
        let below = self.children.iter().flat_map(Section::all);
        std::iter::once(self).chain(below).collect()
    }

    /// Replaces the section that has a key, and returns whether there is one.
    pub(super) fn replace(&mut self, key: &str, with: &Section) -> bool {
        if self.key == key {
            *self = with.clone();
            return true;
        }
        self.children.iter_mut().any(|child| child.replace(key, with))
    }
}

impl fmt::Debug for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Section");
        shown.field("key", &self.key).field("children", &self.children).finish_non_exhaustive()
    }
}
