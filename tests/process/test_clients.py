"""The official clients for Java and JavaScript, over REST: examples/first, as its page starts them."""

import os
import re
import shutil

import pytest
import trio

from tests.operations.tools import ROOT

FIRST = ROOT / "examples" / "first"
PASSWORD = "of the first admin"
NEEDS = {"java": ("mvn", "java"), "javascript": ("node", "npm")}
pytestmark = pytest.mark.long


def commands(language):
    """The commands of the page for the folder of a language."""
    page = (FIRST / "README.md").read_text()
    (block,) = re.findall(rf"^    cd examples/first/{language}\n((?:    .+\n)+)", page, re.MULTILINE)
    return [line.strip() for line in block.splitlines()]


def credentials(page):
    """The variables that the page sets for the client in JavaScript, with a password of ours."""
    section = page.partition("### JavaScript")[2].partition("\n### ")[0]
    given = dict(re.findall(r"^    (CAMUNDA_\w+)=(.+)$", section, re.MULTILINE))
    return given | {"CAMUNDA_BASIC_AUTH_USERNAME": "admin", "CAMUNDA_BASIC_AUTH_PASSWORD": PASSWORD}


async def test_javascript_with_credentials(make_program, database, unsafe, tmp_path):
    secret = {"VIVERO_AUTH_ADMIN_PASSWORD": PASSWORD}
    program = make_program("--database-url", database, "--auth", "required", environment=unsafe | secret)
    given = credentials((ROOT / "docs" / "from-camunda-8.md").read_text())
    assert given["CAMUNDA_AUTH_STRATEGY"] == "BASIC"
    await greet(program, tmp_path, "javascript", given)


@pytest.mark.parametrize("language", NEEDS)
async def test_the_example_of_the_page_greets(program, tmp_path, language):
    await greet(program, tmp_path, language, {})


async def greet(program, tmp_path, language, given):
    """Run what the page says. Fails unless it greets."""
    if missing := [name for name in NEEDS[language] if shutil.which(name) is None]:
        pytest.skip(f"{' and '.join(missing)} is not installed")
    shutil.copytree(FIRST, tmp_path / "first", ignore=shutil.ignore_patterns("target", "node_modules"))
    program.start()
    said = ""
    environment = os.environ | given | {"CAMUNDA_REST_ADDRESS": f"http://localhost:{program.port}"}
    await program.ready()
    for command in commands(language):
        with trio.fail_after(300):
            done = await trio.run_process(
                ["/bin/sh", "-c", command],
                cwd=tmp_path / "first" / language,
                env=environment,
                capture_stdout=True,
                capture_stderr=True,
                check=False,
            )
        said = done.stdout.decode()
        assert done.returncode == 0, said + done.stderr.decode()
    assert "Hello, Ada!" in said
