/* Kernels of compass.readers.quick: some columns of separated text. The text is from strangers:
 * nothing is read outside of it. Its last byte is a line end, so every cell ends before it. */
#include "decimal.h"

enum { SKIPPED, NUMBER, LABEL }; /* what is wanted of a column */
enum { NOT_PLAIN = -1 };
enum { CHUNK = 4096 }; /* bytes in which ends of cells are looked for together */

INLINE bool ends_cell(const Text *text, uint8_t byte)
{
    return byte == text->separator || byte == '\n' || byte == '\r';
}

/* Where cells end in a piece of text, at most CHUNK bytes; how many there are. Bytes are compared
 * many at a time and their answers gathered as bits: what is left to do depends on how many cells
 * there are, hardly on how long they are. */
VECTORS static int64_t find_ends(const uint8_t *restrict data, int64_t size, uint8_t separator,
                                 uint16_t *restrict places)
{
    uint8_t found[CHUNK];
    int64_t count = 0;
    for (int64_t i = 0; i < size; i++)
        found[i] = (data[i] == separator) | (data[i] == '\n') | (data[i] == '\r');
    memset(found + size, 0, (CHUNK - size) % 64);
    for (int64_t block = 0; block < size; block += 64) {
        uint64_t bits = 0;
        for (int64_t i = 0; i < 64; i += 8)
            bits |= ((load(found + block + i) * 0x0102040810204080u) >> 56) << i;
        uint16_t *into = places + count;
        count += __builtin_popcountll(bits);
        do /* eight at once, some of them for nothing, cost less than to be asked one by one */
            for (int i = 0; i < 8; i++) {
                *into++ = (uint16_t)(block + __builtin_ctzll(bits | (uint64_t)1 << 63));
                bits &= bits - 1;
            }
        while (bits);
    }
    return count;
}

typedef struct { /* ends of cells, found ahead of the reading */
    int64_t base, scanned; /* the piece of text that they are in */
    int64_t next, count;
    uint16_t places[CHUNK + 8];
} Ends;

/* The next end of a cell; there is one, as long as the text has not ended. */
INLINE int64_t next_end(const Text *text, Ends *ends)
{
    while (ends->next == ends->count) {
        int64_t size = least_of(CHUNK, text->size - ends->scanned);
        ends->base = ends->scanned;
        ends->count = find_ends(text->data + ends->base, size, text->separator, ends->places);
        ends->scanned += size;
        ends->next = 0;
    }
    return ends->base + ends->places[ends->next++];
}

/* The first `length` bytes of eight. */
INLINE uint64_t bytes_of(uint64_t word, int64_t length)
{
    return length >= 8 ? word : word & (((uint64_t)1 << (8 * length)) - 1);
}

/* Whether a cell holds one of the words for nothing. */
static bool is_missing(const Text *text, int64_t start, int64_t end, const uint64_t *empty,
                       int64_t words)
{
    if (end - start > 8)
        return false;
    uint64_t word = bytes_of(eight(text, start), end - start);
    for (int64_t i = 0; i < words; i++) /* a handful: a search costs more */
        if (empty[i] == word)
            return true;
    return false;
}

typedef struct { /* the labels of one column */
    int32_t *table; /* [slots] their numbers by what their bytes give; -1: free */
    int64_t *first; /* [most] where each was seen first */
    int64_t *known;
    int64_t slots, most;
} Labels;

/* The number of a label; a new one is put down with where it was seen. NOT_PLAIN: too many. */
INLINE int64_t label(const Text *text, int64_t start, int64_t end, const Labels *labels)
{
    int64_t length = end - start;
    uint64_t head = bytes_of(eight(text, start), length);
    uint64_t tail = length > 8 ? eight(text, end - 8) : 0;
    uint64_t mixed = head * 0x9e3779b97f4a7c15u + tail * 0xc2b2ae3d27d4eb4fu + (uint64_t)length;
    mixed ^= (mixed >> 29) ^ (mixed >> 47);
    int64_t place = (int64_t)(mixed & (uint64_t)(labels->slots - 1));
    for (int32_t code; (code = labels->table[place]) >= 0;) {
        int64_t seen = labels->first[code]; /* not after `start`: as many bytes are there */
        if (bytes_of(eight(text, seen), length) == head &&
            (length <= 8 || eight(text, seen + length - 8) == tail) &&
            (length <= 16 || memcmp(text->data + seen, text->data + start, length) == 0) &&
            ends_cell(text, text->data[seen + length]))
            return code;
        place = (place + 1) & (labels->slots - 1);
    }
    if (*labels->known == labels->most)
        return NOT_PLAIN;
    int64_t code = (*labels->known)++;
    labels->table[place] = (int32_t)code;
    labels->first[code] = start;
    return code;
}

typedef struct {
    const int64_t *kinds, *slots;
    const uint64_t *empty;
    int64_t columns, words, room; /* room: rows that fit into the arrays */
    double *values;
    Digits *digits; /* [numbers] */
    int32_t *codes;
    Labels labels;
} Cells;

