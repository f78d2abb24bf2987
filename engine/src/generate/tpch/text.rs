//! The texts of TPC-H: a pool of 300 MB of sentences, and the comments that are cut from it.
//!
//! The pool is the one of the crate, whose own is made by one thread, in 1.7 s in which a load does nothing else. Here
//! several make it, each from a place where a sentence is known to begin and with the generator's state there.

use std::ops::Range;
use std::sync::OnceLock;
use std::thread;
use tpchgen::distribution::{Distribution, Distributions};
use tpchgen::random::RowRandomInt;
use tpchgen::text::TextPool;

const POOL_BYTES: usize = 300 << 20;

/// Where a sentence begins, and the generator's state before it: found by making the pool in one piece, and held by the
/// comparison of the whole pool with the crate's.
const STARTS: [(usize, i64); 8] = [
    (0, 933_588_178),
    (39_321_619, 374_858_592),
    (78_643_223, 123_793_686),
    (117_964_817, 1_062_410_537),
    (157_286_442, 400_078_567),
    (196_608_019, 1_105_413_057),
    (235_929_648, 1_407_925_218),
    (275_251_227, 42_055_684),
];

/// Room for a sentence of usual length.
const SENTENCE_BYTES: usize = 512;

/// Longer than any comment: what rows are drawn with whose comments are drawn here.
const STAND_IN_BYTES: i32 = 1024;

const MULTIPLIER: i64 = 16_807;
const MODULUS: i64 = 2_147_483_647;

/// The generators of the crate want a pool. It takes no part in what they draw beside comments.
pub fn stand_in() -> &'static TextPool {
    static STAND_IN: OnceLock<TextPool> = OnceLock::new();
    STAND_IN.get_or_init(|| TextPool::new(STAND_IN_BYTES, Distributions::static_default()))
}

fn pool() -> &'static [u8] {
    static POOL: OnceLock<Vec<u8>> = OnceLock::new();
    POOL.get_or_init(make)
}

/// One thread for each core, or for each piece.
fn make() -> Vec<u8> {
    let grammar = Grammar::of(Distributions::static_default());
    let mut pool = vec![0; POOL_BYTES];
    let mut pieces = Vec::new();
    let mut rest = &mut pool[..];
    for (number, &(begin, seed)) in STARTS.iter().enumerate() {
        let end = STARTS.get(number + 1).map_or(POOL_BYTES, |&(end, _)| end);
        let (piece, behind) = rest.split_at_mut(end - begin);
        pieces.push((piece, seed));
        rest = behind;
    }
    let threads = thread::available_parallelism().map_or(1, usize::from).min(pieces.len());
    let mut dealt: Vec<Vec<_>> = (0..threads).map(|_| Vec::new()).collect();
    for (number, piece) in pieces.into_iter().enumerate() {
        dealt[number % threads].push(piece);
    }
    let grammar = &grammar;
    thread::scope(|scope| {
        for own in dealt {
            scope.spawn(move || own.into_iter().for_each(|(piece, seed)| grammar.fill(piece, seed)));
        }
    });
    pool
}

/// Draws with the specification's generator for 32 bits.
struct Draws(i64);

impl Draws {
    /// From 0 on, below `count`.
    #[inline]
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0 * MULTIPLIER % MODULUS;
        // In this order, as rounding makes a difference.
        (self.0 as f64 / MODULUS as f64 * count as f64) as usize
    }
}

/// The members of a distribution, each as often as it weighs.
struct Words(Vec<&'static [u8]>);

impl Words {
    fn of(distribution: &'static Distribution) -> Self {
        let mut before = 0;
        let mut words = Vec::new();
        for (number, word) in distribution.get_values().iter().enumerate() {
            let weight = distribution.get_weight(number);
            words.extend((before..weight).map(|_| word.as_bytes()));
            before = weight;
        }
        Self(words)
    }

    #[inline]
    fn draw(&self, draws: &mut Draws) -> &'static [u8] {
        self.0[draws.below(self.0.len())]
    }
}

/// Of sentences, and of the phrases they are made of: a letter stands for what is drawn.
struct Grammar {
    sentences: Words,
    noun_phrases: Words,
    verb_phrases: Words,
    articles: Words,
    adjectives: Words,
    adverbs: Words,
    nouns: Words,
    verbs: Words,
    auxiliaries: Words,
    prepositions: Words,
    terminators: Words,
}

impl Grammar {
    fn of(distributions: &'static Distributions) -> Self {
        Self {
            sentences: Words::of(distributions.grammar()),
            noun_phrases: Words::of(distributions.noun_phrase()),
            verb_phrases: Words::of(distributions.verb_phrase()),
            articles: Words::of(distributions.articles()),
            adjectives: Words::of(distributions.adjectives()),
            adverbs: Words::of(distributions.adverbs()),
            nouns: Words::of(distributions.nouns()),
            verbs: Words::of(distributions.verbs()),
            auxiliaries: Words::of(distributions.auxiliaries()),
            prepositions: Words::of(distributions.prepositions()),
            terminators: Words::of(distributions.terminators()),
        }
    }

