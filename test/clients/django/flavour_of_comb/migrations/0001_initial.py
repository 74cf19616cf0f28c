import os
from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    operations = [
        migrations.RunSQL(Path(os.environ["SANDBOX"], "comb/generated/comb.sql").read_text(),
                          "DROP SCHEMA comb CASCADE"),
    ]
