//! A study and its fit: everything that is known once a study has been ranked.

use std::sync::atomic::AtomicU64;

use crate::annotator_votes::AnnotatorVotes;
use crate::error::Result;
use crate::fit::{Fit, Model, fit_with_annotators};
use crate::flag_reason::FlagReason;
use crate::graph::{ComparisonGraph, Components, Groups};
use crate::labels::Labels;
use crate::options::FitOptions;
use crate::path::Entry;
use crate::ranking::{RankedItem, Ranking};
use crate::scale::{Anchor, EloScale};
use crate::solve::crowd::AnnotatorEstimate;
use crate::study::{InputSummary, Study};
use crate::uncertainty::{FittedVotes, IntervalOptions, Uncertainty};

/// A study, its fit and its ranking.
#[derive(Debug, Clone)]
pub struct RankedStudy {
    /// The value of the column that separates studies (`--by`).
    pub by: Option<String>,
    /// Item labels; an item's index is its position.
    pub items: Labels,
    /// The distinct votes.
    pub graph: ComparisonGraph,
    /// The size of the study.
    pub input: InputSummary,
    /// The options of the fit.
    pub options: FitOptions,
    /// Scores and flagged votes.
    pub fit: Fit,
    /// The items, best first.
    pub ranking: Ranking,
    /// How sure the ranking is, if it was estimated.
    pub uncertainty: Option<Uncertainty>,
    /// The scale of the scores in `ranking`; `None` if they are those of the fit.
    pub elo: Option<EloScale>,
    /// How many votes are flagged.
    pub outliers: OutlierSummary,
    /// The components in which the items are ranked, if there are several.
    pub components: Vec<ComponentSummary>,
    /// Labels of the annotators, if their votes were kept.
    pub annotators: Labels,
    /// Every vote with its annotator, if it was kept.
    pub annotator_votes: Option<AnnotatorVotes>,
}

impl RankedStudy {
    /// Ranks a study; `rejected` rows of the input were not counted.
    ///
    /// # Errors
    /// If an option is invalid for the votes, or a solver fails.
    pub fn new(study: Study, rejected: u64, options: &FitOptions) -> Result<Self> {
        let Study { by, items, groups, annotators, annotator_votes, sides, rows, comparisons } =
            study;
        let distinct = groups.len();
        let graph = ComparisonGraph::new(items.len(), groups)?.with_sides(sides);
        let input = InputSummary {
            rows,
            rejected,
            comparisons,
            items: items.len(),
            groups: distinct,
            annotators: annotators.len(),
            components: graph.components().len(),
        };
        let fitted = fit_with_annotators(&graph, annotator_votes.as_ref(), options);
        let fit = fitted.map_err(|error| error.with_labels(&items))?;
        let ranked = Self::of_fit(by, items, graph, input, options, fit);
        Ok(Self { annotators, annotator_votes, ..ranked })
    }

    /// Why votes of each distinct vote are flagged, if they are; empty if votes are judged by their
    /// annotators.
    #[must_use]
    pub fn flag_reasons(&self) -> Vec<FlagReason> {
        match (&self.fit.model, &self.fit.bad_probability) {
            (Some(Model::Crowd(_)), _) => Vec::new(),
            (_, Some(bad)) => bad.iter().map(|&p| FlagReason::of_probability(p)).collect(),
            (_, None) => FlagReason::of_residuals(self.graph.groups(), &self.fit.scores),
        }
    }

    /// Ranks votes that may be distributed over several processes; `input` describes all of them.
    /// `annotators` are those of this process with all their votes, as [`fit_with_annotators`] needs
    /// them.
    ///
    /// # Errors
    /// If an option is invalid for the votes, or a solver fails.
    pub fn of_graph(
        by: Option<String>,
        items: Labels,
        graph: ComparisonGraph,
        input: InputSummary,
        (annotators, annotator_votes): (Labels, Option<AnnotatorVotes>),
        options: &FitOptions,
    ) -> Result<Self> {
        let fitted = fit_with_annotators(&graph, annotator_votes.as_ref(), options);
        let fit = fitted.map_err(|error| error.with_labels(&items))?;
        let ranked = Self::of_fit(by, items, graph, input, options, fit);
        Ok(Self { annotators, annotator_votes, ..ranked })
    }

    fn of_fit(
        by: Option<String>,
        items: Labels,
        graph: ComparisonGraph,
        input: InputSummary,
        options: &FitOptions,
        fit: Fit,
    ) -> Self {
        let ranking = Ranking::within(&graph, &fit.components, &fit.scores)
            .with_flagged(&graph, &fit.flagged);
        let outliers = OutlierSummary::new(&graph, &fit, input.comparisons);
        let components = component_summaries(&graph, &fit.components);
        let (options, annotators, annotator_votes) = (*options, Labels::new(), None);
        Self {
            by,
            items,
            graph,
            input,
            options,
            fit,
            ranking,
            uncertainty: None,
            elo: None,
            outliers,
            components,
            annotators,
            annotator_votes,
        }
    }

