import django

django.setup()
from old.models import Customer, Visit

before = Customer.objects.get(name="before")
after = Customer.objects.create(name="after")
Visit.objects.create(customer=after)
print("versions", before.id.version, after.id.version, Visit.objects.get(customer=after).customer_id.version)
print("visits", Visit.objects.filter(customer=before).count())
