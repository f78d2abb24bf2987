"""The examples of docs/campaigns.md: campaign files, and the SQL files that one of them names."""

import re
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "campaigns.md").read_text()
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
OWN_WORK = next(text for text in EXAMPLES if "script = " in text)
"""The one with own work."""


def write_sql_files(folder: Path) -> list[str]:
    """The files that the page shows, by the names in their first lines."""
    found = re.findall(r"```sql\n-- (\S+)\n(.*?)```", PAGE, re.DOTALL)
    for name, text in found:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return [name for name, _ in found]
