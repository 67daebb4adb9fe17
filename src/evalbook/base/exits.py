"""How a command can end; one code for one cause."""

DONE = 0
ANSWER_IS_NO = 1
COULD_NOT_RUN = 2
BUG = 3
NOT_ENOUGH_DATA = 4
NOTHING_MEASURED = 5
DOES_NOT_VERIFY = 6
INTERRUPTED = 130
