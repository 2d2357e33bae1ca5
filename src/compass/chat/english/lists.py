"""The pattern of columns that are named one after the other."""


def columns_until(single: str, joint: str) -> str:
    """Columns in a row, up to the first of which something of its own is said.

    `single` is what may not stand behind a column of the list (but its first), `joint` what may
    not stand behind columns that `and` and `or` join to one of them: in `a, b and c is Q` what is
    said holds for b and c, so that the list is only a. That is looked at once for all columns that
    are joined, not once for each: the time to match stays in proportion to the text.
    """
    own = rf"(?!{single})"
    shared = rf"(?!(?:[&|]C)+(?:{joint}))"
    joined = rf"[&|]C{own}"
    parted = r"(?:,[&,|]*|[&|][&,|]+)"  # not one `and` or `or`, which join
    return rf"C(?:{shared}(?:{joined})+)?(?:{parted}C{own}{shared}(?:{joined})*)*"
