//! Fields of delimited text as they are written.

/// Adds a field, in quotes where it needs them: if it has a delimiter, a quote, a line break, or spaces at its
/// ends.
pub fn push_field(text: &mut Vec<u8>, field: &[u8], delimiter: u8) {
    let is_special = |&byte: &u8| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    if !field.iter().any(is_special) && field.trim_ascii() == field {
        text.extend_from_slice(field);
        return;
    }
    text.push(b'"');
    for &byte in field {
        if byte == b'"' {
            text.push(b'"');
        }
        text.push(byte);
    }
    text.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_written_where_they_are_needed() {
        for (field, written) in [
            ("a b", "a b"),
            ("a,b", "\"a,b\""),
            ("say \"a\"", "\"say \"\"a\"\"\""),
            ("a\nb", "\"a\nb\""),
            (" a", "\" a\""),
            ("a;b", "a;b"),
            ("", ""),
        ] {
            let mut text = Vec::new();
            push_field(&mut text, field.as_bytes(), b',');
            assert_eq!(String::from_utf8(text).unwrap(), written);
        }
    }
}
