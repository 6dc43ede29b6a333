"""The documents of the tree as pages of the site: copied, their links led to pages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

_ROOT_PAGES = {
    "README.md": "readme.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""Documents at the root of the tree, and their pages."""

_LINK = re.compile(
    r"(?P<image>!?)\[(?P<label>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<to>[^)#\s]*)(?P<part>#[^)\s]*)?\)"
)
_HTML_IMAGE = re.compile(r'(?<=src=")docs/')
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def stage_documents(target: Path) -> list[str]:
    """Copy all documents into the folder of sources, and return the names of the pages."""
    pages = {path: path.relative_to(DOCS).as_posix() for path in sorted(DOCS.rglob("*.md"))}
    pages |= {ROOT / name: page for name, page in _ROOT_PAGES.items()}
    pages |= {
        path: f"examples/{path.parent.name}.md"
        for path in sorted(ROOT.glob("examples/*/README.md"))
    }
    for path, page in pages.items():
        made = target / page
        made.parent.mkdir(parents=True, exist_ok=True)
        text = led(path.read_text(encoding="utf-8"), path, page, pages)
        made.write_text(_titled(text, path), encoding="utf-8")
    for image in sorted(DOCS.glob("images/*")):
        (target / "images").mkdir(exist_ok=True)
        (target / "images" / image.name).write_bytes(image.read_bytes())
    return list(pages.values())


def _titled(text: str, path: Path) -> str:
    """A document with a title of its own, where its heading is that of another page."""
    if path.parent == ROOT:
        return f"---\ntitle: {path.stem.capitalize()}\n---\n\n{text}"
    if path.is_relative_to(ROOT / "examples"):
        return f"---\ntitle: 'Example: {path.parent.name}'\n---\n\n{text}"
    return text


def led(text: str, path: Path, page: str, pages: dict[Path, str]) -> str:
    """A document whose links lead to pages; what is no page keeps its words alone."""
    up = "../" * page.count("/")

    def link(found: re.Match[str]) -> str:
        to, part = found["to"], found["part"] or ""
        if found["image"] or not to or re.match(r"[a-z]+:", to):
            return found[0]
        goal = (path.parent / to).resolve()
        if goal in pages:
            return f"[{found['label']}]({up}{pages[goal]}{part})"
        if goal.suffix == ".yaml" and goal.is_relative_to(ROOT / "specs"):
            return f"[{found['label']}]({up}table/{goal.stem}.md)"
        if goal == ROOT / "specs" / "proofs.lock":
            return f"[{found['label']}]({up}atlas/index.md)"
        if path.is_relative_to(DOCS) and not goal.exists():
            return found[0]  # a page that is made, such as those of the atlas
        return found["label"]

    parts = _FENCE.split(_HTML_IMAGE.sub("", text))
    parts[::2] = [_LINK.sub(link, part) for part in parts[::2]]
    return "".join(parts)


def stage_table(target: Path) -> list[str]:
    """Make a page of each file of the table, a line to be linked to; return their names."""
    (target / "table").mkdir(exist_ok=True)
    specs = ROOT / "specs"
    files = (
        specs / "derivatives.yaml",
        specs / "primitives.yaml",
        *(specs / "families").glob("*.yaml"),
    )
    made = []
    for path in sorted(files):
        lines = path.read_text(encoding="utf-8").splitlines()
        code = "".join(_line(number, line) for number, line in enumerate(lines, 1))
        head = f"---\ntitle: {path.stem}\nsearch:\n  exclude: true\nhide: [toc]\n---\n\n"
        head += f"# {path.relative_to(ROOT).as_posix()}\n\n"
        block = (
            f'<div class="highlight entries"><pre tabindex="0"><code>{code}</code></pre></div>\n'
        )
        (target / "table" / f"{path.stem}.md").write_text(head + block, encoding="utf-8")
        made.append(f"table/{path.stem}.md")
    return made


def _line(number: int, text: str) -> str:
    """One line of a file: its key set off, which is as much colour as an entry needs."""
    key = re.match(r"(?P<before>\s*(?:- )?)(?P<key>[\w, .]+)(?=:(?: |$))", text)
    if text.lstrip().startswith("#"):
        shown = f'<span class="c1">{escape(text, quote=False)}</span>'
    elif key:
        rest = escape(text[key.end() :], quote=False)
        shown = f'{key["before"]}<span class="nt">{key["key"]}</span>{rest}'
    else:
        shown = escape(text, quote=False)
    return f'<span id="line-{number}">{shown}\n</span>'


def first_existing(names: Iterable[str], pages: Iterable[str]) -> list[str]:
    """Those of the names that are pages, in their order."""
    known = set(pages)
    return [name for name in names if name in known]
