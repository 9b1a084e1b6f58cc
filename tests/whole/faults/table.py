"""The table of all faults: those that are caused, and those that cannot be caused in network namespaces."""

from typing import Final

from tests.whole.faults.cables import CABLES
from tests.whole.faults.impossible_faults import IMPOSSIBLE
from tests.whole.faults.injected_fault import InjectedFault
from tests.whole.faults.kernels import KERNELS
from tests.whole.faults.machines import MACHINES
from tests.whole.faults.portal_programs import PORTAL
from tests.whole.faults.rulesets import RULESETS

__all__ = ["FAULTS", "IMPOSSIBLE"]
FAULTS: Final[tuple[InjectedFault, ...]] = (*CABLES, *KERNELS, *RULESETS, *MACHINES, *PORTAL)
