//! What holds for any input.

use bytes::BytesMut;
use pgverdict_engine::drive::pgbench::reply::Reply;
use pgverdict_engine::measure::summary::percentiles;
use pgverdict_engine::script::compile::Compiler;
use pgverdict_engine::script::program::{Dialect, Program, Source, Store};
use pgverdict_engine::script::split::{Piece, split};
use pgverdict_engine::script::{expression, parameters, token, value};
use pgverdict_engine::wire::answer::Answer;
use pgverdict_engine::wire::backend::{self, Message};
use pgverdict_engine::wire::rows::Rows;
use pgverdict_engine::wire::stream::Stream;
use pgverdict_engine::wire::{HELD_BYTES_MAX, ServerError, WireError};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::mem;

/// Bytes that look like messages more often than noise does.
fn messages() -> impl Strategy<Value = Vec<u8>> {
    let tag = prop::sample::select(b"123CDEGHIKNRSTZdcnst?\0".to_vec());
    let body = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        Just(b"I".to_vec()),
        Just(b"T".to_vec()),
        Just(b"SERROR\0C40001\0Mtext\0\0".to_vec()),
    ];
    let message = (tag, body, prop_oneof![9 => Just(4), 1 => any::<i32>()]).prop_map(|(tag, body, length)| {
        let length = (body.len() as i32).wrapping_add(length);
        [&[tag][..], &length.to_be_bytes(), &body].concat()
    });
    prop_oneof![
        prop::collection::vec(message, 0..6).prop_map(|messages| messages.concat()),
        prop::collection::vec(any::<u8>(), 0..100),
    ]
}

