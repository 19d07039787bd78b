"""The file that the resident starts for long work."""

import os
import sys

sys.path.insert(0, os.path.abspath(os.path.join(__file__, "..", "..", "..")))

from icm_site.resident.worker import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
