"""An engine with several partitions, each of which sees only its own rows: as if each had a PostgreSQL of its own."""

from functools import partial

from tests.engine.several_partitions import PartitionsEngine
from tests.storage.distribution import BELONGS, condition
from vivero.storage.cluster import leadership
from vivero.storage.postgres import conninfo, driver

SENDS = {"inbox"}
"""Tables to which a partition may add rows of others: those are on their way."""


def role(partition):
    return f"vivero_only_{partition}"


def script(count):
    """Makes the roles, and the policies of each table."""
    lines = []
    for number in range(1, count + 1):
        name = role(number)
        lines += [
            f"DO $$ BEGIN CREATE ROLE {name} LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$;",
            f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {name};",
            f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {name};",
        ]
        for table in BELONGS:
            own = condition(table, table, number)
            added = "true" if table in SENDS else own
            lines.append(f"CREATE POLICY only_{number} ON {table} TO {name} USING ({own}) WITH CHECK ({added});")
    lines += [f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;" for table in BELONGS]
    return "\n".join(lines)


async def separate(dsn, count):
    """Make the partitions, and hide the rows of each from the others."""
    connection = await driver.connect(dsn, name="vivero test")
    await leadership.create(connection, count)
    await connection.script(script(count))
    connection.close()


class ApartEngine(PartitionsEngine):
    """Consumers and timers work with the rows of their partition. The appender and the catalogue see everything."""

    def connect_of(self, dsn, partition):
        return partial(driver.connect, conninfo.with_user(dsn, role(partition)))
