"""Fixtures for gateways and tables. Tests on the kernel are skipped, with the reason, where there are no namespaces."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gateway.kernel import KernelTable
from gateway.memory_table import FakeKernel
from tests.agent import namespace
from tests.agent.gateways import AnyGateway, InProcess, OnKernel, Served

MAKERS: dict[str, Callable[[Path], AnyGateway]] = {
    "in memory": InProcess,
    "served": lambda state: Served(state, on_kernel=False),
    "kernel": OnKernel,
    "served on the kernel": lambda state: Served(state, on_kernel=True),
}


def restrict_to_gateways(*kinds: str) -> pytest.MarkDecorator:
    """Restrict the `gateway` fixture to these kinds."""
    return pytest.mark.parametrize("gateway", list(map(make_gateway_param, kinds)), indirect=True)


def make_gateway_param(name: str) -> object:
    """Return one kind as a parameter."""
    return pytest.param(name, marks=pytest.mark.kernel) if "kernel" in name else name


@pytest.fixture(scope="session")
def kernel_is_there() -> str:
    """Return the reason why there is no kernel to test on, or "" if there is one."""
    return namespace.why_not()


@pytest.fixture(params=map(make_gateway_param, MAKERS))
def gateway(request: pytest.FixtureRequest, tmp_path: Path, kernel_is_there: str) -> Iterator[AnyGateway]:
    """Yield a fresh gateway."""
    if "kernel" in request.param and kernel_is_there:
        pytest.skip(f"no kernel to test on: {kernel_is_there}")
    made = MAKERS[request.param](tmp_path / "state")
    yield made
    made.close()


class Bench:
    """A table, and a way to call functions where it is."""

    def __init__(self, *, on_kernel: bool) -> None:
        self.space = namespace.Namespace() if on_kernel else None
        self.table: KernelTable | FakeKernel = self.space.do(KernelTable) if self.space else FakeKernel()

    def do[**P, T](self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the function in the table's namespace."""
        return self.space.do(function, *args, **kwargs) if self.space else function(*args, **kwargs)

    def close(self) -> None:
        """Close the table and its namespace."""
        self.do(self.table.close)
        if self.space:
            self.space.close()


@pytest.fixture(params=["in memory", pytest.param("kernel", marks=pytest.mark.kernel)])
def bench(request: pytest.FixtureRequest, kernel_is_there: str) -> Iterator[Bench]:
    """Yield a fresh table."""
    if request.param == "kernel" and kernel_is_there:
        pytest.skip(f"no kernel to test on: {kernel_is_there}")
    made = Bench(on_kernel=request.param == "kernel")
    yield made
    made.close()
