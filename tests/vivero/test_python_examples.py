"""The examples for FastAPI, Django and a notebook, as a user would run them."""

import json
import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
DEFINITION = """
    INSERT INTO process_definitions (process_definition_key, deployment_key, tenant_id, process_id, version,
        resource_name, sha256, state, deployed_at) VALUES (1, 1, '<default>', 'greet', 1, 'g', 'g', 'ACTIVE', now());
"""
WITH_FASTAPI = """
    from fastapi.testclient import TestClient
    import orders
    client = TestClient(orders.app).__enter__()
    def place(name):
        answer = client.post("/orders", json={"name": name})
        return answer.status_code, answer.json()
"""
WITH_DJANGO = """
    import orders
    from django.test import Client
    orders.create_table()
    client = Client()
    def place(name):
        answer = client.post("/orders", {"name": name}, content_type="application/json")
        return answer.status_code, answer.json()
"""


BOTH = """
    import json, os, psycopg
    def seen():
        with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
            (there,) = connection.execute("SELECT to_regclass('shop_orders') IS NOT NULL").fetchone()
            return connection.execute("SELECT id, name FROM shop_orders").fetchall() if there else []
    refused = place("Ada")
    stored = seen()
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.execute(os.environ["DEFINITION"])
    print(json.dumps([refused, stored, place("Ada"), seen()]))
"""


@pytest.mark.parametrize(("example", "code"), [("fastapi", WITH_FASTAPI), ("django", WITH_DJANGO)])
def test_an_order_and_its_process_are_one_transaction(example, code, database):
    """A process of its own runs the example: Django has one configuration in a process."""
    if find_spec(example) is None:
        pytest.skip(f"{example} is not installed: make install")
    given = {"DATABASE_URL": database, "DEFINITION": DEFINITION, "PYTHONPATH": str(EXAMPLES / example)}
    whole = textwrap.dedent(code) + textwrap.dedent(BOTH)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", whole],
        env=os.environ | given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (refused, problem), before, (status, answer), stored = json.loads(done.stdout)
    assert (refused, before) == (409, []), "no process is deployed, and no order is stored"
    assert "greet" in problem["detail"]
    assert (status, stored) == (201, [[answer["order"], "Ada"]])
    with psycopg.connect(database) as connection:
        rows = connection.execute("SELECT id, convert_from(payload, 'UTF8')::jsonb FROM transaction_inbox").fetchall()
    ((command, payload),) = rows
    assert command == answer["command"]
    assert payload["variables"] == {"name": "Ada", "order": answer["order"]}


def test_the_cells_of_the_notebook_run(monkeypatch):
    notebook = EXAMPLES / "notebook" / "order.ipynb"
    cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    assert [cell["outputs"] for cell in cells] == [[]] * len(cells), "a notebook in the repository has no outputs"
    monkeypatch.chdir(notebook.parent)
    names = {}
    for cell in cells:
        exec(compile("".join(cell["source"]), notebook.name, "exec"), names)
    assert names["result"].instance.state == "COMPLETED"
    assert names["steps"]["check-stock"] == 1
