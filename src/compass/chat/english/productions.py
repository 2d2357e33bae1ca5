"""The productions of the grammar: which rows of spans are a clause, and what makes facts of them.

A line `clause -> action /cost` opens productions of one head, each on a line of its own: capitals
are classes of spans (`lexicon`, `spans`), small letters are other heads, `?` may be missing, `*` is
any number of times. Words that say nothing may stand anywhere.
"""

PRODUCTIONS = """
sep
    PLUS
    COMMA
    AND
    OR
    COMMA AND
    COMMA OR
    AND OR
cols
    COL
    COL sep cols
labs
    LAB
    LAB sep labs
amount
    NUM
    PCT
value
    NUM
    LAB
    PCT
values
    value
    value sep values
glue
    IS
    BE
    KEEP
    SET
    WITH
    TO
be
    IS
    BE
    KEEP
    SET
    TO
limit -> op
    LT
    LE
    GT
    GE
limit -> flipped
    NOT IS* LT
    NOT IS* LE
    NOT IS* GT
    NOT IS* GE
range -> pair
    BETWEEN amount AND amount
    BETWEEN amount TO amount
spread -> pair
    FROM? amount TO amount
mover
    RED
    INC
lessmore
    LESS
    MORE
pairing
    NUM TIMES NUM

clause -> bound
    KEEP? cols be* EQ? limit IS* amount
clause -> bounds
    KEEP? cols glue* limit IS* amount sep? limit amount
clause -> bound_named
    COL glue* EQ? limit IS* amount COL
clause -> bound
    glue* limit IS* amount IS? COL
clause -> bound /0.1
    glue* limit IS* amount WITH COL
    glue* limit IS* FRAC IS? COL
clause -> with_switch /0.3
    WITH COL
clause -> product_pair
    product glue* EQ? product
clause -> bound /0.3
    limit COL glue* EQ? amount
clause -> not_beyond
    NOT mover COL glue* limit amount
    UNTOUCHED COL glue* limit amount
clause -> free_bound /0.3
    glue* limit IS* amount
clause -> or_bound
    amount IS? COL ORLESS
    amount IS? COL ORMORE
    amount ORLESS COL
    amount ORMORE COL
    cols glue* EQ? amount ORLESS
    cols glue* EQ? amount ORMORE
    cols glue* EQ? amount ORBETTER
clause -> free_or_bound /0.4
    amount ORLESS
    amount ORMORE
clause -> between
    KEEP? cols glue* EQ? range
clause -> spread_over
    cols glue* EQ? spread
clause -> between
    WITH? range IS? COL
clause -> spread_over
    WITH? spread IS? COL
clause -> repeated
    glue* IT? limit IT
clause -> bare /2.0
    NUM
    BY amount
clause -> spread_over
    cols glue* ALL spread
clause -> limit_noun
    amount COL BE limit
clause -> free_between /0.4
    range
clause -> free_between /0.6
    spread
clause -> not_beyond
    NOT ALL? WITH? limit amount COL
    NOT ALL? COL glue* limit amount
    ALL limit amount COL FORBIDDEN
clause -> than_bound
    lessmore COL THAN amount
    NOT lessmore COL THAN amount

setting -> setting
    NUM IS? COL
    COL be* EQ* value
    LAB COL
    LAB WITH COL
    COL be* EQ* ONLY? value sep values
    value sep values COL
    COL ONLY value
    ONLY value COL
setting -> setting /0.25
    LAB
    LAB sep labs
setting -> switched /0.1
    COL glue* ONOFF
    ONOFF COL
    COL STAYS ONOFF
    ONOFF COL COL
setting -> setting
    LAB sep labs COL
setting -> paired
    pairing IS? COL
    COL be* EQ? pairing
setting -> unit_setting /0.5
    NUM
    NUM OR NUM
setting -> setting
    COL PER NUM
settings
    setting
    setting sep? WITH? settings
    setting BUT settings

clause -> given_values /0.1
    settings
clause -> only_values
    settings ONLY
clause -> tried
    mover TO settings
    mover TO NUM COL
clause -> switched_on /0.15
    SET COL
clause -> tried
    SET TO? WITH? settings
clause -> moved
    SET ALL FROM value TO value
    LAB TO LAB
clause -> moved_settings
    SET? FROM setting TO setting
clause -> with_values
    WITH WITH? settings
clause -> given_values
    EQ settings
clause -> only_values
    ONLY WITH? settings
    WITH? ONLY settings
    SET ONLY settings
clause -> not_values
    NOT WITH? setting
    NOT SET setting
    NOT IS* ONLY setting
    NOT glue* setting
clause -> illegal /1.0
    NUM IS? COL
    COL be* EQ* NUM
clause -> not_values /0.3
    COL BUT labs
clause -> misfit /1.5
    COL be* NOT? EQ* WORD
    SET COL TO? WORD
    WORD COL
clause -> not_values
    COL glue* NOT EQ* IS* values
    COL NOT WITH* values
    ALL NOT labs COL?
    COL glue* ALL NOT labs
clause -> forbidden
    setting FORBIDDEN
    NOT setting FORBIDDEN
clause -> fine
    settings FINE
clause -> now
    NOW COMMA settings
    NOW OPTIONS? IS* EQ? WITH? settings
    NOW glue* settings
    NOW glue* FROM settings
    settings NOW
    NOW EQ settings
clause -> now_measured
    NOW glue* amount IS? COL
    NOW COL glue* amount
    COL glue* NOW glue* amount
    COL BE IS* amount
    COL BE IS* NOW IS* amount
clause -> now_measured /0.1
    COL MEASURED IS* amount
    MEASURED IS* amount COL?
    COL NOW? IS* MEASURED IS* amount

clause -> moved
    SET? COL glue* FROM value TO value
    SET? glue* FROM value COL? TO value COL?
    mover COL FROM value TO value
    COL glue* mover FROM value TO value
    mover FROM value COL? TO value COL?
clause -> moved /0.2
    SET? COL glue* value TO value
clause -> set_to
    SET COL TO value
    SET COL glue* TO value
clause -> set_to /0.2
    SET? COL TO value
clause -> instead
    COL be* PER? value INSTEAD PER? value
    SET? WITH? value COL? INSTEAD value COL?
    SET COL glue* value INSTEAD value
clause -> instead_first
    INSTEAD value COL? COMMA? SET? value COL?
clause -> moved
    value COL? BE? SET WITH value
clause -> swapped
    SET value BY value
    SET COL WITH value
    SET value WITH value
clause -> tried /0.2
    SET setting ONOFF

clause -> moved_by
    mover cols BY? amount
    mover cols BY? FRAC
    cols glue* mover BY? amount
    cols glue* mover BY? FRAC
    mover amount LESS cols
    mover amount cols LESS
    ADD amount cols
    mover cols WITH PCT
clause -> free_moved_by /0.5
    mover BY amount
    mover BY FRAC
    mover BY? amount LESS
    amount lessmore THAN? NOW?
    FRAC lessmore THAN? NOW?
    mover NOW? BY amount
clause -> moved_each
    mover cols BY amount sep cols BY amount
clause -> scaled_to
    mover cols WITH FRAC
clause -> moved_to
    cols glue* mover TO amount ORLESS
    cols glue* mover TO amount ORMORE
    mover cols TO amount
    cols glue* mover TO amount
    mover cols glue* limit amount
    cols glue* mover glue* limit amount
clause -> moved_only /0.3
    mover cols
    cols glue* mover
clause -> moved_by
    mover BY? amount IS? cols
    mover BY? FRAC IS? cols
    mover BY? amount WITH cols
    mover amount FROM cols
    cols glue* amount mover
    glue* amount lessmore cols
    glue* FRAC lessmore cols
    lessmore cols BY amount
    cols glue* amount lessmore
    cols glue* FRAC lessmore
    cols BY amount lessmore
    amount cols lessmore
clause -> moved_only /0.3
    lessmore cols
clause -> moved_by
    glue* limit amount lessmore cols
    mover cols BY? limit amount
    limit amount mover cols
    cols glue* lessmore BY amount
    lessmore amount cols
clause -> added
    ADD NUM lessmore? COL
    REMOVE NUM COL
    NUM lessmore COL
clause -> added_to
    ADD amount TO cols
clause -> scaled
    DOUBLE cols
    cols glue* DOUBLE
    SET cols DOUBLE
    FACTOR cols
    FACTOR lessmore cols
    glue* FACTOR IS cols
    cols glue* FACTOR lessmore?
    mover cols BY? FACTOR
    mover cols TO FACTOR
clause -> scaled_to
    FRAC IS? cols
    mover cols TO FRAC
    cols glue* FRAC
    mover cols BY? FACTOR
clause -> moved_by /0.4
    mover cols BETWEEN? amount TO amount BY?
clause -> free_reach /0.5
    mover TO amount
    SET TO amount
    REACH TO amount
    REACH amount
clause -> worse_by
    cols glue* limit amount WORSE
    limit amount WORSE cols
    cols glue* amount WORSE
clause -> faster_in
    amount FASTER WITH cols
    FASTER WITH cols BY amount
clause -> free_reach /0.6
    WANT TO? amount
clause -> faster
    FASTER BY? amount
    FASTER BY? FRAC
    amount FASTER
    FRAC FASTER
    FASTER BY? FACTOR
    FACTOR FASTER
clause -> faster_only /0.1
    SET? FASTER
clause -> reached
    REACH amount IS? COL
    REACH COL IS* amount
    COL REACH amount

clause -> extreme
    MIN IS? cols
    cols be* MIN
    KEEP cols MIN
    MIN WITH cols
    MAX IS? cols
    cols be* MAX
    KEEP cols MAX
    MAX WITH cols
clause -> optimised /0.1
    cols FASTER
clause -> switched_off
    REMOVE COL
clause -> optimised /0.1
    OPT IS? cols
    cols glue* OPT
    OPT WITH cols
clause -> best_with /0.2
    BEST IS? COL
    BEST WITH cols
clause -> best
    BEST
clause -> succeeds /0.1
    SUCCEED
clause -> free_reach /0.5
    amount FINE
clause -> same_or_better
    limit SAME cols
    SAME cols ORLESS
    SAME cols ORMORE
    SAME cols ORBETTER
    cols glue* SAME ORLESS
    cols glue* SAME ORMORE
    cols glue* SAME ORBETTER
    cols STAYS SAME ORBETTER
clause -> same
    KEEP SAME cols
    cols STAYS SAME
    KEEP cols glue* SAME
    cols glue* SAME
    WITH? SAME cols
    SAME cols THAN
clause -> tolerance
    KEEP? cols glue* SAME limit amount
clause -> tolerance /0.2
    KEEP? cols glue* limit amount IS? SAME? NOW?
clause -> worse_by /0.1
    cols glue* limit amount lessmore SAME? NOW?
    REMOVE limit amount cols
    NOWORSE BY? limit? amount IS? cols
clause -> kept
    UNTOUCHED cols
    cols glue* UNTOUCHED
    cols STAYS
    NOT SET cols
    KEEP cols
clause -> no_worse
    NOWORSE cols
    cols glue* NOWORSE
    NOT lessmore cols
    NOT mover cols
    cols glue* NOT glue* mover
    cols glue* NOT glue* lessmore
clause -> no_worse_both
    NOT mover cols OR mover cols
clause -> moved_only /0.3
    cols glue* lessmore
clause -> no_slower
    NOSLOWER
clause -> equally
    STAYS? EQUALLY
clause -> worse_by
    cols glue* NOT mover BY? limit? amount
    NOT mover cols BY limit? amount
    NOWORSE BY limit? amount IS? cols

clause -> ask_between
    WHICH IS? COL be* range
clause -> ask
    WHICH WHICH? IS? cols
    WHICH OPTIONS? WITH cols
    cols FREE
    WHICH cols FREE
    ONLY cols FREE
    cols FREE ONLY
    cols glue* ONLY FREE
    ALL FREE? SET? cols
    ONLY SET cols
    SET ONLY cols
    WHICH ONLY cols
    ONLY cols FREE
    ONLY WHICH cols
clause -> ask /0.3
    SET OPT? cols
    SET WHICH cols
clause -> everything
    WHICH? ALL
    SET ALL
    ALL glue* FREE
clause -> everything_but
    ALL BUT cols FREE
    ALL BUT cols
    SET ALL BUT cols
    ALL FREE BUT? NOT cols
    ALL BUT NOT cols
    WHICH? ALL NOT cols
    SET ALL NOT cols
    NOT cols ALL
clause -> ask
    COL be* ONOFF OR ONOFF
    COL be* EQ? WHICH? ONOFF OR ONOFF
clause -> equal_pair
    COL AND COL be* EQ
    COL AND COL be* SAME
clause -> compared_best
    LAB FASTER THAN LAB
    NUM IS? COL FASTER THAN NUM
clause -> compared /0.15
    COMPARE LAB WITH LAB COL?
    BETWEEN values COL?
    BETWEEN LAB AND LAB COL?
    value VS value COL?
    COL value VS value
clause -> compared /0.1
    COMPARE values COL?
    COMPARE COL? values
    WHICH COL? IS* OPT? EQ? values
clause -> compared
    WHICH IS* OPT COL? EQ? value OR value
clause -> observe
    AFFECT cols ONLY
clause -> observe /0.1
    AFFECT IS? cols
    cols AFFECT
    WHICH IS* cols AFFECT
clause -> nothing_else
    ALL STAYS
    ALL glue* SAME
    KEEP ALL glue* SAME?
    NOT SET ALL
clause -> none_of /0.1
    NOT COL
    NOT ALL? COL
clause -> not_these /0.15
    NOT cols
clause -> per_tail /1.2
    PER COL
clause -> pair_bound
    WITH? limit pairing COL
    COL glue* EQ? limit pairing
clause -> drop
    LAB FORGET
    cols FORGET
    ALL? COL FINE
    KEEP cols OUT
    FORGET cols OUT
    FORGET limit WITH cols
    FORGET WITH? cols
    FORGET limit cols
    FORGET limit amount? cols
    FORGET cols limit
    FORGET ONLY? labs
clause -> counted_by
    NUM OPTIONS BY cols
    TOP NUM OPTIONS? BY cols
    TOP NUM OPTIONS WITH cols
clause -> counted
    NUM OPTIONS WITH cols
    NUM COMMA cols OPTIONS
    NUM cols OPTIONS
    TOP NUM cols
    NUM BEST OPTIONS
    BEST NUM OPTIONS
    TOP NUM COL OPTIONS
clause -> count
    TOP NUM OPTIONS?
    NUM TOP? OPTIONS
    NUM lessmore OPTIONS
    TOP NUM OPTIONS
clause -> named /1.0
    cols

clause -> related /0.15
    COL be* EQ? limit COL
    COL be* EQ COL
clause -> related
    COL IS FACTOR COL
    COL be* EQ? FACTOR COL ORMORE
    COL be* EQ? FACTOR COL ORLESS
    COL glue* EQ? limit FACTOR COL
    COL glue* EQ? limit FRAC COL
    COL glue* EQ FACTOR COL
    COL glue* EQ? limit NUM TIMES COL
    COL glue* EQ NUM TIMES COL
    COL glue* limit COL DIVIDED NUM
    COL be* EQ COL DIVIDED NUM
clause -> per /0.12
    limit NUM COL PER COL
    NUM COL PER COL
    COL glue* EQ? limit NUM PER COL
    COL glue* EQ? NUM PER COL
    limit NUM PER COL
clause -> more_than
    NOT lessmore COL THAN COL
    lessmore COL THAN COL
clause -> as_many
    limit? ASMANY COL THAN COL
clause -> multiple
    COL glue* EQ? MULTIPLE NUM
    COL glue* EQ? MULTIPLE COL
clause -> power_of_two
    cols glue* EQ? POWER2
product
    COL TIMES COL
    COL TIMES COL TIMES COL
    PRODUCT cols
    COL AND COL PRODUCT
clause -> product_rule
    product glue* EQ? limit NUM
    product glue* EQ NUM
    product glue* EQ? limit COL
    product glue* EQ COL
    COL glue* EQ? limit product
    COL glue* EQ product
    COL IS product
    NOT product limit NUM
clause -> sum_rule
    COL PLUS COL glue* limit COL
    COL PLUS COL glue* limit NUM
    COL PLUS NUM glue* limit COL
"""
