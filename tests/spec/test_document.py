"""Campaign files: what is read, and what is said of one that cannot be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.errors import UserError
from pgverdict.spec.document import read_document
from pgverdict.spec.lines import line_of
from pgverdict.spec.sizes import data_size, scale_for

SMALLEST = 'arms = ["17", "18"]\n\n[[workload]]\nname = "select-only"\n'


def test_a_file_of_two_arms_and_one_workload_needs_no_more_than_five_lines() -> None:
    document = read_document("c.toml", SMALLEST)

    assert len(SMALLEST.splitlines()) <= 5
    assert document.tables.arms == ("17", "18")
    assert [table.name for table in document.tables.workload] == [("select-only",)]


def test_a_value_and_a_list_of_one_are_the_same() -> None:
    one, several = (read_document("c.toml", f"{SMALLEST}scale = {v}\n").tables for v in ("10", "[10]"))

    assert one == several


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (f"{SMALLEST}scael = 1\n", "c.toml:5: unknown key in [[workload]]: scael", "did you mean scale?"),
        (f'bugdet = "5m"\n{SMALLEST}', "c.toml:1: unknown key: bugdet", "did you mean budget?"),
        (f"{SMALLEST}[small]\ndivde = 2\n", "c.toml:6: unknown key in [small]: divde", "did you mean divide?"),
        (f"{SMALLEST}budget = 1\n", "c.toml:5: unknown key in [[workload]]: budget", "what is about the whole"
         " file stands above the first table"),
        (SMALLEST.replace('"17"', "17.10"), "c.toml:1: arms must be in quotes: 17.1", 'write "17.1"; without'
         " quotes, 18.10 is 18.1"),
        (f'{SMALLEST}scale = "ten"\n', "c.toml:5: workload.scale must be a whole number: 'ten'", None),
        (f"{SMALLEST}clients = [\n  1,\n  0,\n]\n", "c.toml:5: workload.clients: input should be greater than or"
         " equal to 1: 0", None),
        (f"{SMALLEST}clients = []\n", "c.toml:5: workload.clients must be a list of at least one value: []", None),
        (f'{SMALLEST}regime = "stedy"\n', "c.toml:5: workload.regime cannot be stedy", "did you mean steady?"),
        (f'{SMALLEST}regime = "read-only"\n', "c.toml:5: workload.regime is fresh or steady, of work that changes"
         " data: 'read-only'", None),
        (f"{SMALLEST}settings = {{ work_mem = [[1]] }}\n", "c.toml:5: workload.settings.work_mem must be a text, a"
         " number, true or false: [1]", None),
        ('arms = ["17", "18"]\n[[workload]]\nscale = 1\n', "c.toml:2: no name in [[workload]]",
         'write name = "select-only", or script = "FILE.sql"'),
        ('arms = ["17", "18"]\n', "c.toml:1: no workload", 'write [[workload]] and below it name = "select-only"'),
        ("arms = [\n", "c.toml:1: not TOML: invalid value", "docs/campaigns.md has examples"),
        (f"{SMALLEST}name = 'x'\n", "c.toml:5: not TOML: cannot overwrite a value",
         "docs/campaigns.md has examples"),
    ],
)  # fmt: skip
def test_an_error_names_file_line_and_key_and_the_nearest_word(
    text: str, message: str, hint: str | None
) -> None:
    with pytest.raises(UserError) as caught:
        read_document("c.toml", text)

    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_of_several_errors_the_first_in_the_file_is_told() -> None:
    with pytest.raises(UserError, match=r"c\.toml:1: unknown key: rouns"):
        read_document("c.toml", f"rouns = 3\n{SMALLEST}scael = 1\n")


def test_what_is_found_wrong_later_is_told_with_its_place() -> None:
    document = read_document("c.toml", f'{SMALLEST}\n[[workload]]\n# large\nname = "no"\n')

    with pytest.raises(UserError) as caught, document.at("workload", 1, "name"):
        raise UserError("unknown workload: no", hint="known: select-only")

    assert caught.value.message == "c.toml:8: workload.name: unknown workload: no"
    assert caught.value.hint == "known: select-only"


@given(
    keys=st.lists(st.from_regex(r"[a-z]{1,5}", fullmatch=True), min_size=1, max_size=8, unique=True),
    data=st.data(),
)
def test_a_key_is_found_on_its_line_whatever_stands_around_it(keys: list[str], data: st.DataObject) -> None:
    noise = st.sampled_from(["", "# a comment", "   "])
    lines: list[str] = []
    places = {}
    for key in keys:
        lines += data.draw(st.lists(noise, max_size=2))
        places[key] = len(lines) + 1
        lines += data.draw(st.sampled_from([[f"{key} = 1"], [f"{key} = [", "  1,", "]"], [f"{key}.a = 1"],
                                            [f'{key} = """', "# no comment", '"""']]))  # fmt: skip

    assert {key: line_of("\n".join(lines), (key,)) for key in keys} == places


@pytest.mark.parametrize(
    ("text", "memory", "buffers", "expected"),
    [
        ("2GB", 0, 0, 2 << 30),
        ("fits shared buffers", 0, 1000, 750),
        ("half of memory", 1000, 0, 500),
        ("a quarter of memory", 1000, 0, 250),
        ("3x memory", 1000, 0, 3000),
        ("1.5 x shared buffers", 0, 1000, 1500),
        ("30% of memory", 1000, 0, 300),
    ],
)
def test_sizes_are_said_in_words(text: str, memory: int, buffers: int, expected: int) -> None:
    assert data_size(text).bytes(memory_bytes=memory, shared_buffers_bytes=buffers) == expected


@pytest.mark.parametrize("text", ["", "3x memry", "half memory", "0GB", "0x memory", "-1GB", "2 x"])
def test_what_is_no_size_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UserError, match=r"not a size of data|must have some size") as caught:
        data_size(text)

    assert "half of memory" in (caught.value.hint or "")


@given(st.integers(1, 10**15), st.integers(1, 10**9))
def test_a_scale_is_the_largest_of_two_digits_that_is_no_larger(wanted: int, per_scale: int) -> None:
    scale = scale_for(wanted, per_scale)

    assert len(str(scale).rstrip("0")) <= 2
    assert scale == 1 or scale * per_scale <= wanted < 1.1 * scale * per_scale + per_scale
