//! Gives the binary its identity: what it was built from, by which compiler, in which profile.
//! `PROTOCOL.md` (`hello`) defines the digest; the Python side computes the same one.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    let engine = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo names the manifest's folder"));
    let root = engine.parent().expect("the engine lies inside the repository").to_path_buf();

    let mut paths = vec!["Cargo.lock".to_owned(), "engine/Cargo.toml".to_owned(), "engine/build.rs".to_owned()];
    list(&root, "engine/src", &mut paths);
    paths.sort();
    println!("cargo::rerun-if-changed=src");
    for path in &paths {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }

    println!("cargo::rustc-env=ENGINE_IDENTITY={}", identity(&root, &paths));
    println!("cargo::rustc-env=ENGINE_PROFILE={}", env::var("PROFILE").expect("cargo names the profile"));
    println!("cargo::rustc-env=ENGINE_RUSTC={}", rustc_version());
}

fn list(root: &Path, folder: &str, paths: &mut Vec<String>) {
    for entry in fs::read_dir(root.join(folder)).expect("the sources can be listed") {
        let entry = entry.expect("the sources can be listed");
        let name = entry.file_name().into_string().expect("names of source files are UTF-8");
        let path = format!("{folder}/{name}");
        if entry.path().is_dir() {
            list(root, &path, paths);
        } else {
            paths.push(path);
        }
    }
}

fn identity(root: &Path, paths: &[String]) -> String {
    let mut digest = Sha256::new();
    for path in paths {
        let content = fs::read(root.join(path)).unwrap_or_else(|error| panic!("cannot read {path}: {error}"));
        digest.update(path.as_bytes());
        digest.update([0]);
        digest.update((content.len() as u64).to_le_bytes());
        digest.update(&content);
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `rustc 1.95.0 (59807616e 2026-04-14)` -> `1.95.0`
fn rustc_version() -> String {
    let rustc = env::var("RUSTC").expect("cargo names the compiler");
    let output = Command::new(rustc).arg("--version").output().expect("the compiler says its version");
    let line = String::from_utf8_lossy(&output.stdout);
    line.split_whitespace().nth(1).unwrap_or("unknown").to_owned()
}
