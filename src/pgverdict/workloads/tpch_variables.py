"""What the queries of TPC-H ask for: the values of their variables, drawn from the ranges of the specification.

Clause 2.4 gives each query its substitution parameters, and for each of these a set or range from which a value is
drawn evenly; and one value, the validation's, for which answers are known.

    >>> VALIDATION[3]
    {'segment': 'BUILDING', 'date': '1995-03-15'}
    >>> draw(3, random.Random(7)) == draw(3, random.Random(7))
    True
"""

import random
from collections.abc import Callable, Mapping

Value = int | float | str
Variables = Mapping[str, Value]

NATIONS: Mapping[str, str] = {
    "ALGERIA": "AFRICA", "ARGENTINA": "AMERICA", "BRAZIL": "AMERICA", "CANADA": "AMERICA", "EGYPT": "MIDDLE EAST",
    "ETHIOPIA": "AFRICA", "FRANCE": "EUROPE", "GERMANY": "EUROPE", "INDIA": "ASIA", "INDONESIA": "ASIA",
    "IRAN": "MIDDLE EAST", "IRAQ": "MIDDLE EAST", "JAPAN": "ASIA", "JORDAN": "MIDDLE EAST", "KENYA": "AFRICA",
    "MOROCCO": "AFRICA", "MOZAMBIQUE": "AFRICA", "PERU": "AMERICA", "CHINA": "ASIA", "ROMANIA": "EUROPE",
    "SAUDI ARABIA": "MIDDLE EAST", "VIETNAM": "ASIA", "RUSSIA": "EUROPE", "UNITED KINGDOM": "EUROPE",
    "UNITED STATES": "AMERICA",
}  # fmt: skip
"""By name, in the order of their keys, the region each is in."""

REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD")
SHIPMODES = ("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB")
TYPES = (
    ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"),
    ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"),
    ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER"),
)
"""The three words of a part's type."""
CONTAINERS = (
    ("SM", "LG", "MED", "JUMBO", "WRAP"),
    ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"),
)
COLORS = (
    "almond", "antique", "aquamarine", "azure", "beige", "bisque", "black", "blanched", "blue", "blush",
    "brown", "burlywood", "burnished", "chartreuse", "chiffon", "chocolate", "coral", "cornflower", "cornsilk",
    "cream", "cyan", "dark", "deep", "dim", "dodger", "drab", "firebrick", "floral", "forest", "frosted",
    "gainsboro", "ghost", "goldenrod", "green", "grey", "honeydew", "hot", "indian", "ivory", "khaki", "lace",
    "lavender", "lawn", "lemon", "light", "lime", "linen", "magenta", "maroon", "medium", "metallic",
    "midnight", "mint", "misty", "moccasin", "navajo", "navy", "olive", "orange", "orchid", "pale", "papaya",
    "peach", "peru", "pink", "plum", "powder", "puff", "purple", "red", "rose", "rosy", "royal", "saddle",
    "salmon", "sandy", "seashell", "sienna", "sky", "slate", "smoke", "snow", "spring", "steel", "tan",
    "thistle", "tomato", "turquoise", "violet", "wheat", "white", "yellow",
)  # fmt: skip
"""The words of a part's name."""
WORDS = (("special", "pending", "unusual", "express"), ("packages", "requests", "accounts", "deposits"))
"""The two words of query 13."""

FRACTION = 0.0001
"""Of query 11, at scale factor 1; less at larger ones, so that as many parts remain."""


def draw(query: int, source: random.Random, scale_factor: float = 1.0) -> Variables:
    """The variables of query 1 to 22, in the order in which they are named."""
    if query == 11:
        return {"nation": _nation(source), "fraction": _fraction(scale_factor)}
    return _DRAWN[query](source)


def validation(query: int, scale_factor: float = 1.0) -> Variables:
    """The variables for which the specification knows the answers, at scale factor 1."""
    if query == 11:
        return {**VALIDATION[11], "fraction": _fraction(scale_factor)}
    return VALIDATION[query]


def _fraction(scale_factor: float) -> str:
    # Ten decimals hold it exactly up to a million times the smallest scale factor; a float might print an exponent.
    return f"{FRACTION / scale_factor:.10f}"


def _nation(source: random.Random) -> str:
    return source.choice(tuple(NATIONS))


def _month(source: random.Random, first: tuple[int, int], last: tuple[int, int]) -> str:
    """The first day of a month, both ends included."""
    number = source.randint(12 * first[0] + first[1] - 1, 12 * last[0] + last[1] - 1)
    return f"{number // 12}-{number % 12 + 1:02}-01"


