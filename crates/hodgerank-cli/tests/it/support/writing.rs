//! Every command that writes: how to call it, and what it writes.

use super::TestDir;

/// A command that writes files.
pub(crate) struct WritingCommand {
    pub(crate) name: &'static str,
    /// Arguments without the input; `OUT` is replaced by the folder of the outputs.
    pub(crate) arguments: &'static [&'static str],
    /// The outputs, in their folder.
    pub(crate) outputs: &'static [&'static str],
    pub(crate) reads_votes: bool,
}

const fn reading(
    name: &'static str,
    arguments: &'static [&'static str],
    outputs: &'static [&'static str],
) -> WritingCommand {
    WritingCommand { name, arguments, outputs, reads_votes: true }
}

/// All of them. `every_command_that_writes_is_listed` fails if one is missing.
pub(crate) const WRITING_COMMANDS: &[WritingCommand] = &[
    reading("rank", &["-o", "OUT/rank.csv"], &["rank.csv"]),
    reading("certify", &["-o", "OUT/certify.json", "--method", "l2"], &["certify.json"]),
    reading("compare", &["-o", "OUT/compare.json", "--methods", "l2,hlasso"], &["compare.json"]),
    reading("path", &["-o", "OUT/path.parquet", "--method", "hlasso"], &["path.parquet"]),
    reading("outliers", &["-o", "OUT/outliers.csv.gz", "--all"], &["outliers.csv.gz"]),
    reading("annotators", &["-o", "OUT/judged.csv"], &["judged.csv"]),
    reading(
        "clean",
        &["-o", "OUT/kept.csv", "--flagged", "OUT/flagged.csv.zst"],
        &["kept.csv", "flagged.csv.zst"],
    ),
    reading("decompose", &["-o", "OUT/decompose.json"], &["decompose.json"]),
    reading("diagnose", &["-o", "OUT/diagnose.txt"], &["diagnose.txt"]),
    reading("predict", &["-o", "OUT/predicted.csv"], &["predicted.csv"]),
    reading("next", &["-o", "OUT/next.csv"], &["next.csv"]),
    reading("report", &["-o", "OUT/report.html"], &["report.html"]),
    WritingCommand {
        name: "simulate",
        arguments: &["--votes", "60000", "-o", "OUT/votes.csv", "--truth", "OUT/truth.csv"],
        outputs: &["votes.csv", "truth.csv"],
        reads_votes: false,
    },
    WritingCommand {
        name: "demo",
        arguments: &["-o", "OUT/demo.html"],
        outputs: &["demo.html"],
        reads_votes: false,
    },
    WritingCommand {
        name: "experiment",
        arguments: &["shoes", "--out", "OUT"],
        outputs: &[
            "shoes.csv",
            "shoes-claims.csv",
            "shoes-scores.svg",
            "shoes-scores.pdf",
            "shoes-scores.png",
        ],
        reads_votes: false,
    },
    WritingCommand {
        name: "man",
        arguments: &["OUT"],
        outputs: &[
            "hodgerank-annotators.1",
            "hodgerank-certify.1",
            "hodgerank-clean.1",
            "hodgerank-compare.1",
            "hodgerank-completions.1",
            "hodgerank-decompose.1",
            "hodgerank-demo.1",
            "hodgerank-diagnose.1",
            "hodgerank-experiment.1",
            "hodgerank-man.1",
            "hodgerank-next.1",
            "hodgerank-outliers.1",
            "hodgerank-path.1",
            "hodgerank-predict.1",
            "hodgerank-rank.1",
            "hodgerank-report.1",
            "hodgerank-simulate.1",
            "hodgerank.1",
        ],
        reads_votes: false,
    },
];

impl WritingCommand {
    /// The arguments of a run that reads `input` and writes to the folder `out`.
    pub(crate) fn arguments(&self, input: &str, out: &str) -> Vec<String> {
        let mut all = vec![self.name.to_owned()];
        all.extend(self.reads_votes.then(|| input.to_owned()));
        all.extend(self.arguments.iter().map(|argument| argument.replace("OUT", out)));
        all
    }

    /// Creates the folder `name` with an old version of each output.
    pub(crate) fn write_old_outputs(&self, dir: &TestDir, name: &str) {
        std::fs::create_dir_all(dir.path().join(name)).expect("the folder can be created");
        for output in self.outputs {
            dir.write(&format!("{name}/{output}"), OLD);
        }
    }
}

/// What an output contains before a run.
pub(crate) const OLD: &[u8] = b"the old output";
