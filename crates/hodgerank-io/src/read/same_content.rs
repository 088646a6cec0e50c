//! Finds files that are copies of each other.

use std::collections::HashMap;

use super::input_file::hash_file;

/// Pairs of files with the same content: the first one and a later one. Only regular files of the same
/// size are read.
#[must_use]
pub fn same_content(files: &[String]) -> Vec<(usize, usize)> {
    let mut by_size: HashMap<u64, Vec<usize>> = HashMap::new();
    for (k, file) in files.iter().enumerate() {
        if let Ok(metadata) = std::fs::metadata(file)
            && metadata.is_file()
            && metadata.len() > 0
        {
            by_size.entry(metadata.len()).or_default().push(k);
        }
    }
    let mut copies = Vec::new();
    for alike in by_size.values().filter(|alike| alike.len() > 1) {
        let mut first: HashMap<u64, usize> = HashMap::new();
        for &k in alike {
            // A file that cannot be read is reported when its votes are.
            let Ok(hash) = hash_file(&files[k]) else { continue };
            let original = *first.entry(hash).or_insert(k);
            if original != k {
                copies.push((original, k));
            }
        }
    }
    copies.sort_unstable_by_key(|&(_, copy)| copy);
    copies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_found_by_content() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["a.csv", "b.csv", "c.csv", "d.csv"].map(|name| {
            let path = folder.path().join(name);
            path.to_str().unwrap().to_owned()
        });
        for (file, text) in files.iter().zip(["x,y\n", "x,z\n", "x,y\n", "x,y,z\n"]) {
            std::fs::write(file, text).unwrap();
        }
        assert_eq!(same_content(&files), [(0, 2)]);
        assert_eq!(same_content(&["-".to_owned(), "missing.csv".to_owned()]), []);
    }
}
