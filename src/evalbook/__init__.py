"""A git-backed, append-only book of AI-agent evaluation attempts, and the site made from it.

Imports only go down; import-linter holds this picture::

    cli/      what a person types: commands, options, exit codes, terminal manners
    jobs/     one function a command: read, derive, present, write
    ------------------------------------------------------------------------------
    store/    git, ledger, verification, artifacts   | side by side:
    run/      workspaces, agents, checks, importers  | none of the three
    present/  tables, report, pages, exports         | sees another
    ------------------------------------------------------------------------------
    derive/   book, counts: pure functions of values
    records/  what the book holds: frozen models and their one serialisation
    base/     problems, canonical bytes and digests, files, times

Data flows one way: evaluations -> run -> rows -> book -> figures -> pages.
"""