fn pieces(bytes: &[u8], cuts: Vec<usize>) -> Vec<&[u8]> {
    let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort();
    cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

/// Characters that mean something to the splitter.
fn script() -> impl Strategy<Value = String> {
    let pieces = [
        "'",
        "\"",
        "$$",
        "$a$",
        "/*",
        "*/",
        "--",
        "\n",
        ";",
        "\\",
        "\\;",
        "(",
        ")",
        "E'",
        ":a",
        "::",
        " ",
        "SELECT ",
        "BEGIN ",
        "CREATE FUNCTION ",
        "END",
        "\\set a 1\n",
        "\\set a random(1, :a)\n",
        "é",
        "1",
        "\r\n",
        "$1",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..30).prop_map(|pieces| pieces.concat())
}

fn formula() -> impl Strategy<Value = String> {
    let words = [
        "1",
        "2.5",
        ":a",
        "+",
        "-",
        "*",
        "/",
        "%",
        "(",
        ")",
        "<",
        ">=",
        "<<",
        "|",
        "~",
        "AND",
        "NOT",
        "IS",
        "NULL",
        "CASE",
        "WHEN",
        "THEN",
        "END",
        "random",
        ",",
        "abs",
        "9223372036854775808",
        "é",
        ".",
        "1e",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..30).prop_map(|words| words.join(" "))
}

proptest! {
    // The same cases every time: a test that fails sometimes helps nobody.
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(15),
        ..ProptestConfig::with_cases(2000)
    })]

    #[test]
    fn messages_are_the_same_however_they_are_cut(bytes in messages(), cuts in prop::collection::vec(0usize..100, 0..5)) {
        let heard = |chunks: &[&[u8]]| {
            let (mut inbox, mut heard) = (BytesMut::new(), Vec::new());
            for chunk in chunks {
                inbox.extend_from_slice(chunk);
                while let Some(message) = backend::next(&mut inbox)? {
                    heard.push(mem::discriminant(&message));
                    if let Message::ErrorResponse(body) = message {
                        ServerError::of(&body)?;
                    }
                }
                // A length that a server claims makes no room before it was looked at.
                assert!(inbox.capacity() <= 2 * (HELD_BYTES_MAX + bytes.len()));
            }
            Ok::<_, WireError>((heard, inbox.len()))
        };
        prop_assert_eq!(heard(&[&bytes]), heard(&pieces(&bytes, cuts)));
    }

    #[test]
    fn an_answer_is_the_same_however_it_is_cut(bytes in messages(), cuts in prop::collection::vec(0usize..100, 0..5)) {
        let outcome = |chunks: &[&[u8]]| {
            let mut answer = <Answer>::default();
            let mut ready = None;
            for chunk in chunks {
                match answer.feed(chunk) {
                    Ok(found) => ready = found.or(ready),
                    Err(error) => return Err(error),
                }
            }
            Ok((ready, answer.take_error()))
        };
        let (whole, cut) = (outcome(&[&bytes]), outcome(&pieces(&bytes, cuts)));
        // Cut between two answers, a second one that came unasked cannot be told from one that was
        // asked for. Only there may the outcomes differ.
        let unasked = matches!(&whole, Err(WireError::Unexpected { what: "came after ReadyForQuery", .. }));
        if !unasked {
            prop_assert_eq!(whole, cut);
        }
    }

    #[test]
    fn rows_are_the_same_however_they_are_cut(
        bytes in messages(),
        cuts in prop::collection::vec(0usize..100, 0..5),
        wanted in prop::collection::vec(any::<bool>(), 0..4),
    ) {
        let outcome = |chunks: &[&[u8]]| {
            let mut answer = Answer::<Rows>::default();
            answer.taker.expect(wanted.iter().copied());
            let mut ready = false;
            for chunk in chunks {
                ready |= answer.feed(chunk)?.is_some();
            }
            let rows = &answer.taker;
            let row = |statement, row| (0..3).map(|column| rows.text(statement, row, column).map(<[u8]>::to_vec)).collect::<Vec<_>>();
            let statement = |at| (rows.affected(at), (0..rows.count(at)).map(|number| row(at, number)).collect::<Vec<_>>());
            Ok::<_, WireError>((ready, (0..rows.statements()).map(statement).collect::<Vec<_>>()))
        };
        let (whole, cut) = (outcome(&[&bytes]), outcome(&pieces(&bytes, cuts)));
        let unasked = matches!(&whole, Err(WireError::Unexpected { what: "came after ReadyForQuery", .. }));
        if !unasked {
            prop_assert_eq!(whole, cut);
        }
    }

    #[test]
    fn a_reply_is_the_same_however_it_is_cut(
        bytes in messages(),
        cuts in prop::collection::vec(0usize..100, 0..5),
        all in any::<bool>(),
    ) {
        let outcome = |chunks: &[&[u8]]| {
            let (mut stream, mut reply) = (Stream::default(), Reply::silent());
            reply.expect(3, Some(&Store { all, prefix: String::new() }));
            let fed = chunks.iter().try_for_each(|chunk| stream.feed(chunk, &mut reply));
            fed.map(|()| (reply.awaited, reply.error, reply.copies, reply.results, reply.stored, reply.rows_last))
        };
        prop_assert_eq!(outcome(&[&bytes]), outcome(&pieces(&bytes, cuts)));
    }

    #[test]
    fn doubles_are_written_with_fifteen_digits(value in any::<f64>()) {
        let mut text = Vec::new();
        value::write_double(value, &mut text);
        let text = String::from_utf8(text).unwrap();
        let expect: f64 = format!("{value:.14e}").parse().unwrap();
        prop_assert_eq!(text.parse::<f64>().unwrap(), expect, "{}", text);
    }

    #[test]
    fn no_script_makes_the_compiler_panic(text in script()) {
        let source = Source { name: "any".into(), weight: 1, text };
        let _ = Program::compile(std::slice::from_ref(&source), &[], &[]);
        let mut compiler = Compiler::new(Dialect::Pgbench);
        if compiler.add(&source).is_ok() {
            let _ = compiler.finish(true);
        }
    }

    #[test]
    fn no_text_makes_the_compiler_panic(text in any::<String>()) {
        let source = Source { name: "any".into(), weight: 1, text };
        let _ = Program::compile(&[source], &[], &[]);
    }

    #[test]
    fn pieces_lie_in_the_script_in_order(text in script()) {
        let mut last = 0;
        for piece in split(&text).pieces {
            let (Piece::Sql { at, .. } | Piece::Meta { at, .. }) = piece;
            prop_assert!(at >= last && at < text.len());
            last = at;
        }
    }

    #[test]
    fn no_expression_makes_the_parser_panic(text in formula()) {
        let _ = expression::parse(&token::tokens(&text, 0), text.len(), &mut |_, _| 0);
    }

    #[test]
    fn every_use_of_a_variable_is_one_parameter(text in script()) {
        let (replaced, uses) = parameters::replace(&text);
        for (number, used) in uses.iter().enumerate() {
            let written = format!(":{}", used.name);
            prop_assert!(text[used.at..].starts_with(&written));
            let parameter = format!("${}", number + 1);
            prop_assert!(replaced.contains(&parameter));
        }
    }

    #[test]
    fn percentiles_lie_between_their_neighbours_in_the_sorted_samples(
        samples in prop::collection::vec(0u64..1000, 1..60),
    ) {
        let mut sorted = samples.clone();
        sorted.sort();
        let qs = [0.0, 0.5, 0.95, 0.99, 1.0];
        let found = percentiles(&mut samples.clone(), qs);
        for (q, found) in qs.into_iter().zip(found) {
            let position = q * (sorted.len() - 1) as f64;
            let (low, high) = (sorted[position.floor() as usize] as f64, sorted[position.ceil() as usize] as f64);
            let expect = low + (high - low) * position.fract();
            prop_assert!((found - expect).abs() < 1e-9, "{found} is not {expect}");
        }
    }
}
