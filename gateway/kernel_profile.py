"""Sets a gateway's profile in its kernel, beside each ruleset, and restores the original sysctls when there is no profile.

Nothing here fails because of a sysctl: a value that the kernel refuses is reported, and everything else continues. A ban must not
wait for a timeout that cannot be set.
"""

from firewall.policy import Profile
from firewall.profile import SysctlDifference, build_sysctls, list_sysctl_differences
from gateway.persistent_state import StateDirectory
from gateway.table import NftTable

SysctlErrors = dict[str, str]  # by name, why a sysctl could not be set (gateway/sysctl.py)


def keep_original_sysctls(table: NftTable, state: StateDirectory) -> None:
    """Store the kernel's values before the first profile is set, to restore them later. Raises StateError."""
    if state.found_sysctls is None:
        state.keep_sysctls(table.read_sysctls())


def apply_profile(table: NftTable, state: StateDirectory, profile: Profile | None) -> SysctlErrors:
    """Set the kernel to the profile; without one, to the values it had before the first profile."""
    if profile is not None:
        return table.tune(build_sysctls(profile))
    if state.found_sysctls is not None:
        table.tune(state.found_sysctls)
        state.forget_sysctls()
    return {}


def list_altered_sysctls(table: NftTable, profile: Profile | None, untuned: SysctlErrors) -> tuple[SysctlDifference, ...]:
    """Return the sysctls that another program has set differently since. Those that could not be set are not among them."""
    found = list_sysctl_differences(profile, table.read_sysctls()) if profile else ()
    return tuple(each for each in found if each.name not in untuned)
