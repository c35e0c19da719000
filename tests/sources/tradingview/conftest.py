import pytest
from tests.sources.tradingview.browser import ABSENT, PROGRAM, Browser


@pytest.fixture(scope="package")
def browser(tmp_path_factory):
    """One Chromium for these modules."""
    if PROGRAM is None:
        pytest.skip(ABSENT)
    running = Browser(tmp_path_factory.mktemp("chromium"))
    yield running
    running.stop()


@pytest.fixture
def tab(browser):
    """A tab on TradingView in which no chart has loaded yet."""
    opened = browser.open()
    yield opened
    browser.close(opened)
