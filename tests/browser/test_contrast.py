"""Contrast of texts and pictures on every page, in both schemes, as WCAG 2 (AA) asks for it."""

from __future__ import annotations

import pytest
from selenium import webdriver

from .conftest import SITE, wait

pytestmark = pytest.mark.browser

# Elements that are styled alike are looked at once: those with the same tags and classes up to
# the page. Of pictures the lines of a grid may be faint, as numbers beside it say the same.
CONTRAST = """
const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255;
  return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const rgba = (text) => { const m = text.match(/[\\d.]+/g).map(Number);
  return m.length > 3 ? m : [...m, 1]; };
const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
const chain = (node) => { const found = [];
  for (let n = node; n; n = n.parentElement) found.push(n); return found; };
const behind = (nodes) => nodes.map((n) => rgba(getComputedStyle(n).backgroundColor)).reverse()
  .reduce((c, layer) => over(layer, c), [255, 255, 255]);
const ratio = (colour, nodes) => {
  const below = behind(nodes), top = rgba(colour);
  for (const n of nodes) top[3] *= Number(getComputedStyle(n).opacity);
  const [a, b] = [light(over(top, below)), light(below)].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
};
const SHAPES = "path line circle rect polyline polygon".split(" ");
const HIDDEN = ".spellings, .headerlink, title, script, style, option, [hidden]";
const seen = (window.seen ??= new Map());
// A number for all elements of one kind below parents of one kind.
const kinds = new WeakMap();
const kind = (node) => {
  if (!node) return "";
  if (kinds.has(node)) return kinds.get(node);
  const own = ["class", "style", "fill", "stroke"].map((name) => node.getAttribute(name));
  const above = kind(node.parentElement), isFirst = node.matches("td:first-child");
  const key = [above, node.localName, isFirst, ...own].join();
  if (!seen.has(key)) seen.set(key, seen.size);
  kinds.set(node, seen.get(key));
  return seen.get(key);
};
const looked = (window.looked ??= new Set());
const look = (root, page, bad) => {
  for (const node of root.querySelectorAll("*")) {
    const isShape = SHAPES.includes(node.localName);
    const isText = [...node.childNodes].some((n) => n.nodeType == 3 && n.textContent.trim());
    if (!isShape && !isText) continue;
    const key = `${kind(node)} ${isShape}`;
    if (looked.has(key)) continue;
    looked.add(key);
    const nodes = chain(node);
    if (nodes.some((n) => n !== box && n.matches(HIDDEN))) continue;
    if (nodes.some((n) => getComputedStyle(n).opacity === "0")) continue;
    const style = getComputedStyle(node);
    const named = `${page}: ${node.localName}.${node.getAttribute("class")} `;
    if (isShape) {
      if (node.matches(".axis") || node.closest("button, label, nav, .md-icon, .twemoji")) continue;
      const colours = [style.fill, style.stroke].filter((c) => c !== "none");
      const drawn = colours.map((c) => ratio(c, nodes));
      if (Math.max(...drawn) < 3) bad.push(named + Math.max(...drawn).toFixed(2));
      continue;
    }
    const isDrawn = node.namespaceURI.endsWith("svg");
    const size = parseFloat(style.fontSize), isBold = Number(style.fontWeight) >= 700;
    const least = size >= 24 || (isBold && size >= 18.66) ? 3 : 4.5;
    const found = ratio(isDrawn ? style.fill : style.color, nodes);
    const words = node.textContent.trim().slice(0, 20);
    if (found < least) bad.push(`${named} ${words} ${found.toFixed(2)}`);
  }
};
const box = document.querySelector("article").appendChild(document.createElement("div"));
box.hidden = true;
const done = arguments[1];
(async () => {
  const bad = [];
  if (!looked.size) look(document.body, "every page", bad);
  for (const page of arguments[0]) {
    const text = await (await fetch(page)).text();
    const parsed = new DOMParser().parseFromString(text, "text/html");
    parsed.querySelectorAll("img").forEach((image) => image.remove());  // of another folder
    box.replaceChildren(...parsed.querySelector("article").childNodes);
    look(box, page, bad);
  }
  box.remove();
  done([looked.size, bad]);
})();
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_has_contrast(scheme: str, site: str, browser: webdriver.Chrome) -> None:
    wish = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wish})
    browser.get("about:blank")  # a page that is open would store its choice again
    stored = {"origin": site.rstrip("/"), "storageTypes": "local_storage"}
    browser.execute_cdp_cmd("Storage.clearDataForOrigin", stored)
    try:
        browser.get(site + "atlas/tanh.html")
        ours = "slate" if scheme == "dark" else "default"
        wait(browser, f"return document.body.dataset.mdColorScheme == '{ours}'")
        browser.set_script_timeout(100)
        pages = [f"/{p.relative_to(SITE)}" for p in sorted(SITE.rglob("*.html"))]
        found = []
        for start in range(0, len(pages), 50):
            part = pages[start : start + 50]
            looked_at, bad = browser.execute_async_script(CONTRAST, part)
            found += bad
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert looked_at > 300
    assert found == []
