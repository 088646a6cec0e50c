//! Which pairs to predict: all, those among some items (`--items`), or those in a file (`--pairs`).

use std::io::Read as _;

use hodgerank::{Labels, RankedStudy, Study};
use hodgerank_io::text::visible_name;

use super::{PredictArgs, check_number};
use crate::failure::Failure;
use crate::input::VoteSource;
use crate::text::{closest, visible};

/// The pairs that were asked for, by label.
#[derive(Debug)]
pub(super) enum Wanted {
    All,
    Neighbours,
    Items(Vec<String>),
    Pairs(PairsFile),
}

/// The rows of a file of pairs.
#[derive(Debug)]
pub(super) struct PairsFile {
    /// What messages call it.
    name: String,
    rows: Vec<PairsRow>,
    /// Whether the first row is known to be a header.
    has_header: bool,
}

#[derive(Debug)]
struct PairsRow {
    line: u64,
    labels: [String; 2],
}

/// The pairs that were asked for in one study, by index.
#[derive(Debug, PartialEq)]
pub(super) enum Selection {
    All,
    Neighbours,
    Items(Vec<u32>),
    Pairs(Vec<(u32, u32)>),
}

impl Wanted {
    /// Reads the options, and the file of pairs, so that a wrong file is refused before votes are read.
    pub(super) fn new(
        args: &PredictArgs,
        votes: &VoteSource,
        neighbours: bool,
    ) -> Result<Self, Failure> {
        match (&args.pairs, &args.items[..]) {
            (Some(file), _) if file == "-" && votes.files().contains(file) => Err(Failure::usage(
                "standard input cannot be both the votes and the pairs",
                "read one of them from a file",
            )),
            (Some(file), _) => PairsFile::open(file).map(Self::Pairs),
            (None, []) if neighbours && !args.matrix => Ok(Self::Neighbours),
            (None, []) => Ok(Self::All),
            (None, [only]) => Err(Failure::usage(
                format!("--items names one item, {}", visible(only)),
                "name two items or more, separated by commas: --items a,b,c",
            )),
            (None, items) => Ok(Self::Items(items.to_vec())),
        }
    }

    /// The pairs in each study.
    pub(super) fn selections(&self, studies: &[Study]) -> Result<Vec<Selection>, Failure> {
        let rows = match self {
            Self::Pairs(file) => file.pairs(studies),
            _ => &[],
        };
        studies.iter().map(|study| self.selection(study, rows)).collect()
    }

    fn selection(&self, study: &Study, rows: &[PairsRow]) -> Result<Selection, Failure> {
        let by = study.by.as_deref();
        match self {
            Self::Neighbours => Ok(Selection::Neighbours),
            Self::All => {
                check_number(study.items.len(), by)?;
                Ok(Selection::All)
            }
            Self::Items(names) => {
                let mut found = Vec::with_capacity(names.len());
                for name in names {
                    let item = find(&study.items, name, by, "--items")?;
                    if found.contains(&item) {
                        return Err(Failure::usage(
                            format!("--items names {} twice", visible(name)),
                            "name every item once",
                        ));
                    }
                    found.push(item);
                }
                check_number(found.len(), by)?;
                Ok(Selection::Items(found))
            }
            Self::Pairs(file) => {
                let pair = |row: &PairsRow| {
                    let place = format!("{}, line {}", file.name, row.line);
                    let [left, right] = &row.labels;
                    let pair = (
                        find(&study.items, left, by, &place)?,
                        find(&study.items, right, by, &place)?,
                    );
                    if pair.0 == pair.1 {
                        return Err(Failure::usage(
                            format!("{place}: {} is compared with itself", visible(left)),
                            "a pair has two different items",
                        ));
                    }
                    Ok(pair)
                };
                rows.iter().map(pair).collect::<Result<_, _>>().map(Selection::Pairs)
            }
        }
    }
}

/// The index of an item.
fn find(items: &Labels, name: &str, by: Option<&str>, place: &str) -> Result<u32, Failure> {
    if let Some(item) = items.get(name.as_bytes()) {
        return Ok(item);
    }
    let study = by.map_or(String::new(), |by| format!("{}: ", visible(by)));
    let problem = match name.is_empty() {
        true => format!("{place}: the name of an item is missing"),
        false => format!("{study}{place}: there is no item {}", visible(name)),
    };
    let help = match (closest(name, items.iter()).filter(|_| !name.is_empty()), by) {
        (Some(known), _) => format!("the most similar item is {}", visible(known)),
        (None, None) => "name items as they are in the votes".to_owned(),
        (None, Some(_)) => "name items that are in all studies".to_owned(),
    };
    Err(Failure::usage(problem, help))
}

impl PairsFile {
    /// Reads a file, which may be compressed; `-` is standard input.
    fn open(path: &str) -> Result<Self, Failure> {
        let mut bytes = Vec::new();
        let mut reader = hodgerank_io::read::open_file(path)?;
        let cannot_read = |source| hodgerank_io::Error::Read { file: path.into(), source };
        reader.read_to_end(&mut bytes).map_err(cannot_read)?;
        Self::parse(&visible_name(path), &bytes)
    }

