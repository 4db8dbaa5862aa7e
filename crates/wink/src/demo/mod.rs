//! `wink demo`: runs a scripted agent as an ordinary client of a server.

mod client;
mod player;
mod script;
mod server;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use self::client::Client;
use self::player::Player;
use self::server::Server;
use crate::cli::context::Context;
use crate::error::CliError;
use crate::json::documents;
use crate::serve::downloads::{FILES, SESSIONS};
use crate::sys::disk;
use crate::ui::answer::Answer;
use crate::ui::format;

/// Watch a scripted agent work on a small project, and undo its mistakes.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Milliseconds between two calls.
    #[arg(long, value_name = "MS", default_value_t = 250)]
    pace: u64,

    /// Directory for the dump at the end [default: a new temporary one].
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

documents! {
    player::DemoCall: "wink/demo.call@1" "item";
    DemoPlayed: "wink/demo@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct DemoPlayed {
    calls: u32,
    /// The file of the session.
    session: String,
    /// The archive of the files.
    archive: String,
}

/// Runs the command.
pub(crate) fn run(context: &Context, args: &DemoArgs) -> Result<Answer, CliError> {
    let server = Server::find_or_start()?;
    let client = Client::connect(&server.signal.url, &server.signal.token)?;
    let mut player = Player::new(client, context.output(), Duration::from_millis(args.pace))?;
    player.say(&server.introduction());
    script::play(&mut player)?;
    let directory = match &args.output {
        Some(directory) => context.host_path(directory),
        None => std::env::temp_dir().join(format!("wink-demo-{}", std::process::id())),
    };
    let document = dump(&mut player, &directory)?;
    player.propose(&server.farewell());
    context.answer(&document, |_| String::new())
}

/// Downloads the session and the files, as `wink session` reads them.
fn dump(player: &mut Player, directory: &std::path::Path) -> Result<DemoPlayed, CliError> {
    let failed = |error| CliError::host("cannot write the dump", directory, error);
    let session = player.get(&format!("{SESSIONS}{}", player.session()))?;
    let files = player.get(FILES)?;
    disk::make_private(directory).map_err(failed)?;
    let file = |ending: &str| directory.join(format!("{}.{ending}", player.session()));
    disk::replace(&file("fs.zip"), &files).map_err(failed)?;
    disk::replace(&file("jsonl"), &session).map_err(failed)?;
    player.propose(&format!(
        "\nDumped the session and the files to {}\n  look at them: wink session show {}",
        directory.display(),
        format::shell_quote_path(&file("jsonl"))
    ));
    let [session, archive] = ["jsonl", "fs.zip"].map(|it| file(it).display().to_string());
    Ok(DemoPlayed { calls: player.calls(), session, archive })
}
