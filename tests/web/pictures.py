"""Take pictures of every page of a running demo: on a desk and on a phone, in light and in dark.

Pages for which the demo has no object are named and left out; --fill adds one of everything first.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, BrowserContext, ViewportSize, sync_playwright

LOOKS: Final[dict[str, tuple[ViewportSize, Any]]] = {
    "desktop": ({"width": 1280, "height": 900}, "light"),
    "dark": ({"width": 1280, "height": 900}, "dark"),
    "phone": ({"width": 360, "height": 740}, "light"),
    "phone-dark": ({"width": 360, "height": 740}, "dark"),
}
LOCALES: Final = {"en": "en-GB", "de": "de-DE"}


def main(arguments: Sequence[str]) -> int:
    """Take the pictures. Returns 1 if a page could not be shown."""
    given = parse_arguments(arguments)
    shown = showing(given.var, fill=given.fill)
    shown["shots"] = [each for each in shown["shots"] if not given.only or any(word in each["file"] for word in given.only)]
    given.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        failed = [path for look in given.looks for path in take(browser, look, shown, given)]
        browser.close()
    for path in failed:
        sys.stderr.write(f"no page: {path}\n")
    sys.stdout.write(f"{len(shown['shots']) * len(given.looks)} pictures in {given.folder}\n")
    return 1 if failed else 0


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/screenshots", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the pictures go, as PAGE.LOOK.png")
    parser.add_argument("--var", type=Path, default=Path("var"), help="the state directory of the running demo (default: var)")
    parser.add_argument("--language", choices=LOCALES, default="en", help="of the pages (default: en)")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="only pages in whose names one of the words stands, like own or traffic")
    parser.add_argument("--looks", nargs="+", choices=LOOKS, default=list(LOOKS), help="default: all")
    parser.add_argument("--fill", action="store_true", help="first add one of everything to the demo, and let removals wait")
    return parser.parse_args(arguments)


def showing(var: Path, *, fill: bool) -> dict[str, Any]:
    """Return the pages and sessions. Runs `picture_list` in the workers' network node, whose loopback may differ from this machine's."""
    inside = [sys.executable, "-m", "tests.web.picture_list", *(["--fill"] if fill else [])]
    run = [sys.executable, "-m", "portal.stack", "run", "--var", str(var), "--", *inside]
    told = subprocess.run(run, stdout=subprocess.PIPE, check=True, text=True).stdout
    found: dict[str, Any] = json.loads(told[told.index('{"shots"') :])
    return found


def take(browser: Browser, look: str, shown: dict[str, Any], given: argparse.Namespace) -> Iterator[str]:
    """Take all pictures of one look. Yields the paths at which there was no page."""
    base = json.loads((given.var / "demo.json").read_text())["url"]
    windows: dict[str, BrowserContext] = {}
    for shot in shown["shots"]:
        of = shot["username"]
        if of not in windows:
            windows[of] = window(browser, base, look, LOCALES[given.language])
            if of:
                windows[of].add_cookies([{"name": shown["cookie"], "value": shown["sessions"][of], "url": base}])
        page = windows[of].new_page()
        answer = page.goto(shot["path"], wait_until="load")
        if answer is None or answer.status >= 500:
            yield shot["path"]
        page.screenshot(path=given.folder / f"{shot['file']}.{look}.png", full_page=True, animations="disabled")
        page.close()
    for each in windows.values():
        each.close()


def window(browser: Browser, base: str, look: str, locale: str) -> BrowserContext:
    viewport, scheme = LOOKS[look]
    return browser.new_context(base_url=base, viewport=viewport, color_scheme=scheme, locale=locale, reduced_motion="reduce")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
