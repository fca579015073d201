"""Verifiers with one check taken out: every condition that can name something wrong, found in the source itself.

A check added later is mutated as well, without anybody thinking of it.
"""

import ast
import importlib
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any
from unittest.mock import patch

# Where the verifier decides. A name with a dot is a method.
FUNCTIONS = {
    "audit.chain": ("verify", "find_break", "twice", "wrong_predecessor", "disagreement"),
    "audit.walk": ("follow", "Witnesses.advance", "Witnesses.see", "Witnesses.compare", "Witnesses.verdict"),
    "audit.verification": (
        *("verify_tenant", "against_checkpoints", "look_further", "wrong_end", "outside_the_chain", "unguarded"),
    ),
    "audit.payloads": ("first_unsound", "differences", "difference", "wrong_erasures", "wrong_erasure"),
    "audit.comparing": ("first_disagreement", "disagreements", "departures", "side_by_side", "difference"),
    "audit.checkpoints": ("judged",),
}
NOTHING = {ast.Or: ast.Constant(False), ast.And: ast.Constant(True)}


@dataclass(frozen=True)
class Mutant:
    module: str
    function: str
    what: str
    code: CodeType

    def __str__(self) -> str:
        return f"{self.module.removeprefix('audit.')}.{self.function}: {self.what}"

    @contextmanager
    def alive(self) -> Iterator[None]:
        function = find(importlib.import_module(self.module), self.function)
        kept, function.__code__ = function.__code__, self.code
        try:
            yield
        finally:
            function.__code__ = kept


@dataclass(frozen=True)
class SqlMutant:
    """A condition taken out of a statement."""

    module: str
    name: str
    condition: str
    statement: str

    def __str__(self) -> str:
        return f"{self.module.removeprefix('audit.')}.{self.name} without `{' '.join(self.condition.split())}`"

    @contextmanager
    def alive(self) -> Iterator[None]:
        with patch(f"{self.module}.{self.name}", self.statement):
            yield


def every() -> list[Mutant | SqlMutant]:
    return [*(each for module in FUNCTIONS for each in of_module(module)), *of_statement("audit.walk", "COPY_TRAIL")]


def of_statement(module: str, name: str) -> Iterator[SqlMutant]:
    statement: str = getattr(importlib.import_module(module), name)
    first, *conditions = statement.split("\n           AND ")
    for place, condition in enumerate(conditions):
        ending = ",\n" + condition.rpartition(",\n")[2] if place == len(conditions) - 1 else ""
        left = [*conditions[:place], *conditions[place + 1 :]]
        yield SqlMutant(module, name, condition, "\n           AND ".join([first, *left]) + ending)


def of_module(name: str) -> Iterator[Mutant]:
    module = importlib.import_module(name)
    source = inspect.getsource(module)
    for function in FUNCTIONS[name]:
        assert find(module, function), "it is there"
        for place in range(len(list(sites(ast.parse(source), function)))):
            tree = ast.parse(source)
            site = list(sites(tree, function))[place]
            what = site.apply()
            compiled = compile(ast.fix_missing_locations(tree), str(module.__file__), "exec")
            yield Mutant(name, function, what, code_of(compiled, function))


def find(module: ModuleType, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    found = inspect.unwrap(found)
    assert isinstance(found, FunctionType)
    return found


def code_of(compiled: CodeType, name: str) -> CodeType:
    for constant in compiled.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_qualname == name:
                return constant
            if name.startswith(f"{constant.co_qualname}."):
                return code_of(constant, name)
    raise LookupError(name)


@dataclass
class Site:
    """Where one thing is taken out: an `if` that never holds, or one part of an `and` or `or` left out."""

    node: Any
    part: int | None

    def apply(self) -> str:
        if self.part is None:
            told = ast.unparse(self.node.test)
            self.node.test = ast.Constant(False)
            return f"`{told}` never holds"
        told = ast.unparse(self.node.values[self.part])
        self.node.values[self.part] = NOTHING[type(self.node.op)]
        return f"without `{told}`"


def sites(tree: ast.Module, function: str) -> Iterator[Site]:
    for node in ast.walk(definition(tree, function)):
        if isinstance(node, ast.If):
            yield Site(node, None)
        elif isinstance(node, ast.BoolOp) and not any(isinstance(each, ast.Constant) for each in node.values):
            for part in range(len(node.values)):
                yield Site(node, part)


def definition(tree: ast.AST, name: str) -> ast.AST:
    first, _, rest = name.partition(".")
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == first:
            return definition(node, rest) if rest else node
    raise LookupError(name)
