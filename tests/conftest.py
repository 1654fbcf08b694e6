"""What every test that draws asks for."""

import os

import pytest

collect_ignore = [] if os.environ.get("MERULA_ENGINES") else ["engines_external"]  # see `make test-engines`


@pytest.fixture
def pyplot():
    """matplotlib without a screen; every figure is closed afterwards."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.fixture
def chinese_font(pyplot):
    """Skips where no font can draw Chinese (matplotlib's own font of last resort claims to, but draws boxes)."""
    from matplotlib import font_manager
    from matplotlib.ft2font import FT2Font

    for entry in font_manager.fontManager.ttflist:
        if "last resort" not in entry.name.lower():
            try:
                if ord("色") in FT2Font(entry.fname).get_charmap():
                    return entry.name
            except (OSError, RuntimeError):
                continue
    return pytest.skip("no font with Chinese characters is installed")
