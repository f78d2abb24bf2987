//! What the events are: their statements, how often each is sent, and what it is given.

use crate::parameters::Reading;
use crate::wire::parameter::Form;

/// What the parameters of a statement are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// A text without values, which is sent as it is.
    Nothing,
    /// An id.
    Id,
    /// An id, and the one so many further, less one.
    Range {
        length: u64,
    },
    /// A number, and the one so much further: several times.
    Ranges {
        count: u64,
        delta: u64,
    },
    /// A new `c`, and an id.
    NewC,
    /// The row that stays on the hottest place.
    NewCOfOne,
    /// `k`, `c` and `pad` of a new row, in the text.
    NewRow,
    /// The same behind the id of the row that was deleted before.
    SameRow,
    /// Ids.
    Many(u64),
    /// Numbers from a part of the range that is the client's own.
    OwnMany(u64),
    OwnRanges {
        count: u64,
        delta: u64,
    },
    /// Neighbouring ids in the middle, always the same.
    Hot(u64),
    /// A new `c`, and ids.
    NewCOfMany(u64),
}

/// A statement for each table, its text with `{t}` for the table.
pub struct Template {
    pub text: String,
    pub given: Given,
}

/// Statements that follow each other on one table, as often as it says.
pub struct Group {
    pub templates: Vec<Template>,
    pub times: u64,
    pub table: Which,
}

/// Which of the tables a group is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// One that is drawn.
    Drawn,
    First,
    /// The client's own: they are dealt out.
    Own,
}

pub const EVENTS: [&str; 28] = [
    "point_select",
    "read_only",
    "write_only",
    "read_write",
    "update_index",
    "update_non_index",
    "insert",
    "delete",
    "select_random_points",
    "select_random_ranges",
    "simple_range",
    "sum_range",
    "order_range",
    "distinct_range",
    "count_range",
    "scan",
    "update_inlist",
    "update_one",
    "random_points",
    "hot_points",
    "points_covered_pk",
    "points_notcovered_pk",
    "points_covered_si",
    "points_notcovered_si",
    "range_covered_pk",
    "range_notcovered_pk",
    "range_covered_si",
    "range_notcovered_si",
];

/// Of an insert, up to its values.
pub const INSERT_BEGIN: &str = "INSERT INTO sbtest{t} (k, c, pad) VALUES (";

/// How often each statement of the OLTP events is sent.
pub struct Counts {
    point_selects: u64,
    simple_ranges: u64,
    sum_ranges: u64,
    order_ranges: u64,
    distinct_ranges: u64,
    index_updates: u64,
    non_index_updates: u64,
    delete_inserts: u64,
    pub range_size: u64,
    list_size: u64,
}

impl Counts {
    pub fn read(reading: &mut Reading<'_>) -> Result<Self, String> {
        let mut count = |name| reading.count(name, 0..=10_000);
        Ok(Self {
            point_selects: count("point_selects")?,
            simple_ranges: count("simple_ranges")?,
            sum_ranges: count("sum_ranges")?,
            order_ranges: count("order_ranges")?,
            distinct_ranges: count("distinct_ranges")?,
            index_updates: count("index_updates")?,
            non_index_updates: count("non_index_updates")?,
            delete_inserts: count("delete_inserts")?,
            range_size: reading.count("range_size", 1..=10_000_000)?,
            list_size: reading.count("list_size", 1..=5000)?,
        })
    }
}

impl Given {
    pub fn forms(self) -> Vec<Form> {
        let ids = |count: u64| vec![Form::Int4; count as usize];
        match self {
            Given::Nothing => Vec::new(),
            Given::Id => ids(1),
            Given::Range { .. } => ids(2),
            Given::Ranges { count, .. } | Given::OwnRanges { count, .. } => ids(2 * count),
            Given::NewC | Given::NewCOfOne => vec![Form::Text, Form::Int4],
            Given::NewRow => vec![Form::Int4, Form::Text, Form::Text],
            Given::SameRow => vec![Form::Int4, Form::Int4, Form::Text, Form::Text],
            Given::Many(count) | Given::OwnMany(count) | Given::Hot(count) => ids(count),
            Given::NewCOfMany(count) => [vec![Form::Text], ids(count)].concat(),
        }
    }
}

