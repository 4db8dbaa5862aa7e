//! Files and snapshots as resources.

use serde_json::{Value, json};

use crate::mcp_stdio::scene::Client;

fn read(client: &mut Client, uri: &str) -> Value {
    client.request("resources/read", json!({"uri": uri}))
}

fn content(client: &mut Client, uri: &str) -> Value {
    let answer = read(client, uri);
    assert!(answer["error"].is_null(), "{uri}: {answer}");
    answer["result"]["contents"][0].clone()
}

fn list(client: &mut Client, cursor: Option<&str>) -> (Vec<String>, Option<String>) {
    let answer = client.request("resources/list", json!({"cursor": cursor}));
    let result = &answer["result"];
    let uris = result["resources"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let uris = uris.iter().map(|it| it["uri"].as_str().expect("a uri").to_owned()).collect();
    (uris, result["nextCursor"].as_str().map(str::to_owned))
}

#[test]
fn files_are_text_or_bytes_with_their_type() {
    let mut client = Client::memory(&[]);
    client.done("write_file", json!({"path": "src/ü b.rs", "content": "fn main() {}\n"}));
    let bytes = json!({"path": "a.png", "content": "iVBORw0KGgr/", "encoding": "base64"});
    client.done("write_file", bytes);
    let (uris, more) = list(&mut client, None);
    assert_eq!(uris, ["wink://workspace/a.png", "wink://workspace/src/%C3%BC%20b.rs"]);
    assert_eq!(more, None);
    let text = content(&mut client, &uris[1]);
    assert_eq!(
        (&text["text"], &text["mimeType"]),
        (&json!("fn main() {}\n"), &json!("text/x-rust"))
    );
    let blob = content(&mut client, &uris[0]);
    assert_eq!((&blob["blob"], &blob["mimeType"]), (&json!("iVBORw0KGgr/"), &json!("image/png")));
    let names = content(&mut client, "wink://workspace/");
    assert_eq!(names["text"], "a.png\nsrc/\n");
}

#[test]
fn snapshots_keep_what_was() {
    let mut client = Client::memory(&[]);
    client.done("write_file", json!({"path": "a.txt", "content": "before\n"}));
    let id = client.done("snapshot", json!({"tag": "first"}))["id"].as_str().unwrap().to_owned();
    client
        .done("edit_file", json!({"path": "a.txt", "old_string": "before", "new_string": "after"}));
    let (uris, _) = list(&mut client, None);
    assert_eq!(uris, ["wink://workspace/a.txt".to_owned(), format!("wink://snap/{id}/")]);
    assert_eq!(content(&mut client, "wink://snap/first/a.txt")["text"], "before\n");
    assert_eq!(content(&mut client, &format!("wink://snap/{id}/a.txt"))["text"], "before\n");
    assert_eq!(content(&mut client, &uris[1])["text"], "a.txt\n");
    assert_eq!(content(&mut client, "wink://workspace/a.txt")["text"], "after\n");
}

#[test]
fn long_lists_come_in_pages_that_miss_and_repeat_nothing() {
    let mut client = Client::new(&[]);
    let first = list(&mut client, None).0;
    let mut expected = Vec::new();
    for directory in ["a", "a-b", "b/c", "z"] {
        std::fs::create_dir_all(client.file(directory)).unwrap();
        for number in 0..80 {
            let path = format!("{directory}/{number:03}.txt");
            std::fs::write(client.file(&path), "").unwrap();
            expected.push(format!("wink://workspace/{path}"));
        }
    }
    expected.extend(first);
    let snapshots: Vec<String> = (0..3)
        .map(|_| {
            format!("wink://snap/{}/", client.done("snapshot", json!({}))["id"].as_str().unwrap())
        })
        .collect();
    expected.extend(snapshots);
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let (page, next) = list(&mut client, cursor.as_deref());
        assert!(page.len() <= 100);
        all.extend(page);
        match next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(all, expected);
}

#[test]
fn a3_64_paths_are_decoded_once_and_judged_like_all_others() {
    let mut client = Client::new(&[]);
    std::fs::write(client.place.path().join("secret.txt"), "secret").unwrap();
    std::fs::write(client.file("a+b.txt"), "plus").unwrap();
    assert_eq!(content(&mut client, "wink://workspace/a+b.txt")["text"], "plus");
    for path in [
        "../secret.txt",
        "..%2fsecret.txt",
        "%2e%2e/secret.txt",
        "%252e%252e/secret.txt",
        "..%252fsecret.txt",
        "..%c0%afsecret.txt",
        "a%00.txt",
        "%0a",
        "a%2",
        "a?b",
        "%2fetc%2fpasswd",
        "/etc/passwd",
    ] {
        for uri in [format!("wink://workspace/{path}"), format!("wink://snap/x/{path}")] {
            let answer = read(&mut client, &uri);
            assert!(answer["error"].is_object(), "{uri}: {answer}");
            assert!(!answer.to_string().contains("secret\""), "{answer}");
            let place = client.place.path().to_str().unwrap();
            assert!(!answer.to_string().contains(place), "where it is on the host: {answer}");
        }
    }
    for uri in ["file:///etc/passwd", "wink://other/a", "wink://workspace", ""] {
        assert!(read(&mut client, uri)["error"].is_object(), "{uri}");
    }
}

#[test]
fn a_link_is_not_followed() {
    let mut client = Client::new(&[]);
    std::fs::write(client.place.path().join("secret.txt"), "secret").unwrap();
    std::os::unix::fs::symlink("../secret.txt", client.file("link")).unwrap();
    let answer = read(&mut client, "wink://workspace/link");
    assert!(answer["error"]["message"].to_string().contains("link"), "{answer}");
    let listed = list(&mut client, None).0;
    assert!(listed.iter().all(|it| it.starts_with("wink://snap/")), "{listed:?}");
}

#[test]
fn a_file_larger_than_a_page_is_linked() {
    let mut client = Client::new(&[]);
    std::fs::write(client.file("small.txt"), "one\ntwo\n").unwrap();
    std::fs::write(client.file("large.txt"), "some words\n".repeat(50_000)).unwrap();
    let small = client.call("read_file", json!({"path": "small.txt", "limit": 1}));
    assert_eq!(small["content"].as_array().unwrap().len(), 1, "{small}");
    let large = client.call("read_file", json!({"path": "large.txt"}));
    let link = &large["content"][1];
    assert_eq!(link["type"], "resource_link", "{link}");
    assert_eq!(link["uri"], "wink://workspace/large.txt");
    assert_eq!(link["size"], 550_000);
    let whole = content(&mut client, "wink://workspace/large.txt");
    assert_eq!(whole["text"].as_str().unwrap().len(), 550_000);
}

#[test]
fn templates_say_how_resources_are_named() {
    let answer = Client::memory(&[]).request("resources/templates/list", json!({}));
    let templates = answer["result"]["resourceTemplates"].as_array().unwrap();
    let uris: Vec<_> = templates.iter().map(|it| it["uriTemplate"].as_str().unwrap()).collect();
    assert_eq!(uris, ["wink://workspace/{+path}", "wink://snap/{id}/{+path}"]);
}
