"""The tags of the words of a message: one letter each.

A message becomes a short string of tags, and the patterns of this folder are regular expressions
over that string: `[<>]i?[V%]C` is a bound and a number before a column. Words that say nothing
have no tag and are left out.
"""


class Tag:
    """The letter of each tag, by name; patterns use the letters."""

    COLUMN = "C"
    LABEL = "L"
    NUMBER = "V"
    SHARE = "%"  # 10 %
    FRACTION = "H"  # half, a fifth
    FACTOR = "X"  # 2x, three times
    WORD = "w"  # any other word
    # bounds and conditions
    AT_MOST = "<"  # at most, under
    AT_LEAST = ">"  # at least, over
    EQUALS = "="  # exactly, is set to
    NOT = "!"
    OR_LESS = "{"  # behind a number
    OR_MORE = "}"  # behind a number
    BETWEEN = "B"
    ONLY = "~"
    FORBIDDEN = "N"  # behind what it forbids
    PER = "p"
    AS_MANY = "A"  # as many ... as
    TIMES = "*"
    PRODUCT = "P"
    DIVIDED_BY = "u"
    MULTIPLE_OF = "/"
    POWER_OF_TWO = "2"
    # goals
    MINIMIZE = "m"
    MAXIMIZE = "M"
    OPTIMIZE = "O"  # optimise, improve
    SUPERLATIVE = "F"  # fastest, cheapest: names its outcome itself
    COMPARATIVE = "q"  # faster: names its outcome itself
    EQUALLY = "Q"  # equally fast, no slower
    REDUCE = "r"
    INCREASE = "R"
    LESS = "d"
    MORE = "D"
    REACH = "G"  # reach, hit
    KEEP = "k"
    SAME = "z"
    UNTOUCHED = "Z"  # do not touch
    AFFECT = "e"
    POSSIBLE = "h"  # possible, at all
    # changes
    MULTIPLY = "x"  # double, halve
    SET = "s"  # set, use
    ADD = "+"
    REMOVE = "-"
    FORGET = "v"  # forget, drop
    INSTEAD = "I"  # instead of
    ON = "y"  # switched on
    OFF = "Y"  # switched off
    # the question itself
    WHICH = "a"  # which, how many
    EVERYTHING = "E"
    SUGGESTIONS = "n"
    TOP = "^"
    COMPARE = "c"
    ROW = "j"  # row, job
    CURRENTLY = "g"
    MEASURED = "S"  # takes, sits at: what is measured now
    IT = "@"  # it, that value
    IS_FINE = "K"
    # words that join
    TO = "t"
    FROM = "f"
    BY = "b"
    THAN = "T"
    IS = "i"  # is, of
    WITH = "o"  # on, with, for
    AND = "&"
    OR = "|"
    COMMA = ","
    END = "."  # of a sentence
    # groups, for looking up places
    VALUES = NUMBER + LABEL
    NUMBER_OR_SHARE = NUMBER + SHARE
    AMOUNTS = NUMBER + SHARE + FRACTION
    BOUNDS = AT_MOST + AT_LEAST
    SIGNS = AT_MOST + AT_LEAST + OR_LESS + OR_MORE
    DOWN = REDUCE + LESS
    UP = INCREASE + MORE
    MOVES = REDUCE + INCREASE + LESS + MORE
