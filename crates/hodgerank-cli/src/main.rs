//! The `hodgerank` program.

fn main() -> std::process::ExitCode {
    hodgerank_cli::run()
}
