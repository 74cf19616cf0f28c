import uuid
from datetime import datetime, timedelta, timezone
from io import StringIO
from tempfile import NamedTemporaryFile

from django.contrib.auth.models import User
from django.core import serializers
from django.core.management import call_command
from django.core.paginator import Paginator
from django.db import connection
from django.db.models import Count, Exists, F, Max, Min, OuterRef, Subquery
from django.db.models.functions import TruncDay
from django.test import TestCase, TransactionTestCase

from .comb import Watermark
from .models import Gift, Invoice, Item, Order, Tag

NIL = uuid.UUID(int=0)
DAY = datetime(2025, 11, 20, tzinfo=timezone.utc)


class Keys(TestCase):
    def test_create(self):
        order = Order.objects.create(customer="Ada")
        self.assertEqual(order.id.version, 4)
        self.assertLess(abs(datetime.now(timezone.utc) - order.created_at), timedelta(minutes=1))
        self.assertEqual(Order.objects.values_list("created_at", flat=True).get(), order.created_at)
        order.customer = "Grace"
        order.save()
        order.full_clean()
        self.assertEqual(Order.objects.get(id=str(order.id)).customer, "Grace")
        self.assertEqual(Item.objects.create(order=order, product="tea").id.version, 7)

    def test_an_id_that_is_given(self):
        order = Order(id=uuid.uuid4(), customer="Ada")
        order.save()
        self.assertEqual(Order.objects.get().id, order.id)
        item = Item.objects.create(id=uuid.uuid4(), order=order, product="tea")
        self.assertIsNone(item.created_at)

    def test_a_new_instance_has_no_time(self):
        self.assertIsNone(Order().created_at)

    def test_bulk_create(self):
        orders = Order.objects.bulk_create(Order(customer=str(n)) for n in range(100))
        ids = [order.id for order in orders]
        self.assertEqual(ids, sorted(set(ids)))
        Item.objects.bulk_create(Item(order=order, product="tea") for order in orders)
        self.assertEqual(Item.objects.filter(order__in=orders).count(), 100)
        for order in orders:
            order.customer = "all"
        Order.objects.bulk_update(orders, ["customer"])
        self.assertEqual(Order.objects.filter(customer="all").count(), 100)

    def test_get_or_create(self):
        first, created = Order.objects.get_or_create(customer="Ada")
        again, created_again = Order.objects.get_or_create(customer="Ada")
        self.assertEqual((created, created_again, first), (True, False, again))
        Order.objects.update_or_create(customer="Ada", defaults={"customer": "Grace"})
        self.assertEqual(Order.objects.get().customer, "Grace")


