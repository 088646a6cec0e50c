//! The ranking of the votes so far.
//!
//! A thread fits all votes anew with the default method, at most once a second and only if there are new votes.
//! It is the same computation as `hodgerank rank` on the exported votes, so that the ranking is never an
//! approximation of it. The posterior from which pairs are chosen comes from the same fit.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use hodgerank::annotators::judge;
use hodgerank::diagnose::{Certainty, NextPlace};
use hodgerank::next_pairs::Posterior;
use hodgerank::{
    FitOptions, IntervalOptions, Model, RankedItem, RankedStudy, Settled, Vote, Votes,
};
use hodgerank_report::study::{LiveRanking, live_ranking};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::selection::Refit;
use crate::store::{Database, Engine, Item, Settings, StoredVote, VoterRow, lock, now};

/// The shortest time between two fits.
const INTERVAL: Duration = Duration::from_secs(1);
/// A fit is handed over when no more than this many votes and pairs shown are left to be taken into account, or after
/// so many rounds.
const FEW_EVENTS: usize = 16;
const MAX_ROUNDS: usize = 5;
/// How many minutes the chart of votes per minute has, and the milliseconds of one.
const MINUTES: usize = 30;
const MINUTE: i64 = 60_000;
/// Fewest and most pairs in the queue of a study with many items.
const QUEUE: (u64, u64) = (128, 4096);

/// What the owner's page shows.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Snapshot {
    /// Votes that count.
    pub votes: usize,
    /// When the votes of the last [`MINUTES`] minutes were cast, in milliseconds since 1970.
    #[serde(skip)]
    recent: Vec<i64>,
    /// The items with votes, best first.
    pub ranking: Option<LiveRanking>,
    /// Labels of items without votes.
    pub without_votes: Vec<String>,
    /// The voters.
    pub voters: Vec<VoterSummary>,
    /// The name of the method.
    pub method: Option<&'static str>,
    /// What is settled, as a sentence.
    pub settled: Option<String>,
    /// The first place that is not settled, and about how many votes would settle it.
    pub next_place: Option<NextPlace<String>>,
    /// How many parts of the study no vote connects; each has a ranking of its own.
    pub components: usize,
    /// Whether the stop rule is met.
    pub is_settled: bool,
    /// Why there is no ranking.
    pub problem: Option<String>,
}

/// A voter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VoterSummary {
    /// The name.
    pub name: String,
    /// Votes cast.
    pub votes: u64,
    /// Whether the votes are left out.
    pub is_excluded: bool,
    /// How the person votes, where it can be estimated.
    pub class: Option<String>,
    /// The judgement in words.
    pub verdict: Option<String>,
    /// Pairs shown again with the same answer as before, and all pairs shown again.
    pub repeated: (usize, usize),
}

/// The last snapshot.
#[derive(Debug, Clone, Default)]
pub struct Live(Arc<RwLock<Arc<Snapshot>>>);

impl Live {
    /// Starts the thread that ranks the votes of a study.
    ///
    /// # Errors
    /// If the database cannot be read, or a thread cannot be started.
    pub fn start(folder: &Path, engine: &Engine) -> Result<Self> {
        let live = Self::default();
        let worker = Worker {
            folder: folder.to_owned(),
            database: Database::open(folder)?,
            engine: engine.clone(),
            live: live.clone(),
            asked: 0,
        };
        let thread = std::thread::Builder::new().name("ranking".to_owned());
        thread.spawn(move || worker.run()).map_err(|error| Error::file(folder, error))?;
        Ok(live)
    }

