//! What MCP clients get, seen as plain JSON-RPC.

use std::io::Write as _;
use std::net::TcpStream;

use crate::common::threads::{wait_until_busy, wait_until_idle};
use crate::common::{POST, Server};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn tool_call(name: &str, arguments: Value) -> Value {
    request("tools/call", json!({"name": name, "arguments": arguments}))
}

#[test]
fn a_tool_error_is_a_result_with_its_code() {
    let answer = Server::start().post(&tool_call("read_file", json!({"path": "../x"})));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["error"], "permission_denied");
}

#[test]
fn an_unknown_tool_is_invalid_params() {
    let answer = Server::start().post(&tool_call("nope", json!({})));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[test]
fn what_is_no_message_is_refused_in_the_words_of_the_protocol() {
    let server = Server::start();
    for (body, code) in [("garbage", -32700), ("[]", -32600), ("{\"id\":1}", -32600)] {
        let answer = server.send(POST, body);
        assert_eq!(answer.status(), 400, "{body}: {}", answer.text);
        assert!(answer.text.contains(&format!("\"code\":{code}")), "{body}: {}", answer.text);
    }
}

#[test]
fn a_result_as_text_is_complete() {
    let server = Server::start_with(&["--port", "0", "--results", "text"]);
    server.post(&tool_call("write_file", json!({"path": "a", "content": "hello\n"})));
    let answer = server.post(&tool_call("read_file", json!({"path": "a"})));
    let result = &answer["result"];
    assert!(result["content"][0]["text"].as_str().is_some_and(|text| text.contains("hello")));
    assert!(result["structuredContent"].is_null(), "{result}");
}

/// Begins a session as older clients do; returns its id.
fn begin(server: &Server) -> String {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let answer = server.send(POST, &request("initialize", params).to_string());
    assert_eq!(answer.status(), 200, "{}", answer.text);
    assert!(answer.text.contains("\"protocolVersion\":\"2025-11-25\""), "{}", answer.text);
    let id = answer.text.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
    id.expect("a session id").to_owned()
}

fn in_session(id: &str) -> String {
    format!("{POST}\nMCP-Protocol-Version: 2025-11-25\nMcp-Session-Id: {id}")
}

#[test]
fn an_older_client_gets_a_session_and_works_in_it() {
    let server = Server::start();
    let id = begin(&server);
    let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    assert_eq!(server.send(&in_session(&id), &done).status(), 202);
    let call = tool_call("write_file", json!({"path": "a", "content": "x"})).to_string();
    let answer = server.send(&in_session(&id), &call);
    assert_eq!(answer.status(), 200);
    assert!(answer.text.contains("\"isError\":false"), "{}", answer.text);
    let list = request("resources/list", json!({})).to_string();
    assert!(server.send(&in_session(&id), &list).text.contains("wink://workspace/a"));
    let end = in_session(&id).replace("POST", "DELETE");
    assert_eq!(server.send(&end, "").status(), 200, "the Python SDK takes 202 for a failure");
    assert_eq!(server.send(&in_session(&id), &call).status(), 404, "it is over");
}

#[test]
fn a3_61_an_id_that_was_not_given_opens_nothing() {
    let server = Server::start();
    let id = begin(&server);
    let list = request("tools/list", json!({})).to_string();
    for guessed in ["1", "admin", "../x", &id.replace(|c: char| c.is_ascii_digit(), "0"), &id[1..]]
    {
        for method in ["POST", "GET", "DELETE"] {
            let head = in_session(guessed).replace("POST", method);
            assert_eq!(server.send(&head, &list).status(), 404, "{method} {guessed}");
        }
    }
    let without_token = in_session(&id).replace("Authorization: Bearer {token}\n", "");
    assert_eq!(server.send(&without_token, &list).status(), 401, "an id is no token");
    let answer = server.send(&in_session(&id), &list);
    assert_eq!(answer.status(), 200, "the right one still works");
}

#[test]
fn the_session_that_was_idle_for_longest_makes_room_for_another() {
    let server = Server::start();
    let (first, second) = (begin(&server), begin(&server));
    (2..128).for_each(|_| drop(begin(&server)));
    let list = request("tools/list", json!({})).to_string();
    assert_eq!(server.send(&in_session(&first), &list).status(), 200);
    let another = begin(&server);
    assert_eq!(server.send(&in_session(&second), &list).status(), 404, "no client used it");
    for id in [first, another] {
        assert_eq!(server.send(&in_session(&id), &list).status(), 200);
    }
}

#[test]
fn a_session_that_a_client_names_remembers_what_it_read() {
    let server = Server::start();
    let write = |arguments: Value| server.call("write_file", arguments);
    write(json!({"path": "a", "content": "one\n"}));
    let over = json!({"path": "a", "content": "two\n"});
    let refused = write(over.clone());
    assert_eq!(refused["structuredContent"]["error"], "conflict", "{refused}");
    let with = |name: &str| {
        let mut arguments = over.clone();
        arguments["session"] = name.into();
        arguments
    };
    assert_eq!(write(with("me"))["structuredContent"]["error"], "conflict", "nothing read yet");
    server.call("read_file", json!({"path": "a", "session": "me"}));
    assert_eq!(write(with("you"))["structuredContent"]["error"], "conflict", "another's reading");
    assert_eq!(write(with("me"))["isError"], false);
    let wrong = write(with("no such name!"));
    assert_eq!(wrong["structuredContent"]["error"], "invalid_argument", "{wrong}");
}

#[test]
fn every_tool_takes_a_session() {
    let answer = Server::start().post(&request("tools/list", json!({})));
    for tool in answer["result"]["tools"].as_array().expect("tools") {
        assert_eq!(tool["inputSchema"]["properties"]["session"]["type"], "string", "{tool}");
    }
}

#[test]
fn fault_32_a_client_that_breaks_off_leaves_a_whole_file_or_none() {
    let server = Server::start();
    let content = "x".repeat(40_000);
    for number in 0..50 {
        let call = tool_call("write_file", json!({"path": number.to_string(), "content": content}));
        let body = call.to_string();
        let head = POST.replace("{address}", &server.address).replace("{token}", &server.token);
        let head = head.replace('\n', "\r\n");
        let request = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let mut stream = TcpStream::connect(&server.address).unwrap();
        // Half of them go before all is said, half before anything is answered.
        let sent = if number % 2 == 0 { request.len() - 1 } else { request.len() };
        stream.write_all(&request.as_bytes()[..sent]).unwrap();
    }
    let listing = server.call("ls", json!({}));
    for entry in listing["structuredContent"]["entries"].as_array().expect("entries") {
        assert_eq!(entry["size_bytes"], 40_000, "{entry}");
    }
    let again = json!({"path": "after", "content": "x"});
    assert_eq!(server.call("write_file", again)["isError"], false, "all slots are free again");
}

#[test]
fn a_search_over_http_is_given_up_with_its_connection() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    let mut state = 1_u64;
    let mut letter = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        b"abcdefgh"[(state >> 61) as usize]
    };
    let line: Vec<u8> = (0..4_000_000)
        .map(&mut letter)
        .enumerate()
        .map(|(at, letter)| if at % 1_000 == 999 { b'\n' } else { letter })
        .collect();
    std::fs::write(place.path().join("work/large.txt"), line.repeat(10)).unwrap();
    let mut server = Server::start_in(place, &["--port", "0", "--root", "work"]);
    let pid = Pid::from_child(&server.child);
    let call = tool_call("grep", json!({"pattern": "[a-d][a-h]{80}[a-d]{40}"})).to_string();
    let head = POST.replace("{address}", &server.address).replace("{token}", &server.token);
    let head = head.replace('\n', "\r\n");
    for _ in 0..8 {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{call}", call.len()).unwrap();
        wait_until_busy(pid);
    }
    // A search that the client does not cancel runs for half a minute.
    wait_until_idle(pid);
    kill_process(pid, Signal::TERM).expect("signals");
    assert_eq!(server.child.wait().expect("ends").code(), Some(0));
}

