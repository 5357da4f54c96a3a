"""An order and its process in one transaction of Django: both are there after the commit, or neither.

Run it beside `vivero up`, on the same database. The settings are in this file, to keep the example small:

    export DATABASE_URL="$(vivero database-url)"
    python examples/django/orders.py runserver 8000
"""

import json
import os
import sys

import django
from django.conf import settings
from django.core.management import execute_from_command_line
from django.db import connection, models, transaction
from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from psycopg.conninfo import conninfo_to_dict

from vivero.transaction import InboxFull, Queue, Refused

_URL = conninfo_to_dict(os.environ["DATABASE_URL"])
settings.configure(
    ALLOWED_HOSTS=["localhost", "testserver"],
    ROOT_URLCONF=__name__,
    SECRET_KEY="only for this example",
    USE_TZ=True,
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": _URL.pop("dbname"),
            "USER": _URL.pop("user", ""),
            "PASSWORD": _URL.pop("password", ""),
            "HOST": _URL.pop("host", ""),
            "PORT": _URL.pop("port", ""),
            "OPTIONS": _URL,
        }
    },
)
django.setup()


class Order(models.Model):
    name = models.TextField()

    class Meta:
        app_label = "shop"
        db_table = "shop_orders"


@csrf_exempt
def place_order(request: HttpRequest) -> JsonResponse:
    try:
        with transaction.atomic():
            order = Order.objects.create(name=json.loads(request.body)["name"])
            command = Queue(connection).start_process("greet", {"name": order.name, "order": order.pk})
    except InboxFull:
        return JsonResponse({"detail": "too many orders wait: try again"}, status=503)
    except Refused as refused:
        return JsonResponse({"detail": str(refused)}, status=409)
    return JsonResponse({"order": order.pk, "command": command}, status=201)


urlpatterns = [path("orders", place_order)]


def create_table() -> None:
    """Make the tables, as a migration does in a real project."""
    with connection.schema_editor() as editor:
        if Order._meta.db_table not in connection.introspection.table_names():
            editor.create_model(Order)


if __name__ == "__main__":
    create_table()
    execute_from_command_line(sys.argv)
