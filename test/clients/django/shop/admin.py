from django.contrib import admin

from .models import Invoice, Item, Order, Tag


class Items(admin.TabularInline):
    model = Item
    extra = 1


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    list_display = ["customer", "created_at"]
    list_filter = ["created_at"]
    date_hierarchy = "created_at"
    ordering = ["-id"]
    readonly_fields = ["created_at"]
    inlines = [Items]


admin.site.register(Tag)
