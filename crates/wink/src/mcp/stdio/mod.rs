//! MCP over standard input and output: a message a line, and nothing else on standard output.

pub(crate) mod line;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::transport::io::{StdioReader, stdio_pipes};
use rmcp::{RoleServer, ServiceExt};
use tokio::io::{AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::endpoint::Endpoint;
use super::message::parse;
use super::stdio::line::{Line, Lines};
use crate::sys::lock::lock;
use crate::sys::stop_signals::StopSignals;

/// The longest line that is read.
const MAX_LINE_BYTES: usize = 32 * 1024 * 1024;

/// How many messages wait to be written before calls wait too.
const WAITING: usize = 64;

/// How many requests are in flight before no more are read; a long one counts as several.
const MOST_REQUESTS: u32 = 256;

/// How many bytes of a request count as another one: together the requests in flight have at most 64 MiB.
const BYTES_A_REQUEST: usize = 256 * 1024;

/// How long calls have to finish when the client no longer waits for them.
const LAST_CALLS: Duration = Duration::from_secs(5);

/// How long the last answers have to be read.
const GRACE: Duration = Duration::from_secs(2);

/// Serves until the input ends or it is told to stop, then lets the calls that run come to their end.
pub(crate) async fn serve(endpoint: Endpoint, mut stop: StopSignals) {
    endpoint.begin();
    let serving = async {
        // A client that disconnects before the first request asked for nothing.
        if let Ok(server) = endpoint.clone().serve(Stdio::open()).await {
            let _ = server.waiting().await;
        }
    };
    tokio::select! {
        () = serving => {}
        () = stop.received() => {}
    }
    stop.ended(endpoint.end(LAST_CALLS), || endpoint.hurry()).await;
}

/// The standard streams as a transport.
struct Stdio {
    lines: Lines<BufReader<StdioReader>>,
    output: Option<mpsc::Sender<Vec<u8>>>,
    writer: Option<JoinHandle<io::Result<()>>>,
    /// What is to be said of a line that was no message.
    refusal: Option<Box<ServerJsonRpcMessage>>,
    /// A message that waits until fewer requests are in flight, with its length.
    waiting: Option<(ClientJsonRpcMessage, usize)>,
    in_flight: InFlight,
    /// Whether a request came already; before the first one, every other message is ignored.
    begun: bool,
}

impl Stdio {
    fn open() -> Self {
        let (input, output) = stdio_pipes();
        let (sender, messages) = mpsc::channel(WAITING);
        let writer = tokio::spawn(write_all(output, messages));
        Self {
            lines: Lines::new(BufReader::new(input), MAX_LINE_BYTES),
            output: Some(sender),
            writer: Some(writer),
            refusal: None,
            waiting: None,
            in_flight: InFlight::default(),
            begun: false,
        }
    }

    /// Answers a line that was no message; it is answered once, however often this is begun.
    async fn refuse(&mut self) -> Option<()> {
        if let Some(refusal) = &self.refusal {
            let permit = self.output.as_ref()?.reserve().await.ok()?;
            permit.send(encoded(refusal).ok()?);
            self.refusal = None;
        }
        Some(())
    }

    /// Reads lines up to one that is a message; returns its length too.
    async fn message(&mut self) -> Option<(ClientJsonRpcMessage, usize)> {
        loop {
            self.refuse().await?;
            let parsed = match self.lines.next().await.ok()? {
                Line::Whole(line) if line.trim_ascii().is_empty() => continue,
                Line::Whole(line) => parse(&line).map(|message| (message, line.len())),
                Line::TooLong => Err(Box::new(too_long())),
                Line::Unended(rest) => Ok((parse(&rest).ok()?, rest.len())),
                Line::End => return None,
            };
            match parsed {
                Ok(message) => return Some(message),
                Err(refusal) => self.refusal = Some(refusal),
            }
        }
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = self.output.clone();
        let in_flight = self.in_flight.clone();
        async move {
            let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
            let output = output.ok_or_else(closed)?;
            let sent = output.send(encoded(&message)?).await.map_err(|_| closed());
            match &message {
                JsonRpcMessage::Response(answer) => in_flight.end(&answer.id),
                JsonRpcMessage::Error(error) => {
                    error.id.iter().for_each(|id| in_flight.end(id));
                }
                _ => {}
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // The read may be dropped while it waits, and is begun again with the same message.
            if self.waiting.is_none() {
                self.waiting = self.message().await;
            }
            let (message, length) = self.waiting.as_ref()?;
            self.in_flight.begin(message, *length).await;
            let (message, _) = self.waiting.take()?;
            self.begun |= matches!(message, JsonRpcMessage::Request(_));
            if self.begun {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output = None;
        let Some(writer) = self.writer.take() else { return Ok(()) };
        // A client that does not read does not keep the server from ending.
        match timeout(GRACE, writer).await {
            Ok(written) => written.unwrap_or(Ok(())),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

/// Counts requests that are not answered yet; a clone counts the same ones.
#[derive(Clone, Debug)]
struct InFlight {
    room: Arc<Semaphore>,
    /// How much room each request takes.
    requests: Arc<Mutex<HashMap<RequestId, u32>>>,
}

impl Default for InFlight {
    fn default() -> Self {
        let room = Arc::new(Semaphore::new(MOST_REQUESTS as usize));
        Self { room, requests: Arc::default() }
    }
}

impl InFlight {
    /// Waits for room for a request; one that is cancelled may not be answered, and makes room at once.
    async fn begin(&self, message: &ClientJsonRpcMessage, length: usize) {
        match message {
            JsonRpcMessage::Request(request) => {
                let more = u32::try_from(length / BYTES_A_REQUEST).unwrap_or(MOST_REQUESTS);
                let needed = MOST_REQUESTS.min(1 + more);
                if let Ok(room) = self.room.acquire_many(needed).await {
                    // A second request with the same id is an error of the client, which is not counted.
                    if let Entry::Vacant(free) = lock(&self.requests).entry(request.id.clone()) {
                        free.insert(needed);
                        room.forget();
                    }
                }
            }
            JsonRpcMessage::Notification(it) => {
                if let ClientNotification::CancelledNotification(it) = &it.notification {
                    it.params.request_id.iter().for_each(|id| self.end(id));
                }
            }
            _ => {}
        }
    }

    fn end(&self, id: &RequestId) {
        if let Some(room) = lock(&self.requests).remove(id) {
            self.room.add_permits(room as usize);
        }
    }
}

async fn write_all(
    mut output: impl AsyncWrite + Unpin,
    mut messages: mpsc::Receiver<Vec<u8>>,
) -> io::Result<()> {
    while let Some(message) = messages.recv().await {
        output.write_all(&message).await?;
        output.flush().await?;
    }
    Ok(())
}

fn encoded(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

fn too_long() -> ServerJsonRpcMessage {
    let most = MAX_LINE_BYTES / 1024 / 1024;
    let message = format!("The line is longer than {most} MiB and was not read.");
    ServerJsonRpcMessage::error(ErrorData::invalid_request(message, None), None)
}
