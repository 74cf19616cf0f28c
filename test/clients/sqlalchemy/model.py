import uuid
from datetime import datetime

from sqlalchemy import DateTime, ForeignKey, Text, func, text
from sqlalchemy.orm import DeclarativeBase, Mapped, column_property, mapped_column, relationship


class Base(DeclarativeBase):
    pass


@sqlalchemy-model@


class Item(Base):
    __tablename__ = "items"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, server_default=text("comb_uuid()"))
    order_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("orders.id"))
    order: Mapped[Order] = relationship()
