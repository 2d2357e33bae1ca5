"""The tables of a store of experiments, the same in SQLite and in PostgreSQL.

Times are microseconds since 1970 in UTC. What is only ever read together is one JSON text; what is
searched for has a column of its own.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    text,
)

VERSION = 1  # of these tables; a store with a later one is refused

metadata = MetaData()

store = Table("compass_store", metadata, Column("version", Integer, primary_key=True))

experiments = Table(
    "compass_experiments",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("plan", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # Counted here and not by the database: numbers without gaps, and events that become visible
    # in the order of their ids, so that whoever reads on from the last one misses none.
    Column("last_run", Integer, nullable=False),
    Column("last_event", Integer, nullable=False),
)


def _of_experiment() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["experiment"], ["compass_experiments.id"])


runs = Table(
    "compass_runs",
    metadata,
    Column("experiment", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("key", String(32), nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("origin", String(16), nullable=False),
    Column("state", String(16), nullable=False),
    Column("event", Integer, nullable=False),
    Column("job", Text),
    Column("worker", Text),
    Column(
        "asked", Text, nullable=False
    ),  # the configuration and what was predicted; never changes
    Column("told", Text, nullable=False),  # outcomes, reason, seconds, output
    Column("suggested_at", BigInteger, nullable=False),
    Column("submitted_at", BigInteger),
    Column("started_at", BigInteger),
    Column("ended_at", BigInteger),
    _of_experiment(),
)
# A cancelled run may be asked for again: it does not count as asked. Written out here and where
# runs are looked up by configuration, so that SQLite sees that the index serves.
STANDS = text("state <> 'cancelled'")
Index(
    "compass_runs_once",
    runs.c.experiment,
    runs.c.key,
    runs.c.repeat,
    unique=True,
    sqlite_where=STANDS,
    postgresql_where=STANDS,
)
Index("compass_runs_state", runs.c.experiment, runs.c.state, runs.c.number)
Index("compass_runs_origin", runs.c.experiment, runs.c.origin, runs.c.state)
Index("compass_runs_event", runs.c.experiment, runs.c.event)
Index("compass_runs_job", runs.c.experiment, runs.c.job)

events = Table(
    "compass_events",
    metadata,
    Column("experiment", Integer, primary_key=True),
    Column("id", Integer, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("number", Integer),  # of the run; none: the experiment as a whole
    Column("state", String(16)),
    Column("facts", Text, nullable=False),
    _of_experiment(),
)
Index("compass_events_run", events.c.experiment, events.c.number)

workers = Table(
    "compass_workers",
    metadata,
    Column("experiment", Integer, primary_key=True),
    Column("worker", String(200), primary_key=True),
    Column("seen_at", BigInteger, nullable=False),
    _of_experiment(),
)