def _year(source: random.Random) -> str:
    return f"{source.randint(1993, 1997)}-01-01"


def _brand(source: random.Random) -> str:
    return f"Brand#{source.randint(1, 5)}{source.randint(1, 5)}"


def _words(source: random.Random, *sets: tuple[str, ...]) -> str:
    return " ".join(source.choice(words) for words in sets)


def _numbered(name: str, values: list[Value]) -> Variables:
    return {f"{name}{number}": value for number, value in enumerate(values, 1)}


def _market_share(source: random.Random) -> Variables:
    nation = _nation(source)
    return {"nation": nation, "region": NATIONS[nation], "type": _words(source, *TYPES)}


_DRAWN: Mapping[int, Callable[[random.Random], Variables]] = {
    1: lambda s: {"delta": s.randint(60, 120)},
    2: lambda s: {"size": s.randint(1, 50), "type": s.choice(TYPES[2]), "region": s.choice(REGIONS)},
    3: lambda s: {"segment": s.choice(SEGMENTS), "date": f"1995-03-{s.randint(1, 31):02}"},
    4: lambda s: {"date": _month(s, (1993, 1), (1997, 10))},
    5: lambda s: {"region": s.choice(REGIONS), "date": _year(s)},
    6: lambda s: {"date": _year(s), "discount": f"0.{s.randint(2, 9):02}", "quantity": s.randint(24, 25)},
    7: lambda s: _numbered("nation", list(s.sample(tuple(NATIONS), 2))),
    8: _market_share,
    9: lambda s: {"color": s.choice(COLORS)},
    10: lambda s: {"date": _month(s, (1993, 2), (1995, 1))},
    12: lambda s: {**_numbered("shipmode", list(s.sample(SHIPMODES, 2))), "date": _year(s)},
    13: lambda s: _numbered("word", [s.choice(words) for words in WORDS]),
    14: lambda s: {"date": _month(s, (1993, 1), (1997, 12))},
    15: lambda s: {"date": _month(s, (1993, 1), (1997, 10))},
    16: lambda s: {
        "brand": _brand(s),
        "type": _words(s, *TYPES[:2]),
        **_numbered("size", list(s.sample(range(1, 51), 8))),
    },
    17: lambda s: {"brand": _brand(s), "container": _words(s, *CONTAINERS)},
    18: lambda s: {"quantity": s.randint(312, 315)},
    19: lambda s: {
        **_numbered("quantity", [s.randint(1, 10), s.randint(10, 20), s.randint(20, 30)]),
        **_numbered("brand", [_brand(s) for _ in range(3)]),
    },
    20: lambda s: {"color": s.choice(COLORS), "date": _year(s), "nation": _nation(s)},
    21: lambda s: {"nation": _nation(s)},
    22: lambda s: _numbered("code", [str(code) for code in s.sample(range(10, 35), 7)]),
}  # fmt: skip

VALIDATION: Mapping[int, Variables] = {
    1: {"delta": 90},
    2: {"size": 15, "type": "BRASS", "region": "EUROPE"},
    3: {"segment": "BUILDING", "date": "1995-03-15"},
    4: {"date": "1993-07-01"},
    5: {"region": "ASIA", "date": "1994-01-01"},
    6: {"date": "1994-01-01", "discount": "0.06", "quantity": 24},
    7: {"nation1": "FRANCE", "nation2": "GERMANY"},
    8: {"nation": "BRAZIL", "region": "AMERICA", "type": "ECONOMY ANODIZED STEEL"},
    9: {"color": "green"},
    10: {"date": "1993-10-01"},
    11: {"nation": "GERMANY", "fraction": "0.0001000000"},
    12: {"shipmode1": "MAIL", "shipmode2": "SHIP", "date": "1994-01-01"},
    13: {"word1": "special", "word2": "requests"},
    14: {"date": "1995-09-01"},
    15: {"date": "1996-01-01"},
    16: {"brand": "Brand#45", "type": "MEDIUM POLISHED", **_numbered("size", [49, 14, 23, 45, 19, 3, 36, 9])},
    17: {"brand": "Brand#23", "container": "MED BOX"},
    18: {"quantity": 300},
    19: {
        "quantity1": 1, "quantity2": 10, "quantity3": 20,
        "brand1": "Brand#12", "brand2": "Brand#23", "brand3": "Brand#34",
    },
    20: {"color": "forest", "date": "1994-01-01", "nation": "CANADA"},
    21: {"nation": "SAUDI ARABIA"},
    22: _numbered("code", ["13", "31", "23", "29", "30", "18", "17"]),
}  # fmt: skip
"""By query, the variables of the specification's validation."""