    /// Fills a piece of the pool with sentences; the last is cut off at its end.
    fn fill(&self, piece: &mut [u8], seed: i64) {
        let (mut draws, mut sentence, mut at) = (Draws(seed), Vec::with_capacity(SENTENCE_BYTES), 0);
        while at < piece.len() {
            sentence.clear();
            self.sentence(&mut draws, &mut sentence);
            let length = sentence.len().min(piece.len() - at);
            piece[at..at + length].copy_from_slice(&sentence[..length]);
            at += length;
        }
    }

    fn sentence(&self, draws: &mut Draws, out: &mut Vec<u8>) {
        // Every second character of a sentence's pattern is a space.
        for letter in self.sentences.draw(draws).iter().step_by(2) {
            match letter {
                b'V' => self.verb_phrase(draws, out),
                b'N' => self.noun_phrase(draws, out),
                b'P' => {
                    out.extend_from_slice(self.prepositions.draw(draws));
                    out.extend_from_slice(b" the ");
                    self.noun_phrase(draws, out);
                }
                b'T' => {
                    out.pop();
                    out.extend_from_slice(self.terminators.draw(draws));
                }
                letter => unreachable!("a part of a sentence: {letter}"),
            }
            if out.last() != Some(&b' ') {
                out.push(b' ');
            }
        }
    }

    fn verb_phrase(&self, draws: &mut Draws, out: &mut Vec<u8>) {
        for letter in self.verb_phrases.draw(draws).iter().step_by(2) {
            let words = match letter {
                b'D' => &self.adverbs,
                b'V' => &self.verbs,
                b'X' => &self.auxiliaries,
                letter => unreachable!("a part of a verb phrase: {letter}"),
            };
            out.extend_from_slice(words.draw(draws));
            out.push(b' ');
        }
    }

    fn noun_phrase(&self, draws: &mut Draws, out: &mut Vec<u8>) {
        for letter in self.noun_phrases.draw(draws) {
            let words = match letter {
                b'A' => &self.articles,
                b'J' => &self.adjectives,
                b'D' => &self.adverbs,
                b'N' => &self.nouns,
                b',' => {
                    out.pop();
                    out.extend_from_slice(b", ");
                    continue;
                }
                b' ' => continue,
                letter => unreachable!("a part of a noun phrase: {letter}"),
            };
            out.extend_from_slice(words.draw(draws));
            out.push(b' ');
        }
    }
}

/// Of a table: what its comments are drawn from.
#[derive(Debug, Clone, Copy)]
pub struct Commented {
    seed: i64,
    average_bytes: f64,
    /// How many rows are drawn together: the lines of an order, the suppliers of a part.
    rows_together: i32,
}

pub const REGION: Commented = Commented { seed: 1_500_869_201, average_bytes: 72.0, rows_together: 1 };
pub const NATION: Commented = Commented { seed: 606_179_079, average_bytes: 72.0, rows_together: 1 };
pub const SUPPLIER: Commented = Commented { seed: 1_341_315_363, average_bytes: 63.0, rows_together: 1 };
pub const CUSTOMER: Commented = Commented { seed: 1_335_826_707, average_bytes: 73.0, rows_together: 1 };
pub const PART: Commented = Commented { seed: 804_159_733, average_bytes: 14.0, rows_together: 1 };
pub const PARTSUPP: Commented = Commented { seed: 1_961_692_154, average_bytes: 124.0, rows_together: 4 };
pub const ORDERS: Commented = Commented { seed: 276_090_261, average_bytes: 49.0, rows_together: 1 };
pub const LINEITEM: Commented = Commented { seed: 1_095_462_486, average_bytes: 27.0, rows_together: 7 };

/// Comments in the order of a table's rows.
#[derive(Debug)]
pub struct Comments {
    pool: &'static [u8],
    draws: RowRandomInt,
    is_first: bool,
    bytes: Range<i32>,
}

impl Comments {
    /// From the row behind so many, or the rows drawn together.
    pub fn of(Commented { seed, average_bytes, rows_together }: Commented, before: i64) -> Self {
        let mut draws = RowRandomInt::new(seed, 2 * rows_together);
        draws.advance_rows(before);
        let bytes = (average_bytes * 0.4) as i32..(average_bytes * 1.6) as i32;
        Self { pool: pool(), draws, is_first: true, bytes }
    }

    /// `begins`: whether it is the first of those drawn together.
    #[inline]
    pub fn next(&mut self, begins: bool) -> &'static [u8] {
        if begins && !self.is_first {
            self.draws.row_finished();
        }
        self.is_first = false;
        let begin = self.draws.next_int(0, POOL_BYTES as i32 - self.bytes.end) as usize;
        let length = self.draws.next_int(self.bytes.start, self.bytes.end) as usize;
        &self.pool[begin..begin + length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_is_that_of_the_crate() {
        let theirs = TextPool::get_or_init_default();
        assert!(pool() == theirs.text(0, theirs.size()).as_bytes());
    }
}
