"""Statements as PostgreSQL's own parser sees them: which partitions of distributed tables each of them touches.

`laid_out` gives a statement the conditions and values that the layout of `storage/schema/distributed.sql` needs;
`partitions` says by what each distributed table of a statement is bound to a partition. They are written apart, so that
one checks the other.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from pglast import ast, parse_plpgsql, parse_sql
from pglast.enums import A_Expr_Kind, BoolExprType, JoinType, SetOperation, SortByDir, SortByNulls
from pglast.stream import RawStream

from tests.storage.distribution import BELONGS

BY_TARGET = {"inbox", "transaction_inbox", "transaction_outcomes"}
COLUMNS = {
    table: "target_partition" if table in BY_TARGET else "partition_id" for table in (*BELONGS, "counted_elements")
}
"""Distributed table, or view over some, → its distribution column."""

QUERIES = (ast.SelectStmt, ast.InsertStmt, ast.UpdateStmt, ast.DeleteStmt)
Node = Any
"""Nodes of the tree have the attributes of their kind."""


def children(node) -> Iterator[Node]:
    """The nodes right below a node."""
    for value in (getattr(node, name) for name in node) if isinstance(node, ast.Node) else node:
        if isinstance(value, ast.Node):
            yield value
        elif isinstance(value, tuple):
            yield from children(value)


def queries(node, hidden=frozenset()) -> Iterator[tuple[Node, frozenset[str]]]:
    """Each query in a tree, with the names of common table expressions that hide tables there."""
    if isinstance(node, QUERIES):
        if node.withClause is not None:
            for one in node.withClause.ctes:
                inside = hidden | {one.ctename} if node.withClause.recursive else hidden
                yield from queries(one.ctequery, inside)
                hidden |= {one.ctename}
        yield node, hidden
    for child in children(node):
        if not isinstance(child, ast.WithClause):
            yield from queries(child, hidden)


def tables(query, hidden) -> Iterator[tuple[ast.RangeVar, ast.JoinExpr | None]]:
    """The distributed tables that a query reads, updates or deletes from, with the outer join around them."""
    if isinstance(query, ast.SelectStmt):
        sources = query.fromClause or ()
    elif isinstance(query, ast.UpdateStmt):
        sources = (query.relation, *(query.fromClause or ()))
    elif isinstance(query, ast.DeleteStmt):
        sources = (query.relation, *(query.usingClause or ()))
    else:
        sources = ()
    for source in sources:
        yield from ((table, join) for table, join in _leaves(source, None) if _is_distributed(table, hidden))


def _is_distributed(table, hidden):
    return table.relname in COLUMNS and table.relname not in hidden


def _leaves(source, outer):
    if isinstance(source, ast.RangeVar):
        yield source, outer
    elif isinstance(source, ast.JoinExpr):
        assert source.jointype in {JoinType.JOIN_INNER, JoinType.JOIN_LEFT}
        yield from _leaves(source.larg, outer)
        yield from _leaves(source.rarg, source if source.jointype == JoinType.JOIN_LEFT else outer)


def _name(table):
    return table.alias.aliasname if table.alias else table.relname


# ------------------------------------------------------------------------------------------------ what binds a table


@cache
def partitions(text, values=()) -> tuple[tuple[str, str | None], ...]:
    """Each distributed table in a statement, and the text of what binds it to one partition.

    That is a parameter, a literal, or a variable of a function, of `values`. None: any partition may be touched.
    """
    return tuple(_partitions(text, values))


def _partitions(text, values) -> Iterator[tuple[str, str | None]]:
    for query, hidden in queries(parse_sql(text)):
        for table, join in tables(query, hidden):
            moves = isinstance(query, ast.UpdateStmt) and table is query.relation and _moves(query)
            yield table.relname, None if moves else _bound(query, table, join, values)
        if isinstance(query, ast.InsertStmt) and _is_distributed(query.relation, hidden):
            found = set(_inserted(query, values))
            yield query.relation.relname, found.pop() if len(found) == 1 else None


def _moves(update):
    """Whether rows get another partition, which Citus refuses."""
    return COLUMNS[update.relation.relname] in [one.name for one in update.targetList]


def _bound(query, table, join, values):
    name, column = _name(table), COLUMNS[table.relname]
    alone = len(list(_all_sources(query))) == 1
    for condition in (*_conjuncts(query.whereClause), *_joined(query), *_conjuncts(join.quals if join else None)):
        for one, other in _equal(condition):
            if _fields(one) in ([name, column], [column] if alone else None) and _value(other, values) is not None:
                return _value(other, values)
    return None


def _equal(condition):
    """Both sides of an equality, in both orders."""
    if isinstance(condition, ast.A_Expr) and condition.kind == A_Expr_Kind.AEXPR_OP and condition.name[0].sval == "=":
        yield condition.lexpr, condition.rexpr
        yield condition.rexpr, condition.lexpr


def _all_sources(query):
    if isinstance(query, ast.SelectStmt):
        return query.fromClause or ()
    more = query.fromClause if isinstance(query, ast.UpdateStmt) else query.usingClause
    return (query.relation, *(more or ()))


def _joined(query):
    """The conditions of inner joins, which hold for each row as those of WHERE do."""

    def of(source):
        if isinstance(source, ast.JoinExpr):
            if source.jointype == JoinType.JOIN_INNER:
                yield from _conjuncts(source.quals)
            yield from of(source.larg)
            if source.jointype == JoinType.JOIN_INNER:
                yield from of(source.rarg)

    for source in _all_sources(query):
        yield from of(source)


def _conjuncts(condition):
    if isinstance(condition, ast.BoolExpr) and condition.boolop == BoolExprType.AND_EXPR:
        for one in condition.args:
            yield from _conjuncts(one)
    elif condition is not None:
        yield condition


def _fields(node):
    if not isinstance(node, ast.ColumnRef):
        return None
    return [one.sval if isinstance(one, ast.String) else "*" for one in node.fields]


def _value(node, values):
    """The text of a value that is known before any row is read."""
    while isinstance(node, ast.TypeCast):
        node = node.arg
    if isinstance(node, ast.ParamRef | ast.A_Const):
        return RawStream()(node)
    if isinstance(node, ast.A_Expr) and node.lexpr is None and _value(node.rexpr, values) is not None:
        return RawStream()(node)
    fields = _fields(node)
    return fields[0] if fields is not None and len(fields) == 1 and fields[0] in values else None


def _inserted(insert, values) -> Iterator[str | None]:
    """The texts of what binds the distribution column in each SELECT and each row of VALUES."""
    column = COLUMNS[insert.relation.relname]
    for leaf in _selects(insert.selectStmt):
        for row in leaf.valuesLists or ([one.val for one in leaf.targetList],):
            place = _place(insert, column, row)
            yield None if place is None else _inserted_value(leaf, row[place], values)


def _place(insert, column, row):
    """The place of a column in a row of values. A `*` stands for any number of them."""
    if not insert.cols:
        return 0  # the first column of such a table is the distribution column
    names = [one.name for one in insert.cols]
    if column not in names:
        return None
    place = names.index(column)
    return place - len(names) if any("*" in (_fields(one) or ()) for one in row[: place + 1]) else place


def _inserted_value(leaf, node, values):
    """A value, or a column that the SELECT compares with one."""
    equal = (other for condition in _conjuncts(leaf.whereClause) for one, other in _equal(condition)
             if _fields(node) is not None and _fields(one) == _fields(node))  # fmt: skip
    return next((found for one in (node, *equal) if (found := _value(one, values)) is not None), None)


def _selects(query):
    if query.op == SetOperation.SETOP_NONE:
        yield query
    else:
        yield from _selects(query.larg)
        yield from _selects(query.rarg)


# ------------------------------------------------------------------------------------------------ what the layout adds


@cache
def laid_out(text, value=None, values=()):
    """The statement with a condition or value of the partition for each distributed table that lacks one.

    `value`: SQL of the partition; by default the parameter that the statement already has for it, or a further one.
    """
    known = [bound for _, bound in partitions(text, values) if bound is not None]
    trees = parse_sql(text)
    tree: Any = parse_sql(f"SELECT {value or (known or [_next_parameter(trees)])[0]}")
    partition = tree[0].stmt.targetList[0].val
    for query, hidden in list(queries(trees)):
        for table, join in list(tables(query, hidden)):
            if _bound(query, table, join, values) is None:
                _restrict(join if join is not None else query, _equality(table, partition))
        if isinstance(query, ast.InsertStmt) and _is_distributed(query.relation, hidden):
            _insert(query, partition, values)
    return RawStream()(trees)


def _next_parameter(trees):
    return f"${max(_parameters(trees), default=0) + 1}"


def _parameters(node):
    if isinstance(node, ast.ParamRef):
        yield node.number
    for child in children(node):
        yield from _parameters(child)


def _equality(table, partition):
    column = ast.ColumnRef(fields=(ast.String(sval=_name(table)), ast.String(sval=COLUMNS[table.relname])))
    return ast.A_Expr(kind=A_Expr_Kind.AEXPR_OP, name=(ast.String(sval="="),), lexpr=column, rexpr=partition)


def _restrict(place, condition):
    attribute = "quals" if isinstance(place, ast.JoinExpr) else "whereClause"
    before = getattr(place, attribute)
    both = ast.BoolExpr(boolop=BoolExprType.AND_EXPR, args=(before, condition)) if before is not None else condition
    setattr(place, attribute, both)


def _insert(insert, partition, values):
    column = COLUMNS[insert.relation.relname]
    if insert.cols is not None and column not in [one.name for one in insert.cols]:
        insert.cols = (*insert.cols, ast.ResTarget(name=column))
        for leaf in _selects(insert.selectStmt):
            if leaf.valuesLists:
                leaf.valuesLists = tuple((*row, partition) for row in leaf.valuesLists)
            else:
                leaf.targetList = (*leaf.targetList, ast.ResTarget(val=partition))
    elif insert.cols is not None:
        for leaf in _selects(insert.selectStmt):
            targets = leaf.targetList or ()
            place = _place(insert, column, [one.val for one in targets])
            if targets and _is_partition_of_a_key(targets[place].val):
                targets[place].val = partition
    infer = insert.onConflictClause.infer if insert.onConflictClause else None
    if infer is not None and infer.indexElems and column not in [one.name for one in infer.indexElems]:
        first = ast.IndexElem(
            name=column, ordering=SortByDir.SORTBY_DEFAULT, nulls_ordering=SortByNulls.SORTBY_NULLS_DEFAULT
        )
        infer.indexElems = (first, *infer.indexElems)


def _is_partition_of_a_key(node):
    """`key >> 51`: the keys of a batch are those of its partition."""
    return isinstance(node, ast.A_Expr) and node.name[0].sval == ">>" and _value(node.rexpr, ()) == "51"


# ------------------------------------------------------------------------------------------------ functions


def statements_of(function):
    """The SQL in a function of PL/pgSQL, from its CREATE FUNCTION."""
    for text in _texts(parse_plpgsql(function)):
        if text.split(maxsplit=1)[0].upper() in {"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}:
            yield text
        else:
            yield f"SELECT {text.partition(':=')[2] or text}"


def _texts(tree):
    if isinstance(tree, list):
        for one in tree:
            yield from _texts(one)
    elif isinstance(tree, dict):
        for name, one in tree.items():
            if name == "PLpgSQL_expr":
                yield one["query"]
            else:
                yield from _texts(one)


def called(text):
    """The names of the functions that a statement calls."""

    def names(node):
        if isinstance(node, ast.FuncCall):
            yield node.funcname[-1].sval
        for child in children(node):
            yield from names(child)

    return set(names(parse_sql(text)))


@cache
def named_tables(text):
    """All tables that a statement names, without common table expressions."""

    def names(node, hidden):
        if isinstance(node, ast.RangeVar) and node.relname not in hidden:
            yield node.relname
        for child in children(node):
            yield from names(child, hidden)

    tree = parse_sql(text)
    hidden = {one.ctename for query, _ in queries(tree) if query.withClause for one in query.withClause.ctes}
    return frozenset(names(tree, hidden))
