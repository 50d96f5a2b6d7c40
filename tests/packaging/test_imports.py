"""Imports go only downwards, names are public on purpose, and importing the package loads nothing heavy."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import slurm_rest
from tests.packaging.support import ROOT

SOURCE = ROOT / "src/slurm_rest"
# From the bottom up: a module may import those before it, a package (sbatch, api, transport, cli) also its own parts.
ORDER = [
    *("within", "processes", "jitter"),
    *("errors", "metrics", "states", "models", "keys", "records", "usage", "identity", "exits", "history"),
    *("sbatch", "api", "outputs"),
    *("pathmap", "auth", "token_settings", "config"),
    *("transport", "submission", "exit_files", "reuse"),
    *("followed", "watched", "ends", "rows", "rounds", "heard", "poller", "watching", "tracking"),
    *("tables", "progress"),
    *(
        "logs",
        "job",
        "grouping",
        "past",
        "acting",
        "following",
        "looking",
        "client",
        "portal",
        "sync_files",
        "sync_job",
        "sync",
    ),
    *("exporters", "notebook", "testing", "cli", "__main__"),
]
# Each of these is known to one place; everything else goes through it.
SSH = ("transport/ssh.py", "transport/ssh_failures.py", "transport/ssh_sessions.py", "transport/files/sftp.py")
ONLY_IN: dict[str, str | tuple[str, ...]] = {
    "httpx": "transport/rest/",
    "asyncssh": SSH,
    "flyte": "",
    "pandas": "notebook",
    "prometheus_client": "exporters/prometheus.py",
    "opentelemetry": "exporters/opentelemetry.py",
    "uvicorn": "testing/",
    "pytest": "testing/plugin.py",
}
# What users import from; the rest is reached through these or the package itself.
PUBLIC = [
    *("errors", "metrics", "states", "models", "sbatch", "auth", "config", "client", "job", "exporters"),
    *("api", "api.jobs", "api.cluster", "api.accounting", "api.diagnostics", "api.common", "api.values", "api.words"),
]
HEAVY = (
    "uvicorn",
    "pytest",
    "asyncssh",
    "flyte",
    "grpc",
    "rich",
    "pandas",
    "matplotlib",
    "numpy",
    "cryptography",
    "prometheus_client",
    "opentelemetry",
)
IMPURE = ("asyncio", "httpx", "socket", "ssl", "subprocess", "threading", "getpass", "pwd", "resource", "time")
FAMILIES = ("jobs", "cluster", "accounting", "diagnostics", "common")


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(SOURCE)) for path in paths]


def is_generated(path: Path) -> bool:
    return "# Generated, do not edit" in path.read_text()


def real_imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports that run, in functions too: not those for type checkers only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield from real_imports(other)
        elif isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        else:
            yield from real_imports(child)


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and absolute name of what a module imports."""
    package = ["slurm_rest", *path.relative_to(SOURCE).parent.parts]
    for node in real_imports(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif node.level:
            base = package[: len(package) - node.level + 1]
            if node.module:
                yield node.lineno, ".".join([*base, node.module])
            else:
                yield from ((node.lineno, ".".join([*base, alias.name])) for alias in node.names)
        elif node.module == "slurm_rest":
            yield from ((node.lineno, f"slurm_rest.{alias.name}") for alias in node.names)
        else:
            yield node.lineno, node.module or ""


def place(parts: tuple[str, ...] | list[str]) -> str:
    return parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", modules(), ids=names(modules()))
def test_imports_go_only_downwards(path: Path) -> None:
    own = place(path.relative_to(SOURCE).parts)
    for line, name in imported(path):
        parts = name.split(".")
        if parts[0] != "slurm_rest" or len(parts) == 1 or own == "__init__":
            continue
        target = parts[1]
        if target not in ORDER:  # a name of the package itself, which is loaded from its home
            assert target in slurm_rest.__all__, f"{path}:{line} imports {name}: give it a place in ORDER"
            assert own in ("cli", "notebook", "testing"), f"{path}:{line} imports {name} through the top of the package"
            continue
        assert own in ORDER, f"give {own} a place in ORDER"
        assert target == own or ORDER.index(target) < ORDER.index(own), f"{path}:{line} imports {name}, which is above"


@pytest.mark.parametrize("path", modules(), ids=names(modules()))
def test_each_library_is_known_to_one_place(path: Path) -> None:
    where = str(path.relative_to(SOURCE))
    for line, name in imported(path):
        home = ONLY_IN.get(name.split(".")[0])
        assert home is None or (home and where.startswith(home)), (
            f"{path}:{line} imports {name}, which belongs in {home}"
        )


def dotted(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(["slurm_rest", *(part for part in parts if part != "__init__")])


@pytest.mark.parametrize("name", [dotted(path) for path in modules() if path.stem != "__main__"])
def test_all_names_what_exists(name: str) -> None:
    module = importlib.import_module(name)
    listed = list(getattr(module, "__all__", []))
    assert len(listed) == len(set(listed))
    assert [entry for entry in listed if not hasattr(module, entry)] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_all_is_what_is_visible(name: str) -> None:
    module = importlib.import_module(f"slurm_rest.{name}")
    kinds = (type, type(dotted))
    defined = {
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and isinstance(value, kinds) and value.__module__ == module.__name__
    }
    # A package gathers names from its parts, so it may list more than it defines.
    assert sorted(defined - set(module.__all__)) == [], "list them in __all__, or start them with an underscore"


def test_the_package_shows_exactly_what_it_names() -> None:
    assert dir(slurm_rest) == list(slurm_rest.__all__) == sorted(slurm_rest.__all__)
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    typed = {
        alias.name
        for node in tree.body
        if isinstance(node, ast.If)
        for inner in node.body
        if isinstance(inner, ast.ImportFrom)
        for alias in inner.names
    }
    # Type checkers, run time and documentation must agree.
    assert typed == set(slurm_rest.__all__) - {"__version__"}


def loaded_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_almost_nothing() -> None:
    loaded = loaded_by("import slurm_rest")
    ours = {name for name in loaded if name.split(".")[0] == "slurm_rest"}
    assert ours == {"slurm_rest"}
    assert not loaded & {*HEAVY, "httpx", "pydantic", "click", "jwt"}


def test_the_client_loads_neither_extras_nor_generated_models() -> None:
    loaded = loaded_by("from slurm_rest import AsyncSlurmClient, JobSpec, SlurmClient, SlurmError")
    assert not loaded & {*HEAVY, *(f"slurm_rest.api.{family}" for family in FAMILIES)}


def test_each_way_to_slurm_is_loaded_only_where_it_is_used() -> None:
    ways = {"httpx", "slurm_rest.transport.rest", "slurm_rest.transport.command_line", "slurm_rest.transport.fallback"}
    code = "from slurm_rest import AsyncSlurmClient, SlurmClient\n"
    assert not loaded_by(code) & {*ways, "slurm_rest.api._client"}
    assert loaded_by(f"{code}SlurmClient('http://x', token='t', transport='rest').close()") & ways == {
        "httpx",
        "slurm_rest.transport.rest",
    }
    assert loaded_by(f"{code}SlurmClient(transport='cli').close()") & ways == {"slurm_rest.transport.command_line"}


def test_translating_a_script_loads_neither_http_nor_models() -> None:
    call = 'main(["--url", "http://nowhere", "convert", "--api-version", "v0.0.42", "-D", "/", "--wrap", "true"])'
    loaded = loaded_by(f"from slurm_rest.cli import main\nassert {call} == 0")
    families = {f"slurm_rest.api.{family}" for family in FAMILIES}
    unwanted = {*HEAVY, *families, "httpx", "pydantic", "jwt", "slurm_rest.client", "slurm_rest.transport.rest"}
    assert not loaded & unwanted


@pytest.mark.parametrize("path", sorted((SOURCE / "sbatch").glob("*.py")), ids=lambda path: path.stem)
def test_sbatchs_language_is_pure(path: Path) -> None:
    """Nothing there sends, waits, or looks at this process: whoever calls hands it over."""
    for line, name in imported(path):
        assert name.split(".")[0] not in IMPURE, f"{path}:{line} imports {name}"


def unexplained(path: Path) -> Iterator[str]:
    """Yield what opts out of type checking without a comment that says why."""
    lines = path.read_text().split("\n")
    for number, line in enumerate(lines, 1):
        if re.search(r"#\s*type:\s*ignore(?!.*\]\s+#\s*\w)", line):
            yield f"{path}:{number}: type: ignore without a reason behind it"
    for node in ast.walk(ast.parse("\n".join(lines))):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name.startswith("_"):
            continue
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        for annotation in [*(argument.annotation for argument in arguments if argument), node.returns]:
            has_any = annotation is not None and re.search(r"\bAny\b", ast.unparse(annotation))
            if annotation is not None and has_any and "#" not in lines[annotation.lineno - 1]:
                yield f"{path}:{annotation.lineno}: Any in the signature of {node.name} without a reason"


@pytest.mark.parametrize("path", [path for path in modules() if not is_generated(path)], ids=str)
def test_exceptions_to_typing_have_a_reason(path: Path) -> None:
    assert list(unexplained(path)) == []


@pytest.mark.parametrize(
    "line",
    ["x: int = ''  # type: ignore", "x: int = ''  # type: ignore[assignment]", "def f(x: list[Any]) -> None: ..."],
)
def test_that_check_finds_what_it_looks_for(line: str, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(line + "\n")
    assert len(list(unexplained(path))) == 1
    reason = "  # the library's own stubs are wrong here"
    path.write_text(line.replace("ignore", "ignore[x]").replace("[x][", "[") + reason + "\n")
    assert list(unexplained(path)) == []
