//! What the team made of the votes in one's own files.
//!
//! Equal votes were judged by the one member that owns their pair. Whoever reads a file again asks
//! the owners: flagged or not, and where it entered the path. Questions and answers travel in
//! rounds of at most [`ROUND`] groups of each member, so that memory for letters stays bounded.
//!
//! Methods that a team can run flag equal votes all or none, so that one answer holds for the votes
//! of a group wherever they were read.

use hodgerank::Groups;
use hodgerank::path::{Entry, Parameter};
use hodgerank_commands::{Failure, RankedStudy};

use crate::mail::{Mail, Words};

/// Groups that a member asks about at a time.
const ROUND: usize = if cfg!(test) { 3 } else { 1 << 18 };

/// Bits of an answer's first word; the numbers that they announce follow.
mod mark {
    pub(super) const FLAGGED: u64 = 1;
    pub(super) const ENTERED: u64 = 2;
    pub(super) const LEFT: u64 = 4;
}

/// The team's judgement beside the groups of one's own files. `owner` tells whose a pair is.
///
/// # Errors
/// If there are too many groups to be numbered.
pub(crate) fn beside(
    mail: &dyn Mail,
    judged: RankedStudy,
    own: Groups,
    owner: impl Fn(u32, u32) -> usize,
) -> Result<RankedStudy, Failure> {
    let answers = ask(mail, &judged, &own, owner);
    let order = judged.fit.stop.map_or(Parameter::Time, |(parameter, _)| parameter);
    let mut entries = answers.entries;
    // As a path lists them: by λ or t, then larger residuals first, then by group.
    let at = |entry: &Entry| if order == Parameter::Lambda { -entry.at } else { entry.at };
    entries.sort_by(|a, b| {
        let size = |entry: &Entry| entry.residual.abs();
        at(a).total_cmp(&at(b)).then(size(b).total_cmp(&size(a))).then(a.group.cmp(&b.group))
    });
    judged.beside(own, answers.flagged, entries)
}

#[derive(Debug, Default)]
struct Answers {
    /// Flagged votes of each group.
    flagged: Vec<f64>,
    /// In the order of the groups.
    entries: Vec<Entry>,
}

fn ask(
    mail: &dyn Mail,
    judged: &RankedStudy,
    own: &Groups,
    owner: impl Fn(u32, u32) -> usize,
) -> Answers {
    let most = mail.everyones(vec![own.len() as u64]).into_iter().flatten().max().unwrap_or(0);
    let said = Said::new(judged);
    let mut answers = Answers::default();
    for start in (0..most as usize).step_by(ROUND) {
        let asked = start.min(own.len())..(start + ROUND).min(own.len());
        let owners: Vec<usize> = asked.clone().map(|g| owner(own.left[g], own.right[g])).collect();
        let mut questions = vec![Words::new(); mail.members()];
        for (g, &owner) in asked.clone().zip(&owners) {
            let pair = u64::from(own.left[g]) << 32 | u64::from(own.right[g]);
            questions[owner].extend([pair, own.y[g].to_bits()]);
        }
        let questions = mail.exchange(questions);
        let replies = mail.exchange(questions.iter().map(|asked| said.reply(asked)).collect());
        let mut replies: Vec<_> = replies.into_iter().map(Vec::into_iter).collect();
        for (g, &owner) in asked.zip(&owners) {
            answers.take(g, own.weight[g], &mut replies[owner]);
        }
    }
    answers
}

impl Answers {
    /// Reads the answer on the next group. A letter that is too short says nothing of it.
    fn take(&mut self, g: usize, weight: f64, reply: &mut impl Iterator<Item = u64>) {
        let marks = reply.next().unwrap_or(0);
        self.flagged.push(if marks & mark::FLAGGED != 0 { weight } else { 0.0 });
        let mut number =
            |follows: bool| follows.then(|| reply.next().map(f64::from_bits)).flatten();
        let (at, residual) =
            (number(marks & mark::ENTERED != 0), number(marks & mark::ENTERED != 0));
        let left_at = number(marks & mark::LEFT != 0);
        if let (Some(at), Some(residual)) = (at, residual) {
            self.entries.push(Entry { group: g as u32, at, residual, left_at });
        }
    }
}

/// What an owner has to say.
struct Said<'a> {
    groups: &'a Groups,
    flagged: &'a [f64],
    /// By group.
    entries: Vec<Entry>,
}

impl<'a> Said<'a> {
    fn new(judged: &'a RankedStudy) -> Self {
        let mut entries = judged.fit.entries.clone();
        entries.sort_unstable_by_key(|entry| entry.group);
        Self { groups: judged.graph.groups(), flagged: &judged.fit.flagged, entries }
    }

