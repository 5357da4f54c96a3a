"""A person whose data a trial of erasure writes, and searches in all columns of a database."""

import json

import psycopg

PERSON = "änn.smith@example.org"
ESCAPED = json.dumps(PERSON)
SPELLINGS = (PERSON, ESCAPED[1:-1], ESCAPED[1:-1].replace("\\", "\\\\"))


def places_of(dsn, *more):
    """The columns that have the person, or one of `more`, as a text or as bytes, in any spelling of JSON."""
    spellings = [text.encode() for text in (*SPELLINGS, *more)]
    has = "coalesce(bool_or(" + " OR ".join(["position(%s::bytea IN {0}) > 0"] * len(spellings)) + "), false)"
    tables, found = {}, set()
    with psycopg.connect(dsn) as connection:
        columns = connection.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns JOIN information_schema.tables"
            " USING (table_schema, table_name) WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
        ).fetchall()
        assert len(columns) > 300
        for table, column, kind in columns:
            as_bytes = column if kind == "bytea" else f"convert_to({column}::text, 'UTF8')"
            tables.setdefault(table, []).append((column, has.format(as_bytes)))
        for table, asked in tables.items():
            query = f"SELECT {', '.join(question for _, question in asked)} FROM {table}"
            answers = connection.execute(query, spellings * len(asked)).fetchone()
            found |= {f"{table}.{column}" for (column, _), yes in zip(asked, answers, strict=True) if yes}
    return {place for place in found if not place.startswith(("command_log.", "event_log."))}


async def erase(client, **subject):
    """All pages of an erasure: what is erased, what is kept, and the sums."""
    erased, kept, counts, after = [], {}, {}, {}
    while after is not None:
        answer = await client("POST", "/v2/erasures", subject | after)
        assert answer.status == 200, answer.body
        erased += answer.json["erased"]
        kept |= {each["processInstanceKey"]: each["reason"] for each in answer.json["kept"]}
        for name, count in answer.json["counts"].items():
            counts[name] = counts.get(name, 0) + count
        after = None if answer.json["next"] is None else {"after": answer.json["next"]}
    return erased, kept, counts
