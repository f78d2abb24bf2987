//! Records of YCSB: their keys and values, and the rows of its table. A record depends on its number
//! and the parameters alone.

use super::{Opened, Rows, Share};
use crate::keys::{self, THETA, Zipfian};
use crate::parameters::{Parameters, Reading};
use crate::script::random::Prng;

/// Records for each unit of scale: about as many bytes as pgbench's.
pub const RECORDS_PER_SCALE: u64 = 10_000;

pub const SCALE_MAX: u64 = 1_000_000;

/// What a record may hold at most, so that a row of COPY stays below [`super::ROW_BYTES_MAX`].
const RECORD_BYTES_MAX: u64 = 50_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A column for each field.
    Columns,
    /// All fields in one document.
    Jsonb,
}

#[derive(Debug, Clone)]
enum Lengths {
    Constant,
    Uniform,
    Zipfian(Zipfian),
}

/// What records look like.
#[derive(Debug, Clone)]
pub struct Records {
    pub count: u64,
    pub fields: usize,
    pub layout: Layout,
    field_length: u64,
    lengths: Lengths,
    hashed: bool,
    zero_padding: usize,
}

impl Records {
    /// Reads `scale`, `fields`, `field_length`, `field_lengths`, `layout`, `insert_order` and `zero_padding`.
    pub fn read(reading: &mut Reading<'_>) -> Result<Self, String> {
        let count = reading.count("scale", 1..=SCALE_MAX)? * RECORDS_PER_SCALE;
        let fields = reading.count("fields", 1..=100)?;
        let field_length = reading.count("field_length", 1..=10_000)?;
        if fields * field_length > RECORD_BYTES_MAX {
            return Err(format!(
                "{fields} fields of {field_length} bytes are more than {RECORD_BYTES_MAX} bytes a record"
            ));
        }
        let lengths = match reading.choice("field_lengths", &["constant", "uniform", "zipfian"])? {
            0 => Lengths::Constant,
            1 => Lengths::Uniform,
            _ => Lengths::Zipfian(Zipfian::over(field_length, THETA)),
        };
        let layout = match reading.choice("layout", &["columns", "jsonb"])? {
            0 => Layout::Columns,
            _ => Layout::Jsonb,
        };
        let hashed = reading.choice("insert_order", &["hashed", "ordered"])? == 0;
        let zero_padding = reading.count("zero_padding", 1..=40)? as usize;
        Ok(Self { count, fields: fields as usize, layout, field_length, lengths, hashed, zero_padding })
    }

    /// `user`, and the digits of the record's hash or number.
    #[inline]
    pub fn write_key(&self, number: u64, out: &mut Vec<u8>) {
        let shown = if self.hashed { keys::hash(number) } else { number };
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(shown).as_bytes();
        out.extend_from_slice(b"user");
        out.resize(out.len() + self.zero_padding.saturating_sub(digits.len()), b'0');
        out.extend_from_slice(digits);
    }

    /// A value of one field.
    #[inline]
    pub fn write_value(&self, prng: &mut Prng, out: &mut Vec<u8>) {
        let length = match &self.lengths {
            Lengths::Constant => self.field_length,
            Lengths::Uniform => 1 + prng.up_to(self.field_length - 1),
            Lengths::Zipfian(zipfian) => 1 + zipfian.draw(prng),
        };
        write_letters(length as usize, prng, out);
    }

    /// All fields as a document.
    pub fn write_document(&self, prng: &mut Prng, out: &mut Vec<u8>) {
        for field in 0..self.fields {
            self.write_member(if field == 0 { b"{" } else { b"," }, field, prng, out);
        }
        out.push(b'}');
    }

    /// One field of a document.
    pub fn write_member(&self, before: &[u8], field: usize, prng: &mut Prng, out: &mut Vec<u8>) {
        out.extend_from_slice(before);
        out.extend_from_slice(b"\"field");
        out.extend_from_slice(itoa::Buffer::new().format(field).as_bytes());
        out.extend_from_slice(b"\":\"");
        self.write_value(prng, out);
        out.push(b'"');
    }

    fn row_bytes_max(&self) -> usize {
        64 + self.fields * (self.field_length as usize + 16)
    }
}

/// Printable ASCII from the blank on, 64 letters: neither quote nor backslash is among them, which COPY
/// and JSON would have to escape.
const LETTERS: [u8; 64] = {
    let mut letters = [0; 64];
    let mut place = 0;
    while place < 64 {
        letters[place] = match b' ' + place as u8 {
            b'"' => b'~',
            b'\\' => b'`',
            letter => letter,
        };
        place += 1;
    }
    letters
};

/// How many letters a draw of 64 bits is good for.
const LETTERS_PER_DRAW: usize = 10;

