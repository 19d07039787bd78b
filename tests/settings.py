"""Settings of the tests: folders of their own, nothing of the user's."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

ROOT = Path(tempfile.mkdtemp(prefix="icm-tests-"))
atexit.register(shutil.rmtree, ROOT, ignore_errors=True)

for name in list(os.environ):
    # ICM_TEST_… sizes the full versions of long tests.
    if name.startswith("ICM_") and not name.startswith("ICM_TEST_"):
        del os.environ[name]
for name in ("CLAUDECODE", "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID"):
    os.environ.pop(name, None)
os.environ |= {
    "HOME": str(ROOT),
    "XDG_DATA_HOME": str(ROOT / "data"),
    "XDG_CONFIG_HOME": str(ROOT / "config"),
    "XDG_CACHE_HOME": str(ROOT / "cache"),
    "ICM_DB": str(ROOT / "icm.sqlite3"),
    "ICM_TEST_DB": str(ROOT / "test.sqlite3"),
}

from icm_site.settings import *  # noqa: E402, F403

# A hash that takes half a second to guess takes it for each login of a test, too.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
