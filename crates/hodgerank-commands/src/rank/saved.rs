//! A ranking that `rank` saved earlier as JSON.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Read};

use hodgerank::scale::ScoreScale;
use hodgerank_io::text::visible_name;
use serde::Deserialize;

use super::SCHEMA;
use crate::failure::Failure;
use crate::text::visible;

/// A ranking saved earlier.
#[derive(Debug, Clone)]
pub struct SavedRanking {
    /// What messages call it.
    pub(super) name: String,
    pub(super) studies: Vec<SavedStudy>,
}

/// One study of a saved ranking.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct SavedStudy {
    #[serde(default)]
    pub(super) by: Option<String>,
    pub(super) method: SavedMethod,
    #[serde(default)]
    pub(super) scale: SavedScale,
    pub(super) ranking: Vec<SavedItem>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct SavedMethod {
    pub(super) name: String,
}

/// The scale of the scores. Rankings on the natural scale have no entry.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct SavedScale {
    pub(super) name: String,
    #[serde(default)]
    pub(super) anchor: Option<SavedAnchor>,
}

impl Default for SavedScale {
    fn default() -> Self {
        Self { name: ScoreScale::Natural.as_str().to_owned(), anchor: None }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct SavedAnchor {
    pub(super) item: String,
    pub(super) value: f64,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct SavedItem {
    pub(super) rank: u32,
    pub(super) item: String,
    pub(super) score: f64,
    pub(super) component: u32,
}

/// The part of a document that says what it is.
#[derive(Deserialize)]
struct Header {
    schema: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Body {
    Several { groups_by: Vec<SavedStudy> },
    One(SavedStudy),
}

impl SavedRanking {
    /// Reads a file, which may be compressed; `-` is standard input.
    ///
    /// # Errors
    /// If the file cannot be read or is not a ranking.
    pub fn open(path: &str) -> Result<Self, Failure> {
        let mut reader = BufReader::new(hodgerank_io::read::open_file(path)?);
        let cannot_read = |source| hodgerank_io::Error::Read { file: path.into(), source };
        // A file of votes can be large, and need not be read to the end to see that it is no ranking.
        let start = reader.fill_buf().map_err(cannot_read)?;
        let is_object = start.trim_ascii_start().first() == Some(&b'{');
        let mut bytes = Vec::new();
        if is_object {
            reader.read_to_end(&mut bytes).map_err(cannot_read)?;
        }
        Self::parse(&visible_name(path), &bytes)
    }

    /// Reads the JSON of a ranking; messages call it `name`.
    ///
    /// # Errors
    /// If it is not a ranking.
    pub fn parse(name: &str, json: &[u8]) -> Result<Self, Failure> {
        let header = serde_json::from_slice::<Header>(json);
        let schema = header.as_ref().ok().and_then(|header| header.schema.as_deref());
        match (schema, schema.and_then(|schema| schema.strip_prefix("hodgerank/"))) {
            (Some(SCHEMA), _) => {}
            (_, Some(other)) => {
                let command = other.split('/').next().unwrap_or(other);
                return Err(match command {
                    "rank" => Failure::usage(
                        format!("{name} is a ranking in the format {}", visible(other)),
                        format!("this version reads {SCHEMA}: save the ranking again"),
                    ),
                    _ => refused(name, &format!("the output of `hodgerank {}`", visible(command))),
                });
            }
            _ if header.is_ok() => {
                return Err(refused(name, "JSON that hodgerank did not write"));
            }
            _ => return Err(refused(name, "not a JSON document")),
        }
        let invalid = |reason: &str| {
            Failure::usage(
                format!("{name} is not a complete ranking: {reason}"),
                "save the ranking again with `hodgerank rank … --format json -o FILE`",
            )
        };
        let body: Body = serde_json::from_slice(json)
            .map_err(|_| invalid("its studies have no `method` or no `ranking`"))?;
        let studies = match body {
            Body::Several { groups_by } => groups_by,
            Body::One(study) => vec![study],
        };
        for study in &studies {
            let mut seen = HashSet::with_capacity(study.ranking.len());
            for row in &study.ranking {
                if !seen.insert(row.item.as_str()) {
                    return Err(invalid(&format!("it lists {} twice", visible(&row.item))));
                }
            }
        }
        Ok(Self { name: name.to_owned(), studies })
    }
}

fn refused(name: &str, what: &str) -> Failure {
    Failure::usage(
        format!("{name} is {what}, and --against expects a ranking"),
        "save the earlier ranking with `hodgerank rank … --format json -o FILE` and name that file",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(json: &str) -> String {
        SavedRanking::parse("old.json", json.as_bytes()).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_a_ranking_is_named() {
        assert!(problem("left,right,winner\n").contains("not a JSON document"));
        assert!(problem("").contains("not a JSON document"));
        assert!(problem("{\"a\": 1}").contains("JSON that hodgerank did not write"));
        assert!(problem("{\"schema\": \"hodgerank/diagnose/1\"}").contains("`hodgerank diagnose`"));
        assert!(problem("{\"schema\": \"hodgerank/rank/9\"}").contains("in the format rank/9"));
        assert!(problem("{\"schema\": \"hodgerank/rank/1\"}").contains("no `method`"));
        let row = r#"{"rank": 1, "item": "a", "score": 0, "component": 1}"#;
        let twice = format!(
            r#"{{"schema": "hodgerank/rank/1", "method": {{"name": "l2"}}, "ranking": [{row}, {row}]}}"#
        );
        assert!(problem(&twice).contains("lists a twice"));
    }
}
