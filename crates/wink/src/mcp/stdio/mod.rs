//! MCP over standard input and output: a message a line, and nothing else on standard output.

pub(crate) mod line;

use std::io;
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::io::{StdioReader, stdio_pipes};
use rmcp::{RoleServer, ServiceExt};
use tokio::io::{AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::endpoint::Endpoint;
use super::message::parse;
use super::stdio::line::{Line, Lines};
use crate::sys::stop_signals::StopSignals;

/// The longest line that is read.
const MAX_LINE_BYTES: usize = 32 * 1024 * 1024;

/// How many messages wait to be written before calls wait too.
const WAITING: usize = 64;

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

    /// Reads lines up to one that is a message, or has to be answered.
    async fn message(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.refuse().await?;
            let parsed = match self.lines.next().await.ok()? {
                Line::Whole(line) if line.trim_ascii().is_empty() => continue,
                Line::Whole(line) => parse(&line),
                Line::TooLong => Err(Box::new(too_long())),
                Line::Unended(rest) => Ok(parse(&rest).ok()?),
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
        async move {
            let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
            let output = output.ok_or_else(closed)?;
            output.send(encoded(&message)?).await.map_err(|_| closed())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = self.message().await?;
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
