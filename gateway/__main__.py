"""python -m gateway"""

import sys

match sys.argv[1:]:
    case ["relay", "--socket", path]:  # a new ssh session waits for it: it loads nothing that it does not need
        from pathlib import Path

        from gateway.relay import relay

        sys.exit(relay(Path(path)))
    case _:
        from gateway.main import main

        sys.exit(main())
