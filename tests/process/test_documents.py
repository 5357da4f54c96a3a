"""A whole program is killed while documents arrive: what was answered is there, and nothing of the rest stays."""

import socket
from functools import partial

import httpx
import psycopg
import pytest
import trio

from tests.eventually import eventually

PART = 256 * 1024
COUNTS = (
    "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM document_contents), count(*) FROM document_parts"
)
HEAD = b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'
TAIL = b"\r\n--b--\r\n"
ROUNDS = 4


def begin_upload(port, content, sent):
    """A connection on which so many bytes of a file are sent."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    size = len(HEAD) + len(content) + len(TAIL)
    head = b"POST /v2/documents HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\n"
    connection.sendall(head + b"Content-Length: %d\r\n\r\n" % size + HEAD + content[:sent])
    return connection


@pytest.mark.long
async def test_a_killed_upload_leaves_nothing(make_program, database, unsafe, random_faults):
    environment = unsafe | {"VIVERO_RETENTION_EVERY_S": "0.2", "VIVERO_RETENTION_PAUSE_S": "0"}
    program = make_program("--database-url", database, environment=environment)
    await program.restart()
    url, kept = f"http://127.0.0.1:{program.port}/v2/documents", {}
    with psycopg.connect(database, autocommit=True) as rows:

        async def counted(least):
            return rows.execute("SELECT count(*) FROM document_parts").fetchone()[0] >= least

        for number in range(ROUNDS):
            content = random_faults.randbytes(4 * PART)
            answer = await trio.to_thread.run_sync(partial(httpx.post, url, files={"file": content[number:]}))
            kept[answer.json()["documentId"]] = content[number:]
            before = rows.execute("SELECT count(*) FROM document_parts").fetchone()[0]
            begun = random_faults.randint(1, 3)
            connection = begin_upload(program.port, content[::-1], begun * PART + random_faults.randrange(1000))
            await eventually(partial(counted, before + begun), "the parts are stored")
            await program.kill()
            connection.close()
            await program.restart()
            assert rows.execute(COUNTS).fetchone()[:2] == (number + 1, number + 2)
            rows.execute("UPDATE document_contents SET alive_at = now() - interval '2 hours' WHERE sha256 IS NULL")

            async def swept(documents=number + 1):
                return rows.execute(COUNTS).fetchone() == (documents, documents, 4 * documents)

            await eventually(swept, "a chore deletes what is left", within_s=30)
        used = rows.execute("SELECT sum(bytes)::bigint FROM document_usage").fetchone()[0]
    assert used == sum(map(len, kept.values()))
    for id, content in kept.items():
        answer = await trio.to_thread.run_sync(partial(httpx.get, f"{url}/{id}"))
        assert answer.content == content
