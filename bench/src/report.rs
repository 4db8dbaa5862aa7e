//! What is printed and written: one Markdown table, one JSON array.

use serde::Serialize;

use crate::case::{Case, Outcome, Peer};
use crate::stats::short;

/// One line of the results.
pub(crate) struct Row {
    pub(crate) case: &'static Case,
    pub(crate) outcome: Outcome,
}

impl Row {
    pub(crate) fn meets_target(&self) -> bool {
        self.outcome.ratio() >= self.case.at_least
    }

    fn cells(&self) -> [String; 10] {
        let outcome = &self.outcome;
        [
            format!("`{}`", self.case.name),
            self.case.what.to_string(),
            outcome.peer.name().to_string(),
            format!("{} {}", outcome.ours, outcome.unit),
            theirs(outcome),
            short(outcome.ratio()),
            short(self.case.at_least),
            if self.meets_target() { "✓" } else { "✕" }.to_string(),
            outcome.place.clone(),
            details(outcome),
        ]
    }
}

fn theirs(outcome: &Outcome) -> String {
    match &outcome.peer {
        Peer::Measured { samples, .. } => format!("{samples} {}", outcome.unit),
        Peer::Budget(budget) => format!("{} {}", short(*budget), outcome.unit),
    }
}

fn details(outcome: &Outcome) -> String {
    let repetitions = format!("median of {}", outcome.ours.count());
    let command = match &outcome.peer {
        Peer::Measured { command, .. } => format!("peer: `{command}`"),
        Peer::Budget(_) => String::new(),
    };
    let parts = [command, outcome.note.clone(), repetitions];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

const HEADINGS: [&str; 10] =
    ["case", "what", "peer", "ours", "theirs", "ratio", "at least", "", "where", "how"];

/// Renders the table, with the median and (least..most) on each side.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut table = line(HEADINGS.map(String::from));
    table += &line(HEADINGS.map(|_| "---".to_string()));
    for row in rows {
        table += &line(row.cells());
    }
    table
}

fn line(cells: [String; 10]) -> String {
    let cells = cells.map(|cell| cell.replace('|', "\\|"));
    format!("| {} |\n", cells.join(" | "))
}

#[derive(Serialize)]
struct JsonRow<'a> {
    case: &'a str,
    peer: &'a str,
    ours: f64,
    theirs: f64,
    unit: &'a str,
    ratio: f64,
}

/// Renders the array that programs read.
pub(crate) fn json(rows: &[Row]) -> serde_json::Result<String> {
    let rows: Vec<_> = rows.iter().map(json_row).collect();
    Ok(serde_json::to_string_pretty(&rows)? + "\n")
}

fn json_row(row: &Row) -> JsonRow<'_> {
    let outcome = &row.outcome;
    JsonRow {
        case: row.case.name,
        peer: outcome.peer.name(),
        ours: outcome.ours.median(),
        theirs: outcome.peer.value(),
        unit: outcome.unit,
        ratio: outcome.ratio(),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;
    use crate::stats::Samples;

    static PIPED: Case = Case::new("piped", "some | thing", 2.0, |_| bail!("not run"));
    static BOUNDED: Case = Case::new("bounded", "a budget", 1.0, |_| bail!("not run"));

    fn rows() -> Vec<Row> {
        let samples = |values: [f64; 3]| Samples::new(values.to_vec()).unwrap();
        let measured = Outcome {
            peer: Peer::Measured {
                name: "sed",
                command: "sed -n 1p".into(),
                samples: samples([30.0, 20.0, 25.0]),
            },
            ours: samples([10.0, 11.0, 10.0]),
            unit: "ms",
            place: "ext4, warm".into(),
            note: "ours in process".into(),
        };
        let bounded = Outcome {
            peer: Peer::Budget(20.0),
            ours: samples([40.0, 40.0, 40.0]),
            unit: "MB",
            place: "memory".into(),
            note: String::new(),
        };
        vec![Row { case: &PIPED, outcome: measured }, Row { case: &BOUNDED, outcome: bounded }]
    }

    #[test]
    fn the_table_shows_spread_target_and_circumstances() {
        let expected = "\
| case | what | peer | ours | theirs | ratio | at least |  | where | how |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| `piped` | some \\| thing | sed | 10.0 (10.0..11.0) ms | 25.0 (20.0..30.0) ms | 2.50 | 2.00 | ✓ | ext4, warm | peer: `sed -n 1p`; ours in process; median of 3 |
| `bounded` | a budget | budget | 40.0 (40.0..40.0) MB | 20.0 MB | 0.500 | 1.00 | ✕ | memory | median of 3 |
";
        assert_eq!(markdown(&rows()), expected);
    }

    #[test]
    fn the_json_has_exactly_the_documented_fields() {
        let json: serde_json::Value = serde_json::from_str(&json(&rows()).unwrap()).unwrap();
        let expected = serde_json::json!([
            {"case": "piped", "peer": "sed", "ours": 10.0, "theirs": 25.0, "unit": "ms", "ratio": 2.5},
            {"case": "bounded", "peer": "budget", "ours": 40.0, "theirs": 20.0, "unit": "MB", "ratio": 0.5},
        ]);
        assert_eq!(json, expected);
    }
}
