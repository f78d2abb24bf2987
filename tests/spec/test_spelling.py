"""Where servers come from, as people write it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.errors import UserError
from pgverdict.spec.arms import make_arms
from pgverdict.spec.spelling import FEATURES, BuildWish, Commit, Installed, Published, Source, read_spelling


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("18", Published("18")),
        ("9.6", Published("9.6")),
        ("13.1.0-1", Published("13.1.0-1")),
        ("system:17", Installed("17")),
        ("system:/opt/pg", Installed("/opt/pg")),
        ("./build/pg", Installed("./build/pg")),
        ("~/pg", Installed("~/pg")),
        ("source:18.1", Source("18.1")),
        ("source:./postgres", Source("./postgres")),
        ("source:18.1,with=zstd+lz4", Source("18.1", BuildWish(("lz4", "zstd")))),
        ("source:18.1,with=lz4,with=lz4", Source("18.1", BuildWish(("lz4",)))),
        (
            "source:18.1,cflags=-O3 -Wl,-z,now,with=icu",
            Source("18.1", BuildWish(("icu",), "-O3 -Wl,-z,now")),
        ),
        ("git:/src/pg@HEAD~3", Commit("/src/pg", "HEAD~3")),
        ("git:me@host:pg.git@v1", Commit("me@host:pg.git", "v1")),
        ("git:https://h/pg.git@a/b", Commit("https://h/pg.git", "a/b")),
        (
            "git:.@HEAD,patch=a.patch,patch=b,c.patch",
            Commit(".", "HEAD", BuildWish(patches=("a.patch", "b,c.patch"))),
        ),
    ],
)
def test_a_spelling_says_where_a_server_comes_from(text: str, meant: object) -> None:
    assert read_spelling(text) == meant


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("sorce:18", "unknown kind of server: sorce", "did you mean source?"),
        ("system:", "nothing behind the colon: system:", "system:17"),
        ("source:", "nothing behind the colon", "source:18.1"),
        ("git:/src/pg", "no revision in git:/src/pg", "git:/src/pg@HEAD"),
        ("git:@HEAD", "no revision in", "git:HEAD@HEAD"),
        ("git:/src@", "no revision in", "a tag, a branch"),
        ("source:18,with=lz", "unknown feature of a build: lz", "did you mean lz4?"),
        ("source:18,with=", "an empty wish for a build: with=", "with=lz4"),
        ("source:18,cflags=-O1,cflags=-O2", "two wishes for cflags: -O1 and -O2", ""),
    ],
)
def test_what_means_nothing_is_refused_with_what_would(text: str, message: str, hint: str) -> None:
    with pytest.raises(UserError) as caught:
        read_spelling(text)

    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


NAMES = st.from_regex(r"[A-Za-z0-9_./-]{1,20}", fullmatch=True)
WISHES = st.builds(
    BuildWish,
    st.sets(st.sampled_from(FEATURES)).map(lambda chosen: tuple(sorted(chosen))),
    st.none() | st.from_regex(r"-O[0-3]( -march=[a-z]{1,5})?", fullmatch=True),
    st.lists(NAMES, max_size=3).map(tuple),
)


@given(NAMES, NAMES, WISHES)
def test_what_is_spelled_is_read_again(repository: str, revision: str, wish: BuildWish) -> None:
    assert read_spelling(f"git:{repository}@{revision}{wish.spelled}") == Commit(repository, revision, wish)
    assert read_spelling(f"source:{repository}{wish.spelled}") == Source(repository, wish)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dsn:postgresql://me:hunter2@db/app", "a password in a dsn"),
        ("dsn:postgresql://me@db/app?sslpassword=hunter2", "a password in a dsn"),
        ("dsn:postgresql://me@db/app?%70assword=hunter2", "a password in a dsn"),
        ("dsn:host=db password=hunter2", "not a connection URI"),
        ("postgresql://me:hunter2@db/app", "without dsn: before it"),
        ("docker:", "not the name of an image"),
        ("docker:--privileged", "not the name of an image"),
    ],
)
def test_servers_that_are_only_connected_to_are_spelt_without_secrets(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        make_arms((text, "17"))
    assert "hunter2" not in caught.value.message + (caught.value.hint or "")


def test_arms_on_one_host_are_numbered_and_take_settings_by_name() -> None:
    first, second = "dsn:postgresql://me@db:5/one", "dsn:postgresql://me@db:5/two"
    arms = make_arms((first, second), (("db:5#2", "jit", "off"),))

    assert [arm.name for arm in arms] == ["db:5", "db:5#2"]
    assert [arm.settings for arm in arms] == [(), (("jit", "off"),)]
