"""A certificate authority for a test, and servers with its certificates. Made with openssl, on disk, valid for two days."""

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REQUEST: Final = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]


@dataclass(frozen=True)
class Authority:
    """A certificate authority. certificate: the file that clients trust."""

    directory: Path

    @property
    def certificate(self) -> Path:
        return self.directory / "authority.pem"

    @property
    def key(self) -> Path:
        return self.directory / "authority.key"

    def server(self, name: str) -> ssl.SSLContext:
        """Return the TLS context of a server with this name: "IP:127.0.0.1", "DNS:hooks.example.org"."""
        certificate, key = (self.directory / f"{name.replace(':', '-')}.{ending}" for ending in ("pem", "key"))
        signed = ["-CA", str(self.certificate), "-CAkey", str(self.key), "-addext", f"subjectAltName={name}"]
        _make_certificate(certificate, key, [*signed, "-addext", "basicConstraints=critical,CA:FALSE"], "server")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return context


def authority(directory: Path) -> Authority:
    """Create an authority with its files in the directory."""
    made = Authority(directory)
    _make_certificate(made.certificate, made.key, ["-addext", "keyUsage=critical,keyCertSign"], "authority")
    return made


def _make_certificate(certificate: Path, key: Path, more: list[str], name: str) -> None:
    files = ["-keyout", str(key), "-out", str(certificate), "-subj", f"/CN={name}"]
    subprocess.run([*REQUEST, *files, *more], check=True, capture_output=True)
