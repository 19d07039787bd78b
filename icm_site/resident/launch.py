"""The file that a client starts as a process of its own: `launch.py DATABASE`."""

import os
import sys

sys.path.insert(0, os.path.abspath(os.path.join(__file__, "..", "..", "..")))

from icm_site.resident.process import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
