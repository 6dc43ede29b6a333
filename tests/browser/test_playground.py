"""The playground in a browser: an entry is refuted and drawn, edited, and proved."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from gradspec_codegen.playground.server import Playground

pytestmark = pytest.mark.browser

SECONDS = 90


@pytest.fixture
def playground() -> Iterator[str]:
    """The address of a playground."""
    server = Playground(0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.address
    server.shutdown()
    server.server_close()


def test_an_entry_is_refuted_drawn_edited_and_proved(
    playground: str, browser: webdriver.Chrome
) -> None:
    browser.get_log("browser")  # forgets what other pages have said
    browser.get(playground)
    assert verdict(browser) == "Verdict: refuted"
    said, curves, width = browser.execute_script(
        "const svg = document.querySelector('#answer svg');"
        "return [svg.getAttribute('aria-label'), svg.querySelectorAll('path').length,"
        " svg.getBoundingClientRect().width]"
    )
    assert "the formula gives 0.5, the derivative is 0.25" in said
    assert curves == 2
    assert width > 200

    entry = browser.find_element(By.ID, "entry")
    wrong = entry.get_property("value")
    assert isinstance(wrong, str)
    entry.clear()
    entry.send_keys(
        wrong.replace("self: grad / (1 + abs(self))", "self: grad / (1 + abs(self)) ** 2")
    )
    assert verdict(browser) == "Verdict: proved"
    assert "class SoftsignBackward0" in browser.find_element(By.ID, "answer").text
    assert browser.get_log("browser") == []


def verdict(browser: webdriver.Chrome) -> str:
    """Ask, and wait for the answer."""
    browser.find_element(By.ID, "prove").click()
    button = "return document.getElementById('prove').disabled"
    WebDriverWait(browser, SECONDS, 0.2).until_not(lambda b: b.execute_script(button))
    return browser.find_element(By.CSS_SELECTOR, "#answer h2").text
