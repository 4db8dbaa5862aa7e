//! Names in a text of Markdown.

/// Returns a text as code within a line of Markdown, whatever is in it.
///
/// A name that comes from elsewhere, such as that of a file, is best shown in this way: no character of
/// it means anything to Markdown, and it stays on its line.
///
/// ```
/// use wink_agent::prompt::inline_code;
///
/// assert_eq!(inline_code("src/$HOME](x).rs"), "`src/$HOME](x).rs`");
/// assert_eq!(inline_code("a`b"), "``a`b``");
/// assert_eq!(inline_code("two\nlines"), "`two\\nlines`");
/// ```
pub fn inline_code(text: &str) -> String {
    let text: String = text.chars().map(on_one_line).collect();
    let fence = "`".repeat(longest_run(&text) + 1);
    // A backtick at either end would be taken for one of the fence, and a space there for padding.
    let is_bare = !text.is_empty() && !text.starts_with(['`', ' ']) && !text.ends_with(['`', ' ']);
    let padding = if is_bare { "" } else { " " };
    format!("{fence}{padding}{text}{padding}{fence}")
}

fn on_one_line(c: char) -> String {
    let ends_a_line = matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}');
    if c.is_control() || ends_a_line { c.escape_default().to_string() } else { c.to_string() }
}

/// Returns how many backticks stand side by side at most.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}