#[inline]
pub fn write_letters(length: usize, prng: &mut Prng, out: &mut Vec<u8>) {
    let mut left = length;
    while left > 0 {
        let mut bits = prng.draw();
        let now = left.min(LETTERS_PER_DRAW);
        out.extend((0..now).map(|_| {
            let letter = LETTERS[(bits & 63) as usize];
            bits >>= 6;
            letter
        }));
        left -= now;
    }
}

/// Table `ycsb`; parameters as in [`Records::read`].
pub fn open(table: &str, parameters: &Parameters, share: Share) -> Opened {
    (table == "ycsb").then(|| {
        let mut reading = parameters.read();
        let records = Records::read(&mut reading)?;
        reading.end()?;
        let range = share.range(records.count);
        Ok(Box::new(Usertable { records, begin: range.start, next: range.start, end: range.end }) as Box<dyn Rows>)
    })
}

struct Usertable {
    records: Records,
    begin: u64,
    next: u64,
    end: u64,
}

impl Rows for Usertable {
    fn fill(&mut self, out: &mut Vec<u8>, bytes_max: usize) {
        while self.next < self.end && out.len() + self.records.row_bytes_max() <= bytes_max {
            let mut prng = Prng::seeded(self.next);
            self.records.write_key(self.next, out);
            match self.records.layout {
                Layout::Columns => {
                    for _ in 0..self.records.fields {
                        out.push(b'\t');
                        self.records.write_value(&mut prng, out);
                    }
                }
                Layout::Jsonb => {
                    out.push(b'\t');
                    self.records.write_document(&mut prng, out);
                }
            }
            out.push(b'\n');
            self.next += 1;
        }
    }

    fn done(&self) -> u64 {
        self.next - self.begin
    }

    fn total(&self) -> u64 {
        self.end - self.begin
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::generate::tests::{check_shares, text as rows};
    use crate::parameters::Given;

    pub fn parameters(layout: &str, lengths: &str, fields: i64, field_length: i64) -> Parameters {
        Parameters::of([
            ("scale", Given::Integer(1)),
            ("fields", Given::Integer(fields)),
            ("field_length", Given::Integer(field_length)),
            ("field_lengths", Given::Text(lengths.into())),
            ("layout", Given::Text(layout.into())),
            ("insert_order", Given::Text("hashed".into())),
            ("zero_padding", Given::Integer(1)),
        ])
    }

    fn lines(parameters: &Parameters) -> Vec<String> {
        let text = String::from_utf8(rows("ycsb", parameters, Share::WHOLE, 60 * 1024)).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn shares_put_together_are_the_whole() {
        check_shares("ycsb", &parameters("columns", "uniform", 3, 50));
        check_shares("ycsb", &parameters("jsonb", "constant", 2, 20));
    }

    #[test]
    fn rows_have_a_key_and_fields_of_the_length_that_was_asked_for() {
        let lines = lines(&parameters("columns", "constant", 10, 100));
        assert_eq!(lines.len(), 10_000);
        assert!(lines[0].starts_with("user6284781860667377211\t") && lines[1].starts_with("user8517097267634966620\t"));
        for line in &lines {
            let fields: Vec<&str> = line.split('\t').collect();
            assert_eq!(fields.len(), 11);
            assert!(fields[1..].iter().all(|field| field.len() == 100));
            assert!(!line.contains(['\\', '"']));
        }
    }

    #[test]
    fn lengths_follow_their_distribution() {
        let mean = |lengths| {
            let lines = lines(&parameters("columns", lengths, 2, 100));
            let fields = lines.iter().flat_map(|line| line.split('\t').skip(1).map(str::len));
            fields.clone().sum::<usize>() as f64 / fields.count() as f64
        };
        assert!((mean("uniform") - 50.5).abs() < 1.0);
        let zeta = keys::zeta(100, THETA);
        let expect: f64 = (1..=100).map(|length| f64::from(length).powf(1.0 - THETA) / zeta).sum();
        // Gray's formula is an approximation: its long values are a little too frequent.
        assert!((mean("zipfian") / expect - 1.0).abs() < 0.1, "{} {expect}", mean("zipfian"));
    }

    #[test]
    fn documents_are_json_with_all_fields() {
        for line in &lines(&parameters("jsonb", "constant", 3, 7))[..100] {
            let document: serde_json::Value = serde_json::from_str(line.split_once('\t').unwrap().1).unwrap();
            assert_eq!(document.as_object().unwrap().len(), 3);
            assert!((0..3).all(|field| document[format!("field{field}")].as_str().unwrap().len() == 7));
        }
    }

    #[test]
    fn records_that_no_row_holds_are_refused() {
        let refused = super::super::open("ycsb", &parameters("columns", "constant", 100, 501), Share::WHOLE);
        let what = "rows `ycsb`: 100 fields of 501 bytes are more than 50000 bytes a record";
        assert_eq!(refused.map(drop).unwrap_err(), what);
    }
}
