//! A study ranked, and what is said about it.

use hodgerank::fit::{self, Fit, FitOptions, Method};
use hodgerank::path::{Entry, Parameter};
use hodgerank::{ComparisonGraph, Groups, Labels, Ranking, Status};
use hodgerank_io::Study;
use hodgerank_io::write::{
    ComponentSummary, InputSummary, MethodSummary, OutlierSummary, RankTable, RankedRow,
};
use hodgerank_report::words::thousands;

use crate::failure::Failure;
use crate::watch::{Watch, Work};
use crate::words::visible;

/// A study, what was made of it, and what is said about it.
#[derive(Debug)]
pub struct RankedStudy {
    /// Names of the items.
    pub items: Labels,
    /// The votes.
    pub graph: ComparisonGraph,
    /// Scores and flagged votes.
    pub fit: Fit,
    /// What is said about them.
    pub table: RankTable,
}

impl RankedStudy {
    /// The same judgement beside other groups of the same items: those of a few files, where the
    /// team's files were judged together. `flagged` and `entries` are what was said of these groups;
    /// entries stand in order of suspicion.
    ///
    /// # Errors
    /// If a group names an item that does not exist.
    pub fn beside(
        self,
        groups: Groups,
        flagged: Vec<f64>,
        entries: Vec<Entry>,
    ) -> Result<Self, Failure> {
        let graph = ComparisonGraph::new(self.items.len(), groups)?;
        Ok(Self { graph, fit: Fit { flagged, entries, ..self.fit }, ..self })
    }
}

/// Items and votes of one study as the mathematics wants them. Votes may be shared with others
/// ([`ComparisonGraph::shared`]); what is counted here is counted over everyone.
#[derive(Debug)]
pub struct CountedStudy {
    /// The value of the `--by` column.
    pub by: Option<String>,
    /// Names of the items.
    pub items: Labels,
    /// The votes.
    pub graph: ComparisonGraph,
    /// Different votes.
    pub groups: usize,
    /// Rows counted.
    pub rows: u64,
    /// Votes counted.
    pub comparisons: u64,
    /// Different annotators.
    pub annotators: usize,
}

impl CountedStudy {
    /// The study of one machine.
    ///
    /// # Errors
    /// If there are too many items or votes to be numbered.
    pub fn new(study: Study) -> Result<Self, Failure> {
        let Study { by, items, groups, rows, comparisons, annotators } = study;
        let (distinct, annotators) = (groups.len(), annotators.len());
        let graph = ComparisonGraph::new(items.len(), groups)?;
        Ok(Self { by, items, graph, groups: distinct, rows, comparisons, annotators })
    }
}

/// Ranks one study and keeps what it takes to look at single votes.
///
/// # Errors
/// If an option makes no sense for the votes, or a solver fails.
pub fn rank_study(
    study: CountedStudy,
    rejected: u64,
    options: &FitOptions,
    watch: &dyn Watch,
) -> Result<RankedStudy, Failure> {
    let CountedStudy { by, items, graph, groups, rows, comparisons, annotators } = study;
    let fit = watch.watch(Work::Step("solving"), || fit::fit(&graph, options))??;
    let ranking = Ranking::new(&graph, &fit.scores).with_flagged(&graph, &fit.flagged);
    let input = InputSummary {
        rows,
        rejected,
        comparisons,
        items: graph.items(),
        groups,
        annotators,
        components: graph.components().len(),
    };
    let table = RankTable {
        by,
        input,
        method: method_summary(&fit, options),
        ranking: RankedRow::of(&ranking, &items),
        components: component_summaries(&graph),
        outliers: outlier_summary(&graph, &fit, comparisons),
        annotators: None,
        status: fit.status.as_str(),
        warnings: warnings(&graph, &fit),
    };
    announce(&table, watch);
    Ok(RankedStudy { items, graph, fit, table })
}

