import uuid

from sqlalchemy import Text, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    pass


@sqlalchemy-model@
