"""What the resident has ready before the first request."""

from __future__ import annotations

from icm_site import startup, terminal


def set_up() -> None:
    """Django, the database, and what every command needs.

    Raises what `database.ready` raises.
    """
    from icm_site import mcp_tools

    mcp_tools.registry()
    with startup.importing():
        import rich.table  # noqa: F401

        from icm_site import command_line, database
        from icm_site.resident import answering
        from memories import vector_files, word_matrix

    mcp_tools.open_database()
    database.close()
    command_line.whole_parser(terminal.DEFAULT_COLUMNS)
    del answering, vector_files, word_matrix


def load_mcp() -> None:
    """Import the MCP SDK, which takes a second; done ahead, when nothing else is."""
    with startup.importing():
        from icm_site import mcp_session, mcp_stdio

    del mcp_session, mcp_stdio


def load_model() -> None:
    """Load the model of the database, if there is to be one."""
    from memories import embedding

    embedding.database_embedder()
