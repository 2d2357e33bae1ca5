"""The tables of a state that servers share. Their times are those of the database, of no machine.

What is known about a thing is one JSON text; what is searched for has a column of its own.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    func,
    text,
)

VERSION = 1  # of these tables; a database with a later one is refused
DEAD_AFTER = 10.0  # seconds without a sign of life after which the jobs of a server are free

metadata = MetaData()

state = Table(
    "compass_state",
    metadata,
    Column("version", Integer, primary_key=True),
    Column("name", String(32), nullable=False),  # the same as in the folder that belongs to it
)

servers = Table(
    "compass_servers",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("seen_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("offers", Text, nullable=False, server_default="[]"),
)

workspaces = Table(
    "compass_workspaces",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("key", String(64), nullable=False),
    Column("about", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False, server_default="0"),
    Column("made_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("used_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)


def _workspace() -> Column[str]:
    reference = ForeignKey("compass_workspaces.id", ondelete="CASCADE")
    return Column("workspace", String(16), reference, primary_key=True)


things = Table(
    "compass_things",
    metadata,
    _workspace(),
    Column("kind", String(16), primary_key=True),
    Column("name", String(16), primary_key=True),
    Column("about", Text, nullable=False),
    Column("version", BigInteger, nullable=False, server_default="1"),  # one more at each change
    Column("brief", LargeBinary),
    Column("created", BigInteger, nullable=False),  # microseconds since 1970, as it says itself
    Column("used_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("bytes", BigInteger, nullable=False),
)

claims = Table(
    "compass_claims",
    metadata,
    _workspace(),
    Column("job", String(16), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("subject", Text, nullable=False),  # what it makes: there is one such job at a time
    Column("server", String(16)),  # who does it; none: whoever takes it
    Column("person", Text),
    Column("stored", Text, nullable=False),  # the job, and what is needed to do it again
    Column("kept", Boolean, nullable=False),
    Column("pending", Integer),
    Column("cancelled", Boolean, nullable=False, server_default=text("false")),
    Column("over", Boolean, nullable=False, server_default=text("false")),
    Column("status", Integer),  # of HTTP, of the problem of a job that failed
    Column("retry_after", Integer),
    Column("wanted_at", DateTime(timezone=True)),  # when somebody at another server waited for it
    Column("ended_at", DateTime(timezone=True)),
)
LIVE = text("NOT over")
Index(
    "compass_claims_once",
    claims.c.workspace,
    claims.c.subject,
    unique=True,
    postgresql_where=LIVE,
)
Index("compass_claims_server", claims.c.server, postgresql_where=LIVE)

locks = Table(
    "compass_locks",
    metadata,
    Column("name", Text, primary_key=True),
    Column("server", String(16), nullable=False),
)
