"""JSON as the store writes it: compact, since it is kept with every round."""

import json
from typing import Any


def to_json_text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
