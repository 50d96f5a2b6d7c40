"""What the unit tests share: no profile file and no proxy of whoever runs them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _no_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
            patch.delenv(name, raising=False)
            patch.delenv(name.upper(), raising=False)
        yield
