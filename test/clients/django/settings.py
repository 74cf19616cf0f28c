import os

SECRET_KEY = "only for this test"
INSTALLED_APPS = ["shop", "old", "flavour_of_comb"]
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "HOST": os.environ["PGHOST"],
                         "PORT": os.environ["PGPORT"], "USER": os.environ["PGUSER"], "NAME": os.environ["PGDATABASE"]}}
