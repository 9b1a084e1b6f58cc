"""The demo seed's report, demo.json: the logins and an API token."""

import json
from dataclasses import dataclass
from pathlib import Path

from portal.stack.errors import StackError


@dataclass(frozen=True)
class Login:
    role: str
    username: str
    password: str


@dataclass(frozen=True)
class Demo:
    logins: tuple[Login, ...]
    token: str

    @classmethod
    def read(cls, file: Path) -> "Demo":
        """Read the report. Raises StackError if the file is not what the seed writes."""
        try:
            found = json.loads(file.read_text())
            logins = tuple(Login(login["role"], login["username"], login["password"]) for login in found["logins"])
            return cls(logins, found["token"])
        except (OSError, ValueError, KeyError, TypeError) as wrong:
            raise StackError(f"{file} cannot be read ({wrong!r}). Remove it, and start again: the seed writes it anew.") from wrong

    def render_table(self) -> list[str]:
        wide = max((len(login.role) for login in self.logins), default=0), max((len(login.username) for login in self.logins), default=0)
        return [f"{login.role:<{wide[0]}}  {login.username:<{wide[1]}}  {login.password}" for login in self.logins]
