"""What `icm hook` answers: a table of the hosts' contracts and a module per verb.

Nothing here needs more than the standard library until a verb asks for it: a hook
without a resident runs in a bare interpreter.
"""
