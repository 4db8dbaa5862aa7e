//! The status page: plain HTML without scripts.

use std::fmt::Write as _;

use axum::response::Html;
use tokio::task::spawn_blocking;
use wink_fs::Snapshot;

use crate::mcp::RecentCall;
use crate::serve::Site;
use crate::ui::format;

/// How many snapshots of a workspace are shown.
const MOST_SNAPSHOTS: usize = 20;

/// Renders the page.
pub(crate) async fn page(sites: Vec<Site>) -> Html<String> {
    let made = spawn_blocking(move || sites.iter().map(section).collect::<String>()).await;
    let sections = made.unwrap_or_else(|_| "<p>The workspaces cannot be shown.</p>".to_owned());
    Html(format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>wink</title>\
         <h1>wink</h1><p>Undo, fork and inspect everything your agent does to files.</p>{sections}"
    ))
}

fn section(site: &Site) -> String {
    let name = escaped(&site.route);
    let what = escaped(&site.what);
    let snapshots = match site.endpoint.files().map(|files| files.snapshots()) {
        Some(Ok(all)) => listed(&all),
        Some(Err(error)) => format!("<p>{}</p>", escaped(&error.to_string())),
        None => listed(&[]),
    };
    let calls = site.endpoint.recent().all();
    format!(
        "<h2>{name}</h2><p>{what}</p><h3>Snapshots</h3>{snapshots}<h3>Last calls</h3>{}",
        called(&calls)
    )
}

fn listed(all: &[Snapshot]) -> String {
    if all.is_empty() {
        return "<p>There is none yet.</p>".to_owned();
    }
    let mut rows = String::new();
    for snapshot in all.iter().rev().take(MOST_SNAPSHOTS) {
        let id = snapshot.id.short();
        let at = format::utc(snapshot.created_at);
        let tag = escaped(snapshot.tag.as_deref().unwrap_or_default());
        let files = format::counted(snapshot.file_count, "file", "files");
        // Writing into a string cannot fail.
        let _ = write!(rows, "<tr><td>{id}<td>{at}<td>{files}<td>{tag}");
    }
    format!("<table><tr><th>id<th>taken<th>files<th>tag{rows}</table>")
}

fn called(calls: &[RecentCall]) -> String {
    if calls.is_empty() {
        return "<p>No call yet.</p>".to_owned();
    }
    let mut rows = String::new();
    for call in calls {
        let RecentCall { tool, took, .. } = call;
        let at = format::utc(call.at);
        let path = escaped(&call.place());
        let result = call.error.unwrap_or("ok");
        let took = took.as_millis();
        let _ = write!(rows, "<tr><td>{at}<td>{tool}<td>{path}<td>{result}<td>{took} ms");
    }
    format!("<table><tr><th>at<th>tool<th>path<th>result<th>took{rows}</table>")
}

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // What would change how the rest is shown.
            c if c.is_control()
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
            {
                escaped.push('\u{fffd}');
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_shown_as_it_is() {
        assert_eq!(
            escaped("<img onerror='x'>\u{202e}&\"\n"),
            "&lt;img onerror=&#39;x&#39;&gt;\u{fffd}&amp;&quot;\u{fffd}"
        );
    }
}