/* Read one line into a row; where the next begins, or NOT_PLAIN. */
INLINE int64_t line(const Text *text, Ends *ends, const Cells *cells, int64_t p, int64_t row)
{
    for (int64_t column = 0; column < cells->columns; column++) {
        int64_t start = p, slot = cells->slots[column];
        p = next_end(text, ends);
        if (cells->kinds[column] == NUMBER) {
            double *value = cells->values + slot * cells->room + row;
            Digits *digits = cells->digits + slot;
            if (!number(text, start, p, digits, row % BLOCK, value)) {
                if (!is_missing(text, start, p, cells->empty, cells->words))
                    return NOT_PLAIN;
                *value = NAN;
                digits->divisor[row % BLOCK] = 0.0;
            }
        } else if (cells->kinds[column] == LABEL) {
            Labels labels = cells->labels;
            labels.table += slot * labels.slots;
            labels.first += slot * labels.most;
            labels.known += slot;
            int64_t code = label(text, start, p, &labels);
            if (code < 0)
                return NOT_PLAIN;
            cells->codes[slot * cells->room + row] = (int32_t)code;
        }
        bool last = column == cells->columns - 1;
        if (last && text->data[p] == '\r' && text->data[p + 1] == '\n')
            p = next_end(text, ends);
        if (text->data[p] == '\r' || last != (text->data[p] == '\n'))
            return NOT_PLAIN;
        p++;
    }
    return p;
}

/* Read at most BLOCK lines into the rows from `first` on; how many there were, or NOT_PLAIN. */
static int64_t block(const Text *text, Ends *ends, const Cells *cells, int64_t *place,
                     int64_t first, int64_t *begin, int64_t *end)
{
    int64_t row = first, p = *place, stop = least_of(first + BLOCK, cells->room);
    while (row < stop && p < text->size) {
        if (text->data[p] == '\n' || (text->data[p] == '\r' && text->data[p + 1] == '\n')) {
            while (text->data[p = next_end(text, ends)] != '\n')
                ;
            p++; /* an empty line is no row */
            continue;
        }
        begin[row] = p;
        p = line(text, ends, cells, p, row);
        if (p < 0)
            return NOT_PLAIN;
        end[row++] = p;
    }
    *place = p;
    for (int64_t column = 0; column < cells->columns; column++)
        if (cells->kinds[column] == NUMBER) {
            int64_t slot = cells->slots[column];
            to_floats(cells->digits + slot, row - first,
                      cells->values + slot * cells->room + first);
        }
    return row - first;
}

/* text, place, separator, kinds [c], slots [c], empty -> values [numbers, n], codes [labels, n],
 * begin [n], end [n], and the labels so far: table [labels, slots], first [labels, most],
 * known [labels]; reached: how many rows were read until the arrays were full (-1: the text is
 * not plain), and where. */
static int scan_text(const Argument *a)
{
    Text text = {.data = a[0].data, .size = a[0].shape[0], .separator = (uint8_t)a[2].integer};
    Cells cells = {.kinds = a[3].data, .slots = a[4].data, .columns = a[3].shape[0],
                   .empty = a[5].data, .words = a[5].shape[0],
                   .values = a[6].data, .codes = a[7].data, .room = a[8].shape[0],
                   .labels = {a[10].data, a[11].data, a[12].data, a[10].shape[1], a[11].shape[1]}};
    int64_t *reached = a[13].data, rows = 0, p = a[1].integer;
    Ends ends = {.scanned = p};
    cells.digits = calloc(a[6].shape[0], sizeof *cells.digits);
    if (!cells.digits)
        return NO_MEMORY;
    if (text.size == 0 || text.data[text.size - 1] != '\n')
        rows = NOT_PLAIN;
    while (rows >= 0 && rows < cells.room && p < text.size) {
        int64_t more = block(&text, &ends, &cells, &p, rows, a[8].data, a[9].data);
        rows = more < 0 ? NOT_PLAIN : rows + more;
    }
    free(cells.digits);
    reached[0] = rows;
    reached[1] = p;
    return 0;
}

/* text, begin [n], end [n] -> the bytes of these lines. */
static int copy_lines(const Argument *a)
{
    const uint8_t *data = a[0].data;
    const int64_t *begin = a[1].data, *end = a[2].data;
    uint8_t *into = a[3].data, *stop = into + a[3].shape[0];
    for (int64_t i = 0; i < a[1].shape[0]; i++) {
        memcpy(into, data + begin[i], end[i] - begin[i]);
        into += end[i] - begin[i];
    }
    memset(into, '\n', stop - into); /* the last line may have had no line end */
    return 0;
}

const Kernel TEXT[] = {
    {"scan_text",
     "u1 integer integer i8 i8 u8 to_f8_2d to_i4_2d to_i8 to_i8 to_i4_2d to_i8_2d to_i8 to_i8",
     scan_text},
    {"copy_lines", "u1 i8 i8 to_u1", copy_lines},
    {0},
};