class Joins(TestCase):
    @classmethod
    def setUpTestData(cls):
        cls.orders = Order.objects.bulk_create(Order(customer=name) for name in ["Ada", "Grace", "Edsger"])
        cls.items = [Item.objects.create(order=order, product="tea") for order in cls.orders[:2]]
        cls.invoice = Invoice.objects.create(order=cls.orders[0], number=1)
        cls.tag = Tag.objects.create(name="urgent")
        cls.tag.orders.set(cls.orders[1:])

    def test_forward(self):
        item = Item.objects.select_related("order").get(order__customer="Ada")
        self.assertEqual(item.order.created_at, self.orders[0].created_at)
        self.assertEqual(list(Item.objects.order_by("-order__created_at", "-order_id")), self.items[::-1])
        self.assertEqual(Item.objects.filter(order__created_at__gte=DAY).count(), 2)
        self.assertEqual(Item.objects.filter(order__created_at__year=2025).count(), 0)
        self.assertEqual(Item.objects.values_list("order__created_at", flat=True).get(order__customer="Ada"),
                         self.orders[0].created_at)
        self.assertEqual(Item.objects.annotate(at=F("order__created_at")).get(order__customer="Ada").at,
                         self.orders[0].created_at)

    def test_reverse(self):
        self.assertEqual(Order.objects.filter(items__product="tea").count(), 2)
        self.assertEqual(Order.objects.filter(items__created_at__gte=DAY).distinct().count(), 2)
        self.assertEqual(self.orders[0].items.get(), self.items[0])
        prefetched = Order.objects.prefetch_related("items", "tags").order_by("id")
        self.assertEqual([len(order.items.all()) for order in prefetched], [1, 1, 0])
        self.assertEqual([len(order.tags.all()) for order in prefetched], [0, 1, 1])
        counted = Order.objects.annotate(n=Count("items"), last=Max("items__created_at")).order_by("id")
        self.assertEqual([order.n for order in counted], [1, 1, 0])
        self.assertEqual(counted[0].last, self.items[0].created_at)
        self.assertEqual(Order.objects.filter(items__isnull=True).get().customer, "Edsger")

    def test_subqueries(self):
        items = Item.objects.filter(order=OuterRef("pk"))
        self.assertEqual(Order.objects.filter(Exists(items)).count(), 2)
        latest = Order.objects.annotate(at=Subquery(items.order_by("-created_at").values("created_at")[:1]))
        self.assertEqual(latest.order_by("id")[0].at, self.items[0].created_at)
        self.assertEqual(Order.objects.filter(id__in=Item.objects.values("order")).count(), 2)

    def test_one_to_one(self):
        self.assertEqual(self.orders[0].invoice, self.invoice)
        self.assertEqual(Invoice.objects.filter(order__created_at__gte=DAY).get().order, self.orders[0])

    def test_many_to_many(self):
        self.assertEqual(Tag.objects.filter(orders__created_at__gte=DAY).distinct().get(), self.tag)
        self.assertEqual(self.orders[1].tags.get(), self.tag)

    def test_inheritance(self):
        gift = Gift.objects.create(customer="Barbara", card="red")
        self.assertEqual(Gift.objects.get(created_at__gte=DAY).created_at, gift.created_at)
        self.assertEqual(Order.objects.get(customer="Barbara").gift, gift)

    def test_delete_cascades(self):
        Order.objects.filter(created_at__gte=DAY).delete()
        self.assertEqual((Item.objects.count(), Invoice.objects.count()), (0, 0))

    def test_update(self):
        Order.objects.filter(created_at__gte=DAY).update(customer="all")
        self.assertEqual(Order.objects.filter(customer="all").count(), 3)

    def test_deferred(self):
        self.assertEqual(Order.objects.only("id").order_by("id")[0].created_at, self.orders[0].created_at)
        self.assertEqual(Order.objects.defer("customer").order_by("id")[0].customer, "Ada")


class Times(TestCase):
    @classmethod
    def setUpTestData(cls):
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO orders SELECT comb_uuid(at), 'past' FROM generate_series("
                           "timestamptz '2025-11-19 23:59Z', '2025-11-21Z', '1 minute') AS at")
            cursor.execute("ANALYZE orders")

    def test_ranges(self):
        day = Order.objects.filter(created_at__gte=DAY, created_at__lt=DAY + timedelta(days=1)).order_by("created_at")
        self.assertEqual(day.count(), 1440)
        self.assertEqual(day[20].created_at, DAY + timedelta(minutes=20))
        self.assertIn("Index Cond", day.filter(created_at__gte=DAY + timedelta(hours=23)).explain())
        self.assertEqual(Order.objects.filter(created_at__date=DAY.date()).count(), 1440)
        self.assertEqual(Order.objects.filter(created_at__range=(DAY, DAY)).count(), 1)
        self.assertEqual(Order.objects.exclude(created_at__gte=DAY).count(), 1)
        days = Order.objects.values(day=TruncDay("created_at")).annotate(n=Count("*")).order_by("day")
        self.assertEqual([day["n"] for day in days], [1, 1440, 1])
        self.assertEqual(Order.objects.aggregate(Min("created_at"))["created_at__min"], DAY - timedelta(minutes=1))
        self.assertEqual(Order.objects.latest("created_at").created_at, DAY + timedelta(days=1))
        self.assertEqual(len(Order.objects.datetimes("created_at", "day")), 3)

    def test_pages(self):
        pages = Paginator(Order.objects.order_by("-created_at", "-id"), 100)
        self.assertEqual(pages.page(1)[0].created_at, DAY + timedelta(days=1))
        self.assertEqual(pages.count, 1442)


