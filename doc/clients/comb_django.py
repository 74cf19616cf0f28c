"""Keys that the database makes, their time and a feed of new rows. Copy this file to your application as comb.py."""
import datetime

from django.db import connection, models

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


class Default(models.Expression):
    def as_sql(self, compiler, connection):
        return "DEFAULT", []


class CombField(models.UUIDField):
    """A key that is made by comb_uuid(), in tables that a migration creates with it."""

    db_returning = True
    function = "comb_uuid"

    def __init__(self, *args, **kwargs):
        kwargs.update(blank=True, editable=False)
        super().__init__(*args, **kwargs)

    def db_type_suffix(self, connection):
        return f"DEFAULT {self.function}()"

    def get_db_prep_save(self, value, connection):
        return Default() if value is None else super().get_db_prep_save(value, connection)


class CombV7Field(CombField):
    """A key that is made by comb_uuid_v7(), for tables with random keys, too, whose time instances give as None."""

    function = "comb_uuid_v7"


class CreatedAtField(models.DateTimeField):
    """The time of the primary key, without a column."""

    def __init__(self, *args, **kwargs):
        kwargs.update(editable=False)
        super().__init__(*args, **kwargs)

    def contribute_to_class(self, cls, name, private_only=True):
        super().contribute_to_class(cls, name, private_only=True)
        setattr(cls, name, property(self.read, lambda instance, value: None))  # full_clean() sets every field

    def get_attname_column(self):
        return self.get_attname(), None

    def get_col(self, alias, output_field=None):
        key = self.model._meta.pk.get_col(alias)
        return models.Func(key, function="comb_timestamp", output_field=models.DateTimeField())

    def read(self, instance):
        field = instance._meta.pk
        key = field.to_python(instance.pk)
        if key is None or isinstance(field, CombV7Field) and key.version != 7:
            return None
        return EPOCH + datetime.timedelta(milliseconds=key.int >> 80)


class Watermark(models.Func):
    """The id below which no row of the model's table appears later."""

    template = "(SELECT comb_watermark(%(expressions)s::regclass))"
    output_field = models.UUIDField()

    def __init__(self, model):
        super().__init__(models.Value(connection.ops.quote_name(model._meta.db_table)))


class CombQuerySet(models.QuerySet):
    """objects = CombQuerySet.as_manager()"""

    def new_after(self, last):
        return self.filter(pk__gt=last, pk__lt=Watermark(self.model)).order_by("pk")[:1000]
