"""The schedules of a django-q2 cluster; optional, since recalls decay by themselves."""

from __future__ import annotations

from django_q.models import Schedule

TASKS = {
    "icm decay": ("memories.tasks.daily_decay", Schedule.HOURLY, None),
    "icm embed": ("memories.tasks.embed_missing", Schedule.MINUTES, 15),
}


def create() -> list[str]:
    """Create or renew the schedules; returns their names."""
    for name, (function, kind, minutes) in TASKS.items():
        Schedule.objects.update_or_create(
            name=name,
            defaults={"func": function, "schedule_type": kind, "minutes": minutes},
        )
    return list(TASKS)


def remove() -> int:
    """Remove the schedules; returns how many there were."""
    count, _ = Schedule.objects.filter(name__in=TASKS).delete()
    return int(count)
