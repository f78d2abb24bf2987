"""The page in a real browser, from a file, without a network."""

import os
import re
import shutil
import struct
import subprocess
import zlib
from html import unescape
from pathlib import Path

import pytest

from pgverdict.judge.verdict import WHOLE_CELL
from pgverdict.report.html import to_html
from pgverdict.report.words import rounds_wanted
from tests.report.samples import VERDICTS, a_report

DARK = "--blink-settings=preferredColorScheme=0"


@pytest.fixture(scope="module")
def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        reason = "no Chromium on PATH (on Debian: apt-get install chromium)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(to_html(a_report()), encoding="utf-8")
    return path


def browse(chromium: str, page: Path, profile: Path, *options: str) -> str:
    done = subprocess.run(
        [
            chromium,
            *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            *("--host-resolver-rules=MAP * ~NOTFOUND", "--hide-scrollbars", f"--user-data-dir={profile}"),
            *options,
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_verdict_has_its_row(chromium: str, page: Path, tmp_path: Path) -> None:
    dom = browse(chromium, page, tmp_path, "--dump-dom")
    rows = [shown_text(row) for row in re.findall(r'<tr role="row"[^>]*>(.*?)</tr>', dom, re.DOTALL)]
    judged = [verdict for cell in VERDICTS for verdicts in cell for verdict in verdicts]
    shown = [row for row in rows if re.search("SLOWER|FASTER|SAME|UNDECIDED", row)]
    assert len(shown) == len(judged)
    for row, verdict in zip(shown, judged, strict=True):
        assert verdict.metric in row
        wanted = [verdict.outcome.value, *["detectable"] * verdict.detectable]
        wanted += [rounds_wanted(verdict), "rounds"] if rounds_wanted(verdict) else []
        assert row.split()[-len(wanted) :] == wanted
    subjects = {verdict.subject for verdict in judged} - {WHOLE_CELL}
    assert subjects <= {unescape(code) for code in re.findall(r"<code>(.*?)</code>", dom, re.DOTALL)}


def shown_text(markup: str) -> str:
    without_pictures = re.sub(r"<svg.*?</svg>|<wbr>", "", markup, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", without_pictures))


@pytest.mark.parametrize(
    ("width", "option", "paper"),
    [
        (1180, "", (0xFF, 0xFF, 0xFF)),
        (500, "", (0xFF, 0xFF, 0xFF)),
        (1180, DARK, (0x14, 0x17, 0x1B)),
    ],
    ids=["wide", "narrow", "dark"],
)
def test_the_page_is_drawn_on_its_paper(
    chromium: str, page: Path, tmp_path: Path, width: int, option: str, paper: tuple[int, int, int]
) -> None:
    picture = tmp_path / "page.png"
    options = [f"--window-size={width},900", f"--screenshot={picture}", *([option] if option else [])]
    browse(chromium, page, tmp_path / "profile", *options)
    pixels = read_png(picture)
    assert pixels[0] == paper
    drawn = sum(pixel != paper for pixel in pixels)
    assert 0.01 < drawn / len(pixels) < 0.5
    assert len(set(pixels)) > 50


def test_nothing_is_wider_than_a_narrow_window(chromium: str, page: Path, tmp_path: Path) -> None:
    """The right margin of the window stays paper from top to bottom."""
    picture = tmp_path / "page.png"
    browse(chromium, page, tmp_path / "profile", "--window-size=500,3600", f"--screenshot={picture}")
    pixels = read_png(picture)
    assert all(pixel == (0xFF, 0xFF, 0xFF) for pixel in pixels[499::500])


def read_png(path: Path) -> list[tuple[int, int, int]]:
    """The pixels of the kind of PNG that Chromium writes: eight bits, RGB or RGBA, not interlaced."""
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, depth, colour, *_, interlaced = struct.unpack(">IIBBBBB", content[16:29])
    assert (depth, interlaced) == (8, 0)
    channels = {2: 3, 6: 4}[colour]
    packed, place = b"", 8
    while place < len(content):
        (length,) = struct.unpack(">I", content[place : place + 4])
        if content[place + 4 : place + 8] == b"IDAT":
            packed += content[place + 8 : place + 8 + length]
        place += length + 12
    lines = zlib.decompress(packed)
    above = bytearray(width * channels)
    pixels: list[tuple[int, int, int]] = []
    for number in range(height):
        begin = number * (width * channels + 1)
        line = unfiltered(lines[begin], lines[begin + 1 : begin + 1 + width * channels], above, channels)
        pixels += [(line[i], line[i + 1], line[i + 2]) for i in range(0, len(line), channels)]
        above = line
    return pixels


def unfiltered(kind: int, line: bytes, above: bytearray, channels: int) -> bytearray:
    out = bytearray(line)
    if kind == 0:
        return out
    for i in range(len(out)):
        left = out[i - channels] if i >= channels else 0
        up, corner = above[i], above[i - channels] if i >= channels else 0
        out[i] = (out[i] + (left, up, (left + up) // 2, nearest(left, up, corner))[kind - 1]) & 0xFF
    return out


def nearest(left: int, up: int, corner: int) -> int:
    """Paeth's predictor."""
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))
