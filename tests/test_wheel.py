"""What is installed: one name, `vivero`, from a wheel or a source distribution, beside whatever names the user has."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*command, cwd, **environment):
    done = subprocess.run(command, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(source, directory, target):
    """Build a wheel or an sdist of `source`: its path."""
    run(sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(directory), cwd=source)
    (built,) = directory.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build(ROOT, tmp_path_factory.mktemp("wheel"), "wheel")


@pytest.fixture(scope="module")
def wheel_of_sdist(tmp_path_factory):
    """A wheel that was built from the source distribution, as an installer without a wheel does."""
    unpacked = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(build(ROOT, tmp_path_factory.mktemp("sdist"), "sdist")) as sdist:
        sdist.extractall(unpacked, filter="data")
    (source,) = unpacked.iterdir()
    return build(source, tmp_path_factory.mktemp("again"), "wheel")


def names(wheel):
    with zipfile.ZipFile(wheel) as content:
        return set(content.namelist())


def test_a_wheel_takes_one_name(wheel):
    tops = {name.partition("/")[0] for name in names(wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"vivero"}


def test_the_source_distribution_makes_the_same_wheel(wheel, wheel_of_sdist):
    assert names(wheel_of_sdist) == names(wheel)


def test_all_that_the_program_reads_is_in_it(wheel):
    found = names(wheel)
    for package in ("engine", "storage", "api"):
        files = {path for path in (ROOT / package).rglob("*") if path.suffix in {".py", ".sql", ".xsd", ".toml"}}
        assert {f"vivero/{path.relative_to(ROOT).as_posix()}" for path in files} <= found
    assert "vivero/examples/order/order.bpmn" in found


def test_it_runs_beside_a_users_modules_of_our_folders_names(wheel_of_sdist, tmp_path):
    installed, home = tmp_path / "installed", tmp_path / "home"
    home.mkdir()
    for name in ("api", "engine", "storage", "benchmarks"):
        (home / f"{name}.py").write_text("raise RuntimeError('this is the user\\'s')\n")
    run(
        *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"),
        *("--target", str(installed), str(wheel_of_sdist)),
        cwd=tmp_path,
    )
    code = (
        "import sys, vivero.tree, vivero.program, vivero.cli\n"
        "print(vivero.tree.__file__)\n"
        "print(sorted({'api', 'engine', 'storage', 'benchmarks'} & set(sys.modules)))\n"
        "from vivero.storage.postgres.migrate import read_migrations\n"
        "print(len(read_migrations()))\n"
    )
    where, loaded, migrations = run(sys.executable, "-c", code, cwd=home, PYTHONPATH=str(installed)).splitlines()
    assert Path(where).is_relative_to(installed)
    assert loaded == "[]"
    assert int(migrations) > 0
    (home / "models").mkdir()
    (home / "models" / "invoice.bpmn").write_bytes((ROOT / "examples" / "invoice" / "invoice.bpmn").read_bytes())
    code = (
        "import sys\n"
        "from datetime import UTC, datetime\n"
        "from vivero.library import Models, complete, start\n"
        "models = Models.read('models/invoice.bpmn')\n"
        "result = start(models, {'invoiceId': 'A-7'}, now=datetime(2026, 1, 1, tzinfo=UTC))\n"
        "result = complete(models, result.snapshot, result.instance.jobs[0].key, {'score': 80})\n"
        "print(result.instance.jobs[0].type, *{'api', 'engine', 'storage', 'trio', 'psycopg'} & set(sys.modules))\n"
    )
    assert run(sys.executable, "-c", code, cwd=home, PYTHONPATH=str(installed)) == "send-invoice\n"
    assert "Usage: python -m vivero" in run(
        sys.executable, "-m", "vivero", "--help", cwd=home, PYTHONPATH=str(installed)
    )


@pytest.mark.long
def test_the_plugin_of_an_installed_wheel_is_found(wheel, tmp_path):
    """Nothing is configured: pytest finds the fixture by the entry point of the wheel."""
    with zipfile.ZipFile(wheel) as content:
        (entry_points,) = (name for name in content.namelist() if name.endswith(".dist-info/entry_points.txt"))
        text = content.read(entry_points).decode()
    assert "[pytest11]\nvivero.pytest_plugin = vivero.pytest_plugin\n" in text
    installed, home = tmp_path / "installed", tmp_path / "home"
    run(
        *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"),
        *("--target", str(installed), str(wheel)),
        cwd=tmp_path,
    )
    shutil.copytree(ROOT / "examples" / "invoice", home, ignore=shutil.ignore_patterns("__pycache__"))
    command = (
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-c",
        "/dev/null",
        "--rootdir",
        str(home),
        "-p",
        "no:cacheprovider",
    )
    out = run(*command, str(home), cwd=home, PYTHONPATH=str(installed))
    assert "invoice (invoice.bpmn): 100 %" in out
