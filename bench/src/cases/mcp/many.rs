//! Many clients at once over HTTP, who call when it is time and not when the last answer came.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use super::http::{Connection, Serving};
use crate::case::{Case, Outcome, Peer};
use crate::context::Context;
use crate::stats::Samples;

const BUDGET_MS: f64 = 25.0;
const CLIENTS: usize = 64;
const CALLS: usize = 100_000;
const BETWEEN: Duration = Duration::from_millis(1);
const FILES: usize = 1_000;
const WIDTH: usize = 50;

/// How much more memory the server may hold at the end than after a tenth of the calls.
const GROWTH_MIB: f64 = 16.0;

pub(crate) const CASE: Case = Case::new(
    "mcp-64",
    "64 clients over HTTP, 1,000 calls a second: p99 of reads",
    1.0,
    |context| tokio::runtime::Runtime::new()?.block_on(measure(context)),
);

async fn measure(context: &Context) -> Result<Outcome> {
    let beside = context.fresh_dir()?;
    let server = Arc::new(Serving::start(beside.path())?);
    fill(&server).await?;
    let start = Instant::now() + Duration::from_millis(100);
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        clients.spawn(Client::new(&server, number).await?.work(start));
    }
    let early = memory_after(&server, start + BETWEEN * (CALLS / 10) as u32).await?;
    let mut reads = Vec::new();
    while let Some(client) = clients.join_next().await {
        reads.extend(client??);
    }
    let late = server.memory_mib()?;
    ensure!(late < early + GROWTH_MIB, "memory grew from {early:.0} to {late:.0} MiB");
    check(&server).await?;
    reads.sort();
    let p99 = reads[reads.len() * 99 / 100].as_secs_f64() * 1e3;
    Ok(Outcome {
        peer: Peer::Budget(BUDGET_MS),
        ours: Samples::new(vec![p99]).context("no figure")?,
        unit: "ms",
        place: "memory".into(),
        note: format!(
            "{CALLS} calls, 70 % reads, 20 % writes, 10 % searches, from when each was due; p50 of reads \
             {:.2} ms; all writes are there; memory {early:.0} MiB after a tenth, {late:.0} MiB at the end",
            reads[reads.len() / 2].as_secs_f64() * 1e3
        ),
    })
}

async fn memory_after(server: &Serving, moment: Instant) -> Result<f64> {
    sleep_until(moment.into()).await;
    server.memory_mib()
}

fn directory(number: usize) -> String {
    format!("dir_{:02}", number / WIDTH)
}

fn shared_file(number: usize) -> String {
    format!("{}/file_{number}.txt", directory(number))
}

async fn fill(server: &Serving) -> Result<()> {
    let mut connection = server.connect().await?;
    let rest = "and a line of text as it stands in many files\n".repeat(40);
    for number in 0..FILES {
        let content = format!("the file of number {number}.\n{rest}");
        let file = json!({"path": shared_file(number), "content": content});
        connection.call("write_file", file).await?;
    }
    Ok(())
}

/// One client with a file of its own, and what stands in it.
struct Client {
    connection: Connection,
    number: usize,
    hash: Option<String>,
}

impl Client {
    async fn new(server: &Serving, number: usize) -> Result<Self> {
        Ok(Self { connection: server.connect().await?, number, hash: None })
    }

    /// Makes this client's part of the calls, and returns how long its reads took.
    async fn work(mut self, start: Instant) -> Result<Vec<Duration>> {
        let mut reads = Vec::new();
        for call in (self.number..CALLS).step_by(CLIENTS) {
            let due = start + BETWEEN * call as u32;
            sleep_until(due.into()).await;
            let turn = call / CLIENTS + self.number;
            match turn % 10 {
                0..7 => {
                    self.read(call).await?;
                    reads.push(due.elapsed());
                }
                7 | 8 => self.write(call).await?,
                _ => self.search(call).await?,
            }
        }
        Ok(reads)
    }

    async fn read(&mut self, call: usize) -> Result<()> {
        let number = call * 7919 % FILES;
        let read = self.connection.call("read_file", json!({"path": shared_file(number)})).await?;
        let expected = format!("the file of number {number}.");
        ensure!(read["message"].as_str().is_some_and(|text| text.contains(&expected)), "{read}");
        Ok(())
    }

    async fn write(&mut self, call: usize) -> Result<()> {
        let mut file = json!({"path": own_file(self.number), "content": format!("call {call}\n")});
        if let Some(hash) = &self.hash {
            file["expected_hash"] = hash.as_str().into();
        }
        let written = self.connection.call("write_file", file).await?;
        self.hash = written["content_hash"].as_str().map(str::to_owned);
        Ok(())
    }

    async fn search(&mut self, call: usize) -> Result<()> {
        let number = call * 31 % FILES;
        let search = json!({"pattern": format!("number {number}\\."), "path": directory(number)});
        let found = self.connection.call("grep", search).await?;
        ensure!(found.to_string().contains(&shared_file(number)), "{found}");
        Ok(())
    }
}

fn own_file(number: usize) -> String {
    format!("own/client_{number}.txt")
}

/// Checks that every client's last write is there.
async fn check(server: &Serving) -> Result<()> {
    let mut connection = server.connect().await?;
    for number in 0..CLIENTS {
        let is_write = |call: &usize| matches!((call / CLIENTS + number) % 10, 7 | 8);
        let mut calls = (number..CALLS).step_by(CLIENTS).filter(is_write);
        let last = calls.next_back().context("no write")?;
        let read = connection.call("read_file", json!({"path": own_file(number)})).await?;
        let text = read["message"].as_str().unwrap_or_default();
        ensure!(
            text.contains(&format!("call {last}\n")),
            "the write of call {last} is lost: {text}"
        );
    }
    Ok(())
}
