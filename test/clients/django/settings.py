import os

SECRET_KEY = "only for this test"
INSTALLED_APPS = ["django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes",
                  "django.contrib.sessions", "django.contrib.messages", "shop", "old"]
if os.environ["PGDATABASE"].endswith("_flavour"):
    INSTALLED_APPS.append("flavour_of_comb")
MIDDLEWARE = ["django.contrib.sessions.middleware.SessionMiddleware",
              "django.contrib.auth.middleware.AuthenticationMiddleware",
              "django.contrib.messages.middleware.MessageMiddleware"]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True, "OPTIONS": {
    "context_processors": ["django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
                           "django.contrib.messages.context_processors.messages"]}}]
ROOT_URLCONF = "urls"
STATIC_URL = "static/"
USE_TZ = True
TIME_ZONE = "UTC"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "HOST": os.environ["PGHOST"],
                         "PORT": os.environ["PGPORT"], "USER": os.environ["PGUSER"], "NAME": os.environ["PGDATABASE"],
                         "TEST": {"TEMPLATE": "template0"}}}
