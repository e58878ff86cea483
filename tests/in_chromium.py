"""Pages in a browser: chromium and its driver, as Debian packs them."""

import shutil

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
IN_CHROMIUM = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER), reason="no chromium or chromedriver (apt-get install chromium chromium-driver)"
    ),
]


def start_chromium(*arguments):
    """A driver of chromium without a window."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = CHROMIUM
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1400,1000",
        *arguments,
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_page_load_timeout(60)
    return driver


def soon(browser, condition):
    """Wait until a condition holds; a minute at most, on however slow a machine."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 60, poll_frequency=0.1).until(lambda _: condition())


def processor_s(browser):
    """Processor time of the page's main thread since it was opened; other programs do not count."""
    metrics = browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def find(browser, selector):
    return browser.find_element("css selector", selector)


def choose(browser, selector, text):
    from selenium.webdriver.support.ui import Select

    Select(find(browser, selector)).select_by_visible_text(text)


def keys(element, *names):
    from selenium.webdriver.common.keys import Keys

    element.send_keys(*(getattr(Keys, name) for name in names))
