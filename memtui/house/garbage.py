"""When Python looks for garbage: seldom, and never through all that is there to stay.

A look through everything, which Python takes now and then on whatever thread happens
to run, takes a tenth of a second with all that is loaded here, and the screen stands
still for as long.
"""

import gc

YOUNG, MIDDLE, OLD = 5_000, 5, 100
"""After how many new objects, or looks at younger ones, there is another look."""

_is_tended = False


def tend() -> None:
    """Look for garbage so from now on, in this process."""
    global _is_tended
    _is_tended = True
    gc.set_threshold(YOUNG, MIDDLE, OLD)


def settle() -> None:
    """Take what is there now to be there to stay; do nothing where nobody tends."""
    if _is_tended:
        gc.freeze()
