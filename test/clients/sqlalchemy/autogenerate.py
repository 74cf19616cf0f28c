# Prints what Alembic would change.
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

from model import Base

with create_engine("postgresql+psycopg://").connect() as connection:
    context = MigrationContext.configure(
        connection, opts={"compare_type": True, "compare_server_default": True})
    print("differences", compare_metadata(context, Base.metadata))