#[test]
fn the_stateless_revision_needs_no_initialize() {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = request("tools/call", json!({"name": "ls", "arguments": {}, "_meta": meta}));
    let head =
        format!("{POST}\nMCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: ls");
    let answer = Server::start().send(&head, &call.to_string());
    assert_eq!(answer.status(), 200, "{}", answer.text);
    assert!(answer.body().contains("\"resultType\":\"complete\""), "{}", answer.text);
}

#[test]
fn an_unknown_protocol_revision_is_refused() {
    let head = format!("{POST}\nMCP-Protocol-Version: 1999-01-01");
    let list = request("tools/list", json!({})).to_string();
    assert_eq!(Server::start().send(&head, &list).status(), 400);
}

#[test]
fn a3_65_a_body_up_to_32_mib_is_read_and_no_more() {
    let server = Server::start();
    let write = |bytes: usize| {
        tool_call("write_file", json!({"path": "big", "content": "x".repeat(bytes)})).to_string()
    };
    let answer = server.send(POST, &write(5 * 1024 * 1024));
    assert!(answer.body().contains("limit max_content"), "read whole: {}", answer.text);
    assert_eq!(server.send(POST, &write(32 * 1024 * 1024)).status(), 413);
}

#[test]
fn parallel_appends_lose_nothing() {
    let server = Server::start();
    let append = tool_call("write_file", json!({"path": "a", "content": "x\n", "mode": "append"}));
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| server.post(&append));
        }
    });
    let answer = server.post(&tool_call("read_file", json!({"path": "a"})));
    assert_eq!(answer["result"]["structuredContent"]["total_lines"], 16, "{answer}");
}

#[test]
fn a_client_works_in_a_fork_by_its_name() {
    let server = Server::start();
    let call = |name: &str, arguments: Value| server.call(name, arguments);
    call("write_file", json!({"path": "a", "content": "one\n"}));
    call("fork", json!({"name": "idea"}));
    let edit = json!({"path": "a", "old_string": "one", "new_string": "two", "fork": "idea"});
    assert_eq!(call("edit_file", edit)["isError"], false);
    let read = |arguments: Value| call("read_file", arguments).to_string();
    assert!(read(json!({"path": "a"})).contains("one"));
    assert!(read(json!({"path": "a", "fork": "idea"})).contains("two"));
    call("merge", json!({"name": "idea"}));
    assert!(read(json!({"path": "a"})).contains("two"));
    let unknown = call("read_file", json!({"path": "a", "fork": "ideal"}));
    assert!(unknown.to_string().contains("did you mean `idea`?"), "{unknown}");
}

#[test]
fn a_fork_that_is_no_text_is_refused() {
    let server = Server::start();
    let refused = server.call("ls", json!({"fork": 7}));
    assert_eq!(refused["structuredContent"]["error"], "invalid_argument", "{refused}");
    let message = refused["structuredContent"]["message"].as_str().expect("a message");
    assert!(message.starts_with("`fork` must be a string"), "{message}");
}

#[test]
fn forks_are_offered_only_with_the_tool_that_makes_them() {
    let server = Server::start_with(&["--port", "0", "--tools", "files"]);
    let tools = server.post(&request("tools/list", json!({})));
    assert!(!tools.to_string().contains("\"fork\""), "{tools}");
    let refused = server.call("read_file", json!({"path": "a", "fork": "idea"}));
    assert_eq!(refused["structuredContent"]["error"], "invalid_argument", "{refused}");
}
