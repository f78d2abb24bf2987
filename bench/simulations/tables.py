"""The Markdown tables of docs/statistics.md, of rows of figures."""

from collections.abc import Callable, Sequence

from bench.simulations.counting import Row
from bench.simulations.noise import NOISES
from bench.simulations.scenarios import ALPHAS, CELLS
from bench.simulations.spending import ORDERS, PRODUCT


def print_pulled(rows: list[Row]) -> None:
    """The table of docs/statistics.md#pulled-in."""

    def pick(truth: str, alpha: float, pulled: bool) -> list[Row]:
        return [r for r in rows if (r["truth"], r["alpha"], r["pulled"]) == (truth, alpha, pulled)]

    parts = {
        f"{truth}{alpha}{pulled}": pick(truth, alpha, pulled)
        for truth in ("equal", "mixed")
        for alpha in ALPHAS
        for pulled in (False, True)
    }
    both = {"as it is": False, "pulled in": True}
    _table(
        [
            {"noise": name, **{key: found[place] for key, found in parts.items()}}
            for place, name in enumerate(NOISES)
        ],
        {
            "noise": lambda row: row["noise"],
            **{
                f"equal: wrong, of 5 %, {how}": _percent("any_wrong", f"equal0.05{on}")
                for how, on in both.items()
            },
            **{f"of 1 %, {how}": _percent("any_wrong", f"equal0.01{on}") for how, on in both.items()},
            **{f"rounds, {how}": _rounds("rounds_equal", f"equal0.01{on}") for how, on in both.items()},
            **{
                f"mixed: wrong, of 1 %, {how}": _percent("any_wrong", f"mixed0.01{on}")
                for how, on in both.items()
            },
            **{f"rounds of 1 %, {how}": _rounds("rounds_one", f"mixed0.01{on}") for how, on in both.items()},
        },
    )


def print_tables(rows: list[Row]) -> None:
    """The tables of docs/statistics.md, in that order."""

    def pick(**wanted: object) -> list[Row]:
        return [row for row in rows if all(row[name] == value for name, value in wanted.items())]

    def beside(name: str, **wanted: object) -> list[Row]:
        return [dict(zip(("noise", name), (row["noise"], row), strict=True)) for row in pick(**wanted)]

    sequential = {"rule": "apart", "kind": "anytime"}
    one = {"cells": 1, **sequential}
    _table(
        _joined(
            beside("equal5", truth="equal", alpha=0.05, **one),
            beside("equal1", truth="equal", alpha=0.01, **one),
            beside("mixed1", truth="mixed", alpha=0.01, **one),
        ),
        {
            "noise": lambda row: row["noise"],
            "equal: wrong, of 5 %": _percent("any_wrong", "equal5"),
            "of 1 %": _percent("any_wrong", "equal1"),
            "called different, of 1 %": _percent("false_alarm", "equal1"),
            "rounds": _rounds("rounds_equal", "equal1"),
            "lag 1 seen": _percent("lag1", "equal1", 0),
            "mixed: wrong, of 1 %": _percent("any_wrong", "mixed1"),
            "1 % found": _percent("one_found", "mixed1", 0),
            "rounds of 1 %": _rounds("rounds_one", "mixed1"),
        },
    )
    for cells in CELLS[1:]:
        print(f"\n{cells} cells:\n")
        many = {"cells": cells, "alpha": 0.05, **sequential}
        _table(
            _joined(beside("equal", truth="equal", **many), beside("mixed", truth="mixed", **many)),
            {
                "noise": lambda row: row["noise"],
                "different though equal": _percent("any_false_difference", "equal"),
                "wrong": _percent("false_coverage", "mixed"),
                "of the differences": _percent("false_difference", "mixed"),
                "of the SAMEs": _percent("false_same", "mixed"),
                "summary covers": _percent("mean_covered", "mixed", 1),
                "+-": _percent("mean_half_width", "mixed"),
                "naive covers": _percent("naive_covered", "mixed", 1),
            },
        )
    print()
    _table(
        [{"one": row} for row in rows
         if row["noise"] == "normal" and row["cells"] > 1 and row["kind"] == "anytime" and row["alpha"] == ALPHAS[0]],
        {
            "cells": lambda row: str(row["one"]["cells"]),
            "truth": lambda row: row["one"]["truth"],
            "counts": lambda row: {"apart": "two", "together": "one"}[row["one"]["rule"]],
            "any equal cell called different": _percent("any_false_difference", "one"),
            "wrong": _percent("false_coverage", "one"),
            "of the differences": _percent("false_difference", "one"),
            "rounds": _rounds("rounds", "one"),
            "rounds of 1 %": _rounds("rounds_one", "one"),
        },
    )  # fmt: skip
    print()
    _table(
        [{"one": row} for row in pick(kind="fixed")],
        {
            "noise": lambda row: row["one"]["noise"],
            "cells": lambda row: str(row["one"]["cells"]),
            "wrong": _percent("false_coverage", "one"),
            "of the differences": _percent("false_difference", "one"),
            "of the SAMEs": _percent("false_same", "one"),
        },
    )
    e_values = [row["e_of_truth"] for row in pick(noise="normal", **sequential)]
    print(f"\nexpectation of e(truth) at the stop, normal noise: {min(e_values):.2f} to {max(e_values):.2f}")


