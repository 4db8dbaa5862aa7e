//! What a model is given.

use std::sync::Arc;

use super::error::PromptError;
use super::workspace::files::SectionFiles;
use crate::session::Session;
use crate::tool::Tool;
use crate::tool::context::ToolContext;

/// A prompt as the model gets it: one text, and the tools it may call.
///
/// ```
/// use wink_agent::prompt::{PromptTemplate, Section};
/// use wink_agent::session::Session;
///
/// let rendered = PromptTemplate::new("agents/coder", "look")?
///     .section(
///         Section::new("Files", "files", "Look around.")?.tools(wink_agent::find("ls").cloned()),
///     )
///     .prompt(&Session::new())?
///     .render()?;
/// assert_eq!(rendered.text, "## 1. Files\n\nLook around.\n");
/// assert_eq!(rendered.tool("ls").unwrap().section, "files");
/// # Ok::<(), wink_agent::prompt::PromptError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RenderedPrompt {
    /// The namespace of the template.
    pub namespace: String,
    /// The key of the template.
    pub key: String,
    /// The text, in Markdown.
    pub text: String,
    /// The tools of the sections that are enabled, in the order of the sections.
    pub tools: Vec<OfferedTool>,
}

/// Names a tool and the section that offers it.
///
/// ```
/// use wink_agent::prompt::{PromptTemplate, Section};
/// use wink_agent::session::Session;
///
/// let section = Section::new("Files", "files", "")?.tools(wink_agent::find("ls").cloned());
/// let prompt = PromptTemplate::new("agents", "look")?.section(section).prompt(&Session::new())?;
/// let offered = prompt.render()?.tools.remove(0);
/// assert_eq!((offered.tool.name, offered.section.as_str()), ("ls", "files"));
/// # Ok::<(), wink_agent::prompt::PromptError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OfferedTool {
    /// The tool.
    pub tool: Tool,
    /// The key of the section.
    pub section: String,
    pub(super) session: Session,
    pub(super) files: Option<Arc<SectionFiles>>,
}

impl OfferedTool {
    /// Returns the context of a call for the prompt's session.
    ///
    /// The files are those that the tool's own section owns, or the nearest section around it, or else
    /// the first section of the prompt that owns some.
    pub fn context(&self) -> Result<ToolContext, PromptError> {
        match &self.files {
            Some(files) => files.context(),
            None => Ok(ToolContext::new().session(&self.session)),
        }
    }
}

impl RenderedPrompt {
    /// Returns the tool of a name.
    pub fn tool(&self, name: &str) -> Option<&OfferedTool> {
        self.tools.iter().find(|offered| offered.tool.name == name)
    }
}
