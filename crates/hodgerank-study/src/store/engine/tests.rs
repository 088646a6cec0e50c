use super::*;
use crate::create::create;
use crate::store::{Answer, VoterState};

fn state(reply: Option<Vec<Reply>>) -> Option<VoterState> {
    match reply?.pop()? {
        Ok(Answer::State(state)) => Some(state),
        other => panic!("{other:?}"),
    }
}

/// A study with one voter.
fn writer() -> (tempfile::TempDir, Writer) {
    let place = tempfile::tempdir().unwrap();
    let list = place.path().join("items.txt");
    let names: Vec<String> = (0..50).map(|item| format!("item {item}")).collect();
    std::fs::write(&list, names.join("\n")).unwrap();
    let (folder, question) = (place.path().join("study"), "Which?".to_owned());
    let settings = Settings { question, ties: false, repeats: 0.0, pairs: 1000, until_top: None };
    create(&folder, &list, &settings, Some(1)).unwrap();
    let writer = Writer::open(&folder).unwrap();
    (place, writer)
}

fn vote(number: usize, voter: &VoterState) -> Action {
    let (id, shown) = (format!("{number:032}"), voter.pairs[0].shown);
    Action::Vote { voter: 1, id, shown, choice: Choice::Left }
}

/// What a fit reads later is what happened after what it read first.
#[test]
fn later_events_follow_those_that_were_read() {
    let (_place, mut writer) = writer();
    let mut voter = state(writer.carry_out(&[Action::Consent(1)])).unwrap();
    for number in 0..3 {
        voter = state(writer.carry_out(&[vote(number, &voter)])).unwrap();
    }
    let first = writer.database.read().unwrap();
    assert_eq!((first.votes.len(), first.pending.len()), (3, 2));
    voter = state(writer.carry_out(&[vote(3, &voter)])).unwrap();
    state(writer.carry_out(&[vote(4, &voter)])).unwrap();
    let later = writer.database.later(first.seen).unwrap();
    // Both votes are on the pairs that were pending, and each brought a new pair.
    assert_eq!((later.shown.len(), later.votes.len()), (2, 2));
    let voted: Vec<(u32, u32)> = later.votes.iter().map(|&(i, j, _)| (i, j)).collect();
    assert_eq!(voted, first.pending);
    assert!(later.votes.iter().all(|&(_, _, wins)| wins == 1.0));
    let none = writer.database.later(later.seen).unwrap();
    assert_eq!((none.shown.len(), none.votes.len(), none.seen), (0, 0, later.seen));
}

/// A page that is loaded again changes nothing, so that nothing is fitted anew.
#[test]
fn only_changes_lead_to_a_fit() {
    let (_place, mut writer) = writer();
    let version = |writer: &Writer| writer.shared.version.load(Ordering::Relaxed);
    let voter = state(writer.carry_out(&[Action::Consent(1)])).unwrap();
    let before = version(&writer);
    state(writer.carry_out(&[Action::State(1)])).unwrap();
    assert_eq!(version(&writer), before);
    state(writer.carry_out(&[vote(0, &voter)])).unwrap();
    assert_eq!(version(&writer), before + 1);
}

/// The database may not grow any more, as on a full disk: the vote is refused, nothing is lost, and it is stored when
/// there is space again.
#[test]
fn a_full_disk_refuses_votes_and_loses_none() {
    let (_place, mut writer) = writer();
    let mut voter = state(writer.carry_out(&[Action::Consent(1)])).unwrap();
    let limit = |writer: &Writer, pages: u32| {
        let connection = &writer.database.connection;
        connection.pragma_update(None, "max_page_count", pages).unwrap();
    };
    let pages: u32 = writer
        .database
        .connection
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .unwrap();
    limit(&writer, pages + 1);
    let mut stored = 0;
    while let Some(next) = state(writer.carry_out(&[vote(stored, &voter)])) {
        (voter, stored) = (next, stored + 1);
        assert!(stored < 1000, "the limit has no effect");
    }
    let problem = lock(&writer.shared.problem).clone().unwrap();
    assert!(problem.contains("full"), "{problem}");
    // Still full: the same answer, and reading works.
    assert_eq!(writer.carry_out(&[vote(stored, &voter)]), None);
    assert_eq!(writer.database.votes().unwrap().len(), stored);
    limit(&writer, pages + 1000);
    let after = state(writer.carry_out(&[vote(stored, &voter)])).unwrap();
    assert_eq!((after.voted, writer.database.votes().unwrap().len()), (stored + 1, stored + 1));
    assert_eq!(*lock(&writer.shared.problem), None);
}
