//! The fuzzer's corpus, and what a few random changes make of it: a short run that every test run has.

#[path = "../fuzz/checks.rs"]
mod checks;

use std::fs;
use std::path::Path;

const CHANGED_EACH: usize = 2000;

/// The same numbers every time: a test that fails sometimes helps nobody.
struct Lot(u64);

impl Lot {
    fn below(&mut self, limit: usize) -> usize {
        // Marsaglia's xorshift64.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 3, "{name}: a corpus of nothing tests nothing");
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn changed(lot: &mut Lot, bytes: &[u8], others: &[Vec<u8>]) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    for _ in 0..=lot.below(4) {
        let at = lot.below(changed.len() + 1);
        match lot.below(5) {
            0 if at < changed.len() => changed[at] ^= 1 << lot.below(8),
            1 if at < changed.len() => changed[at] = lot.below(256) as u8,
            2 => changed.truncate(at),
            3 => changed.insert(at, [0, 1, 4, 127, 255, b'\'', b'\\', b';', b':', b'\n'][lot.below(10)]),
            _ => {
                let other = &others[lot.below(others.len())];
                let from = lot.below(other.len() + 1);
                let part = other[from..(from + lot.below(40)).min(other.len())].to_vec();
                changed.splice(at..at, part);
            }
        }
    }
    changed
}

fn go_through(name: &str, check: fn(&[u8])) {
    let (corpus, mut lot) = (corpus(name), Lot(0x5eed));
    for bytes in &corpus {
        check(bytes);
        (0..CHANGED_EACH).for_each(|_| check(&changed(&mut lot, bytes, &corpus)));
    }
}

#[test]
fn no_answer_of_a_server_makes_a_slice_panic() {
    go_through("answers", checks::answers);
}

#[test]
fn replies_mean_the_same_however_they_are_cut() {
    go_through("replies", checks::replies);
}

#[test]
fn no_script_makes_the_compiler_panic() {
    go_through("scripts", checks::scripts);
}

#[test]
fn no_connection_string_makes_the_parser_panic() {
    go_through("conninfo", checks::conninfo);
}
