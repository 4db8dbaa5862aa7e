//! Prompts: sections of text and tools, rendered for a model.
//!
//! A [`PromptTemplate`] is a tree of [`Section`]s. For a session, and with the parameters that its
//! sections need, it is a [`Prompt`], which renders the sections that are enabled: one text with
//! numbered headings, and the tools that the model may call.
//!
//! ```
//! use wink_agent::prompt::{PromptTemplate, Section};
//! use wink_agent::session::Session;
//!
//! let rendered = PromptTemplate::new("agents/coder", "edit-files")?
//!     .section(
//!         Section::new("Behaviour", "behaviour", "Stage edits before you apply them.")?
//!             .child(Section::new("Tone", "tone", "Be brief.")?),
//!     )
//!     .prompt(&Session::new())?
//!     .render()?;
//! assert_eq!(
//!     rendered.text,
//!     "## 1. Behaviour\n\nStage edits before you apply them.\n\n### 1.1. Tone\n\nBe brief.\n"
//! );
//! # Ok::<(), wink_agent::prompt::PromptError>(())
//! ```
//!
//! A workspace section owns a workspace beside its text and tools: [`VfsSection`] in memory,
//! [`WorkspaceSection`] in a directory of the host.

mod body;
mod code;
mod error;
mod given;
mod key;
mod options;
mod parameters;
mod placeholders;
#[allow(clippy::module_inception, reason = "the type that the module is named after")]
mod prompt;
mod render;
mod rendered;
mod section;
mod template;
mod workspace;

pub use self::code::inline_code;
pub use self::error::PromptError;
pub use self::given::Given;
pub use self::options::SectionOptions;
pub use self::prompt::Prompt;
pub use self::rendered::{OfferedTool, RenderedPrompt};
pub use self::section::Section;
pub use self::template::PromptTemplate;
pub use self::workspace::WorkspaceSection;
pub use self::workspace::sandbox::{Sandbox, SandboxSection};
pub use self::workspace::vfs::VfsSection;