/// The groups of an event, in the order in which they are sent.
pub fn groups(event: &str, counts: &Counts) -> Vec<Group> {
    let group = |text: &str, given, times| Group {
        templates: vec![Template { text: text.to_owned(), given }],
        times,
        table: Which::Drawn,
    };
    let one = |text: &str, given| vec![group(text, given, 1)];
    let of_first =
        |text: String, given| vec![Group { templates: vec![Template { text, given }], times: 1, table: Which::First }];
    let listed =
        |from: u64, count: u64| (from..from + count).map(|place| format!("${place}")).collect::<Vec<_>>().join(", ");
    let (range, list) = (Given::Range { length: counts.range_size }, counts.list_size);
    let in_list = |columns: &str, column: &str| {
        format!("SELECT {columns} FROM sbtest{{t}} WHERE {column} IN ({})", listed(1, list))
    };
    let between =
        |columns: &str, column: &str| format!("SELECT {columns} FROM sbtest{{t}} WHERE {column} BETWEEN $1 AND $2");
    // As Callaghan's scripts have it: one more than the range's size.
    let wide = Given::Ranges { count: 1, delta: counts.range_size };

    let point = "SELECT c FROM sbtest{t} WHERE id = $1";
    let simple = "SELECT c FROM sbtest{t} WHERE id BETWEEN $1 AND $2";
    let sum = "SELECT sum(k) FROM sbtest{t} WHERE id BETWEEN $1 AND $2";
    let order = "SELECT c FROM sbtest{t} WHERE id BETWEEN $1 AND $2 ORDER BY c";
    let distinct = "SELECT DISTINCT c FROM sbtest{t} WHERE id BETWEEN $1 AND $2 ORDER BY c";
    let update_index = "UPDATE sbtest{t} SET k = k + 1 WHERE id = $1";
    let update_non_index = "UPDATE sbtest{t} SET c = $1 WHERE id = $2";
    let delete = "DELETE FROM sbtest{t} WHERE id = $1";
    let insert = "INSERT INTO sbtest{t} (id, k, c, pad) VALUES ($1, $2, $3, $4)";

    let reads = || {
        vec![
            group(point, Given::Id, counts.point_selects),
            group(simple, range, counts.simple_ranges),
            group(sum, range, counts.sum_ranges),
            group(order, range, counts.order_ranges),
            group(distinct, range, counts.distinct_ranges),
        ]
    };
    let writes = || {
        let replace = [(delete, Given::Id), (insert, Given::SameRow)];
        let templates = replace.map(|(text, given)| Template { text: text.to_owned(), given }).into();
        vec![
            group(update_index, Given::Id, counts.index_updates),
            group(update_non_index, Given::NewC, counts.non_index_updates),
            Group { templates, times: counts.delete_inserts, table: Which::Drawn },
        ]
    };
    match event {
        "point_select" => one(point, Given::Id),
        "read_only" => reads(),
        "write_only" => writes(),
        "read_write" => reads().into_iter().chain(writes()).collect(),
        "update_index" => one(update_index, Given::Id),
        "update_non_index" => one(update_non_index, Given::NewC),
        "insert" => one(&format!("{INSERT_BEGIN}$1, $2, $3)"), Given::NewRow),
        "delete" => one(delete, Given::Id),
        "select_random_points" => of_first(in_list("id, k, c, pad", "k"), Given::OwnMany(list)),
        "select_random_ranges" => {
            let ranges: Vec<String> =
                (0..list).map(|n| format!("k BETWEEN ${} AND ${}", 2 * n + 1, 2 * n + 2)).collect();
            let text = format!("SELECT count(k) FROM sbtest{{t}} WHERE {}", ranges.join(" OR "));
            of_first(text, Given::OwnRanges { count: list, delta: 5 })
        }
        "simple_range" => one(simple, range),
        "sum_range" => one(sum, range),
        "order_range" => one(order, range),
        "distinct_range" => one(distinct, range),
        "count_range" => one("SELECT count(c) FROM sbtest{t} WHERE id BETWEEN $1 AND $2", range),
        "scan" => {
            let scan = group("SELECT * FROM sbtest{t} WHERE length(c) < 0", Given::Nothing, 1);
            vec![Group { table: Which::Own, ..scan }]
        }
        "update_inlist" => {
            let text = format!("UPDATE sbtest{{t}} SET c = $1 WHERE id IN ({})", listed(2, list));
            one(&text, Given::NewCOfMany(list))
        }
        "update_one" => one(update_non_index, Given::NewCOfOne),
        "random_points" => one(&in_list("c", "id"), Given::Many(list)),
        "hot_points" => one(&in_list("c", "id"), Given::Hot(list)),
        "points_covered_pk" => one(&in_list("id", "id"), Given::Many(list)),
        "points_notcovered_pk" => one(&in_list("id, c", "id"), Given::Many(list)),
        "points_covered_si" => one(&in_list("k", "k"), Given::Many(list)),
        "points_notcovered_si" => one(&in_list("k, c", "k"), Given::Many(list)),
        "range_covered_pk" => one(&between("id", "id"), wide),
        "range_notcovered_pk" => one(&between("id, c", "id"), wide),
        "range_covered_si" => one(&between("k", "k"), wide),
        "range_notcovered_si" => one(&between("k, c", "k"), wide),
        _ => unreachable!("the event is one of the list"),
    }
}
