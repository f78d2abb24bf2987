//! What must hold for any bytes, for the fuzzer and for the tests that go through the corpus (tests/corpus.rs).
//!
//! A function takes bytes and panics if something does not hold. The first byte of a server's messages says in pieces of
//! how many bytes they arrive.
#![allow(dead_code)] // whoever includes this uses some of it

use pgverdict_engine::drive::conninfo;
use pgverdict_engine::drive::pgbench::reply::Reply;
use pgverdict_engine::script::compile::Compiler;
use pgverdict_engine::script::encoding;
use pgverdict_engine::script::program::{Dialect, Program, Source, Store};
use pgverdict_engine::wire::answer::Answer;
use pgverdict_engine::wire::stream::Stream;

fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (size, rest) = bytes.split_first().map_or((1, bytes), |(size, rest)| (usize::from(*size).max(1), rest));
    rest.chunks(size)
}

/// Answers to the statements of a slice: read, or refused by an error that can be shown.
pub fn answers(bytes: &[u8]) {
    let mut answer = <Answer>::default();
    for piece in pieces(bytes) {
        if let Err(error) = answer.feed(piece) {
            assert!(!error.to_string().is_empty());
            return;
        }
    }
    if let Some(error) = answer.take_error() {
        let _ = error.shown(Some("select 1"), true);
    }
}

/// Answers to pgbench's commands, whose rows are stored: the same whether they arrive whole or in pieces.
pub fn replies(bytes: &[u8]) {
    let all = bytes.len().is_multiple_of(2);
    let whole = bytes.get(1..).into_iter().collect();
    assert_eq!(reply(all, whole), reply(all, pieces(bytes).collect()));
}

fn reply(all: bool, pieces: Vec<&[u8]>) -> impl PartialEq + std::fmt::Debug + use<> {
    let (mut stream, mut reply) = (Stream::default(), Reply::silent());
    reply.expect(3, Some(&Store { all, prefix: "p_".to_owned() }));
    let fed = pieces.into_iter().try_for_each(|piece| stream.feed(piece, &mut reply));
    fed.map(|()| (reply.awaited, reply.error, reply.copies, reply.results, reply.stored, reply.rows_last))
}

/// Scripts in both dialects, in whatever encoding: a program, or an error.
pub fn scripts(bytes: &[u8]) {
    let source = Source { name: "any".into(), weight: 1, text: encoding::text(bytes) };
    let _ = Program::compile(std::slice::from_ref(&source), &[], &[]);
    for numbered in [false, true] {
        let mut compiler = Compiler::new(Dialect::Pgbench);
        if compiler.add(&source).is_ok() {
            let _ = compiler.finish(numbered);
        }
    }
}

/// Connection strings and URIs.
pub fn conninfo(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(what) = conninfo::parse(text) {
        assert!(!what.is_empty());
    }
}
