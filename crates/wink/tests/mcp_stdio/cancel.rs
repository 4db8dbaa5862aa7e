//! Calls that take long: what they say meanwhile, and how they are given up.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::mcp_stdio::scene::Client;

/// Makes a directory in which a search takes longer than a test waits.
fn large() -> Client {
    let client = Client::new(&[]);
    let mut state = 1_u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        b"abcdefgh"[(state >> 61) as usize]
    };
    let line = |_| (0..1_000).map(|_| letter()).chain([b'\n']).collect::<Vec<u8>>();
    let block: Vec<u8> = (0..4_000).flat_map(line).collect();
    std::fs::write(client.file("large.txt"), block.repeat(10)).unwrap();
    client
}

/// No line matches, and how far one is from it depends on the last hundred letters: no machine of few
/// states knows, so this is as slow as a search can be.
const SLOW: &str = "[a-d][a-h]{80}[a-d]{40}";

#[test]
fn a_search_that_takes_long_tells_of_its_progress_and_is_given_up_when_cancelled() {
    let mut client = large();
    let call =
        json!({"name": "grep", "arguments": {"pattern": SLOW}, "_meta": {"progressToken": 7}});
    let id = client.ask("tools/call", call);
    let mut last = 0.0;
    for _ in 0..2 {
        let progress = client.next();
        assert_eq!(progress["method"], "notifications/progress", "{progress}");
        assert_eq!(progress["params"]["progressToken"], 7);
        let now = progress["params"]["progress"].as_f64().expect("a number");
        assert!(now > last, "{now} comes after {last}");
        last = now;
    }
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                        "params": {"requestId": id, "reason": "enough"}});
    client.send(&cancel.to_string());
    let began = Instant::now();
    // It holds the only slot it needs, and the session ends when no call runs any more.
    client.done("ls", json!({}));
    assert_eq!(client.end().code(), Some(0));
    // A search that is not given up works for half a minute.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(
        !client.others.iter().any(|message| message["id"] == id),
        "no answer to what was given up"
    );
}

#[test]
fn without_a_token_nothing_is_told() {
    let mut client = Client::memory(&[]);
    client.done("write_file", json!({"path": "a.txt", "content": "x"}));
    client.done("grep", json!({"pattern": "x"}));
    assert!(client.others.is_empty(), "{:?}", client.others);
}
