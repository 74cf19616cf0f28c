from django.db import models

from .comb import CombField, CombQuerySet, CombV7Field, CreatedAtField


@django-model@


class Item(models.Model):
    id = CombV7Field(primary_key=True)
    order = models.ForeignKey(Order, models.CASCADE, related_name="items")
    product = models.TextField()
    created_at = CreatedAtField()

    class Meta:
        ordering = ["-created_at", "-id"]


class Invoice(models.Model):
    order = models.OneToOneField(Order, models.CASCADE, primary_key=True)
    number = models.IntegerField()


class Gift(Order):
    card = models.TextField()


class Tag(models.Model):
    id = CombField(primary_key=True)
    orders = models.ManyToManyField(Order, related_name="tags")
    name = models.TextField(unique=True)