    /// The last snapshot.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

struct Worker {
    folder: PathBuf,
    database: Database,
    engine: Engine,
    live: Live,
    asked: u64,
}

impl Worker {
    fn run(mut self) {
        let mut seen = None;
        loop {
            let start = Instant::now();
            let shared = Arc::clone(&self.engine.shared);
            let version = shared.version.load(Ordering::Relaxed);
            if seen != Some(version) {
                let found = self.refit(version);
                // A fit that failed, because the database is locked for example, is tried again.
                seen = found.is_ok().then_some(version);
                // A ranking that cannot be renewed stays, and the owner is told.
                let snapshot = found.unwrap_or_else(|error| Snapshot {
                    problem: Some(error.to_string()),
                    ..Snapshot::clone(&self.live.snapshot())
                });
                shared.is_settled.store(snapshot.is_settled, Ordering::Relaxed);
                let mut place = self.live.0.write().unwrap_or_else(PoisonError::into_inner);
                *place = Arc::new(snapshot);
            }
            std::thread::sleep(INTERVAL.saturating_sub(start.elapsed()).max(INTERVAL / 10));
            // Nobody looks at a study that was removed.
            if !self.folder.is_dir() {
                return;
            }
        }
    }

    fn refit(&mut self, version: u64) -> Result<Snapshot> {
        let (settings, items) = (self.database.settings()?, self.database.items()?);
        let reading = self.database.read()?;
        let ranked = rank(&items, &reading.votes)?;
        let posterior = posterior(&items, ranked.as_ref())?;
        let asked = self.engine.shared.asked.load(Ordering::Relaxed);
        let pairs = (4 * (asked - self.asked)).clamp(QUEUE.0, QUEUE.1);
        self.asked = asked;
        let queue = (pairs as usize, version);
        let top = settings.until_top;
        let mut refit = Refit::new(posterior, &reading.pending, reading.seen, top, queue)?;
        // Each round takes less time than the one before, so that there is less to catch up with.
        for _ in 0..MAX_ROUNDS {
            if refit.catch_up(&self.database.later(refit.seen())?) <= FEW_EVENTS {
                break;
            }
        }
        *lock(&self.engine.shared.refit) = Some(refit);
        let mut found =
            snapshot(&settings, &items, &reading.votes, reading.voters, ranked.as_ref());
        if let Some(ranked) = ranked.as_ref().filter(|_| found.settled.is_some()) {
            found.next_place = next_place(ranked)?;
        }
        Ok(found)
    }
}

/// Ranks votes as `hodgerank rank` does; none without votes.
///
/// # Errors
/// If a solver fails.
pub fn rank(items: &[Item], votes: &[StoredVote]) -> Result<Option<RankedStudy>> {
    let mut all = Votes::new();
    for vote in votes {
        let (left, right) = (&items[vote.left].label, &items[vote.right].label);
        all.add(Vote::new(left, right, vote.choice as f64).annotator(&vote.voter));
    }
    if all.is_empty() {
        return Ok(None);
    }
    let ranked = RankedStudy::new(all.study()?, 0, &FitOptions::default())?;
    Ok(Some(ranked.with_uncertainty(&IntervalOptions::default())?))
}

/// The posterior of all items in their own order; items without votes have that of the prior.
fn posterior(items: &[Item], ranked: Option<&RankedStudy>) -> Result<Posterior> {
    let nothing = || Posterior::without_votes(items.len());
    let Some(ranked) = ranked else { return Ok(nothing()) };
    let Ok(found) = Posterior::of_study(ranked)? else { return Ok(nothing()) };
    let own: HashMap<&str, u32> =
        items.iter().zip(0..).map(|(item, index)| (item.label.as_str(), index)).collect();
    let places: Vec<u32> = ranked.items.iter().map(|label| own[label]).collect();
    Ok(found.placed(items.len(), &places))
}

fn snapshot(
    settings: &Settings,
    items: &[Item],
    votes: &[StoredVote],
    voters: Vec<VoterRow>,
    ranked: Option<&RankedStudy>,
) -> Snapshot {
    let known: HashSet<&str> =
        ranked.map_or(HashSet::new(), |ranked| ranked.rows().map(|row| row.item).collect());
    let labels = items.iter().map(|item| item.label.as_str());
    let without_votes: Vec<String> =
        labels.filter(|label| !known.contains(label)).map(str::to_owned).collect();
    let components = ranked.map_or(0, |ranked| ranked.input.components);
    let is_whole = without_votes.is_empty() && components == 1;
    let whole = ranked.filter(|_| is_whole);
    let is_settled = whole.zip(settings.until_top).is_some_and(|(ranked, top)| {
        let is_sure =
            |row: &&RankedItem| row.rank_range.is_some_and(|(_, last)| last as usize <= top);
        ranked.ranking.items.iter().filter(is_sure).count() == top
    });
    Snapshot {
        votes: votes.len(),
        recent: recent(votes),
        voters: summaries(votes, voters, ranked),
        method: ranked.map(|ranked| ranked.fit.method.info().name),
        settled: whole
            .and_then(|ranked| Settled::of_ranking(&ranked.ranking, 1))
            .map(|settled| settled.sentence()),
        next_place: None,
        ranking: ranked.and_then(live_ranking),
        without_votes,
        components,
        is_settled,
        problem: None,
    }
}

fn next_place(ranked: &RankedStudy) -> Result<Option<NextPlace<String>>> {
    let certainty = Certainty::new(ranked)?;
    let next = certainty.and_then(|certainty| certainty.places.ok()).and_then(|places| places.next);
    let name = |item: u32| ranked.items.name(item).to_owned();
    Ok(next.map(|next| NextPlace {
        places: next.places,
        item: name(next.item),
        rival: name(next.rival),
        votes: next.votes,
    }))
}

/// When votes were cast, as far as they are counted by minute.
fn recent(votes: &[StoredVote]) -> Vec<i64> {
    let first = now() - MINUTES as i64 * MINUTE;
    votes.iter().map(|vote| vote.at).filter(|at| *at > first).collect()
}

impl Snapshot {
    /// Votes in each of the last minutes, the last one first.
    #[must_use]
    pub fn per_minute(&self) -> Vec<usize> {
        let (now, mut minutes) = (now(), vec![0; MINUTES]);
        for at in &self.recent {
            if let Some(count) = minutes.get_mut(((now - at).max(0) / MINUTE) as usize) {
                *count += 1;
            }
        }
        minutes
    }
}

fn summaries(
    votes: &[StoredVote],
    voters: Vec<VoterRow>,
    ranked: Option<&RankedStudy>,
) -> Vec<VoterSummary> {
    let mut judged = HashMap::new();
    if let Some(ranked) = ranked
        && let (Some(Model::Crowd(flags)), Some(own)) = (&ranked.fit.model, &ranked.annotator_votes)
    {
        for person in judge(&flags.crowd, own, &ranked.annotators) {
            judged.insert(person.annotator, (person.class, person.verdict));
        }
    }
    let mut first: HashMap<(&str, usize, usize), usize> = HashMap::new();
    let mut repeated: HashMap<&str, (usize, usize)> = HashMap::new();
    let winner = |vote: &StoredVote| match vote.choice {
        0 => usize::MAX,
        choice if choice > 0 => vote.left,
        _ => vote.right,
    };
    for vote in votes {
        let (low, high) = (vote.left.min(vote.right), vote.left.max(vote.right));
        let key = (vote.voter.as_str(), low, high);
        if let Some(before) = first.get(&key).filter(|_| vote.is_repeat) {
            let (same, all) = repeated.entry(&vote.voter).or_default();
            *same += usize::from(*before == winner(vote));
            *all += 1;
        } else {
            first.insert(key, winner(vote));
        }
    }
    let summary = |VoterRow { name, votes, is_excluded }: VoterRow| {
        let (class, verdict) = judged.remove(&name).unzip();
        let class = class.flatten().map(|class| class.to_string());
        let repeated = repeated.get(name.as_str()).copied().unwrap_or_default();
        VoterSummary { name, votes, is_excluded, class, verdict, repeated }
    };
    voters.into_iter().filter(|voter| voter.votes > 0).map(summary).collect()
}
