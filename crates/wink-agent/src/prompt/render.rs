//! From sections to a text with numbered headings.

use super::error::PromptError;
use super::given::Given;
use super::rendered::{OfferedTool, RenderedPrompt};
use super::section::Section;
use super::template::PromptTemplate;
use crate::tool::Tool;

/// How many `#` the heading of a section at the top has, and how many Markdown knows.
const TOP: usize = 2;
const DEEPEST: usize = 6;

/// Makes the text and the tools of all sections that are enabled.
pub(super) fn render(
    template: &PromptTemplate,
    given: &Given<'_>,
) -> Result<RenderedPrompt, PromptError> {
    let mut rendering = Rendering { given, text: String::new(), tools: Vec::new() };
    rendering.add_all(&template.sections, &[])?;
    let Rendering { text, tools, .. } = rendering;
    let (namespace, key) = (template.namespace.clone(), template.key.clone());
    Ok(RenderedPrompt { namespace, key, text, tools })
}

/// A prompt of which some sections are rendered.
struct Rendering<'p> {
    given: &'p Given<'p>,
    text: String,
    tools: Vec<OfferedTool>,
}

impl Rendering<'_> {
    /// Adds sections of one level; those that are not enabled have no number.
    fn add_all(&mut self, sections: &[Section], above: &[usize]) -> Result<(), PromptError> {
        let mut number = 0;
        for section in sections {
            if section.is_enabled(self.given)? {
                number += 1;
                self.add(section, &[above, &[number]].concat())?;
            }
        }
        Ok(())
    }

    fn add(&mut self, section: &Section, number: &[usize]) -> Result<(), PromptError> {
        let body = section.text(self.given)?;
        self.add_paragraph(&heading(&section.title, number));
        if !body.is_empty() {
            self.add_paragraph(&body);
        }
        section.tools.iter().try_for_each(|tool| self.offer(tool, section))?;
        self.add_all(&section.children, number)
    }

    fn add_paragraph(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn offer(&mut self, tool: &Tool, section: &Section) -> Result<(), PromptError> {
        if let Some(other) = self.tools.iter().find(|other| other.tool.name == tool.name) {
            let sections = [other.section.clone(), section.key.clone()];
            return Err(PromptError::DuplicateTool { tool: tool.name, sections });
        }
        self.tools.push(OfferedTool { tool: tool.clone(), section: section.key.clone() });
        Ok(())
    }
}

fn heading(title: &str, number: &[usize]) -> String {
    let marks = "#".repeat((TOP + number.len() - 1).min(DEEPEST));
    let number: Vec<_> = number.iter().map(ToString::to_string).collect();
    format!("{marks} {}. {title}", number.join("."))
}
