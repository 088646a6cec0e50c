//! A new study: its folder, its items and its links.
//!
//! The folder has `study.db`, `items/` with a copy of each file, `links.txt` and `language.json`. It appears whole
//! or not at all: it is made under a temporary name and renamed.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use hodgerank_io::STUDY_FILE;

use crate::error::{Error, Result};
use crate::secret::Secret;
use crate::store::{Database, Item, Settings};

/// The folder of the items' files.
pub const ITEMS: &str = "items";
/// The file with the secrets of the links.
pub const LINKS: &str = "links.txt";
/// The file with the sentences on the voter's page.
pub const LANGUAGE: &str = "language.json";
/// The sentences in English.
pub const ENGLISH: &str = include_str!("../page/language.json");
/// The largest file of an item, because files are sent from memory.
const MAX_ITEM_BYTES: u64 = 64 << 20;

const KINDS: [(&str, &[&str]); 4] = [
    ("image", &["png", "jpg", "jpeg", "gif", "webp", "avif", "svg"]),
    ("video", &["mp4", "webm", "m4v", "mov"]),
    ("audio", &["mp3", "ogg", "wav", "m4a", "flac", "opus"]),
    ("text", &["txt"]),
];

/// The links of a study, without the address of the server.
#[derive(Debug, Clone)]
pub struct Links {
    /// The owner's page.
    pub owner: String,
    /// The voters' pages with their names; one without a name for everybody.
    pub voters: Vec<(Option<String>, String)>,
}

/// Creates a study in a new folder. `items` is a folder of files, or a text file with one item per line. With
/// `voters`, each of so many voters has their own link; otherwise one link is for everybody.
///
/// # Errors
/// If the folder exists, there are fewer than two items, an option is invalid, or a file cannot be written.
pub fn create(
    folder: &Path,
    items: &Path,
    settings: &Settings,
    voters: Option<usize>,
) -> Result<Links> {
    if folder.symlink_metadata().is_ok() {
        return Err(Error::Exists { path: folder.display().to_string() });
    }
    let (items, files) = read_items(items)?;
    check(settings, items.len(), voters)?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let random = Secret::new()?;
    let temporary = folder.with_file_name(format!(".{name}.{}", &random.as_str()[..12]));
    let made = fill(&temporary, &items, &files, settings, voters).and_then(|links| {
        fs::rename(&temporary, folder).map_err(|error| Error::file(folder, error))?;
        Ok(links)
    });
    if made.is_err() {
        // The error that is reported is the first one.
        let _left = fs::remove_dir_all(&temporary);
    }
    made
}

fn check(settings: &Settings, items: usize, voters: Option<usize>) -> Result<()> {
    let refuse = |option, problem: &str| Err(Error::Option { option, problem: problem.to_owned() });
    if settings.question.trim().is_empty() {
        return refuse("--question", "the question is empty");
    }
    if !(0.0..=0.5).contains(&settings.repeats) {
        return refuse("--repeats", "a share from 0% to 50% is expected");
    }
    if settings.pairs == 0 {
        return refuse("--pairs", "one pair or more is expected");
    }
    if settings.until_top.is_some_and(|top| top == 0 || top >= items) {
        return refuse("--until", "top=K with K below the number of items is expected");
    }
    if voters.is_some_and(|voters| voters == 0 || voters > 100_000) {
        return refuse("--voters", "a number from 1 to 100000 is expected");
    }
    Ok(())
}

fn fill(
    folder: &Path,
    items: &[Item],
    files: &[PathBuf],
    settings: &Settings,
    voters: Option<usize>,
) -> Result<Links> {
    let place = folder.join(ITEMS);
    create_private_folder(folder)?;
    fs::create_dir(&place).map_err(|error| Error::file(&place, error))?;
    let with_files = items.iter().filter_map(|item| item.file.as_ref());
    for (name, from) in with_files.zip(files) {
        fs::copy(from, place.join(name)).map_err(|error| Error::file(from, error))?;
    }
    let owner = Secret::new()?;
    let mut secrets = vec![("owner", owner.hash())];
    let mut named = Vec::new();
    let mut links = Links { owner: format!("/owner#{}", owner.as_str()), voters: Vec::new() };
    for number in 1..=voters.unwrap_or(0) {
        let (name, secret) = (format!("voter-{number}"), Secret::new()?);
        links.voters.push((Some(name.clone()), format!("/#v={}", secret.as_str())));
        named.push((name, secret.hash()));
    }
    if voters.is_none() {
        let open = Secret::new()?;
        links.voters.push((None, format!("/#open={}", open.as_str())));
        secrets.push(("open", open.hash()));
    }
    Database::create(&folder.join(STUDY_FILE), settings, items, &secrets, &named)?;
    let mut text = format!("owner\t{}\n", links.owner);
    for (name, link) in &links.voters {
        text.push_str(&format!("{}\t{link}\n", name.as_deref().unwrap_or("everybody")));
    }
    write(&folder.join(LINKS), text.as_bytes())?;
    write(&folder.join(LANGUAGE), ENGLISH.as_bytes())?;
    Ok(links)
}

/// Only the owner of the study reads its folder: it has secrets.
fn create_private_folder(folder: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| Error::file(folder, error))
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    let written = fs::File::create_new(path).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()
    });
    written.map_err(|error| Error::file(path, error))
}

/// The items, and the files of those that have one.
fn read_items(path: &Path) -> Result<(Vec<Item>, Vec<PathBuf>)> {
    let problem = |problem: String| Error::Items { path: path.display().to_string(), problem };
    let (mut items, mut files) = (Vec::new(), Vec::new());
    if path.is_dir() {
        for (label, file) in sorted_files(path)? {
            let extension = file.extension().unwrap_or_default().to_string_lossy().to_lowercase();
            let known = KINDS.iter().find(|(_, known)| known.contains(&&*extension));
            let Some((kind, _)) = known else { continue };
            let size = file.metadata().map_err(|error| Error::file(&file, error))?.len();
            if size > MAX_ITEM_BYTES {
                return Err(problem(format!("{label} is larger than 64 MB")));
            }
            let token = Secret::new()?.as_str().to_owned();
            let name = format!("{token}.{extension}");
            items.push(Item { label, kind: (*kind).to_owned(), file: Some(name), token });
            files.push(file);
        }
    } else {
        let text = fs::read_to_string(path).map_err(|error| Error::file(path, error))?;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let token = Secret::new()?.as_str().to_owned();
            items.push(Item { label: line.to_owned(), kind: "text".to_owned(), file: None, token });
        }
    }
    let mut labels: Vec<&str> = items.iter().map(|item| item.label.as_str()).collect();
    labels.sort_unstable();
    if let Some(two) = labels.windows(2).find(|two| two[0] == two[1]) {
        return Err(problem(format!("two items are called {}", two[0])));
    }
    match items.len() {
        0 | 1 => Err(problem(format!("two items or more are needed, there are {}", items.len()))),
        _ => Ok((items, files)),
    }
}

/// The files of a folder by name, without hidden ones.
fn sorted_files(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let entries = fs::read_dir(folder).map_err(|error| Error::file(folder, error))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| Error::file(folder, error))?.path();
        let label = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() && !label.starts_with('.') {
            files.push((label, path));
        }
    }
    files.sort_by(|a, b| hodgerank::natural_order(&a.0, &b.0));
    Ok(files)
}