def print_tight(rows: list[Row]) -> None:
    """The tables of docs/statistics.md#a-budget-that-does-not-last."""
    most = max(row["campaigns"] for row in rows)
    every = [row for row in rows if row["campaigns"] == most]
    normal = [row for row in every if row["noise"] == "normal"]
    place: dict[str, Callable[[Row], str]] = {
        "cells": lambda row: str(row["cells"]),
        "truth": lambda row: row["truth"],
        "rounds per cell": lambda row: str(row["budget"]),
    }
    print(f"Verdicts reached, normal noise; {_ORDERS}:\n")
    _table(
        _beside(normal),
        {
            **place,
            **{f"of {100 * alpha:.0f} %": _orders("decided", alpha, digits=0) for alpha in ALPHAS},
            "1 % and more told apart, of 5 %": _orders("told_apart", 0.05, digits=0),
        },
    )
    for alpha in ALPHAS:
        print(f"\nErrors, of {100 * alpha:.0f} %, each the highest of the four budgets; {_ORDERS}:\n")
        equal, others = (
            [row for row in every if row["alpha"] == alpha and (row["truth"] == "equal") is is_equal]
            for is_equal in (True, False)
        )
        places = dict.fromkeys((row["noise"], row["cells"]) for row in every)
        _table(
            [{"noise": noise, "cells": cells} for noise, cells in places],
            {
                "noise": lambda row: row["noise"],
                "cells": lambda row: str(row["cells"]),
                "different though equal": _highest("any_false_difference", equal),
                "equal: wrong SAMEs": _highest("false_same", equal),
                "not all equal: wrong": _highest("false_coverage", others),
                "of the differences": _highest("false_difference", others),
                "of the SAMEs": _highest("false_same", others),
            },
        )  # fmt: skip
    e_values = [row["e_of_truth"] for row in normal if row["alpha"] == 0.05]
    print(
        f"\nexpectation of e(truth) at the end, normal noise, of 5 %: {min(e_values):.2f} to {max(e_values):.2f}"
    )
    print(f"\nAs the product does, of 5 %; {_ORDERS} / {PRODUCT}, on the same campaigns:\n")
    everyone = (*ORDERS, PRODUCT)
    _table(
        _beside([row for row in rows if row["campaigns"] < most]),
        {
            "noise": lambda row: row["noise"],
            "campaigns": lambda row: str(row["campaigns"]),
            **place,
            "reached": _orders("decided", 0.05, everyone, digits=0),
            "1 % and more told apart": _orders("told_apart", 0.05, everyone, digits=0),
            "any equal cell called different": _orders("any_false_difference", 0.05, everyone),
            "wrong": _orders("false_coverage", 0.05, everyone),
            "of the differences": _orders("false_difference", 0.05, everyone),
            "of the SAMEs": _orders("false_same", 0.05, everyone),
        },
    )


_ORDERS = " / ".join(ORDERS)


def _beside(rows: list[Row]) -> list[Row]:
    """Those that differ in alpha and order alone, in one, under (alpha, order)."""
    together: dict[tuple[object, ...], Row] = {}
    for row in rows:
        of_all = {name: row[name] for name in ("noise", "cells", "truth", "budget", "campaigns")}
        together.setdefault(tuple(of_all.values()), of_all)[f"{row['alpha']} {row['order']}"] = row
    return list(together.values())


def _orders(
    name: str, alpha: float, orders: Sequence[str] = tuple(ORDERS), digits: int = 2
) -> Callable[[Row], str]:
    def shown(row: Row) -> str:
        values = [row[f"{alpha} {order}"].get(name) for order in orders]
        return "" if None in values else " / ".join(f"{100 * value:.{digits}f}" for value in values) + " %"

    return shown


def _highest(name: str, rows: list[Row]) -> Callable[[Row], str]:
    def shown(place: Row) -> str:
        here = [row for row in rows if all(row[key] == value for key, value in place.items())]
        highest = [max(row[name] for row in here if row["order"] == order) for order in ORDERS]
        return " / ".join(f"{100 * value:.2f}" for value in highest) + " %"

    return shown


def _joined(*columns: list[Row]) -> list[Row]:
    """Rows about the same noise put together."""
    assert all([row["noise"] for row in column] == [row["noise"] for row in columns[0]] for column in columns)
    return [
        {name: value for row in rows for name, value in row.items()} for rows in zip(*columns, strict=True)
    ]


def _percent(name: str, part: str, digits: int = 2) -> Callable[[Row], str]:
    def shown(row: Row) -> str:
        value = row[part].get(name)
        return "" if value is None else f"{100 * value:.{digits}f} %"

    return shown


def _rounds(name: str, part: str) -> Callable[[Row], str]:
    """Median / nine campaigns in ten."""

    def shown(row: Row) -> str:
        value = row[part].get(name)
        return "" if value is None else f"{value:.0f} / {row[part][f'{name}_p90']:.0f}"

    return shown


def _table(rows: list[Row], columns: dict[str, Callable[[Row], str]]) -> None:
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(show(row) for show in columns.values()) + " |")
