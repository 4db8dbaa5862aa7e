//! A prompt with all that it is rendered with.

use std::any::Any;

use serde::Serialize;
use wink_fs::Workspace;

use super::error::PromptError;
use super::given::Given;
use super::parameters::Parameters;
use super::render;
use super::rendered::RenderedPrompt;
use super::section::Section;
use super::template::PromptTemplate;
use super::workspace::files::Place;
use crate::session::Session;

/// A template together with a session and the parameters of its sections.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Serialize;
/// use wink_agent::prompt::{PromptError, PromptTemplate, Section};
/// use wink_agent::session::Session;
///
/// #[derive(Serialize, JsonSchema)]
/// struct Task {
///     what: String,
/// }
///
/// let prompt = PromptTemplate::new("agents/coder", "fix")?
///     .section(Section::of::<Task>("Task", "task", "Fix ${what}.")?)
///     .prompt(&Session::new())?;
/// assert!(matches!(prompt.render(), Err(PromptError::MissingParameters { .. })));
///
/// let prompt = prompt.bind(Task { what: "the build".into() })?;
/// assert_eq!(prompt.render()?.text, "## 1. Task\n\nFix the build.\n");
/// # Ok::<(), PromptError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Prompt {
    template: PromptTemplate,
    session: Session,
    parameters: Parameters,
}

impl Prompt {
    pub(super) fn new(template: PromptTemplate, session: &Session) -> Self {
        Self { template, session: session.clone(), parameters: Parameters::default() }
    }

    /// Binds parameters: the value of their type for all sections that need it.
    pub fn bind<P>(mut self, parameters: P) -> Result<Self, PromptError>
    where
        P: Serialize + Any + Send + Sync,
    {
        self.parameters.bind(parameters)?;
        Ok(self)
    }

    /// Returns the session that the prompt is for.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Makes the text for the model, and the tools it may call, of the sections that are enabled.
    pub fn render(&self) -> Result<RenderedPrompt, PromptError> {
        render::render(&self.template, &self.given())
    }

    /// Returns the workspace of the first section that is enabled and has one.
    pub fn filesystem(&self) -> Result<Option<Workspace>, PromptError> {
        let files = render::first_files(&self.template.sections, &self.given())?;
        files.map(|files| files.workspace()).transpose()
    }

    /// Tells the session what changed on the disk in workspaces without tools.
    ///
    /// Where one cannot be looked at, the next look tries again. A workspace in an existing directory is opened
    /// for it, because a program that knows the directory need not ask for the workspace.
    pub(crate) fn look_at_native_files(&self) {
        let shown = render::native_files(&self.template.sections, &self.given());
        for files in shown.iter().filter(|files| files.place == Place::Directory) {
            let _ = files.workspace();
        }
        for files in self.template.all().filter_map(Section::native_files) {
            let _ = files.owned.rescan_what_is_made();
        }
    }

    fn given(&self) -> Given<'_> {
        Given { session: &self.session, parameters: &self.parameters }
    }
}
