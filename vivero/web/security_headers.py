"""Headers of every answer. They restrict what a browser may do with it."""

from __future__ import annotations

from collections.abc import Mapping

COMMON: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with `no-referrer`, the Origin of a form would be `null`
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}

_OWN_ONLY = (
    "default-src 'none'; script-src {script}; style-src 'self'; {styles}font-src 'self'; connect-src 'self';"
    " {objects}img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
CONSOLE_POLICY = _OWN_ONLY.format(
    script="'self'", styles="style-src-attr 'unsafe-inline'; ", objects="object-src blob:; "
)
"""The console's own files only. The library for forms sets `style` attributes, which cannot load anything.

The browser's viewer of PDF documents is an object. It gets their bytes from the page, as a blob of that type.
"""
PAGE_POLICY = _OWN_ONLY.format(script="'none'", styles="", objects="")
"""The pages of the server itself have no scripts."""
