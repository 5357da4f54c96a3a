"""Short texts that settings, models, browsers and other systems write, read in one way by all layers.

Entry: `fields.listed`, `fields.retry_after_s`, `hosts.is_loopback`.
Imports: nothing of ours.
"""
