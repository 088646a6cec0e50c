//! What differs between dialects of SQL: quotes and the type of whole numbers.

use clap::ValueEnum;

/// A dialect of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub enum Dialect {
    /// DuckDB
    DuckDb,
    /// PostgreSQL
    Postgres,
    /// Spark SQL and Databricks
    Spark,
    /// BigQuery
    BigQuery,
    /// Snowflake
    Snowflake,
    /// ClickHouse
    ClickHouse,
}

impl Dialect {
    /// The name of a column.
    ///
    /// Quoted names are compared with regard to case by PostgreSQL and Snowflake. Snowflake stores names that
    /// were created without quotes in upper case, so that ordinary names stay without quotes there.
    pub(super) fn quoted(self, name: &str) -> String {
        match self {
            Self::Snowflake if is_ordinary(name) => name.to_owned(),
            Self::DuckDb | Self::Postgres | Self::Snowflake => {
                format!("\"{}\"", name.replace('"', "\"\""))
            }
            Self::Spark => format!("`{}`", name.replace('`', "``")),
            Self::BigQuery | Self::ClickHouse => {
                format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`"))
            }
        }
    }

    /// The name of a table, which may be qualified by dots.
    pub(super) fn table(self, name: &str) -> String {
        match self {
            // One pair of quotes may enclose all parts, and project names have dashes.
            Self::BigQuery => self.quoted(name),
            _ => name.split('.').map(|part| self.quoted(part)).collect::<Vec<_>>().join("."),
        }
    }

    /// The sum of a column of counts, as a whole number.
    pub(super) fn sum(self, column: &str) -> String {
        let whole_number = match self {
            Self::BigQuery => "INT64",
            Self::ClickHouse => "Int64",
            _ => "BIGINT",
        };
        format!("CAST(SUM({column}) AS {whole_number})")
    }
}

/// Whether Snowflake accepts a name without quotes.
fn is_ordinary(name: &str) -> bool {
    /// Keywords that are also likely names of columns.
    const RESERVED: [&str; 12] = [
        "left", "right", "by", "group", "order", "from", "select", "table", "row", "rows", "start",
        "values",
    ];
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|other| other.is_ascii_alphanumeric() || other == '_')
        && !RESERVED.contains(&name.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_inside_names_are_escaped() {
        for (dialect, expected) in [
            (Dialect::DuckDb, r#""a""b`c\d""#),
            (Dialect::Postgres, r#""a""b`c\d""#),
            (Dialect::Snowflake, r#""a""b`c\d""#),
            (Dialect::Spark, r#"`a"b``c\d`"#),
            (Dialect::BigQuery, r#"`a"b\`c\\d`"#),
            (Dialect::ClickHouse, r#"`a"b\`c\\d`"#),
        ] {
            assert_eq!(dialect.quoted(r#"a"b`c\d"#), expected, "{dialect:?}");
        }
    }

    #[test]
    fn names_of_snowflake_keep_their_case() {
        assert_eq!(Dialect::Snowflake.quoted("model_a"), "model_a");
        assert_eq!(Dialect::Snowflake.quoted("Left"), "\"Left\"");
        assert_eq!(Dialect::Snowflake.quoted("Option A"), "\"Option A\"");
    }

    #[test]
    fn tables_are_qualified() {
        assert_eq!(Dialect::Postgres.table("study.votes"), r#""study"."votes""#);
        assert_eq!(Dialect::BigQuery.table("my-project.study.votes"), "`my-project.study.votes`");
    }
}
