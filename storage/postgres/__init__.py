"""PostgreSQL on Trio: connections, pools, notifications, errors, migrations."""
