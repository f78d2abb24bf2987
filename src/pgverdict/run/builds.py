"""What is done with the arms' builds before anything is loaded: inspected, refused, given their settings."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgverdict.errors import UserError
from pgverdict.plan.alignment import Aligned, align, changed_defaults, known_to_some
from pgverdict.plan.tuning import tuned_settings
from pgverdict.run.listener import Listener
from pgverdict.run.sharing import ObtainedArm
from pgverdict.run.site import Site
from pgverdict.servers.facts import debug_build
from pgverdict.servers.inspection import Inspection, inspect
from pgverdict.spec.arms import Arm, Origin
from pgverdict.spec.campaign import Campaign, CellSpec, Defaults
from pgverdict.spec.quantities import is_size, size_bytes
from pgverdict.workloads.workload import Workload


@dataclass(frozen=True)
class SettledArm:
    """An arm with all the settings it gets, and what is to be said of how it got them."""

    arm: Arm
    build: Inspection
    defaults: tuple[tuple[str, str], ...]
    """Its defaults, where not all arms have the same."""
    notes: tuple[str, ...]

    @property
    def wal_bytes(self) -> int:
        """About how large its WAL may grow, by its settings: what the server will not take is found when it is met."""
        default = self.build.settings["max_wal_size"]
        chosen = dict(self.arm.settings).get("max_wal_size", default.written)
        if chosen.isdecimal():
            return int(replace(default, value=chosen).amount.number)
        return size_bytes(chosen if is_size(chosen) else default.written)


def inspect_builds(arms: Sequence[ObtainedArm], site: Site, listener: Listener) -> list[Inspection]:
    """Per arm; a build that several arms have is asked once."""
    found: dict[str, Inspection] = {}
    for arm in arms:
        if arm.identity in found:
            continue
        listener.step(f"inspecting PostgreSQL {arm.version}")
        if arm.stay is not None:
            found[arm.identity] = arm.stay.inspect()
        else:
            install = arm.install
            found[install.identity] = inspect(
                install,
                site.home,
                site.account,
                site.directory("workshop"),
                lambda install, data: site.launch(install, data, {}, "workshop"),
            )
    return [found[arm.identity] for arm in arms]


def require_optimised(campaign: Campaign, builds: Sequence[Inspection]) -> None:
    """UserError for a build that nobody runs in earnest, unless such builds were asked for."""
    for arm, build in zip(campaign.arms, builds, strict=True):
        reason = debug_build(dict(build.facts))
        if reason is not None and not campaign.debug_builds:
            raise UserError(
                f"the build of arm {arm.name} is one for finding errors: {reason}",
                hint="--allow-debug-builds measures it all the same",
            )


def require_what_is_needed(cells: Sequence[tuple[CellSpec, Workload]], arms: Sequence[ObtainedArm]) -> None:
    """UserError for an arm of a release that does not have what a cell's dataset needs."""
    for spec, workload in cells:
        for need in workload.dataset.needs:
            for one in arms:
                if one.install.is_before(need.since):
                    raise UserError(
                        f"{spec.key} needs {need.what}, from release {need.since} on, and arm {one.arm.name} is"
                        f" PostgreSQL {one.install.version}",
                        hint="leave the parameter out, or choose newer servers",
                    )


def settle_settings(
    campaign: Campaign, builds: Sequence[Inspection], *, data_bytes: int
) -> tuple[SettledArm, ...]:
    """What every arm gets: what the user gave, else what it is tuned to, else the baseline's default if aligned.

    `data_bytes`: how large the largest dataset of the campaign is.
    """
    settings = [build.settings for build in builds]
    given, left_out = zip(
        *(_known_ones(arm, build, builds) for arm, build in _pairs(campaign, builds)), strict=True
    )
    tuned = [_tuned(campaign, build, data_bytes, but=own) for build, own in zip(builds, given, strict=True)]
    aligned: Sequence[Aligned] = [Aligned({}, {})] * len(builds)
    if campaign.defaults is Defaults.ALIGNED:
        aligned = align(settings, [{**own, **made} for own, made in zip(given, tuned, strict=True)])
    names = [*(changed.name for changed in changed_defaults(settings)), *known_to_some(settings)]
    return tuple(
        SettledArm(
            arm=_settled(arm, given[number], tuned[number], aligned[number]),
            build=build,
            defaults=tuple((name, build.settings[name].written) for name in names if name in build.settings),
            notes=(*left_out[number], *_not_aligned(aligned[number])),
        )
        for number, (arm, build) in enumerate(_pairs(campaign, builds))
    )


def _pairs(campaign: Campaign, builds: Sequence[Inspection]) -> list[tuple[Arm, Inspection]]:
    return list(zip(campaign.arms, builds, strict=True))


def _settled(arm: Arm, given: dict[str, str], tuned: dict[str, str], aligned: Aligned) -> Arm:
    return replace(
        arm,
        settings=tuple(sorted({**aligned.settings, **tuned, **given}.items())),
        optional=(),
        origins=(
            *((name, Origin.TUNED.value) for name in tuned),
            *((name, Origin.ALIGNED.value) for name in sorted(aligned.settings)),
        ),
    )


def _known_ones(
    arm: Arm, build: Inspection, builds: Sequence[Inspection]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The settings the user gave without optional ones that the build does not know; and notes on those."""
    known: dict[str, str] = {}
    left_out = []
    for name, value in arm.settings:
        if name in arm.optional and name not in build.settings:
            _require_known_somewhere(name, builds)
            left_out.append(f"the setting {name}={value} was left out: this release does not know it")
        else:
            known[name] = value
    return known, tuple(left_out)


def _require_known_somewhere(name: str, builds: Sequence[Inspection]) -> None:
    """A slip of the pen must not pass for a setting of another release."""
    if "." in name:
        raise UserError(
            f"a setting of a library cannot be optional: {name}",
            hint="only the running server knows it; address the arms that load the library: ARM:NAME=VALUE",
        )
    names = {known for build in builds for known in build.settings}
    if name not in names:
        near = difflib.get_close_matches(name, sorted(names), n=1)
        raise UserError(
            f"no arm knows the optional setting: {name}",
            hint=f"did you mean {near[0]}?" if near else "leave it out",
        )


def _tuned(campaign: Campaign, build: Inspection, data_bytes: int, *, but: dict[str, str]) -> dict[str, str]:
    if campaign.tuning is None:
        return {}
    made = tuned_settings(campaign.tuning, data_bytes=data_bytes, known=build.settings)
    return {name: value for name, value in made.items() if name not in but}


def _not_aligned(aligned: Aligned) -> list[str]:
    return [
        f"{name} is not aligned with the baseline's default: {reason}"
        for name, reason in aligned.refused.items()
    ]
