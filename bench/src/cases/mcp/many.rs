//! Many clients at once over HTTP, who call when it is time and not when the last answer came.
//!
//! Each call is a task of its own that begins when it is due. HTTP/1.1 carries one request at a time, so a client has
//! some connections; a call that finds none free waits for one, and its time has begun.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{sleep_until, timeout_at};

use super::http::{Pool, Serving};
use crate::case::{Case, Outcome, Peer};
use crate::context::Context;
use crate::stats::Samples;

const BUDGET_MS: f64 = 25.0;
const CLIENTS: usize = 64;
/// Connections of a client: all together fewer than the 256 that the server takes.
const CONNECTIONS: usize = 3;
const CALLS: usize = 100_000;
const BETWEEN: Duration = Duration::from_millis(1);
const FILES: usize = 1_000;
const WIDTH: usize = 50;
/// Files of a client's own: so many that no write has to wait for the last one of the same file.
const OWN_FILES: usize = 16;

/// How long after the last call is due every call must have been answered.
const PATIENCE: Duration = Duration::from_secs(60);

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
        clients.spawn(Arc::new(Client::new(&server, number).await?).work(start));
    }
    let early = memory_after(&server, start + BETWEEN * (CALLS / 10) as u32).await?;
    let until = start + BETWEEN * CALLS as u32 + PATIENCE;
    let reads = timeout_at(until.into(), all_reads(clients)).await;
    let mut reads = reads.context("calls are not answered")??;
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
            "{CALLS} calls, 70 % reads, 20 % writes, 10 % searches, each begun and counted from when it was due; \
             p50 of reads {:.2} ms; all writes are there; memory {early:.0} MiB after a tenth, {late:.0} MiB at the end",
            reads[reads.len() / 2].as_secs_f64() * 1e3
        ),
    })
}

async fn all_reads(mut clients: JoinSet<Result<Vec<Duration>>>) -> Result<Vec<Duration>> {
    let mut reads = Vec::new();
    while let Some(client) = clients.join_next().await {
        reads.extend(client??);
    }
    Ok(reads)
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
    let connections = Pool::open(server, 1).await?;
    let rest = "and a line of text as it stands in many files\n".repeat(40);
    for number in 0..FILES {
        let content = format!("the file of number {number}.\n{rest}");
        let file = json!({"path": shared_file(number), "content": content});
        connections.call("write_file", file).await?;
    }
    Ok(())
}

/// One client with files of its own.
struct Client {
    connections: Pool,
    number: usize,
    /// The hash of what stands in each of them, for the next write.
    hashes: [Mutex<Option<String>>; OWN_FILES],
}

impl Client {
    async fn new(server: &Serving, number: usize) -> Result<Self> {
        let connections = Pool::open(server, CONNECTIONS).await?;
        Ok(Self { connections, number, hashes: Default::default() })
    }

    /// Begins each of this client's calls when it is due, and returns how long its reads took.
    async fn work(self: Arc<Self>, start: Instant) -> Result<Vec<Duration>> {
        let (mut under_way, mut reads) = (JoinSet::new(), Vec::new());
        for call in (self.number..CALLS).step_by(CLIENTS) {
            let due = start + BETWEEN * call as u32;
            sleep_until(due.into()).await;
            under_way.spawn(self.clone().call(call, due));
            while let Some(answered) = under_way.try_join_next() {
                reads.extend(answered??);
            }
        }
        while let Some(answered) = under_way.join_next().await {
            reads.extend(answered??);
        }
        Ok(reads)
    }

    /// Makes one call; returns how long it took from when it was due, if it is one that reads.
    async fn call(self: Arc<Self>, call: usize, due: Instant) -> Result<Option<Duration>> {
        match kind(call) {
            Kind::Read => {
                self.read(call).await?;
                return Ok(Some(due.elapsed()));
            }
            Kind::Write => self.write(call).await?,
            Kind::Search => self.search(call).await?,
        }
        Ok(None)
    }

    async fn read(&self, call: usize) -> Result<()> {
        let number = call * 7919 % FILES;
        let read = self.connections.call("read_file", json!({"path": shared_file(number)})).await?;
        let expected = format!("the file of number {number}.");
        ensure!(read["message"].as_str().is_some_and(|text| text.contains(&expected)), "{read}");
        Ok(())
    }

    async fn write(&self, call: usize) -> Result<()> {
        let mut hash = self.hashes[own_place(call)].lock().await;
        let path = own_file(self.number, own_place(call));
        let mut file = json!({"path": path, "content": format!("call {call}\n")});
        if let Some(hash) = &*hash {
            file["expected_hash"] = hash.as_str().into();
        }
        let written = self.connections.call("write_file", file).await?;
        *hash = written["content_hash"].as_str().map(str::to_owned);
        Ok(())
    }

    async fn search(&self, call: usize) -> Result<()> {
        let number = call * 31 % FILES;
        let search = json!({"pattern": format!("number {number}\\."), "path": directory(number)});
        let found = self.connections.call("grep", search).await?;
        ensure!(found.to_string().contains(&shared_file(number)), "{found}");
        Ok(())
    }
}

enum Kind {
    Read,
    Write,
    Search,
}

/// Says what a call does; clients do different things at the same time.
fn kind(call: usize) -> Kind {
    match (call / CLIENTS + call % CLIENTS) % 10 {
        0..7 => Kind::Read,
        7 | 8 => Kind::Write,
        _ => Kind::Search,
    }
}

/// Says which of its client's own files a call writes.
fn own_place(call: usize) -> usize {
    call / CLIENTS % OWN_FILES
}

fn own_file(number: usize, place: usize) -> String {
    format!("own/client_{number}_{place}.txt")
}

/// Checks that the last write to each file of each client is there.
async fn check(server: &Serving) -> Result<()> {
    let connections = Pool::open(server, 1).await?;
    let mut last = BTreeMap::new();
    for call in (0..CALLS).filter(|call| matches!(kind(*call), Kind::Write)) {
        last.insert(own_file(call % CLIENTS, own_place(call)), call);
    }
    for (path, call) in last {
        let read = connections.call("read_file", json!({"path": path})).await?;
        let text = read["message"].as_str().unwrap_or_default();
        ensure!(
            text.contains(&format!("call {call}\n")),
            "the write of call {call} is lost: {text}"
        );
    }
    Ok(())
}
