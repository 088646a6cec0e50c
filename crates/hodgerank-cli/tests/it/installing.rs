//! Completions, manual pages and the version: from the same definitions as the flags.

use crate::support::TestDir;

#[test]
fn the_version_names_the_program() {
    let run = TestDir::new().run(&["--version"]).success();
    assert_eq!(run.text(), format!("hodgerank {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_know_commands_and_flags() {
    let dir = TestDir::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = dir.run(&["completions", shell]).success();
        for wanted in ["certify", "require-connected", "completions"] {
            assert!(run.text().contains(wanted), "{shell}: {wanted}");
        }
    }
    let run = dir.run(&["completions", "tcsh"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("bash") && run.stderr.contains("fish"), "{}", run.stderr);
    assert_eq!(dir.run_and_close_stdout(&["completions", "zsh"], 10).code, Some(0));
}

#[test]
fn bash_accepts_its_completions() {
    let dir = TestDir::new();
    dir.write("completions.bash", dir.run(&["completions", "bash"]).success().stdout);
    let check = std::process::Command::new("bash")
        .args(["-n", "completions.bash"])
        .current_dir(dir.path())
        .output()
        .expect("bash");
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let dir = TestDir::new();
    let run = dir.run(&["man", "pages/man1"]).success();
    assert!(run.stderr.contains("pages/man1"), "{}", run.stderr);
    let names = dir.file_names_in("pages/man1");
    for name in ["hodgerank.1", "hodgerank-rank.1", "hodgerank-predict.1", "hodgerank-man.1"] {
        assert!(names.iter().any(|own| own == name), "{name}: {names:?}");
    }
    let page = String::from_utf8(dir.read("pages/man1/hodgerank-rank.1")).unwrap();
    assert!(page.contains("hodgerank rank") && page.contains("require\\-connected"), "{page}");
    // A file where the folder should be.
    dir.write("taken", "text");
    let run = dir.run(&["man", "taken"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("taken"), "{}", run.stderr);
    assert_eq!(dir.read("taken"), b"text");
}

/// The script that builds what is handed out, with the program that is already built.
#[cfg(target_os = "linux")]
#[test]
fn the_archive_has_the_program_and_its_pages() {
    let dir = TestDir::new();
    let script = hodgerank_testdata::directory().join("../scripts/release");
    let run = std::process::Command::new(script)
        .arg("archive")
        .env("HODGERANK_BIN", env!("CARGO_BIN_EXE_hodgerank"))
        .env("HODGERANK_DIST", dir.path())
        .output()
        .expect("the script runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let script = "tar xzf hodgerank-*.tar.gz && cd hodgerank-*/ && ls -R && ./hodgerank --version";
    let run = dir.run_in_shell(script, &[]).success();
    for wanted in ["README.md", "LICENSE-MIT", "hodgerank.bash", "_hodgerank", "hodgerank-rank.1"] {
        assert!(run.text().contains(wanted), "{wanted}");
    }
    assert!(run.text().ends_with(&format!("hodgerank {}\n", env!("CARGO_PKG_VERSION"))));
}
