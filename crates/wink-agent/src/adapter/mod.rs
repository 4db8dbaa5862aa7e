//! The adapter: a model, a prompt, and the loop in which tools are called.
//!
//! A provider implements [`Model`]: the messages so far in, text and tool calls out. The [`Adapter`]
//! renders the prompt for each turn, asks the model, makes the calls of the turn at the same time, and
//! gives the answers back in the order of the calls, until the model calls nothing more or a bound is
//! reached.
//!
//! ```
//! use serde_json::json;
//! use wink_agent::adapter::{Adapter, Conversation, ScriptedModel, Stopped};
//! use wink_agent::prompt::{PromptTemplate, SectionOptions, VfsSection};
//! use wink_agent::session::{Session, ToolInvoked};
//!
//! let session = Session::new();
//! let vfs = VfsSection::new(&session, SectionOptions::default());
//! let prompt = PromptTemplate::new("agents/coder", "notes")?.section(&vfs).prompt(&session)?;
//! let mut model = ScriptedModel::new()
//!     .call("write_file", json!({"path": "notes.txt", "content": "hello\n"}))
//!     .say("I wrote it down.");
//!
//! let finished = Adapter::new(&prompt).run(&mut model, Conversation::of("Write hello down."))?;
//! assert_eq!((finished.text.as_str(), finished.stopped), ("I wrote it down.", Stopped::Done));
//! assert_eq!(vfs.filesystem()?.read("notes.txt")?.content, "hello\n");
//! assert_eq!(session.query::<ToolInvoked>()?.latest().unwrap().turn, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod conversation;
mod error;
mod model;
mod options;
mod parallel;
mod scripted;
mod tool_loop;

pub use self::conversation::{Conversation, Message, ToolAnswer};
pub use self::error::{AdapterError, Interrupted};
pub use self::model::{Model, ModelError, ModelRequest, ModelTurn, ToolRequest};
pub use self::options::AdapterOptions;
pub use self::scripted::ScriptedModel;
pub use self::tool_loop::{Adapter, Finished, Stopped};
