//! Access to the cells of a batch's column, whatever its type.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray, types};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

/// A column of a batch.
pub(super) enum BatchColumn<'a> {
    Absent,
    Text(TextColumn<'a>, Nulls<'a>),
    Whole(Box<dyn Fn(usize) -> i128 + 'a>, Nulls<'a>),
    Decimal(Box<dyn Fn(usize) -> f64 + 'a>, Nulls<'a>),
    Truth(Box<dyn Fn(usize) -> bool + 'a>, Nulls<'a>),
    /// Keys (arbitrary for null rows) into a dictionary of values.
    Dictionary {
        keys: Cow<'a, [i32]>,
        array: &'a ArrayRef,
        nulls: Nulls<'a>,
        values: Box<BatchColumn<'a>>,
        dictionary: &'a ArrayRef,
    },
}

/// Which rows are null; `None` if no row is.
pub(super) type Nulls<'a> = Option<&'a NullBuffer>;

/// A text column of any layout. An enum and not a trait object: labels are most of the data, and
/// calls through a pointer would be slow.
pub(super) enum TextColumn<'a> {
    Small(&'a StringArray),
    Large(&'a LargeStringArray),
    View(&'a StringViewArray),
}

impl<'a> TextColumn<'a> {
    #[inline]
    pub(super) fn value(&self, row: usize) -> &'a str {
        match self {
            Self::Small(texts) => texts.value(row),
            Self::Large(texts) => texts.value(row),
            Self::View(texts) => texts.value(row),
        }
    }
}

impl<'a> BatchColumn<'a> {
    pub(super) fn new(array: &'a ArrayRef) -> Result<Self, String> {
        let nulls = array.nulls();
        macro_rules! whole {
            ($kind:ty) => {{
                let values = array.as_primitive::<$kind>().values();
                Self::Whole(Box::new(move |row| i128::from(values[row])), nulls)
            }};
        }
        Ok(match array.data_type() {
            DataType::Utf8 => Self::Text(TextColumn::Small(array.as_string()), nulls),
            DataType::LargeUtf8 => Self::Text(TextColumn::Large(array.as_string()), nulls),
            DataType::Utf8View => Self::Text(TextColumn::View(array.as_string_view()), nulls),
            DataType::Int8 => whole!(types::Int8Type),
            DataType::Int16 => whole!(types::Int16Type),
            DataType::Int32 => whole!(types::Int32Type),
            DataType::Int64 => whole!(types::Int64Type),
            DataType::UInt8 => whole!(types::UInt8Type),
            DataType::UInt16 => whole!(types::UInt16Type),
            DataType::UInt32 => whole!(types::UInt32Type),
            DataType::UInt64 => whole!(types::UInt64Type),
            DataType::Float32 => {
                let values = array.as_primitive::<types::Float32Type>().values();
                Self::Decimal(Box::new(move |row| f64::from(values[row])), nulls)
            }
            DataType::Float64 => {
                let values = array.as_primitive::<types::Float64Type>().values();
                Self::Decimal(Box::new(move |row| values[row]), nulls)
            }
            DataType::Boolean => {
                let values = array.as_boolean();
                Self::Truth(Box::new(move |row| values.value(row)), nulls)
            }
            DataType::Dictionary(_, _) => {
                let any = array.as_any_dictionary();
                let dictionary = any.values();
                let values = Box::new(Self::new(dictionary)?);
                let keys = match array.as_dictionary_opt::<types::Int32Type>() {
                    Some(keyed) => Cow::Borrowed(&keyed.keys().values()[..]),
                    // `normalized_keys` panics for an empty dictionary, whose rows are all null.
                    None if dictionary.is_empty() => vec![0; array.len()].into(),
                    None => any.normalized_keys().into_iter().map(|key| key as i32).collect(),
                };
                Self::Dictionary { keys, array, nulls, values, dictionary }
            }
            other => return Err(other.to_string()),
        })
    }

    /// The cell as text; `None` if it is null or the column is absent.
    pub(super) fn text<'s>(&'s self, row: usize, scratch: &'s mut String) -> Option<&'s str> {
        use std::fmt::Write as _;
        scratch.clear();
        match self {
            Self::Absent => return None,
            Self::Text(_, Some(nulls))
            | Self::Whole(_, Some(nulls))
            | Self::Decimal(_, Some(nulls))
            | Self::Truth(_, Some(nulls))
            | Self::Dictionary { nulls: Some(nulls), .. }
                if nulls.is_null(row) =>
            {
                return None;
            }
            Self::Text(texts, _) => return Some(texts.value(row)),
            Self::Dictionary { keys, values, .. } => {
                return values.text(keys[row] as usize, scratch);
            }
            Self::Whole(value, _) => write!(scratch, "{}", value(row)),
            Self::Decimal(value, _) => write!(scratch, "{}", value(row)),
            Self::Truth(value, _) => write!(scratch, "{}", value(row)),
        }
        .expect("writing to a string does not fail");
        Some(scratch)
    }
}
