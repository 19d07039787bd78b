"""Words of the database that pages show: named here for the catalogues to know them."""

from django.utils.translation import gettext_noop as _

WORDS = (
    *(_("live"), _("superseded"), _("archived"), _("forgotten"), _("any")),
    *(_("critical"), _("high"), _("medium"), _("low")),
    *(_("user"), _("agent"), _("hook"), _("import"), _("learn")),
    *(_("open"), _("accepted"), _("dismissed")),
    *(_("May Update"), _("Duplicate"), _("Contradiction")),
    *(_("helpful"), _("misleading")),
    # Titles of the lists.
    *(_("memories"), _("changes"), _("memory revisions"), _("suggestions")),
    *(_("memory usages"), _("memory marks"), _("memory links"), _("memory vectors")),
    *(_("memory hashes"), _("projects"), _("metadata"), _("hook events")),
    *(_("hook showns"),),
    *(_("tokens"), _("memoirs"), _("concepts"), _("concept links")),
    *(_("concept revisions"), _("feedback")),
)
