"""Requests and clients without TLS. httpx alone reads the certificates of the machine for each: 30 ms of CPU."""

import ssl
from functools import partial

import httpx

NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

get = partial(httpx.get, verify=NO_CERTIFICATES)
post = partial(httpx.post, verify=NO_CERTIFICATES)
client = partial(httpx.Client, verify=NO_CERTIFICATES)
async_client = partial(httpx.AsyncClient, verify=NO_CERTIFICATES)
