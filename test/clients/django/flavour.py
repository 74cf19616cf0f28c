import os
from datetime import datetime, timezone

import django

django.setup()
from django.db import connection, models
from shop.models import Order

start, end = (datetime(2025, 11, day, tzinfo=timezone.utc) for day in (20, 21))
with connection.cursor() as cursor:
    cursor.execute(os.environ["PAST_ORDERS"])
    cursor.execute("ANALYZE orders")
Order.objects.create(customer="created")
class Boundary(models.Func):
    function = "comb_boundary"
    output_field = models.UUIDField()

orders = Order.objects.filter(id__gte=Boundary(start), id__lt=Boundary(end)).order_by("id")
print("range", orders.count())
print("by the index", "Index Cond" in orders.explain())
