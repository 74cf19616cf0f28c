import os
from datetime import datetime, timezone

from sqlalchemy import create_engine, func, insert, select, text
from sqlalchemy.orm import Session, joinedload

from model import Base, Item, Order

start, end = (datetime(2025, 11, day, tzinfo=timezone.utc) for day in (20, 21))
customers = [str(i) for i in range(1000)]
engine = create_engine("postgresql+psycopg://")
Base.metadata.create_all(engine)
with Session(engine) as session:
    session.execute(text(os.environ["PAST_ORDERS"]))
    ids = session.scalars(insert(Order).returning(Order.id), [{"customer": customer} for customer in customers]).all()
    print("ids", len(set(ids)))
    @sqlalchemy-range@
    print("range", len(orders))
    last = orders[20].id
    session.commit()
    @sqlalchemy-feed@
    print("page", [order.created_at for order in page] == [order.created_at for order in reversed(orders[:20])])
    print("new", [order.id for order in new] == [order.id for order in orders[21:1021]])
    session.commit()

    ada = Order(customer="Ada")
    session.add_all([ada, Item(order=ada), Item(order=orders[5])])
    session.commit()
    print("saved", ada.created_at > end)
    items = select(Item).join(Item.order).where(Order.created_at >= start).order_by(Order.created_at.desc())
    item = session.scalars(items.options(joinedload(Item.order)).offset(1).limit(1)).one()
    print("join", item.order.created_at.astimezone(timezone.utc).isoformat())
    session.execute(text("SELECT comb_track('orders')"))
    session.commit()
