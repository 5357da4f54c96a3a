"""Whole programs with documents: what was answered stays after a kill, nothing else does; links outlive keys."""

import socket
from functools import partial
from urllib.parse import urlsplit

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


@pytest.mark.long
async def test_links_outlive_the_week_of_their_key_at_each_node_and_after_restarts(make_program, database, unsafe):
    """The links of two nodes, signed with two keys: a node that has not seen the new key looks for it. A key that is
    too old for any link goes, and its links with it."""
    environment = unsafe | {"VIVERO_RETENTION_EVERY_S": "0.2", "VIVERO_RETENTION_PAUSE_S": "0"}
    first, second = (make_program("--database-url", database, name=n, environment=environment) for n in ("one", "two"))
    await first.restart()
    await second.restart()
    answer = await asked(first, "POST", "/v2/documents", files={"file": b"a contract"})
    id = answer.json()["documentId"]
    with psycopg.connect(database, autocommit=True) as rows:

        def age(days):
            rows.execute("UPDATE document_link_keys SET created_at = created_at - %s * interval '1 day'", [days])

        links = [await link(first, id)]
        assert await readable(links, first, second) == [[True], [True]]
        age(8)
        links.append(await link(second, id))
        assert rows.execute("SELECT count(*) FROM document_link_keys").fetchone() == (2,)
        assert await readable(links, first, second) == [[True, True]] * 2, "the first node has not seen the new key"
        links.append(await link(first, id))
        assert rows.execute("SELECT count(*) FROM document_link_keys").fetchone() == (2,), "it signs with the new one"
        for program in (first, second):
            await program.kill()
            await program.restart()
            assert await readable(links, first, second) == [[True] * 3] * 2
        said, mac = links[0].split(".")
        other = links[1].split(".")[1]
        assert await readable([f"{said}.{other}", f"{said[:-2]}AA.{mac}", said], first, second) == [[False] * 3] * 2
        age(6.5)

        async def one_key():
            return rows.execute("SELECT count(*) FROM document_link_keys").fetchone() == (1,)

        await eventually(one_key, "the chore deletes the old key", within_s=30)
        await first.kill()
        await first.restart()
        assert await readable(links, first) == [[False, True, True]]


async def link(program, id):
    """The path of a new link."""
    answer = await asked(program, "POST", f"/v2/documents/{id}/links", json={})
    assert answer.status_code == 201
    return urlsplit(answer.json()["url"]).path


async def readable(links, *programs):
    """Whether each program shows the document for each link."""
    answers = [[await asked(program, "GET", path) for path in links] for program in programs]
    assert {answer.status_code for each in answers for answer in each} <= {200, 404}
    return [[answer.content == b"a contract" for answer in each] for each in answers]


async def asked(program, method, path, **more):
    url = f"http://127.0.0.1:{program.port}{path}"
    return await trio.to_thread.run_sync(partial(httpx.request, method, url, **more))
