import shop.models
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("old", "0001_initial")]
    @django-switch@
