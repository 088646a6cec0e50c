//! `hodgerank rank`: votes in, ranking out.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;

use hodgerank::fit::{self, Fit, FitOptions, Method};
use hodgerank::path::Parameter;
use hodgerank::{ComparisonGraph, Labels, Ranking};
use hodgerank_io::read::Progress;
use hodgerank_io::write::{
    ComponentSummary, Document, InputSummary, MethodSummary, OutlierSummary, Output, RankTable,
    RankedRow, RejectedSummary,
};
use hodgerank_io::{Input, Rejected, Study};

use super::annotators;
use super::second_look::SecondLook;
use crate::args::{InputOptions, OutputFormat, OutputOptions, RankOptions};
use crate::failure::Failure;
use crate::places;
use crate::table::{self, Style, visible};
use crate::terminal::{Terminal, Work, thousands};

pub(crate) fn run(
    options: &RankOptions,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    // Everything that can be refused is refused before the work.
    let fit_options = options.method.fit_options()?;
    let format = options.output.format()?;
    let output = Output::create(options.output.output.as_deref().unwrap_or("-"))?;

    let check = |input: &Input| match options.require_connected {
        true => input.studies.iter().try_for_each(check_connected),
        false => Ok(()),
    };
    let (tables, rejected) = if format == OutputFormat::Json {
        let look = SecondLook::new(&options.input, &fit_options, threads, terminal, check)?;
        with_annotators(look, terminal)?
    } else {
        let input = read(&options.input, threads, terminal)?;
        terminal.list_rejected(&input.rejected);
        check(&input)?;
        let rejected = input.rejected;
        let rank = |study| rank_study(study, rejected.total, &fit_options, terminal);
        (input.studies.into_iter().map(rank).collect::<Result<_, _>>()?, rejected)
    };
    write(&tables, &RejectedSummary::from(&rejected), format, &options.output, output)
}

/// The rankings and, where the input says who voted, what a second pass tells of the annotators.
fn with_annotators(
    look: SecondLook,
    terminal: &Terminal,
) -> Result<(Vec<RankTable>, Rejected), Failure> {
    let known = look.tables.iter().any(|table| table.has_annotator);
    let lists = if known { annotators::list(&look, terminal)? } else { Vec::new() };
    let mut lists = lists.into_iter();
    let table = |study: JudgedStudy| RankTable { annotators: lists.next(), ..study.table };
    Ok((look.studies.into_iter().map(table).collect(), look.rejected))
}

/// Reads the files, with progress.
pub(crate) fn read(
    options: &InputOptions,
    threads: usize,
    terminal: &Terminal,
) -> Result<Input, Failure> {
    let files = &options.files;
    places::check_inputs(files, terminal)?;
    let size = |file: &String| std::fs::metadata(file).map_or(0, |metadata| metadata.len());
    let progress = Arc::new(Progress::default());
    let reading = Work::Reading(files.iter().map(size).sum(), &progress);
    let read_options = options.read_options(threads);
    let input = terminal.watch(reading, || hodgerank_io::read(files, &read_options, &progress))?;
    Ok(input)
}

/// A study, what was made of it, and what is said about it.
pub(crate) struct JudgedStudy {
    pub(crate) items: Labels,
    pub(crate) graph: ComparisonGraph,
    pub(crate) fit: Fit,
    pub(crate) table: RankTable,
}

/// Ranks one study.
pub(crate) fn rank_study(
    study: Study,
    rejected: u64,
    options: &FitOptions,
    terminal: &Terminal,
) -> Result<RankTable, Failure> {
    judge(study, rejected, options, terminal).map(|judged| judged.table)
}

/// Ranks one study and keeps what it takes to look at single votes.
pub(crate) fn judge(
    study: Study,
    rejected: u64,
    options: &FitOptions,
    terminal: &Terminal,
) -> Result<JudgedStudy, Failure> {
    let Study { by, items, groups, rows, comparisons, annotators } = study;
    let graph = ComparisonGraph::new(items.len(), groups)?;
    let fit = terminal.watch(Work::Step("solving"), || fit::fit(&graph, options))?;
    let ranking = Ranking::new(&graph, &fit.scores).with_flagged(&graph, &fit.flagged);
    let input = InputSummary {
        rows,
        rejected,
        comparisons,
        items: graph.items(),
        groups: graph.groups().len(),
        annotators,
        components: graph.components().len(),
    };
    let table = RankTable {
        by,
        input,
        method: method_summary(&fit, options),
        ranking: RankedRow::of(&ranking, &items),
        components: component_summaries(&graph),
        outliers: outlier_summary(&fit, comparisons),
        annotators: None,
        status: fit.status,
        warnings: warnings(&graph, &fit),
    };
    announce(&table, terminal);
    Ok(JudgedStudy { items, graph, fit, table })
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

fn outlier_summary(fit: &Fit, comparisons: u64) -> OutlierSummary {
    let flagged: f64 = fit.flagged.iter().sum();
    let fraction = if comparisons > 0 { flagged / comparisons as f64 } else { 0.0 };
    OutlierSummary { comparisons: flagged as u64, fraction }
}

fn component_summaries(graph: &ComparisonGraph) -> Vec<ComponentSummary> {
    let components = graph.components();
    if components.len() <= 1 {
        return Vec::new();
    }
    let mut summaries: Vec<ComponentSummary> = components
        .iter()
        .enumerate()
        .map(|(c, members)| ComponentSummary {
            component: c as u32 + 1,
            items: members.len(),
            comparisons: 0,
        })
        .collect();
    let pairs = graph.pairs();
    for (&left, &weight) in pairs.left.iter().zip(&pairs.weight) {
        summaries[components.of[left as usize] as usize].comparisons += weight as u64;
    }
    summaries
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
        ("iteration-limit", Some(linear)) => warnings.push(format!(
            "the solver stopped at its iteration limit with a relative residual of {:.1e}; raise \
             --max-iterations or try --backend sparse",
            linear.residual
        )),
        ("iteration-limit", None) => warnings.push(
            "the method stopped at its limit of steps before it came to where it was to stop"
                .to_owned(),
        ),
        ("disconnected", _) => warnings.push(
            "the votes still trusted no longer connect all items, so no more votes were flagged"
                .to_owned(),
        ),
        _ => {}
    }
    warnings
}

