"""`pgverdict list runs|workloads|servers`."""

import typer

from pgverdict.cli.options import StoreUrl
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.parameters import Parameter, spell
from pgverdict.spec.regime import Regime
from pgverdict.workloads.workload import Workload

app = typer.Typer(help="List what there is.", no_args_is_help=True)


@app.command()
def runs(
    store: StoreUrl = None,
) -> None:
    """Runs in the store, the newest first."""
    from pgverdict.cli.places import place_to_read  # what a list needs: `--help` answers without
    from pgverdict.records.run import Purpose
    from pgverdict.report.words import count, listed, visible
    from pgverdict.store.glances import glance

    for run in glance(place_to_read(store)):
        baseline, *candidates = (
            name if name == version else f"{name} ({version})" for name, version in run.arms
        )
        arms = f"{baseline} against {listed(candidates)}"
        cells = "; ".join(f"{cell.spec.key}: {count(cell.measured, 'round')}" for cell in run.told)
        if not run.told:
            cells = f"{count(run.cells, 'cell')}: {count(run.measured, 'round')}"
        if run.purpose is Purpose.CALIBRATE:
            arms = f"calibrated with {run.arms[0][1]}"
        print(visible(f"{run.id}  {run.state.value:<8}{arms}  {cells}"))


@app.command()
def workloads() -> None:
    """Workloads of the catalogue, and the parameters they know."""
    from pgverdict.report.words import listed
    from pgverdict.workloads import catalogue

    width = max(map(len, catalogue.names())) + 2
    alike: dict[tuple[str, ...], list[str]] = {}
    for name in catalogue.names():
        found = catalogue.workload(name)
        print(f"{name:<{width}}{found.about}; {_regimes(found)}")
        named = tuple(f"{one.name}: {one.about}" for one in catalogue.parameters(name))
        alike.setdefault(named, []).append(name)
    for parameters, names in alike.items():
        if parameters:
            print(f"\nparameters of {listed(names)}:")
        for number, _ in enumerate(parameters):
            print(_parameter({name: catalogue.parameters(name)[number] for name in names}))


def _parameter(by_workload: dict[str, Parameter]) -> str:
    """One line; where workloads have another default than the first, it says so."""
    from pgverdict.report.words import listed

    first, *_ = by_workload.values()
    others = {
        spell(one.default): [name for name, other in by_workload.items() if other.default == one.default]
        for one in by_workload.values()
        if one.default != first.default
    }
    unlike = "".join(f"; {default} by default for {listed(names)}" for default, names in others.items())
    return f"  {f'{first.name}={spell(first.default)}':<28}{first.about}; {first.allowed}{unlike}"


def _regimes(found: Workload) -> str:
    from pgverdict.workloads.regimes import primary_of

    chosen = (Regime.FRESH, Regime.STEADY)
    regimes = chosen if found.regime in chosen else (found.regime,)
    decided = [
        f"{regime.value}, decided by {primary_of(CellSpec(found.name, 1, 1, regime=regime), found)}"
        for regime in regimes
    ]
    return " or ".join(decided)


@app.command()
def servers() -> None:
    """Servers that can be compared: the newest minor of every release ready-made, what is installed, what was built."""
    from pgverdict.servers.account import server_account
    from pgverdict.servers.build import list_built
    from pgverdict.servers.found import find_installed
    from pgverdict.servers.home import Home
    from pgverdict.servers.install import list_installed, list_releases
    from pgverdict.servers.maven import source_words
    from pgverdict.servers.release import spell_major

    home = Home.find()
    home.ensure(server_account())
    installed = {install.version for install in list_installed(home)}
    newest = {release.major: release for release in sorted(list_releases(home))}
    for major, release in sorted(newest.items(), reverse=True):
        here = "  installed" if release.version in installed else ""
        print(f"{spell_major(major):<6}{release.version:<10}{source_words()}{here}")
    others = installed - {release.version for release in newest.values()}
    for version in sorted(others):
        print(f"{version:<16}{source_words()}  installed")
    for found in find_installed():
        print(f"system:{found.major:<9}{found.version:<10}in {found.programs}")
    for build in list_built(home):
        print(f"{build.package}  {build.version}  built by {build.build.compiler}")
    print("source:PATH, source:RELEASE and git:PATH@REVISION are built from source: docs/servers.md")
