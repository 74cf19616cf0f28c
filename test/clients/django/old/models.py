# A table that had random keys, which 0001_initial creates and 0002_switch changes to comb.
from django.db import models
from shop.comb import CombV7Field


class Customer(models.Model):
    id = CombV7Field(primary_key=True)
    name = models.TextField()

    class Meta:
        db_table = "customers"


class Visit(models.Model):
    customer = models.ForeignKey(Customer, models.CASCADE)
