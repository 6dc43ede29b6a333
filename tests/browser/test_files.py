"""The files of the site: links, sizes, headings, alternatives, and that nothing comes from afar."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from .conftest import SITE

pytestmark = pytest.mark.browser

LARGEST = 300_000


_TAG = re.compile(r'<(a|img|source|script|link|h[1-6])\b((?:"[^"]*"|[^">])*)>')
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_UNSET = re.compile("<mi>&(amp;)?<|linebreak")
_ID = re.compile(r'<[^<>]*? id="([^"]+)"')


@dataclass(frozen=True)
class Page:
    """Parts of a page that tests check."""

    ids: frozenset[str]
    links: tuple[str, ...]
    loaded: tuple[str, ...]
    headings: tuple[int, ...]
    mute: tuple[str, ...]


@cache
def page(path: Path) -> Page:
    """A page, read once."""
    text = path.read_text(encoding="utf-8")
    links, loaded, headings, mute = [], [], [], []
    for tag, attributes in _TAG.findall(text):
        given = {name: unescape(value) for name, value in _ATTRIBUTE.findall(attributes)}
        if tag == "a" and "href" in given:
            links.append(given["href"])
        if tag in ("script", "img", "source") and "src" in given:
            loaded.append(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "preload", "preconnect"):
            loaded.append(given.get("href", ""))
        if tag == "img" and not given.get("alt"):
            mute.append(given.get("src", ""))
        if tag[1:].isdigit():
            headings.append(int(tag[1]))
    ids = frozenset(map(unescape, _ID.findall(text)))
    return Page(ids, tuple(links), tuple(loaded), tuple(headings), tuple(mute))


PAGES = sorted(SITE.rglob("*.html"))


def test_there_is_a_page_for_every_op() -> None:
    from gradspec_codegen.pipeline import builtin_table

    names = {op.signature.name for op in builtin_table().ops}
    assert names <= {path.stem for path in (SITE / "atlas").glob("*.html")}


def test_every_link_leads_to_a_page_and_a_place_on_it() -> None:
    broken = []
    for path in PAGES:
        for link in page(path).links:
            goal, part = urldefrag(link)
            if re.match(r"[a-z]+:", goal) or part.startswith("family="):
                continue
            target = (path.parent / unquote(goal)).resolve() if goal else path
            target = target / "index.html" if target.is_dir() else target
            is_there = target.exists() and (not part or unquote(part) in page(target).ids)
            if not is_there and path.name != "404.html":
                broken.append(f"{path.relative_to(SITE)}: {link}")
    assert broken == []


def test_no_page_loads_anything_from_elsewhere() -> None:
    far = {u for path in PAGES for u in page(path).loaded if re.match(r"(https?:)?//", u)}
    assert far == set()
    for style in SITE.rglob("*.css"):
        assert not re.search(r"url\(['\"]?https?:", style.read_text(encoding="utf-8")), style


def test_every_formula_is_mathml_and_no_tex_is_left() -> None:
    left = []
    for path in (SITE / "atlas").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        formulas = re.findall(r"<math.*?</math>", text, re.DOTALL)
        assert text.count('class="formula"') == len(formulas), path
        left += [f"{path.name}: {f[:80]}" for f in formulas if "\\" in re.sub("<[^>]*>", "", f)]
        # What a converter leaves of rows that it does not know.
        left += [f"{path.name}: {f[:80]}" for f in formulas if _UNSET.search(f)]
    assert left == []


def test_the_font_has_what_the_formulas_show() -> None:
    from fontTools.ttLib import TTFont

    known = {chr(point) for point in TTFont(SITE / "theme" / "math.woff").getBestCmap()}
    shown: set[str] = set()
    for path in (SITE / "atlas").glob("*.html"):
        for formula in re.findall(r"<math.*?</math>", path.read_text(encoding="utf-8"), re.DOTALL):
            shown |= set(unescape(re.sub("<[^>]*>", "", formula)))
            shown |= {"√"} if "<msqrt>" in formula else set()
    assert "√" in shown
    assert shown - known == set()


def test_every_op_has_its_code_in_four_tabs() -> None:
    for path in (SITE / "atlas").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        titles = re.findall(r'<label for="tab_[^"]*">([^<]*)</label>', text)
        wanted = ["NumPy", "PyTorch", "JAX", "C, compiled"]
        assert titles == wanted * (len(titles) // 4), path
        assert titles or path.stem in ("index", "private"), path


def test_every_page_of_an_op_has_all_parts() -> None:
    parts = ("Definition", "Domain and kinks", "Proof", "Accuracy", "Batches", "Code")
    missing = []
    for path in sorted((SITE / "atlas").glob("*.html")):
        if path.stem in ("index", "private"):
            continue
        text = path.read_text(encoding="utf-8")
        heads = {re.sub("<.*?>|¶", "", h).strip() for h in re.findall(r"<h[23].*?</h[23]>", text)}
        missing += [(path.stem, part) for part in parts if part not in heads]
        # One op takes no tensor of floats: its VJP says that there is nothing to give.
        rules = {"VJP", "JVP"} <= heads or "VJP and JVP" in heads or path.stem == "_choice"
        entry = re.search(r'href="\.\./table/\w+\.html#line-\d+"', text)
        errors = '<figure class="errors' in text or "measured</a>: " in text
        found = {"rules": rules, "entry": entry, "errors": errors}
        if not path.stem.startswith("_"):
            found["formula"] = 'class="formula"' in text
        missing += [(path.stem, name) for name, value in found.items() if not value]
    assert missing == []


def test_pages_are_small() -> None:
    sizes = {str(p.relative_to(SITE)): p.stat().st_size for p in PAGES}
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}


def test_headings_begin_with_one_and_leave_no_level_out() -> None:
    wrong = []
    for path in PAGES:
        levels = page(path).headings
        jumps = [b for a, b in itertools.pairwise(levels) if b > a + 1]
        if path.name != "404.html" and (levels.count(1) != 1 or levels[0] != 1 or jumps):
            wrong.append(f"{path.relative_to(SITE)}: {levels[:8]}")
    assert wrong == []


def test_pictures_have_words() -> None:
    assert [word for path in PAGES for word in page(path).mute] == []
    for path in (SITE / "atlas").glob("*.html"):
        for svg in re.findall(r"<svg [^>]*role=\"img\"[^>]*>", path.read_text(encoding="utf-8")):
            assert 'aria-label="' in svg, path


def test_the_three_questions_are_answered_in_three_clicks() -> None:
    start = page(SITE / "index.html").links
    assert "atlas/relu.html#domain-and-kinks" in start
    assert "tutorials/refutation.html" in start
    assert "tutorials/two_outputs.html" in start
    relu = (SITE / "atlas" / "relu.html").read_text(encoding="utf-8")
    assert "the gradient is <code>0 * grad</code> where <code>self == 0</code>" in relu
