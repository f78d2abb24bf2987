"""Random expressions and scripts in pgbench's language, for hypothesis to draw."""

from hypothesis import strategies as st

VARIABLES = {"i": "42", "d": "-2.5", "t": "true", "n": "null", "s": "text", "e": "7 "}
"""Given by -D. `:u` is given by nobody."""

_integers = st.one_of(
    st.integers(0, 20).map(str),
    st.sampled_from(["9223372036854775807", "4611686018427387904", "4294967296"]),
)
_doubles = st.sampled_from(["0.0", "1.5", "2e3", ".25", "1e300", "3.", "0.1e-7"])
_constants = st.one_of(
    _integers,
    _doubles,
    st.sampled_from(["true", "FALSE", "Null"]),
    st.sampled_from([f":{name}" for name in [*VARIABLES, "client_id", "scale"]]),
)

_BINARY = ["+", "-", "*", "/", "%", "<", ">", "<=", ">=", "=", "<>", "!=", "|", "&", "#", "<<", ">>"]
_POSTFIX = ["is null", "is not null", "isnull", "notnull", "is true", "is not false"]
_NUMBERS = ["abs", "int", "double", "sqrt", "ln", "exp"]


def _calls(inner: st.SearchStrategy[str], release: int) -> st.SearchStrategy[str]:
    # Gaussian numbers are drawn in another way since 16.
    skewed = ["random_exponential", "random_zipfian", *(["random_gaussian"] if release >= 16 else [])]
    parameter = st.sampled_from(["1.07", "2.5", "5", "1", "0"])
    range_ = st.tuples(st.integers(-50, 50), st.integers(-10, 1000)).map(lambda ends: f"{ends[0]}, {ends[1]}")
    # A boolean makes abs() read the number's bits as something else in pgbench: not ours to repeat.
    number = st.one_of(_integers, _doubles)
    return st.one_of(
        st.tuples(st.sampled_from(["abs"]), number).map(lambda it: f"{it[0]}(-{it[1]})"),
        st.tuples(st.sampled_from(_NUMBERS[1:]), inner).map(lambda it: f"{it[0]}({it[1]})"),
        st.tuples(st.sampled_from(["least", "greatest"]), st.lists(inner, min_size=1, max_size=4)).map(
            lambda it: f"{it[0]}({', '.join(it[1])})"
        ),
        st.tuples(st.sampled_from(["mod", "pow", "power", "hash_fnv1a"]), inner, inner).map(
            lambda it: f"{it[0]}({it[1]}, {it[2]})"
        ),
        st.tuples(st.sampled_from(["hash", "hash_murmur2"]), inner).map(lambda it: f"{it[0]}({it[1]})"),
        range_.map(lambda ends: f"random({ends})"),
        st.tuples(st.sampled_from(skewed), range_, parameter).map(lambda it: f"{it[0]}({it[1]}, {it[2]})"),
        st.tuples(inner, st.integers(0, 50)).map(lambda it: f"permute({it[0]}, {it[1]}, 7)"),
        inner.map(lambda it: f"debug({it})"),
    )


def expressions(release: int) -> st.SearchStrategy[str]:
    """Expressions that parse; evaluating them may fail. `release`: of the real pgbench."""

    def extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.tuples(inner, st.sampled_from(_BINARY), inner).map(lambda it: f"({it[0]} {it[1]} {it[2]})"),
            st.tuples(inner, st.sampled_from(["and", "OR"]), inner).map(" ".join).map("({})".format),
            st.tuples(inner, st.sampled_from(_POSTFIX)).map(" ".join).map("({})".format),
            st.tuples(st.sampled_from(["-", "+", "~", "not "]), inner).map("".join).map("({})".format),
            st.tuples(inner, inner, inner).map(lambda it: f"case when {it[0]} then {it[1]} else {it[2]} end"),
            _calls(inner, release),
        )

    return st.recursive(_constants, extend, max_leaves=12)


_WORDS = [
    "1", "2.5", ":i", ":", "+", "-", "*", "/", "%", "(", ")", "<", ">=", "<<", "|", "~", "!", "and", "not",
    "is", "null", "case", "when", "then", "end", "random", "nosuch", ",", "abs", "9223372036854775808", ".",
    "1e", ";", "'", "99999999999999999999", "\\\n",
]  # fmt: skip


def nonsense() -> st.SearchStrategy[str]:
    """Words of expressions in any order: most are errors."""
    return st.lists(st.sampled_from(_WORDS), max_size=9).map(" ".join)


def _sql(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    literal = st.sampled_from(["'a;b'", "$$ ; $$", "'it''s'", "E'\\\\''", "1 -- ;\n", "/* ; */ 2", "(3)"])
    return st.one_of(
        literal.map(lambda it: f"select {it} as c \\gset x_"),
        inner.map(lambda it: f"\\set a {it}\nselect :a as c \\gset\n\\set b debug(:c)"),
        st.just("select 1 as c \\; select 2 as c \\aset\n\\set b debug(:c)"),
        st.sampled_from(
            ["select :i::int, :d::float8;", "select ':s', :u;", ";", "begin; end;", "select 1/0;"]
        ),
        st.sampled_from(
            ["select 1 as c where false \\gset", "\\sleep 1 us", "\\sleep :i us", "\\shell exit :zero"]
        ),
        st.sampled_from(
            ["\\setshell z echo 5\n\\set z debug(:z)", "\\startpipeline\nselect 1;\n\\endpipeline"]
        ),
        st.sampled_from(
            ["-- a comment", "  ", "\\endpipeline", "begin;", "\\set 1x 2", "\\foo", "\\sleep 1 x"]
        ),
    )


def scripts() -> st.SearchStrategy[str]:
    """Whole scripts, with conditions around their parts. Some have errors."""
    small = st.one_of(_constants, st.tuples(_integers, _integers).map(" + ".join))

    def nest(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        parts = st.lists(inner, max_size=3).map("\n".join)
        return st.one_of(
            inner,
            st.tuples(small, parts).map(lambda it: f"\\if {it[0]}\n{it[1]}\n\\endif"),
            st.tuples(small, parts, parts).map(lambda it: f"\\if {it[0]}\n{it[1]}\n\\else\n{it[2]}\n\\endif"),
            st.tuples(small, parts, small, parts, parts).map(
                lambda it: f"\\if {it[0]}\n{it[1]}\n\\elif {it[2]}\n{it[3]}\n\\else\n{it[4]}\n\\endif"
            ),
        )

    return st.lists(st.recursive(_sql(small), nest, max_leaves=6), min_size=1, max_size=5).map("\n".join)
