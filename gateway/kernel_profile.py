"""A gateway's profile in its kernel: set beside each ruleset, and what was there before it comes back without one.

Nothing here fails: a value that the kernel does not take is told, and everything else goes on. A ban must not wait for a timeout.
"""

from firewall.policy import Profile
from firewall.profile import SysctlDifference, build_sysctls, list_differences
from gateway.persistent_state import StateDirectory
from gateway.table import NftTable

SysctlErrors = dict[str, str]  # by name why a sysctl could not be set (gateway/sysctl.py)


def keep_original_sysctls(table: NftTable, state: StateDirectory) -> None:
    """Before the first value is set: what the kernel holds, for the way back. Raises StateError."""
    if state.found_sysctls is None:
        state.keep_sysctls(table.tuned())


def tune(table: NftTable, state: StateDirectory, profile: Profile | None) -> SysctlErrors:
    """Set the kernel to the profile; without one, to what it held before the first."""
    if profile is not None:
        return table.tune(build_sysctls(profile))
    if state.found_sysctls is not None:
        table.tune(state.found_sysctls)
        state.forget_sysctls()
    return {}


def list_altered_sysctls(table: NftTable, profile: Profile | None, untuned: SysctlErrors) -> tuple[SysctlDifference, ...]:
    """What somebody else has set otherwise since; what could not be set is nobody's doing."""
    found = list_differences(profile, table.tuned()) if profile else ()
    return tuple(each for each in found if each.name not in untuned)
