"""Entry point of `python -m gateway`."""

import sys

match sys.argv[1:]:
    case ["relay", "--socket", path]:  # a new ssh session waits for this, so it imports only what it needs
        from pathlib import Path

        from gateway.relay import relay

        sys.exit(relay(Path(path)))
    case ["launch", *options]:  # whatever else is wrong with a program, the package's launcher must start one
        from gateway.programs.launcher import launch

        sys.exit(launch(options))
    case _:
        from gateway.main import main

        sys.exit(main())
