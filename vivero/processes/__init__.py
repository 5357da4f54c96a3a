"""Several processes of one program (docs/several-nodes.md): a parent, and children that are nodes of their own.

The parent owns the listening sockets, the embedded PostgreSQL and the admin port. The children inherit the listening
sockets. A socket pair connects the parent with each child: it carries the child's settings, questions and answers. When
either end closes, the other side knows that the process is gone.

Entry: `parent.up`, `child`.
Imports: core, storage, engine, api, config, logs, node, program.
"""
