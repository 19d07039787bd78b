"""The file that a hook starts to learn from a session: its job on standard input."""

import os
import sys

sys.path.insert(0, os.path.abspath(os.path.join(__file__, "..", "..", "..")))

from icm_site.hooks.learning import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