    /// The same ranking next to other votes on the same items: the votes of this process's own
    /// files, where several processes ranked all votes together.
    ///
    /// # Errors
    /// If a vote refers to an item that does not exist.
    pub fn with_local_votes(self, local: LocalResults) -> Result<Self> {
        let LocalResults { groups, flagged, entries, bad_probability, annotators, estimates } =
            local;
        let graph = ComparisonGraph::new(self.items.len(), groups)?;
        let mut fit = Fit { flagged, entries, bad_probability, ..self.fit };
        if let Some(Model::Crowd(flags)) = &mut fit.model {
            flags.crowd.annotators = estimates;
        }
        Ok(Self { graph, fit, annotators, annotator_votes: None, ..self })
    }

    /// The same ranking with standard errors, intervals, ranges of ranks and tiers, where they can be
    /// estimated. Before [`RankedStudy::with_elo`].
    ///
    /// # Errors
    /// As [`Uncertainty::new`].
    pub fn with_uncertainty(self, options: &IntervalOptions) -> Result<Self> {
        self.with_counted_uncertainty(options, &AtomicU64::new(0))
    }

    /// The same, with the number of draws of a bootstrap counted in `done`.
    ///
    /// # Errors
    /// As [`Uncertainty::new`].
    pub fn with_counted_uncertainty(
        mut self,
        options: &IntervalOptions,
        done: &AtomicU64,
    ) -> Result<Self> {
        let fitted = FittedVotes {
            graph: &self.graph,
            votes: self.annotator_votes.as_ref(),
            fit: &self.fit,
            options: &self.options,
        };
        self.uncertainty = Uncertainty::new(&fitted, options, done)?;
        if let Some(uncertainty) = &self.uncertainty {
            self.ranking = self.ranking.with_uncertainty(uncertainty);
        }
        Ok(self)
    }

    /// The same ranking with its scores on the Elo scale; those of the fit stay as they are.
    /// Collective where several processes share the votes.
    ///
    /// # Errors
    /// As [`EloScale::new`].
    pub fn with_elo(mut self, anchor: Option<&Anchor>) -> Result<Self> {
        let elo = EloScale::new(&self.graph, &self.items, &self.fit, anchor)?;
        for row in &mut self.ranking.items {
            let score = self.fit.scores[row.item as usize];
            row.score = elo.points(score, row.component);
            row.interval = row.interval.map(|(low, high)| {
                (elo.points(low, row.component), elo.points(high, row.component))
            });
            let unit = elo.points(score + 1.0, row.component) - row.score;
            row.se = row.se.map(|se| unit * se);
        }
        self.elo = Some(elo);
        Ok(self)
    }

    /// The rows of the ranking with their labels, best first.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = RankedItem<&str>> {
        self.ranking.items.iter().map(|row| row.with_label(&self.items))
    }
}

/// The results for the votes of a process's own files.
#[derive(Debug, Clone, Default)]
pub struct LocalResults {
    /// The distinct votes.
    pub groups: Groups,
    /// How many votes of each distinct vote are flagged.
    pub flagged: Vec<f64>,
    /// In order of suspicion.
    pub entries: Vec<Entry>,
    /// For each distinct vote, the probability that one of its votes is bad, if it is known.
    pub bad_probability: Option<Vec<f64>>,
    /// Labels of the annotators of these votes, if the method judges them.
    pub annotators: Labels,
    /// What is known about them, by index.
    pub estimates: Vec<AnnotatorEstimate>,
}

/// How many votes are flagged.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct OutlierSummary {
    /// Flagged votes.
    pub comparisons: u64,
    /// Their share of all votes.
    pub fraction: f64,
}

impl OutlierSummary {
    fn new(graph: &ComparisonGraph, fit: &Fit, comparisons: u64) -> Self {
        let flagged = graph.communicator().sum_scalar(fit.flagged_votes());
        let fraction = if comparisons > 0 { flagged / comparisons as f64 } else { 0.0 };
        Self { comparisons: flagged as u64, fraction }
    }
}

/// One connected component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ComponentSummary {
    /// Its number, from 1; the largest component comes first.
    pub component: u32,
    /// Its items.
    pub items: usize,
    /// The votes between its items.
    pub comparisons: u64,
}

fn component_summaries(graph: &ComparisonGraph, components: &Components) -> Vec<ComponentSummary> {
    if components.len() <= 1 {
        return Vec::new();
    }
    let pairs = graph.pairs();
    let mut votes = vec![0.0; components.len()];
    for ((&left, &right), &weight) in pairs.left.iter().zip(&pairs.right).zip(&pairs.weight) {
        let [left, right] = [left, right].map(|item| components.of[item as usize]);
        if left == right {
            votes[left as usize] += weight;
        }
    }
    graph.communicator().sum(&mut votes);
    let summary = |(c, (members, votes)): (usize, (&[u32], f64))| ComponentSummary {
        component: c as u32 + 1,
        items: members.len(),
        comparisons: votes as u64,
    };
    components.iter().zip(votes).enumerate().map(summary).collect()
}
