"""How releases are built: one recipe, and features only where they are asked for."""

import pytest

from pgverdict.errors import UserError
from pgverdict.servers.recipe import CFLAGS, LIBRARIES, PROGRAMS, packages_hint, recipe
from pgverdict.spec.spelling import FEATURES, BuildWish

NEWEST = (18,)


@pytest.mark.parametrize(
    ("major", "system"), [((9, 6), "make"), ((15,), "make"), ((16,), "meson"), ((19,), "meson")]
)
def test_meson_builds_releases_that_have_it(major: tuple[int, ...], system: str) -> None:
    chosen = recipe(major, BuildWish(), jobs=2)

    assert chosen.system == system
    assert chosen.cflags == CFLAGS
    assert any(CFLAGS in word for step in chosen.steps for word in step.words)
    assert set(chosen.programs) <= set(PROGRAMS)


def test_a_build_has_no_feature_that_was_not_asked_for() -> None:
    assert "-Dauto_features=disabled" in recipe(NEWEST, BuildWish(), jobs=2).options
    assert set(recipe((15,), BuildWish(), jobs=2).options) == {"--without-readline", "--without-zlib"}
    assert "--without-zlib" not in recipe((15,), BuildWish(("zlib",)), jobs=2).options


@pytest.mark.parametrize("feature", FEATURES)
def test_every_feature_can_be_had_of_the_newest_release(feature: str) -> None:
    bare, chosen = recipe(NEWEST, BuildWish(), jobs=2), recipe(NEWEST, BuildWish((feature,)), jobs=2)

    assert len(chosen.options) == len(bare.options) + 1
    assert feature in LIBRARIES or feature == "cassert"


@pytest.mark.parametrize(("major", "feature"), [((17,), "liburing"), ((14,), "zstd"), ((9, 6), "icu")])
def test_a_release_is_not_built_with_what_it_does_not_have(major: tuple[int, ...], feature: str) -> None:
    with pytest.raises(UserError, match=f"cannot be built with {feature}") as caught:
        recipe(major, BuildWish((feature,)), jobs=2)

    assert f"{feature} is there since PostgreSQL" in (caught.value.hint or "")


def test_recipes_that_differ_have_different_texts() -> None:
    wishes = [BuildWish(), BuildWish(("lz4",)), BuildWish(cflags="-O3"), BuildWish(("lz4", "zstd"))]
    texts = {recipe(major, wish, jobs=2).text for wish in wishes for major in ((15,), (18,))}

    assert len(texts) == 8


def test_packages_are_named_for_both_families_of_systems() -> None:
    assert packages_hint(["icu", "meson"]) == (
        "Debian, Ubuntu: apt-get install libicu-dev meson; RPM systems: dnf install libicu-devel meson"
    )
