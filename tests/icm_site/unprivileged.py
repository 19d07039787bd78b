"""Runs a function as a user to whom file modes apply: root passes them all."""

import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

Answer = TypeVar("Answer")
NOBODY = 65534


@contextmanager
def shared_folder() -> Iterator[Path]:
    """Give a folder that any user may enter; pytest's own are for one user alone."""
    folder = Path(tempfile.mkdtemp(prefix="icm test #"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def as_nobody(work: Callable[[], Answer]) -> Answer:
    """Return what `work` returns in a forked child without privileges.

    Its modules must be imported before: the child may be unable to read them.
    """
    if os.getuid() != 0:
        return work()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(work, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    good, answer = pickle.loads(data)
    if not good:
        raise answer
    return answer  # type: ignore[no-any-return]


def _answer(work: Callable[[], Answer], writing: int) -> None:
    try:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        answer: tuple[bool, object] = (True, work())
    except BaseException as error:  # noqa: B036 (it is raised again in the parent)
        answer = (False, error)
    with os.fdopen(writing, "wb") as pipe:
        pickle.dump(answer, pipe)
    os._exit(0)
