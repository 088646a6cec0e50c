#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hodgerank_fuzz::run("sqlite", bytes));
