"""An order and its process in one transaction: both are there after the commit, or neither.

Run it beside `vivero up`, on the same database:

    export DATABASE_URL="$(vivero database-url)"
    fastapi run examples/fastapi/orders.py --port 8000
"""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Annotated

import psycopg
from fastapi import Depends, FastAPI, HTTPException
from pydantic import BaseModel

from vivero.transaction import InboxFull, Queue, Refused

TABLE = """
    CREATE TABLE IF NOT EXISTS shop_orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL)
"""


@asynccontextmanager
async def with_table(_app: FastAPI) -> AsyncIterator[None]:
    """Create the table once, before the first request."""
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.execute(TABLE)
    yield


app = FastAPI(lifespan=with_table)


class Order(BaseModel):
    name: str


def transaction() -> Iterator[psycopg.Connection]:
    """A connection whose transaction commits if the request succeeds."""
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        yield connection


@app.post("/orders", status_code=201)
def place_order(
    order: Order, connection: Annotated[psycopg.Connection, Depends(transaction, scope="function")]
) -> dict[str, int]:
    row = connection.execute("INSERT INTO shop_orders (name) VALUES (%s) RETURNING id", (order.name,)).fetchone()
    assert row is not None
    try:
        command = Queue(connection).start_process("greet", {"name": order.name, "order": row[0]})
    except InboxFull as full:
        raise HTTPException(503, "too many orders wait: try again") from full
    except Refused as refused:
        raise HTTPException(409, str(refused)) from refused
    return {"order": row[0], "command": command}
