"""The productions of the grammar: which rows of spans are a clause, and what makes facts of them.

are classes of spans (`lexicon`, `spans`), small letters are other heads, `?` may be missing, `*` is
any number of times. Words that say nothing may stand anywhere.
"""

PRODUCTIONS = """
sep
    PLUS
    COMMA
    AND
    OR
    OR SET
    OR TO
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
    FRAC
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
    FIT
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
    FROM? amount UPTO amount
mover
    RED
    INC
lessmore
    LESS
    MORE
beyond
    ORLESS
    ORMORE
    ORBETTER
pairing
    NUM TIMES NUM

clause -> bound
    KEEP? cols be* EQ? limit IS* amount
    cols be* limit IS* amount INSTEAD amount
clause -> bounds
    KEEP? cols glue* limit IS* amount sep? limit amount
clause -> bound_named
    COL glue* EQ? limit IS* amount COL
clause -> bound
    glue* limit IS* amount IS? COL
clause -> bound /0.1
    glue* limit IS* amount WITH COL
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
clause -> not_beyond
    limit amount COL FORBIDDEN
    limit amount COL TOOMUCH
    ALL limit amount COL TOOMUCH
clause -> not_free /0.3
    NOT ALL? OPTIONS? glue* FIT? MEASURED? SET? limit IS* amount
    ALL? limit amount TOOMUCH
    ALL limit amount FORBIDDEN
clause -> or_bound
    amount IS? COL ORLESS
    amount IS? COL ORMORE
    amount ORLESS COL
    amount ORMORE COL
    cols glue* EQ? amount beyond
    cols glue* NWT IS* amount
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
    amount
    BY amount
    NOT BY? amount
    BY? amount COMMA? INSTEAD BY? amount
    INSTEAD amount COMMA? amount
clause -> spread_over
    cols glue* ALL spread
clause -> limit_noun
    amount COL BE limit
clause -> free_between /0.4
    range
clause -> free_between /0.6
    spread
clause -> not_beyond
    NOT ALL? WITH? glue* limit amount IS? COL
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
    COL WITH LAB
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
    settings REQUIRED
clause -> tried
    mover TO settings
clause -> switched_on /0.15
    SET COL
clause -> tried
    SET TO? WITH? settings
clause -> moved
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
    NOT glue* REACH? values
    NOT SET setting
    NOT glue* setting
clause -> illegal /1.0
    NUM IS? COL
    COL be* EQ* NUM
clause -> not_values /0.3
    COL BUT labs
clause -> complained /0.8
    COL BE WORD
    COL be* TOOMUCH
    COL BE? KILLS
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
clause -> fine
    settings FINE
clause -> now
    NOW COMMA settings
    NOW OPTIONS? IS* EQ? WITH? settings
    NOW glue* settings
    settings NOW
    NOW EQ settings
clause -> now_measured
    NOW glue* amount IS? COL
    NOW COL glue* amount
    COL BE IS* amount
clause -> now_measured /0.1
    COL MEASURED IS* amount
    MEASURED IS* amount COL?
    COL NOW? IS* MEASURED IS* amount

clause -> moved_back
    SET? COL glue* UPTO? TO? value FROM value
    mover COL TO? value FROM value
    COL glue* mover TO? value FROM value
clause -> moved
    SET value COL? TO value COL?
    SET? COL glue* FROM value TO value
    SET? glue* FROM value COL? TO value COL?
    mover COL FROM value TO value
    COL glue* mover FROM value TO value
clause -> moved /0.2
    SET? COL glue* value TO value
clause -> set_to
    SET COL glue* TO value
    SET COL glue* UPTO value
clause -> set_to /0.2
    SET? COL TO value
clause -> instead
    COL glue* PER? value INSTEAD PER? value
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
    cols glue* mover BY? amount
    mover amount LESS cols
    mover amount cols LESS
    ADD amount cols
    mover cols WITH PCT
clause -> free_moved_by /0.5
    mover BY amount
    mover amount
    mover BY? amount LESS
    SET IT? amount lessmore
    glue* amount lessmore IT?
    amount lessmore THAN? NOW?
    mover NOW? BY amount
clause -> moved_each
    mover cols BY amount sep cols BY amount
clause -> scaled_to
    mover cols WITH FRAC
clause -> moved_to /0.05
    cols glue* mover TO amount ORLESS
    cols glue* mover TO amount ORMORE
    mover cols TO amount
    SET cols mover TO amount
    cols glue* mover TO amount
    mover cols glue* limit amount
    cols glue* mover glue* limit amount
clause -> moved_only /0.3
    mover cols
    mover MAX cols
    SET cols mover
    cols glue* mover
clause -> moved_by
    SET cols mover BY? amount
    mover BY? amount IS? cols
    cols glue* amount mover
    glue* amount lessmore cols
    lessmore cols BY amount
    cols glue* amount lessmore
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
    FACTOR cols
    FACTOR lessmore cols
    glue* FACTOR IS cols
    cols glue* FACTOR lessmore?
    mover cols BY? FACTOR
clause -> scaled_to
    mover cols TO FRAC
    FRAC IS? cols
    cols glue* FRAC
    mover cols BY? FACTOR
clause -> free_reach /0.5
    mover IT? TO amount
    SET IT? TO amount
    REACH IT? TO amount
    REACH amount
clause -> worse_by
    cols glue* limit amount WORSE
    limit amount WORSE cols
    cols glue* amount WORSE ORLESS?
    cols glue* mover BY? limit amount
clause -> faster_in
    amount FASTER WITH cols
clause -> free_reach /0.6
    WANT TO? amount
clause -> faster
    cols glue* amount FASTER
    cols glue* FACTOR FASTER
    glue* amount FASTER
    FASTER BY? amount
    limit? amount FASTER
    FASTER BY? FACTOR
    FACTOR FASTER
clause -> faster_only /0.1
    SET? FASTER
clause -> moved_up
    REACH cols mover TO amount
    SET cols mover TO amount
clause -> reached
    REACH amount IS? COL
    REACH COL IS* amount
    COL REACH amount

clause -> extreme
    MIN IS? cols
    cols be* MIN
    cols be* OPT EQ MIN
    cols be* OPT COMMA MIN
    KEEP cols MIN
    MIN WITH cols
    MAX IS? cols
    cols be* MAX
    cols be* OPT EQ MAX
    cols be* OPT COMMA MAX
    KEEP cols MAX
    MAX WITH cols
clause -> optimised /0.1
    cols FASTER
clause -> optimised /0.1
    TOP OPTIONS WITH cols
    OPT OPTIONS WITH cols
clause -> better_for
    FASTER WITH cols
clause -> optimised /0.3
    BY cols
clause -> than_value /0.3
    THAN value COL?
clause -> swapped_columns
    NOT COL COMMA? COL
    COL COMMA? NOT COL
clause -> switched_off
    REMOVE COL
clause -> optimised /0.1
    OPT IS? cols
    cols glue* OPT
    OPT WITH cols
clause -> best_with /0.2
    BEST IS? COL
    BEST WITH cols
    cols be* BEST
clause -> best
    BEST
clause -> succeeds /0.1
    SUCCEED
clause -> free_reach /0.5
    amount FINE
clause -> same_or_better
    limit SAME cols
    SAME cols beyond
    cols glue* STAYS? SAME beyond
clause -> same
    KEEP SAME cols
    cols STAYS SAME
    KEEP cols glue* SAME
    cols glue* SAME
    WITH? SAME cols
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
    cols glue* STAYS
    NOT SET cols
    NOT SET IT TO lessmore? cols
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

clause -> ask_bound
    WHICH IS? COL be* limit IS* amount
clause -> ask_between
    WHICH IS? COL be* range
clause -> ask
    WHICH WHICH? IS? cols
    WHICH OPTIONS? WITH cols
    cols FREE
    WHICH cols FREE
    ONLY cols FREE
    cols glue* ONLY FREE
    ONLY SET cols
    SET ONLY cols
    SET cols ONLY
clause -> ask /0.3
    SET OPT? cols
clause -> everything
    WHICH? ALL
    SET ALL
    ALL glue* FREE
clause -> everything_but
    ALL BUT cols FREE
    ALL BUT cols
    SET ALL BUT cols
    ALL FREE BUT? NOT cols
    ALL FREE BUT cols
    WHICH? ALL NOT cols
clause -> ask
    COL be* ONOFF OR ONOFF
    COL be* EQ? WHICH? ONOFF OR ONOFF
clause -> equal_pair
    COL AND COL be* EQ
    COL AND COL be* SAME
clause -> compared_best
    LAB FASTER THAN LAB
    NUM IS? COL FASTER THAN NUM
    values COL? FASTER
    FASTER COMMA values COL?
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
clause -> now_bare /0.6
    IS* NUM NOW
    NOW NUM
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
    FORGET limit WITH cols
    FORGET WITH? cols
    FORGET limit cols
    FORGET limit amount? cols
    FORGET cols limit
    FORGET ONLY? labs
clause -> top_by
    TOP NUM cols BY cols
    TOP NUM cols WITH cols
clause -> best_for /0.05
    WHICH IS? cols OPTIONS? WITH cols
clause -> counted_by
    NUM OPTIONS BY cols
    TOP NUM OPTIONS? BY cols
    NUM TOP OPTIONS WITH cols
    TOP NUM OPTIONS WITH cols
clause -> counted
    NUM OPTIONS WITH cols
    NUM COMMA cols OPTIONS
    NUM cols OPTIONS
    TOP NUM cols
    NUM BEST OPTIONS
    BEST NUM OPTIONS
clause -> count /0.3
    GIVE ONLY? NUM
    GIVE ONLY? TOP NUM
    ONLY TOP? NUM
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
    limit? FACTOR COL THAN COL
clause -> multiple
    COL glue* EQ? MULTIPLE NUM
    COL glue* EQ? MULTIPLE COL
clause -> even
    cols glue* EVEN
clause -> power_of_two
    cols glue* EQ? POWER2
product
    COL TIMES COL
    COL TIMES COL TIMES COL
    PRODUCT cols
clause -> product_rule
    product be* EQ? limit? NUM
    limit NUM COL? COMMA? IE? product
    limit NUM WORD COMMA? IE? product
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
