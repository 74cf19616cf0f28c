import os
from datetime import datetime, timezone

import django

django.setup()
from django.db import connection, models
from shop.models import Order

start, end = (datetime(2025, 11, day, tzinfo=timezone.utc) for day in (20, 21))
customers = [str(i) for i in range(1000)]
with connection.cursor() as cursor:
    cursor.execute(os.environ["PAST_ORDERS"])
orders = Order.objects.bulk_create([Order(customer=customer) for customer in customers])
print("ids", len({order.id for order in orders if order.id}))
first = orders[0]
@django-range@
print("range", orders.count())
print("page", list(page) == list(reversed(orders[:20])))
print("new", list(new) == list(orders[21:1021]))
try:
    Order.objects.filter(id__gte=start).count()
except Exception as error:
    print("untyped fails in the client")
