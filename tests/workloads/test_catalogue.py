"""The catalogue of workloads."""

import pytest

from pgverdict.errors import UserError
from pgverdict.workloads import catalogue


@pytest.mark.parametrize("name", catalogue.names())
def test_every_workload_is_whole(name: str) -> None:
    workload = catalogue.workload(name)

    assert workload.name == name
    assert all(script.text.endswith(";\n") for script in workload.scripts)


def test_an_unknown_workload_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UserError, match="unknown workload: selct-only") as caught:
        catalogue.workload("selct-only")

    assert caught.value.hint == "did you mean select-only?"
