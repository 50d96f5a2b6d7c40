"""Which paths of the cluster are at hand, and under what name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurm_rest.config import load_settings
from slurm_rest.errors import ConfigError
from slurm_rest.pathmap import PathMap

MAP = PathMap.read("/home=/mnt/home, /home/bob/=/data//bob ,/scratch")


@pytest.mark.parametrize(
    ("cluster", "local"),
    [
        ("/home", "/mnt/home"),
        ("/home/alice/x y", "/mnt/home/alice/x y"),
        ("//home//alice/./x/", "/mnt/home/alice/x"),
        ("/home/bob", "/data/bob"),
        ("/home/bob/x", "/data/bob/x"),
        ("/home/bobby", "/mnt/home/bobby"),
        ("/scratch/a\udcff", "/scratch/a\udcff"),
        ("/homes", None),
        ("/home/../etc/passwd", None),
        ("/", None),
    ],
)
def test_the_longest_directory_that_fits_counts(cluster: str, local: str | None) -> None:
    assert MAP.to_local(cluster) == local


def test_back_to_the_cluster() -> None:
    assert MAP.to_cluster("/data/bob/project") == "/home/bob/project"
    assert MAP.to_cluster("/mnt/home") == "/home"
    assert MAP.to_cluster("/mnt") is None
    assert PathMap.read({"/": "/"}).to_cluster("/any/where") == "/any/where"


def test_tops_are_the_directories_and_what_leads_to_them() -> None:
    tops = [path for path in ("/", "/home", "/home/bob", "/home/alice", "/scratch/x", "/etc") if MAP.is_top(path)]
    assert tops == ["/", "/home", "/home/bob"]


SEGMENT = st.text(st.characters(exclude_characters="/\0"), min_size=1).filter(lambda text: text not in (".", ".."))


@given(st.lists(SEGMENT, max_size=4))
def test_there_and_back_is_the_same_path(segments: list[str]) -> None:
    path = "/".join(["/home/alice", *segments])
    local = MAP.to_local(path)
    assert local is not None
    assert MAP.to_cluster(local) == path


@pytest.mark.parametrize(
    "value", ["home=/mnt", "/home=mnt", "/home=/a,/home=/b", "/home=", "=", 5, ["/home"], {"/a": ""}, {"/a": "/b\0"}]
)
def test_maps_that_are_none(value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        PathMap.read(value)
    assert caught.value.hint


def test_it_comes_from_argument_environment_and_profile() -> None:
    environ = {"HOME": "/nowhere", "SLURM_REST_PATH_MAP": "/home=/mnt/home"}
    assert load_settings({}, environ).path_map == PathMap((("/home", "/mnt/home"),))
    assert load_settings({"path_map": {"/a,b": "/c=d"}}, environ).path_map.to_local("/a,b/x") == "/c=d/x"
    assert not load_settings({}, {"HOME": "/nowhere"}).path_map
