"""The sample run as a report."""

import pytest

from pgverdict.report.model import Report

from .samples import a_report


@pytest.fixture(scope="session")
def report() -> Report:
    return a_report()
