//! The numbers that pgbench itself draws, from a run of pgbench 15.18 on two transactions of
//! `\set a debug(...)` with `--random-seed=42`.

use pgverdict_engine::script::evaluate::Scope;
use pgverdict_engine::script::program::{Action, Program, Source};
use pgverdict_engine::script::random::Prng;
use pgverdict_engine::script::value::{Scalar, write_double};

/// An expression and what it gave in the first and in the second transaction.
const DRAWN: [(&str, &str, &str); 15] = [
    ("random(1, 1000000)", "668251", "625691"),
    ("random(-5000, 5000)", "-4040", "10"),
    ("random_exponential(1, 1000000, 3.5)", "96221", "146308"),
    ("random_zipfian(1, 1000000, 1.07)", "385", "5"),
    ("permute(12345, 1000000, 99)", "505943", "505943"),
    ("hash(7, 99)", "6633337798627146555", "6633337798627146555"),
    ("hash_fnv1a(7, 99)", "879817313296471393", "879817313296471393"),
    ("random(1, 9223372036854775807)", "2672692745842761249", "4544614925540259215"),
    ("random_zipfian(1, 10, 2.5)", "1", "1"),
    ("1.0 / 3", "0.333333333333333", "0.333333333333333"),
    ("7 & 12 # 3 << 2", "28", "28"),
    ("-7 % 3", "-1", "-1"),
    ("int(2.5) + int(3.5)", "6", "6"),
    ("1e15 * 1.0", "1e+15", "1e+15"),
    ("123456789.125 * 10", "1234567891.25", "1234567891.25"),
];

#[test]
fn the_same_state_draws_the_same_numbers_as_pgbench() {
    let sets: String = DRAWN.iter().map(|(expression, ..)| format!("\\set a {expression}\n")).collect();
    let source = Source { name: "debug".into(), weight: 1, text: sets + "SELECT 1;\n" };
    let program = Program::compile(&[source], &[], &[]).unwrap();
    let sets = program.scripts[0].commands.iter().filter_map(|command| match &command.action {
        Action::Set(set) => Some(set),
        _ => None,
    });
    let sets: Vec<_> = sets.collect();

    // pgbench seeds the first client's state with the first number of its base sequence.
    let mut prng = Prng::seeded(Prng::seeded(42).draw());
    for transaction in [0, 1] {
        for (set, (expression, first, second)) in sets.iter().zip(DRAWN) {
            let text = match set
                .expression
                .evaluate(&mut Scope { variables: &[], prng: &mut prng, shown: &mut Vec::new() })
                .unwrap()
            {
                Scalar::Integer(value) => value.to_string(),
                Scalar::Double(value) => {
                    let mut text = Vec::new();
                    write_double(value, &mut text);
                    String::from_utf8(text).unwrap()
                }
                other => panic!("{other:?}"),
            };
            assert_eq!(text, [first, second][transaction], "{expression}");
        }
    }
}