class Fixtures(TransactionTestCase):
    def test_dump_and_load(self):
        order = Order.objects.create(customer="Ada")
        Item.objects.create(order=order, product="tea")
        Tag.objects.create(name="urgent").orders.add(order)
        dump = StringIO()
        call_command("dumpdata", "shop", stdout=dump)
        self.assertNotIn("created_at", dump.getvalue())
        Tag.objects.all().delete()
        Order.objects.all().delete()
        with NamedTemporaryFile("w", suffix=".json") as file:
            file.write(dump.getvalue())
            file.flush()
            call_command("loaddata", file.name, verbosity=0)
        self.assertEqual(Order.objects.get(), order)
        self.assertEqual(order.items.count(), 1)
        self.assertEqual(order.tags.count(), 1)

    def test_without_keys(self):
        for loaded in serializers.deserialize("json", '[{"model": "shop.order", "fields": {"customer": "Ada"}}]'):
            loaded.save()
        self.assertEqual(Order.objects.get().created_at.year, datetime.now(timezone.utc).year)


class Feed(TransactionTestCase):
    def test_new_after(self):
        orders = Order.objects.bulk_create(Order(customer=str(n)) for n in range(3))
        self.assertEqual(list(Order.objects.new_after(NIL)), orders)
        orders.insert(0, Order.objects.create(id=uuid.UUID(int=1), customer="early"))
        self.assertEqual(list(Order.objects.new_after(NIL)), orders)
        self.assertEqual(list(Order.objects.new_after(orders[0].id)), orders[1:])
        self.assertEqual(list(Order.objects.filter(customer="2").new_after(NIL)), orders[3:])
        self.assertEqual(Order.objects.filter(items__isnull=True, id__lt=Watermark(Order)).count(), 4)


class FeedInATestCase(TestCase):
    def test_reads_nothing(self):
        Order.objects.create(customer="Ada")
        self.assertEqual(len(Order.objects.new_after(NIL)), 0)


class Admin(TestCase):
    def setUp(self):
        self.client.force_login(User.objects.create_superuser("admin"))

    def test_pages(self):
        added = self.client.post("/admin/shop/order/add/", {
            "customer": "Ada", "items-TOTAL_FORMS": 1, "items-INITIAL_FORMS": 0, "items-0-product": "tea"})
        self.assertEqual(added.status_code, 302, added.content)
        order = Order.objects.get()
        item = order.items.get()
        url = f"/admin/shop/order/{order.id}/change/"
        self.assertContains(self.client.get(url), "tea")
        changed = self.client.post(url, {
            "customer": "Grace", "items-TOTAL_FORMS": 1, "items-INITIAL_FORMS": 1, "items-0-id": item.id,
            "items-0-order": order.id, "items-0-product": "coffee"})
        self.assertEqual(changed.status_code, 302, changed.content)
        item.refresh_from_db()
        self.assertEqual(item.product, "coffee")
        listed = "/admin/shop/order/"
        for query in ["", "?o=-2", "?created_at__gte=2025-11-20T00:00Z", f"?created_at__year={order.created_at.year}"]:
            self.assertContains(self.client.get(listed + query), "Grace", msg_prefix=query)
        self.assertNotContains(self.client.get(listed + "?created_at__lt=2025-11-20T00:00Z"), "Grace")
        self.assertContains(self.client.post(f"/admin/shop/order/{order.id}/delete/", {"post": "yes"}, follow=True),
                            "was deleted successfully")
