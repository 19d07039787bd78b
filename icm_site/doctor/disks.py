"""Disks on which a SQLite file is not safe: over a network, or copied by a service."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath

from icm_site.doctor.findings import Finding, ok, wrong

# Types of file systems as the kernel names them.
NETWORK = frozenset(
    "nfs nfs4 cifs smb2 smb3 smbfs afpfs webdav davfs fuse.sshfs fuse.rclone "
    "fuse.davfs fuse.s3fs fuse.gcsfuse fuse.glusterfs ceph glusterfs 9p afs "
    "lustre beegfs fuse.vmhgfs-fuse vboxsf".split()
)
# Names of folders that services copy elsewhere while they are in use.
SYNCED = (
    ("Dropbox", "Dropbox"),
    ("OneDrive", "OneDrive"),
    ("Google Drive", "Google Drive"),
    ("GoogleDrive", "Google Drive"),
    ("My Drive", "Google Drive"),
    ("Mobile Documents", "iCloud Drive"),
    ("iCloudDrive", "iCloud Drive"),
    ("iCloud Drive", "iCloud Drive"),
    ("CloudStorage", "a cloud service"),
    ("Nextcloud", "Nextcloud"),
    ("ownCloud", "ownCloud"),
    ("pCloudDrive", "pCloud"),
    ("Syncthing", "Syncthing"),
)
_REMEDY = "move it to a local folder and set store.path in config.toml"


def examine(database: Path) -> list[Finding]:
    """Findings on where a database lies."""
    real = Path(database).resolve()
    found = [*synced(real), *over_network(real, mounts())]
    return found or [ok("disk", "local, in no folder that is copied elsewhere")]


def synced(path: PurePath) -> Iterator[Finding]:
    """Whether a folder of a service that copies files is in the path."""
    for part in path.parts[:-1]:
        for name, service in SYNCED:
            if part == name or part.startswith((f"{name} -", f"{name}-", f"{name} (")):
                text = f"{path} is copied by {service} while it is in use"
                yield wrong("disk", text, _REMEDY)
                return


def over_network(path: PurePath, table: Iterable[tuple[str, str]]) -> Iterator[Finding]:
    """Whether the mount of a path, the longest that holds it, is a network's."""
    if str(path).startswith(("\\\\", "//")):
        yield wrong("disk", f"{path} lies on another machine", _REMEDY)
        return
    holding = [(place, kind) for place, kind in table if path.is_relative_to(place)]
    if not holding:
        return
    place, kind = max(holding, key=lambda row: len(row[0]))
    if kind in NETWORK:
        text = f"{path} lies on a network file system ({kind} at {place}): locks and "
        yield wrong("disk", text + "the log do not work there", _REMEDY)


def mounts() -> list[tuple[str, str]]:
    """Mount points with their types; none where the system does not tell."""
    try:
        if sys.platform.startswith("linux"):
            return of_linux(Path("/proc/self/mounts").read_text("utf-8", "replace"))
        if sys.platform == "darwin":
            told = subprocess.run(
                ["/sbin/mount"], capture_output=True, text=True, timeout=5, check=False
            )
            return of_macos(told.stdout)
    except (OSError, subprocess.SubprocessError):
        pass
    return []


def of_linux(text: str) -> list[tuple[str, str]]:
    """From /proc/self/mounts, whose blanks are `\\040`."""
    rows = [line.split() for line in text.splitlines()]
    return [
        (re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), row[1]), row[2])
        for row in rows
        if len(row) > 2
    ]


def of_macos(text: str) -> list[tuple[str, str]]:
    """From mount(8): `//host/share on /Volumes/share (smbfs, nodev)`."""
    found = []
    for line in text.splitlines():
        _, _, rest = line.partition(" on ")
        place, _, facts = rest.rpartition(" (")
        if place:
            found.append((place, facts.rstrip(")").split(",")[0].strip()))
    return found