fn method_summary(fit: &Fit, options: &FitOptions) -> MethodSummary {
    let at = |wanted| fit.stop.filter(|(parameter, _)| *parameter == wanted).map(|(_, at)| at);
    MethodSummary {
        name: fit.method.as_str(),
        chosen: options.method.is_none().then_some("by cost"),
        ridge: (fit.method == Method::Ridge).then_some(options.ridge),
        lambda: at(Parameter::Lambda),
        time: at(Parameter::Time),
        kappa: options.kappa,
        dt: options.dt,
        cv: fit.cross_validation.as_ref().map(Into::into),
        backend: fit.linear.map(|linear| linear.backend),
        iterations: fit.linear.map(|linear| linear.iterations),
        residual: fit.linear.map(|linear| linear.residual),
    }
}

fn outlier_summary(graph: &ComparisonGraph, fit: &Fit, comparisons: u64) -> OutlierSummary {
    let flagged = graph.communicator().sum_scalar(fit.flagged_votes());
    let fraction = if comparisons > 0 { flagged / comparisons as f64 } else { 0.0 };
    OutlierSummary { comparisons: flagged as u64, fraction }
}

fn component_summaries(graph: &ComparisonGraph) -> Vec<ComponentSummary> {
    let components = graph.components();
    if components.len() <= 1 {
        return Vec::new();
    }
    let pairs = graph.pairs();
    let mut votes = vec![0.0; components.len()];
    for (&left, &weight) in pairs.left.iter().zip(&pairs.weight) {
        votes[components.of[left as usize] as usize] += weight;
    }
    graph.communicator().sum(&mut votes);
    let summary = |(c, (members, votes)): (usize, (&[u32], f64))| ComponentSummary {
        component: c as u32 + 1,
        items: members.len(),
        comparisons: votes as u64,
    };
    components.iter().zip(votes).enumerate().map(summary).collect()
}

fn warnings(graph: &ComparisonGraph, fit: &Fit) -> Vec<String> {
    let mut warnings = Vec::new();
    let components = graph.components();
    if components.len() > 1 {
        let alone = components.singletons().count();
        let mut text = format!(
            "the votes fall into {} components that no vote connects; each is ranked on its own, \
             and ranks and scores of different components do not compare",
            components.len()
        );
        if alone > 0 {
            text.push_str(&format!(" ({alone} items were compared with nothing)"));
        }
        warnings.push(text);
    }
    match (fit.status, fit.linear) {
        (Status::IterationLimit, Some(linear)) => warnings.push(format!(
            "the solver stopped at its iteration limit with a relative residual of {:.1e}; raise \
             --max-iterations or try --backend sparse",
            linear.residual
        )),
        (Status::IterationLimit, None) => warnings.push(
            "the method stopped at its limit of steps before it came to where it was to stop"
                .to_owned(),
        ),
        (Status::Disconnected, _) => warnings.push(
            "the votes still trusted no longer connect all items, so no more votes were flagged"
                .to_owned(),
        ),
        _ => {}
    }
    warnings
}

fn announce(table: &RankTable, watch: &dyn Watch) {
    let InputSummary { items, comparisons, groups, annotators, .. } = table.input;
    let by = table.by.as_ref().map_or(String::new(), |by| format!("{}: ", visible(by)));
    let annotators = if annotators > 0 {
        format!(" by {} annotators", thousands(annotators as u64))
    } else {
        String::new()
    };
    let flagged = match table.outliers {
        OutlierSummary { comparisons: 0, .. } => String::new(),
        OutlierSummary { comparisons, fraction } => {
            format!(", {} votes flagged ({:.1}%)", thousands(comparisons), 100.0 * fraction)
        }
    };
    watch.note(&format!(
        "{by}{} items, {} votes{annotators} ({} distinct), method {}{flagged}",
        thousands(items as u64),
        thousands(comparisons),
        thousands(groups as u64),
        table.method.name,
    ));
    for warning in &table.warnings {
        watch.warn(&format!("{by}{warning}"));
    }
}
