from django.db import models


@django-model@


class Item(models.Model):
    order = models.ForeignKey(Order, models.CASCADE)
