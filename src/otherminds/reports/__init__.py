"""Pages, tables, figures, replays and terminal views."""
