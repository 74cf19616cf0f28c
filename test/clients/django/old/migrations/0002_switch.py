import shop.comb
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("old", "0001_initial"), ("shop", "0001_comb")]
    @django-switch@
