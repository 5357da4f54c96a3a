"""The stores that the settings name."""

from __future__ import annotations

from functools import partial

from vivero.engine.buckets.locations import bucket_and_prefix
from vivero.engine.documents.directory import DirectoryObjects
from vivero.engine.documents.settings import DIRECTORY, S3, DocumentSettings
from vivero.engine.documents.stores import DocumentStores, ObjectStore
from vivero.engine.jobs.execution import Connections
from vivero.storage.documents import contents


def open_stores(settings: DocumentSettings, connections: Connections) -> DocumentStores:
    """All stores. Asks nobody."""
    objects: dict[str, ObjectStore] = {}
    if settings.directory is not None:
        objects[DIRECTORY] = DirectoryObjects(settings.directory, partial(_known, DIRECTORY, connections))
    if settings.bucket is not None and (place := bucket_and_prefix(settings.bucket)) is not None:
        from vivero.engine.buckets.client import Bucket  # boto3 is large, and an extra
        from vivero.engine.documents.bucket import BucketObjects

        access = settings.s3_endpoint, settings.s3_region, settings.s3_access_key, settings.s3_secret
        objects[S3] = BucketObjects(Bucket(*place, *access, settings.s3_path_style))
    return DocumentStores(settings.store, objects)


async def _known(store: str, connections: Connections) -> bool:
    async with connections() as connection:
        return await contents.known(connection, store)
