//! From sections to a text with numbered headings.

use std::sync::Arc;

use serde_json::Value;

use super::error::PromptError;
use super::given::Given;
use super::rendered::{OfferedTool, RenderedPrompt};
use super::section::Section;
use super::template::PromptTemplate;
use super::workspace::files::SectionFiles;
use crate::session::Session;
use crate::tool::call::ToolCall;
use crate::tool::{Run, Tool};

/// How many `#` the heading of a section at the top has, and how many Markdown knows.
const TOP: usize = 2;
const DEEPEST: usize = 6;

/// Makes the text and the tools of all sections that are enabled.
pub(super) fn render(
    template: &PromptTemplate,
    given: &Given<'_>,
) -> Result<RenderedPrompt, PromptError> {
    let mut rendering = Rendering { given, text: String::new(), tools: Vec::new() };
    rendering.add_all(&template.sections, &[], None)?;
    let Rendering { text, mut tools, .. } = rendering;
    let first = first_files(&template.sections, given)?;
    tools.iter_mut().for_each(|offered| offered.files = offered.files.take().or(first.clone()));
    let namespace = template.namespace.clone();
    let key = template.key.clone();
    Ok(RenderedPrompt { namespace, key, text, tools })
}

/// Finds the files of the first section that is enabled and owns some.
pub(super) fn first_files(
    sections: &[Section],
    given: &Given<'_>,
) -> Result<Option<Arc<SectionFiles>>, PromptError> {
    for section in sections {
        if !section.is_enabled(given)? {
            continue;
        }
        let files = match section.files() {
            Some(files) => Some(files.clone()),
            None => first_files(&section.children, given)?,
        };
        if files.is_some() {
            return Ok(files);
        }
    }
    Ok(None)
}

/// Returns the files without tools of all sections that are enabled.
pub(super) fn native_files(sections: &[Section], given: &Given<'_>) -> Vec<Arc<SectionFiles>> {
    let enabled = sections.iter().filter(|section| section.is_enabled(given).unwrap_or_default());
    let files = enabled.flat_map(|section| {
        section.native_files().cloned().into_iter().chain(native_files(&section.children, given))
    });
    files.collect()
}

/// A prompt of which some sections are rendered.
struct Rendering<'p> {
    given: &'p Given<'p>,
    text: String,
    tools: Vec<OfferedTool>,
}

impl Rendering<'_> {
    /// Adds sections of one level; those that are not enabled have no number.
    fn add_all(
        &mut self,
        sections: &[Section],
        above: &[usize],
        files: Option<&Arc<SectionFiles>>,
    ) -> Result<(), PromptError> {
        let mut number = 0;
        for section in sections {
            if section.is_enabled(self.given)? {
                number += 1;
                self.add(section, &[above, &[number]].concat(), section.files().or(files))?;
            }
        }
        Ok(())
    }

    /// Adds a section, whose tools work on its own files or on those of the nearest section above.
    fn add(
        &mut self,
        section: &Section,
        number: &[usize],
        files: Option<&Arc<SectionFiles>>,
    ) -> Result<(), PromptError> {
        let body = section.text(self.given)?;
        self.add_paragraph(&heading(&section.title, number));
        if !body.is_empty() {
            self.add_paragraph(&body);
        }
        section.tools.iter().try_for_each(|tool| self.offer(tool, section, files))?;
        self.add_all(&section.children, number, files)
    }

    fn add_paragraph(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn offer(
        &mut self,
        tool: &Tool,
        section: &Section,
        files: Option<&Arc<SectionFiles>>,
    ) -> Result<(), PromptError> {
        if let Some(other) = self.tools.iter().find(|other| other.tool.name == tool.name) {
            let sections = [other.section.clone(), section.key.clone()];
            return Err(PromptError::DuplicateTool { tool: tool.name, sections });
        }
        let session = self.given.session.clone();
        let files = files.cloned();
        let tool = only_for(tool.clone(), &session);
        let section = section.key.clone();
        self.tools.push(OfferedTool { tool, section, session, files });
        Ok(())
    }
}

fn heading(title: &str, number: &[usize]) -> String {
    let marks = "#".repeat((TOP + number.len() - 1).min(DEEPEST));
    let number: Vec<_> = number.iter().map(ToString::to_string).collect();
    format!("{marks} {}. {title}", number.join("."))
}

/// Makes a tool fail in every context of another session.
fn only_for(tool: Tool, session: &Session) -> Tool {
    let inner = tool.clone();
    let session = session.clone();
    let run = move |call: &ToolCall<'_>, arguments: Value| {
        call.context().check_session(&session, inner.name)?;
        inner.run.call(call, arguments)
    };
    Tool { run: Run::Custom(Arc::new(run)), ..tool }
}