    fn reply(&self, questions: &[u64]) -> Words {
        let mut reply = Words::with_capacity(questions.len() / 2);
        for &[pair, y] in questions.as_chunks::<2>().0 {
            let (left, right) = ((pair >> 32) as u32, pair as u32);
            let g = self.groups.find(left, right, f64::from_bits(y));
            let g = g.expect("every vote was handed to the owner of its pair");
            let entry = self.entries.binary_search_by_key(&(g as u32), |entry| entry.group);
            let entry = entry.ok().map(|place| self.entries[place]);
            let left_at = entry.and_then(|entry| entry.left_at);
            let mut marks = if self.flagged[g] > 0.0 { mark::FLAGGED } else { 0 };
            marks |= if entry.is_some() { mark::ENTERED } else { 0 };
            marks |= if left_at.is_some() { mark::LEFT } else { 0 };
            reply.push(marks);
            reply.extend(
                entry.iter().flat_map(|entry| [entry.at, entry.residual]).map(f64::to_bits),
            );
            reply.extend(left_at.map(f64::to_bits));
        }
        reply
    }
}

#[cfg(test)]
mod tests {
    use hodgerank::{ComparisonGraph, FitOptions, Labels, Method};
    use hodgerank_commands::{CountedStudy, Watch, Work, rank_study};

    use super::*;
    use crate::mail::together;

    struct Nobody;

    impl Observer for Nobody {
        fn note(&self, _: &str) {}

        fn warn(&self, _: &str) {}

        fn during(&self, _: Task<'_>, work: &mut dyn FnMut()) {
            work();
        }
    }

    /// Every pair of five items, with both outcomes.
    fn all_groups() -> Vec<(u32, u32, f64)> {
        let pairs = (0..5).flat_map(|i| (i + 1..5).map(move |j| (i, j)));
        pairs.flat_map(|(i, j)| [(i, j, -1.0), (i, j, 1.0)]).collect()
    }

    fn groups(of: impl Iterator<Item = (u32, u32, f64)>, weight: f64) -> Groups {
        let mut groups = Groups::default();
        for (left, right, y) in of {
            groups.left.push(left);
            groups.right.push(right);
            groups.y.push(y);
            groups.weight.push(weight);
        }
        groups
    }

    /// What is said of a group here: a rule that needs no solver.
    fn rule((left, right, y): (u32, u32, f64)) -> (bool, Option<Entry>) {
        let at = f64::from(left + right);
        let left_at = (left == 0).then_some(at + 0.5);
        let entry = Entry { group: 0, at, residual: y * f64::from(left + 1), left_at };
        (right == 4, (right >= 3).then_some(entry))
    }

    #[test]
    fn owners_tell_what_was_found() {
        let owner =
            |members: usize| move |left: u32, right: u32| (left * 3 + right) as usize % members;
        for members in [1, 2, 4] {
            let work = |mail: &dyn Mail| {
                let owner = owner(members);
                let mine = |&(left, right, _): &(u32, u32, f64)| owner(left, right) == mail.me();
                let owned: Vec<_> = all_groups().into_iter().filter(mine).collect();
                let graph = ComparisonGraph::new(5, groups(owned.iter().copied(), 2.0)).unwrap();
                let items: Labels = ["a", "b", "c", "d", "e"].into_iter().collect();
                let study = CountedStudy {
                    by: None,
                    items,
                    graph,
                    groups: 20,
                    rows: 40,
                    comparisons: 40,
                    annotators: 0,
                };
                let options = FitOptions::new().method(Method::L2);
                let mut judged = rank_study(study, 0, &options, &Nobody).unwrap();
                judged.fit.stop = Some((Parameter::Lambda, 1.0));
                for (g, &group) in owned.iter().enumerate() {
                    let (flagged, entry) = rule(group);
                    judged.fit.flagged[g] = if flagged { 2.0 } else { 0.0 };
                    let entry = entry.map(|entry| Entry { group: g as u32, ..entry });
                    judged.fit.entries.extend(entry);
                }
                // The last member has read nothing; the others different parts.
                let read = all_groups().into_iter().skip(mail.me());
                let read = read.filter(|_| members == 1 || mail.me() + 1 < members);
                beside(mail, judged, groups(read, 1.0), owner).unwrap()
            };
            for (member, study) in together(members, work).into_iter().enumerate() {
                let own = study.graph.groups();
                let expected = if members > 1 && member + 1 == members { 0 } else { 20 - member };
                assert_eq!(own.len(), expected);
                for g in 0..own.len() {
                    let (flagged, entry) = rule((own.left[g], own.right[g], own.y[g]));
                    assert_eq!(study.fit.flagged[g], if flagged { 1.0 } else { 0.0 });
                    let found = study.fit.entries.iter().find(|entry| entry.group == g as u32);
                    let entry = entry.map(|entry| Entry { group: g as u32, ..entry });
                    assert_eq!(found.copied(), entry);
                }
                // λ falls along the path.
                let falls =
                    |a: &Entry, b: &Entry| (a.at, a.residual.abs()) >= (b.at, b.residual.abs());
                assert!(study.fit.entries.is_sorted_by(falls));
            }
        }
    }
}
