"""The site as a browser shows it: formulas, search, filters, narrow and dark pages."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from .conftest import SITE, wait

pytestmark = pytest.mark.browser

SHOWN = (
    *(
        "index.html",
        "install.html",
        "playground.html",
        "benchmarks.html",
        "spec.html",
        "proof.html",
    ),
    *("tutorials/kinks.html", "atlas/index.html", "atlas/private.html", "table/activations.html"),
    *(f"atlas/{op}.html" for op in ("relu", "pow", "linalg_svd", "logsumexp", "gelu")),
    *(f"atlas/{op}.html" for op in ("mm", "conv2d", "linalg_eig", "cat", "sort", "xlogy")),
    *("reference/func.html", "reference/tensor.html", "reference/nn_layers.html"),
    *("tutorials/compiled.html", "audit.html"),
)

SPELLINGS = {
    "relu": ("relu", "ReLU", "torch.relu", "ReluBackward0", "gs.relu"),
    "log_softmax": ("log_softmax", "log softmax", "LogSoftmax", "logsoftmax", "gs.log_softmax"),
    "tanh": ("tanh", "Tanh", "torch.tanh", "TanhBackward0", "gs.tanh"),
    "logsumexp": (
        "logsumexp",
        "LogsumexpBackward0",
        "torch.logsumexp",
        "Logsumexp",
        "gs.logsumexp",
    ),
    "mm": ("mm", "MmBackward0", "torch.mm", "gs.mm", "Mm"),
    "masked_fill": ("masked_fill", "masked fill", "MaskedFill", "maskedfill", "gs.masked_fill"),
    "index_add": ("index_add", "index add", "IndexAdd", "indexadd", "torch.index_add"),
    "cumsum": ("cumsum", "CumsumBackward0", "torch.cumsum", "Cumsum", "gs.cumsum"),
    "layer_norm": ("layer_norm", "layer norm", "LayerNorm", "layernorm", "gs.layer_norm"),
    "erf": ("erf", "Erf", "special.erf", "ErfBackward0", "torch.erf"),
    "atan2": ("atan2", "Atan2Backward0", "arctan2", "torch.atan2", "gs.atan2"),
    "softshrink": (
        "softshrink",
        "Softshrink",
        "nn.softshrink",
        "SoftshrinkBackward0",
        "gs.softshrink",
    ),
    "softplus": ("softplus", "Softplus", "nn.softplus", "SoftplusBackward0", "gs.softplus"),
    "lgamma": ("lgamma", "gammaln", "LgammaBackward0", "torch.lgamma", "gs.lgamma"),
    "hypot": ("hypot", "Hypot", "torch.hypot", "HypotBackward0", "gs.hypot"),
    "linalg_cholesky_ex": (
        *("linalg_cholesky_ex", "linalg cholesky ex", "LinalgCholeskyEx", "linalgcholeskyex"),
        "torch.linalg_cholesky_ex",
    ),
    "sigmoid": ("sigmoid", "gs.sigmoid", "Sigmoid", "SigmoidBackward0", "torch.sigmoid"),
    "gather": ("gather", "Gather", "torch.gather", "GatherBackward0", "gs.gather"),
    "amax": ("amax", "Amax", "torch.amax", "AmaxBackward0", "gs.amax"),
    "xlogy": ("xlogy", "special.xlogy", "Xlogy", "torch.xlogy", "gs.xlogy"),
}


@dataclass(frozen=True)
class Look:
    """Measure a page on a desktop, and its width on a telephone."""

    console: list[object]
    flat: int
    mistakes: int
    formulas: int
    tex: bool
    narrow: int


LOOK = """
const all = [...document.querySelectorAll("math")];
return [
  all.filter((m) => m.getBoundingClientRect().height < 8).length,
  document.querySelectorAll("merror").length,
  all.length,
  document.querySelector("article").textContent.includes("\\\\operatorname"),
];
"""


@pytest.fixture(scope="session")
def look(site: str, browser: webdriver.Chrome) -> Callable[[str], Look]:
    """Look at a page, which is loaded once for all tests."""

    @cache
    def at(page: str) -> Look:
        browser.get(site + page)
        wait(browser, "return document.readyState == 'complete'")
        shown = browser.execute_script(LOOK)
        size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        narrow = browser.execute_script("return document.documentElement.scrollWidth")
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        return Look(browser.get_log("browser"), *shown, narrow)

    return at


@pytest.mark.parametrize("page", SHOWN)
def test_the_console_is_quiet(page: str, look: Callable[[str], Look]) -> None:
    assert look(page).console == []


@pytest.mark.parametrize("page", SHOWN)
def test_a_narrow_page_is_not_wider_than_the_screen(page: str, look: Callable[[str], Look]) -> None:
    assert look(page).narrow <= 391


@pytest.mark.parametrize("page", [page for page in SHOWN if page.startswith("atlas/")])
def test_formulas_are_set(page: str, look: Callable[[str], Look]) -> None:
    found = look(page)
    assert (found.flat, found.mistakes, found.tex) == (0, 0, False)
    assert found.formulas or page in ("atlas/index.html", "atlas/private.html")


EVERY = """
const done = arguments[1];
(async () => {
  const box = document.querySelector("article").appendChild(document.createElement("div"));
  const bad = [];
  let count = 0;
  for (const page of arguments[0]) {
    const parsed = new DOMParser().parseFromString(await (await fetch(page)).text(), "text/html");
    box.replaceChildren(...parsed.querySelectorAll(".formula"));
    for (const formula of box.children) {
      const size = formula.firstElementChild.getBoundingClientRect();
      const isSet = size.height >= 8 && size.width >= 4 && !formula.querySelector("merror");
      if (!isSet) bad.push(`${page}: ${formula.textContent.slice(0, 40)}`);
      count += 1;
    }
  }
  done([count, bad]);
})();
"""


def test_every_formula_of_the_atlas_is_set(site: str, browser: webdriver.Chrome) -> None:
    browser.get(site + "atlas/tanh.html")
    browser.set_script_timeout(120)
    pages = sorted(path.name for path in (SITE / "atlas").glob("*.html"))
    count, bad = browser.execute_async_script(EVERY, pages)
    assert count > 1500
    assert bad == []


def test_the_font_of_the_formulas_is_ours(site: str, browser: webdriver.Chrome) -> None:
    browser.get(site + "atlas/tanh.html")
    wait(browser, "return document.fonts.check('16px \"STIX Two Math\"', 'x')")
    loaded = browser.execute_script(
        "return [...document.fonts].filter(f => f.status == 'loaded').map(f => f.family)"
    )
    assert any("STIX Two Math" in family for family in loaded)


def test_search_finds_ops_by_every_spelling(site: str, browser: webdriver.Chrome) -> None:
    browser.get(site + "index.html")
    field = browser.find_element(By.CSS_SELECTOR, "input.md-search__input")
    field.click()
    missed = []
    for op, spellings in SPELLINGS.items():
        for spelling in spellings:
            wanted = f"/atlas/{op}.html"
            if not found_by(browser, spelling, wanted):
                missed.append((op, spelling))
    assert missed == []


def found_by(browser: webdriver.Chrome, typed: str, wanted: str) -> bool:
    """Type into the search, and wait until a page is among the first results."""
    script = (
        "const field = document.querySelector('input.md-search__input');"
        "field.value = arguments[0];"
        "field.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}));"
        "field.dispatchEvent(new Event('input', {bubbles: true}));"
    )
    # The results of the last word are shown until those of the next are known.
    browser.execute_script(script, "")
    wait(browser, "return !document.querySelector('.md-search-result__item')")
    browser.execute_script(script, typed)
    first = (
        "return [...document.querySelectorAll('.md-search-result__item > a')].slice(0, 10)"
        ".some(a => a.pathname.endsWith(arguments[0]))"
    )
    try:
        WebDriverWait(browser, 8, 0.1).until(lambda b: b.execute_script(first, wanted))
    except Exception:
        return False
    return True


def test_filters_leave_what_fits(site: str, browser: webdriver.Chrome) -> None:
    browser.get(site + "atlas/index.html")
    everything = shown(browser)
    assert len(everything) > 400
    assert "relu" in typed(browser, "torch.ReLU")
    assert typed(browser, "LogSoftmax") == ["log_softmax"]
    assert typed(browser, "") == everything
    choose(browser, "family", "trig")
    trig = shown(browser)
    assert {"sin", "tanh"} - set(trig) <= {"tanh"}
    assert "relu" not in trig
    choose(browser, "complex", "refused")
    assert set(shown(browser)) < set(trig)
    choose(browser, "family", "")
    choose(browser, "complex", "")
    choose(browser, "status", "tested")
    assert shown(browser) == ["linalg_eig", "linalg_eigvals"]
    choose(browser, "status", "")
    choose(browser, "batching", "joined dimension")
    joined = shown(browser)
    assert "conv1d" not in joined
    assert {"adaptive_avg_pool1d", "addmm"} <= set(joined)
    choose(browser, "batching", "")
    browser.execute_script("document.querySelector('[name=kinks]').click()")
    with_kinks = shown(browser)
    assert "relu" in with_kinks
    assert "sin" not in with_kinks
    assert browser.find_element(By.ID, "count").text == f"{len(with_kinks)} ops"


def test_a_link_may_choose_a_filter(site: str, browser: webdriver.Chrome) -> None:
    browser.get(site + "install.html")
    browser.get(site + "atlas/index.html#family=distances")
    assert 0 < len(shown(browser)) < 15


def shown(browser: webdriver.Chrome) -> list[str]:
    """The ops in the table that are visible."""
    return browser.execute_script(
        "return [...document.querySelectorAll('table.ops tbody tr')].filter(r => !r.hidden)"
        ".map(r => r.cells[0].textContent)"
    )


def typed(browser: webdriver.Chrome, text: str) -> list[str]:
    field = browser.find_element(By.ID, "find")
    browser.execute_script(
        "arguments[0].value = arguments[1];"
        "arguments[0].dispatchEvent(new Event('input', {bubbles: true}))",
        field,
        text,
    )
    return shown(browser)


def choose(browser: webdriver.Chrome, name: str, value: str) -> None:
    browser.execute_script(
        "const s = document.querySelector(`select[name=${arguments[0]}]`); s.value = arguments[1];"
        "s.dispatchEvent(new Event('input', {bubbles: true}))",
        name,
        value,
    )


def test_the_tabs_show_the_code_of_each_framework(site: str, browser: webdriver.Chrome) -> None:
    browser.get(site + "atlas/relu.html")
    words = {"torch": "torch.maximum", "jax": "jnp.maximum", "numpy": "Node", "c": "float *p_x1"}
    for framework, word in words.items():
        label = browser.find_element(By.CSS_SELECTOR, f"label[for=tab_relu_{framework}]")
        browser.execute_script("arguments[0].click()", label)
        visible = browser.execute_script(
            "return [...document.querySelectorAll('.tabbed-block')]"
            ".filter(b => b.offsetParent).map(b => b.textContent).join()"
        )
        assert word in visible


def test_search_forgives_a_typing_error(site: str, browser: webdriver.Chrome) -> None:
    browser.get(site + "index.html")
    browser.find_element(By.CSS_SELECTOR, "input.md-search__input").click()
    typed_wrong = {"sigmoyd": "sigmoid", "softmx": "softmax", "logsumexpp": "logsumexp"}
    typed_wrong |= {"sigmiod": "sigmoid", "logsumxep": "logsumexp", "sofftplsu": "softplus"}
    typed_wrong |= {"cholseki": "linalg_cholesky", "log_sofmax": "log_softmax"}
    typed_wrong |= {"cumsun": "cumsum", "choleski": "linalg_cholesky", "hypto": "hypot"}
    missed = [
        wrong
        for wrong, op in typed_wrong.items()
        if not found_by(browser, wrong, f"/atlas/{op}.html")
    ]
    assert missed == []


def test_errors_are_drawn_beside_those_of_others(site: str, browser: webdriver.Chrome) -> None:
    browser.get(site + "atlas/tanh.html")
    ends = browser.execute_script(
        "return Object.fromEntries(['gradspec', 'pytorch', 'jax'].map(name => [name,"
        " Math.max(...[...document.querySelectorAll(`figure.errors .panels .mark.${name}`)]"
        ".map(mark => mark.getBBox().x))]))"
    )
    # PyTorch's and JAX's gradients of tanh have no right digit far out; ours do.
    assert ends["gradspec"] < 250
    assert ends["pytorch"] > 300
    assert ends["jax"] > 300


def test_errors_of_sums_and_matrices_are_drawn(site: str, browser: webdriver.Chrome) -> None:
    for op, scaled in {"logsumexp": "self", "mm": "self", "layer_norm": "input"}.items():
        browser.get(f"{site}atlas/{op}.html")
        said = browser.find_element(By.CSS_SELECTOR, "figure.along figcaption").text
        assert f"Error of {op}({scaled}=[" in said
        lines = browser.find_elements(By.CSS_SELECTOR, "figure.along .panels .line.pytorch")
        assert len(lines) == 4  # value and gradient, in two dtypes


@pytest.mark.parametrize("page", ["atlas/relu.html", "atlas/pow.html", "benchmarks.html"])
def test_texts_in_pictures_do_not_overlap(page: str, site: str, browser: webdriver.Chrome) -> None:
    browser.get(site + page)
    overlapping = browser.execute_script(OVERLAPS)
    assert overlapping == []


OVERLAPS = """
const found = [];
for (const svg of document.querySelectorAll("article figure svg")) {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].map((t) => [t, t.getBoundingClientRect()]);
  for (const [a, r] of texts) {
    if (r.left < frame.left - 1 || r.right > frame.right + 1) found.push(`cut: ${a.textContent}`);
    for (const [b, q] of texts) {
      if (a === b || a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_PRECEDING) continue;
      const wide = Math.min(r.right, q.right) - Math.max(r.left, q.left);
      const high = Math.min(r.bottom, q.bottom) - Math.max(r.top, q.top);
      if (wide > 2 && high > 4) found.push(`${a.textContent} | ${b.textContent}`);
    }
  }
}
return found.slice(0, 8);
"""


@pytest.mark.parametrize("page", ["benchmarks.html", "atlas/relu.html", "atlas/index.html"])
def test_no_table_is_cut_off_at_a_desk(page: str, site: str, browser: webdriver.Chrome) -> None:
    browser.get(site + page)
    cut = browser.execute_script(
        "const around = (t) => t.closest('.md-typeset__scrollwrap') ?? t.parentElement;"
        "return [...document.querySelectorAll('article table')].map(t => [t, around(t)])"
        ".filter(([t, box]) => t.offsetParent && t.scrollWidth > box.clientWidth + 1"
        " || t.clientWidth && t.scrollWidth > t.clientWidth + 1).length"
    )
    assert cut == 0


READ = ("index.html", "atlas/relu.html", "atlas/index.html", "spec.html", "reference/nn.html")


@pytest.mark.parametrize(
    ("link", "page", "words"),
    [
        ("relu", "/atlas/relu.html", "Kink: the gradient is 0 * grad where self == 0"),
        ("Why was my rule refused", "/tutorials/refutation.html", "refutation"),
        ("two outputs", "/tutorials/two_outputs.html", "grad_radius"),
    ],
)
def test_a_stranger_finds_it_by_one_click(
    link: str, page: str, words: str, site: str, browser: webdriver.Chrome
) -> None:
    browser.get(site + "index.html")
    browser.find_element(By.PARTIAL_LINK_TEXT, link).click()
    wait(browser, f"return location.pathname == '{page}' && document.readyState == 'complete'")
    assert words in browser.find_element(By.TAG_NAME, "article").text


def test_every_field_has_a_label(site: str, browser: webdriver.Chrome) -> None:
    browser.get(site + "atlas/index.html")
    mute = browser.execute_script(
        "return [...document.querySelectorAll('article input, article select')]"
        ".filter(f => !f.labels.length && !f.ariaLabel).map(f => f.name)"
    )
    assert mute == []


def test_the_spellings_are_of_twenty_ops() -> None:
    assert len(SPELLINGS) == 20
    assert all(len(set(words)) == 5 for words in SPELLINGS.values())
    assert len(set(itertools.chain(*SPELLINGS.values()))) == 100


NAMELESS = """
const named = (e) => e.textContent.trim() || e.ariaLabel || e.title || e.labels?.length
  || [...e.querySelectorAll("img")].some((i) => i.alt);
return [
  document.documentElement.lang,
  document.querySelector("meta[name=viewport]") !== null,
  [...document.querySelectorAll("a[href], button, input:not([type=hidden])")]
    .filter((e) => e.offsetParent && !e.closest("[aria-hidden=true]") && !named(e))
    .map((e) => e.outerHTML.slice(0, 90)),
];
"""


@pytest.mark.parametrize("page", READ)
def test_what_can_be_chosen_has_a_name(page: str, site: str, browser: webdriver.Chrome) -> None:
    browser.get(site + page)
    assert browser.execute_script(NAMELESS) == ["en", True, []]


def test_pages_have_titles_of_their_own() -> None:
    titles: dict[str, list[str]] = {}
    for path in SITE.rglob("*.html"):
        found = re.search(r"<title>(.*?)</title>", path.read_text(encoding="utf-8"), re.DOTALL)
        assert found is not None, path
        titles.setdefault(found[1], []).append(path.name)
    assert {title: paths for title, paths in titles.items() if len(paths) > 1} == {}
