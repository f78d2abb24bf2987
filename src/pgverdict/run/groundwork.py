"""What is done once for all cells of a run: builds obtained and inspected, settings settled, places made."""

from dataclasses import dataclass, replace

from pgverdict.conduct.turns import require_freezable
from pgverdict.errors import Interrupted, UserError, WorldError
from pgverdict.plan.pools import Pools
from pgverdict.run.builds import SettledArm, inspect_builds, require_optimised, settle_settings
from pgverdict.run.confining import confiner_for
from pgverdict.run.listener import Listener
from pgverdict.run.own import check_own_scripts
from pgverdict.run.places import Place, make_places
from pgverdict.run.room import Sized, data_bytes, size_cell
from pgverdict.run.sharing import ObtainedArm, obtain_arms
from pgverdict.run.site import Site
from pgverdict.servers.confine import Confiner
from pgverdict.servers.freeze import Means, choose_means
from pgverdict.servers.obtain import obtain
from pgverdict.spec.campaign import Campaign
from pgverdict.spec.spelling import Image, Outside, read_spelling
from pgverdict.workloads.own import workload_of
from pgverdict.workloads.regimes import regime_of


@dataclass(frozen=True)
class Groundwork:
    """What the cells of a run are prepared with; lists are in the order of the campaign's arms and cells."""

    campaign: Campaign
    """As it is kept: with all settings that its arms get, and the arms that could be had."""
    arms: tuple[ObtainedArm, ...]
    settled: tuple[SettledArm, ...]
    install_pools: Pools
    cells: tuple[Sized, ...]
    places: tuple[Place, ...]
    freeze: Means | None
    confiner: Confiner | None
    left_out: tuple[tuple[str, str], ...] = ()
    """Arms that could not be had: how each was spelled, and why."""

    @property
    def wal_bytes(self) -> tuple[int, ...]:
        """Per arm, about how large its WAL may grow."""
        return tuple(one.wal_bytes for one in self.settled)


def lay_groundwork(
    campaign: Campaign, site: Site, listener: Listener, *, leave_out: bool = False
) -> Groundwork:
    """Nothing is loaded yet. `leave_out`: go on without candidates whose build fails, if one remains."""
    chosen = [(cell, workload_of(cell)) for cell in campaign.cells]
    check_own_scripts(chosen)
    freeze, confiner = choose_means(campaign.freeze), confiner_for(campaign)
    if freeze is not None:
        for spec, workload in chosen:
            require_freezable(regime_of(spec, workload), workload.name)
    left_out: tuple[tuple[str, str], ...] = ()
    if leave_out:
        campaign, left_out = _without_missing(campaign, site, listener)
    obtained, install_pools = obtain_arms(campaign, site.home, listener, site)
    builds = inspect_builds(obtained, site, listener)
    require_optimised(campaign, builds)
    settled = settle_settings(
        campaign, builds, data_bytes=max(data_bytes(cell, work) for cell, work in chosen)
    )
    campaign = replace(campaign, arms=tuple(one.arm for one in settled))
    for one, arm in zip(obtained, campaign.arms, strict=True):
        if isinstance(read_spelling(arm.server), Outside) and one.stay is not None:
            one.stay.require_settings(arm.name, dict(arm.settings))
    arms = tuple(replace(one, arm=arm) for one, arm in zip(obtained, campaign.arms, strict=True))
    return Groundwork(
        campaign=campaign,
        arms=arms,
        settled=settled,
        install_pools=install_pools,
        cells=tuple(size_cell(cell, workload, arms, campaign.rounds) for cell, workload in chosen),
        places=make_places(campaign.arms, site),
        freeze=freeze,
        confiner=confiner,
        left_out=left_out,
    )


def _without_missing(
    campaign: Campaign, site: Site, listener: Listener
) -> tuple[Campaign, tuple[tuple[str, str], ...]]:
    """Without the candidates that cannot be built or fetched. A release that nobody knows is the user's mistake."""
    kept = [campaign.arms[0]]
    left_out: list[tuple[str, str]] = []
    last: WorldError | None = None
    for arm in campaign.arms[1:]:
        try:
            asked = read_spelling(arm.server)
            if isinstance(asked, Outside):
                site.stays.at(asked.dsn)
            elif not isinstance(asked, Image):
                listener.step(f"obtaining PostgreSQL {arm.server}")
                obtain(arm.server, site.home, progress=listener.amount, say=listener.step)
        except (UserError, Interrupted):
            raise
        except WorldError as error:
            listener.note(f"arm {arm.name} is left out: {error.message}")
            left_out.append((arm.server, error.message))
            last = error
        else:
            kept.append(arm)
    if len(kept) == 1 and last is not None:
        raise last
    return replace(campaign, arms=tuple(kept)), tuple(left_out)
