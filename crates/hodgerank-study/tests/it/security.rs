//! Who may do what.

use serde_json::{Value, json};

use crate::client::{Running, id, send, settings, start};

#[test]
fn only_secrets_open_doors() {
    let study = start(3, Some(2), &settings());
    for secret in ["", "0", &"0".repeat(40), &study.owner()] {
        for path in ["/api/state", "/api/consent", "/api/join"] {
            assert_eq!(study.post(path, secret, &Value::Null).status, 401, "{path}");
        }
    }
    for path in ["/api/owner/state", "/api/owner/votes.csv"] {
        assert_eq!(study.post(path, &study.secret(0), &Value::Null).status, 401);
        assert_eq!(study.post(path, &study.owner(), &Value::Null).status, 200);
    }
    let exclude = json!({ "voter": "voter-1", "excluded": true });
    assert_eq!(study.post("/api/owner/exclude", &study.secret(0), &exclude).status, 401);
    // The database has no secret in it.
    let database = std::fs::read(study.folder.join("study.db")).unwrap();
    let secret = study.secret(0);
    assert!(!database.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()));
}

#[test]
fn other_sites_get_nothing() {
    let study = start(3, Some(1), &settings());
    let (secret, _) = study.agree(0);
    let state = |headers| study.post_with("/api/state", &secret, "{}", headers).status;
    assert_eq!(state("Origin: http://elsewhere.example\r\n"), 403);
    assert_eq!(state("Origin: null\r\n"), 403);
    assert_eq!(state("Sec-Fetch-Site: cross-site\r\n"), 403);
    assert_eq!(state(&format!("Origin: http://{}\r\n", study.address)), 200);
    let get = |path, headers| study.get(path, headers).status;
    assert_eq!(
        get("/page/voter.js", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"),
        403
    );
    assert_eq!(get("/", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"), 200);
    assert_eq!(get("/", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"), 403);
}

#[test]
fn only_items_are_files() {
    let study = start(3, Some(1), &settings());
    let (_, state) = study.agree(0);
    let address = state["pairs"][0]["left"]["address"].as_str().unwrap();
    let item = study.get(address, "");
    assert!(item.status == 200 && item.body.starts_with("item "), "{}", item.body);
    for path in [
        "/item/../study.db",
        "/item/..%2Fstudy.db",
        "/item/%2e%2e%2flinks.txt",
        "/study.db",
        "/links.txt",
        "/page/..%2f..%2fCargo.toml",
        "/item/",
        "/item/0",
        "/api/state",
    ] {
        let status = study.get(path, "").status;
        assert!(matches!(status, 400 | 404 | 405), "{path}: {status}");
    }
}

#[test]
fn every_response_is_protected() {
    let study = start(3, Some(1), &settings());
    for path in ["/", "/owner", "/page/voter.js", "/language.json", "/nothing"] {
        let head = study.get(path, "").head;
        for header in ["content-security-policy: default-src 'none'", "nosniff", "no-referrer"] {
            assert!(head.contains(header), "{path}: {head}");
        }
        assert!(!head.contains("set-cookie") && !head.contains("access-control"), "{head}");
    }
}

#[test]
fn large_and_broken_requests_are_refused() {
    let study = start(3, Some(1), &settings());
    let (secret, _) = study.agree(0);
    let large = format!("{{\"id\":\"{}\"}}", "x".repeat(5000));
    assert_eq!(study.post_with("/api/vote", &secret, &large, "").status, 413);
    assert_eq!(study.post_with("/api/vote", &secret, "{", "").status, 400);
    assert_eq!(send(study.address, "nonsense\r\n\r\n").status, 400);
    let many = (0..200).map(|_| study.post("/api/state", &secret, &Value::Null).status);
    assert!(many.filter(|status| *status == 429).count() > 0);
}

#[test]
fn the_owner_pauses_and_excludes() {
    let mut study = start(4, Some(2), &settings());
    let (secret, state) = study.agree(0);
    let pause = |study: &Running, paused| {
        study.post("/api/owner/pause", &study.owner(), &json!({ "paused": paused })).status
    };
    assert_eq!(pause(&study, true), 200);
    assert_eq!(study.vote(&secret, &id(1), &state, "left").status, 423);
    study.restart();
    assert_eq!(study.vote(&secret, &id(1), &state, "left").status, 423, "pauses survive");
    assert_eq!(study.post("/api/state", &secret, &Value::Null).json()["paused"], true);
    assert_eq!(pause(&study, false), 200);
    assert_eq!(study.vote(&secret, &id(1), &state, "left").status, 200);
    let exclude = json!({ "voter": "voter-1", "excluded": true });
    assert_eq!(study.post("/api/owner/exclude", &study.owner(), &exclude).status, 200);
    assert_eq!(study.vote(&secret, &id(2), &state, "left").status, 423);
    study.restart();
    assert_eq!(study.vote(&secret, &id(2), &state, "left").status, 423, "exclusions survive");
    let votes = study.post("/api/owner/votes.csv", &study.owner(), &Value::Null).body;
    assert_eq!(votes.lines().count(), 1, "the votes of excluded voters do not count: {votes}");
}