    fn parse(name: &str, bytes: &[u8]) -> Result<Self, Failure> {
        let refused = |problem: String| {
            Failure::usage(
                format!("{name}{problem}"),
                "a file of pairs is UTF-8 text in CSV, with the left item and the right item in each line",
            )
        };
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter(bytes))
            .from_reader(bytes);
        let mut columns = [0, 1];
        let mut rows = Vec::new();
        let mut has_header = false;
        for record in reader.byte_records() {
            let record = record.map_err(|error| refused(format!(": {error}")))?;
            // A record starts after the one before it, and so with the blank lines between them.
            let line = record.position().map_or(0, |start| {
                let blank = bytes[start.byte() as usize..].iter();
                let blank = blank.take_while(|byte| matches!(byte, b'\n' | b'\r'));
                start.line() + blank.filter(|byte| **byte == b'\n').count() as u64
            });
            if rows.is_empty() {
                let named = |wanted: &str| {
                    let is_named = |cell: &[u8]| cell.eq_ignore_ascii_case(wanted.as_bytes());
                    record.iter().position(is_named)
                };
                if let (Some(left), Some(right)) = (named("left"), named("right")) {
                    (columns, has_header) = ([left, right], true);
                }
            }
            let cell = |column: usize| {
                let cell = record.get(column);
                let cell =
                    cell.ok_or_else(|| refused(format!(", line {line}: an item is missing")))?;
                let text = std::str::from_utf8(cell);
                text.map(str::to_owned).map_err(|_| refused(format!(", line {line}: no UTF-8")))
            };
            rows.push(PairsRow { line, labels: [cell(columns[0])?, cell(columns[1])?] });
        }
        match rows.len() > usize::from(has_header) {
            true => Ok(Self { name: name.to_owned(), rows, has_header }),
            false => Err(refused(": there are no pairs".to_owned())),
        }
    }

    /// The rows without the header. A first row without any known item is a header; with one it is not,
    /// so that a typing error in a file without a header is not overlooked.
    fn pairs(&self, studies: &[Study]) -> &[PairsRow] {
        let is_item =
            |name: &String| studies.iter().any(|study| study.items.get(name.as_bytes()).is_some());
        let has_header = self.has_header || !self.rows[0].labels.iter().any(is_item);
        &self.rows[usize::from(has_header)..]
    }
}

/// The separator of the first line: a comma, or a tab or semicolon if there is no comma.
fn delimiter(bytes: &[u8]) -> u8 {
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let found = [b',', b'\t', b';'].into_iter().find(|separator| line.contains(separator));
    found.unwrap_or(b',')
}

impl Selection {
    /// The items of a matrix: those that were named, or all of them, best first.
    pub(super) fn items(&self, ranked: &RankedStudy) -> Vec<u32> {
        match self {
            Self::Items(items) => items.clone(),
            _ => ranked.ranking.items.iter().map(|row| row.item).collect(),
        }
    }

    /// The pairs, each with the better item on the left unless they were listed.
    pub(super) fn pairs(&self, ranked: &RankedStudy) -> Vec<(u32, u32)> {
        match self {
            Self::Pairs(pairs) => pairs.clone(),
            Self::Neighbours => {
                let mut rows = ranked.ranking.items.clone();
                // Stable, so that items of equal rank stay in order.
                rows.sort_by_key(|row| (row.component, row.rank));
                let pairs = rows.windows(2).filter(|pair| pair[0].component == pair[1].component);
                pairs.map(|pair| (pair[0].item, pair[1].item)).collect()
            }
            Self::All | Self::Items(_) => {
                let items = &self.items(ranked)[..];
                let from = |k: usize| items[k + 1..].iter().map(move |&right| (items[k], right));
                (0..items.len()).flat_map(from).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(u64, String)> {
        let file = PairsFile::parse("p.csv", text.as_bytes()).unwrap();
        let mut votes = hodgerank::Votes::new();
        votes.prefer("cat", "dog");
        let studies = [votes.study().unwrap()];
        file.pairs(&studies).iter().map(|row| (row.line, row.labels.join("|"))).collect()
    }

    #[test]
    fn columns_and_headers_of_pairs() {
        let cat = |line| vec![(line, "cat|dog".to_owned())];
        assert_eq!(pairs("left,right\ncat,dog\n"), cat(2));
        assert_eq!(pairs("\u{feff}id,Right,Left\n7,dog,cat\n"), cat(2));
        assert_eq!(pairs("first\tsecond\n\ncat\tdog\n"), cat(3));
        assert_eq!(pairs("cat;dog"), cat(1));
        // One known item: a pair with a typing error, not a header.
        assert_eq!(pairs("cat,dgo\n").len(), 1);
        for bad in ["", "left,right\n", "cat\n", "left,right\ncat\n"] {
            assert!(PairsFile::parse("p.csv", bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(PairsFile::parse("p.csv", b"cat,\xff\n").is_err());
    }
}
