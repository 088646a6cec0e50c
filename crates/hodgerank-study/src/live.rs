//! The ranking of the votes so far.
//!
//! A thread fits all votes anew with the default method, at most once a second and only if there are new votes.
//! It is the same computation as `hodgerank rank` on the exported votes, so that the ranking is never an
//! approximation of it. The informative pairs are chosen from the same fit.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use hodgerank::annotators::judge;
use hodgerank::diagnose::{Certainty, NextPlace};
use hodgerank::next_pairs::Posterior;
use hodgerank::{FitOptions, IntervalOptions, Model, RankedStudy, Settled, Vote, Votes};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::selection::Queue;
use crate::store::{Database, Engine, Item, Settings, StoredVote, now};

/// The shortest time between two fits.
const INTERVAL: Duration = Duration::from_secs(1);
/// Fewest and most pairs in the queue.
const QUEUE: (u64, u64) = (128, 4096);

/// What the owner's page shows.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Snapshot {
    /// Votes that count.
    pub votes: usize,
    /// Votes in each of the last 30 minutes, the last one first.
    pub per_minute: Vec<usize>,
    /// The items with votes, best first.
    pub ranking: Vec<Place>,
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

/// An item of the live ranking.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the fields are those of a row of the ranking")]
pub struct Place {
    pub rank: u32,
    pub item: String,
    pub score: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub rank_low: Option<u32>,
    pub rank_high: Option<u32>,
    pub tier: Option<u32>,
    pub component: u32,
    pub votes: u64,
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
                let snapshot = self.refit(version).unwrap_or_else(|error| Snapshot {
                    problem: Some(error.to_string()),
                    ..Snapshot::default()
                });
                shared.is_settled.store(snapshot.is_settled, Ordering::Relaxed);
                let mut place = self.live.0.write().unwrap_or_else(PoisonError::into_inner);
                *place = Arc::new(snapshot);
                seen = Some(version);
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
        let votes = self.database.votes()?;
        let ranked = rank(&items, &votes)?;
        let posterior = posterior(&items, ranked.as_ref())?;
        let asked = self.engine.shared.asked.load(Ordering::Relaxed);
        let pairs = (4 * (asked - self.asked)).clamp(QUEUE.0, QUEUE.1);
        self.asked = asked;
        let queue = Queue::fill(&posterior, pairs as usize, settings.until_top, version)?;
        *self.engine.shared.queue.lock().unwrap_or_else(PoisonError::into_inner) = queue;
        let voters = self.database.voters()?;
        let mut found = snapshot(&settings, &items, &votes, voters, ranked.as_ref());
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
    voters: Vec<(String, u64, bool)>,
    ranked: Option<&RankedStudy>,
) -> Snapshot {
    let place = |row: hodgerank::RankedItem<&str>| Place {
        rank: row.rank,
        item: row.item.to_owned(),
        score: row.score,
        low: row.interval.map(|ends| ends.0).filter(|end| end.is_finite()),
        high: row.interval.map(|ends| ends.1).filter(|end| end.is_finite()),
        rank_low: row.rank_range.map(|range| range.0),
        rank_high: row.rank_range.map(|range| range.1),
        tier: row.tier,
        component: row.component,
        votes: row.comparisons,
    };
    let ranking: Vec<Place> =
        ranked.map_or(Vec::new(), |ranked| ranked.rows().map(place).collect());
    let known: std::collections::HashSet<&str> =
        ranking.iter().map(|place| place.item.as_str()).collect();
    let labels = items.iter().map(|item| item.label.as_str());
    let without_votes: Vec<String> =
        labels.filter(|label| !known.contains(label)).map(str::to_owned).collect();
    let components = ranked.map_or(0, |ranked| ranked.input.components);
    let is_whole = without_votes.is_empty() && components == 1;
    let is_settled = settings.until_top.is_some_and(|top| {
        let surely = |place: &&Place| place.rank_high.is_some_and(|worst| worst as usize <= top);
        is_whole && ranking.iter().filter(surely).count() == top
    });
    let settled = ranked.filter(|_| is_whole);
    Snapshot {
        votes: votes.len(),
        per_minute: per_minute(votes),
        voters: summaries(votes, voters, ranked),
        method: ranked.map(|ranked| ranked.fit.method.info().name),
        settled: settled
            .and_then(|ranked| Settled::of_ranking(&ranked.ranking, 1))
            .map(|settled| settled.sentence()),
        next_place: None,
        ranking,
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

fn per_minute(votes: &[StoredVote]) -> Vec<usize> {
    let (now, mut minutes) = (now(), vec![0; 30]);
    for vote in votes {
        if let Some(count) = minutes.get_mut(((now - vote.at).max(0) / 60_000) as usize) {
            *count += 1;
        }
    }
    minutes
}

fn summaries(
    votes: &[StoredVote],
    voters: Vec<(String, u64, bool)>,
    ranked: Option<&RankedStudy>,
) -> Vec<VoterSummary> {
    let mut judged = HashMap::new();
    if let Some(ranked) = ranked
        && let (Some(Model::Crowd(flags)), Some(own)) = (&ranked.fit.model, &ranked.annotator_votes)
    {
        for person in judge(&flags.crowd, own, &ranked.annotators, &ranked.items) {
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
    let summary = |(name, votes, is_excluded): (String, u64, bool)| {
        let (class, verdict) = judged.remove(&name).unzip();
        let class = class.flatten().map(|class| class.to_string());
        let repeated = repeated.get(name.as_str()).copied().unwrap_or_default();
        VoterSummary { name, votes, is_excluded, class, verdict, repeated }
    };
    voters.into_iter().filter(|(_, votes, _)| *votes > 0).map(summary).collect()
}