fn announce(table: &RankTable, terminal: &Terminal) {
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
    terminal.note(&format!(
        "{by}{} items, {} votes{annotators} ({} distinct), method {}{flagged}",
        thousands(items as u64),
        thousands(comparisons),
        thousands(groups as u64),
        table.method.name,
    ));
    for warning in &table.warnings {
        terminal.warn(&format!("{by}{warning}"));
    }
}

fn check_connected(study: &Study) -> Result<(), Failure> {
    let graph = ComparisonGraph::new(study.items.len(), study.groups.clone())?;
    if graph.components().len() <= 1 {
        return Ok(());
    }
    Err(disconnected(&graph, &study.items, study.by.as_deref()))
}

fn disconnected(graph: &ComparisonGraph, items: &Labels, by: Option<&str>) -> Failure {
    const LISTED: usize = 10;
    const NAMES: usize = 5;
    let components = graph.components();
    let describe = |(c, members): (usize, &[u32])| {
        let names: Vec<String> =
            members.iter().take(NAMES).map(|&i| visible(items.name(i))).collect();
        let more = if members.len() > NAMES { ", …" } else { "" };
        format!("\n  component {} ({} items): {}{more}", c + 1, members.len(), names.join(", "))
    };
    let mut problem = match by {
        Some(by) => format!("{}: ", visible(by)),
        None => String::new(),
    };
    problem.push_str(&format!("the votes fall into {} components:", components.len()));
    problem.extend(components.iter().enumerate().take(LISTED).map(describe));
    if components.len() > LISTED {
        problem.push_str(&format!("\n  … and {} more", components.len() - LISTED));
    }
    let help = "collect votes between the components, or leave --require-connected out to rank \
                each on its own";
    Failure::Unanswerable { problem, help: help.to_owned() }
}

/// Writes the tables in the form asked for.
pub(crate) fn write(
    tables: &[RankTable],
    rejected: &RejectedSummary,
    format: OutputFormat,
    options: &OutputOptions,
    mut output: Output,
) -> Result<(), Failure> {
    let written = match format {
        OutputFormat::Csv => RankTable::write_csv(tables, &mut output),
        OutputFormat::Parquet => {
            let mut bytes = Vec::new();
            RankTable::write_parquet(tables, &mut bytes)
                .and_then(|()| io::Write::write_all(&mut output, &bytes))
        }
        OutputFormat::Json => document(tables, rejected).write_json(&mut output),
        OutputFormat::Table => {
            let style = Style::here(options);
            let tables =
                tables.iter().try_for_each(|table| table::write(table, style, &mut output));
            tables.and_then(|()| match rejected.rows {
                0 => Ok(()),
                rows => writeln!(output, "{} rows were rejected and not counted", thousands(rows)),
            })
        }
    };
    written.map_err(|error| output.error(error))?;
    output.finish()?;
    Ok(())
}

fn document<'a>(tables: &'a [RankTable], rejected: &'a RejectedSummary) -> Document<'a> {
    let (table, groups_by) = match tables {
        [only] if only.by.is_none() => (Some(only), None),
        several => (None, Some(several)),
    };
    Document { schema: Document::SCHEMA, table, groups_by, rejected }
}

impl Style {
    /// Fits the terminal, or 100 columns without colour where there is none.
    pub(crate) fn here(options: &OutputOptions) -> Self {
        const PAGE: u16 = 100;
        let screen = options.output.is_none() && io::stdout().is_terminal();
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|no| !no.is_empty());
        let width = if screen { comfy_table::Table::new().width() } else { None };
        Self { width: width.unwrap_or(PAGE), styled: screen && !no_colour, top: options.top }
    }
}
