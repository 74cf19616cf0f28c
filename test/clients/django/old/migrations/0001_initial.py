import uuid

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel(
            "Customer",
            [("id", models.UUIDField(primary_key=True, default=uuid.uuid4, serialize=False)),
             ("name", models.TextField())],
            {"db_table": "customers"}),
        migrations.CreateModel(
            "Visit",
            [("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
             ("customer", models.ForeignKey(on_delete=models.CASCADE, to="old.customer"))]),
    ]
