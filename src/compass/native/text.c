/* Kernels of compass.readers.quick: some columns of separated text. The text is from strangers:
 * nothing is read outside of it. Its last byte is a line end, so every cell ends before it. */
#include "kernel.h"

enum { SKIPPED, NUMBER, LABEL }; /* what is wanted of a column */
enum { NOT_PLAIN = -1 };

typedef struct {
    const uint8_t *data;
    int64_t size;
    uint8_t separator;
} Text;

#define EACH_BYTE(byte) ((uint64_t)(byte) * 0x0101010101010101u)

/* Powers of ten that a float holds exactly. */
static const double TENS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
static const uint64_t WHOLE_TENS[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};

/* Eight bytes from a place on, the first one lowest; zeros where the text has ended. */
INLINE uint64_t eight(const Text *text, int64_t place)
{
    uint64_t word = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (place + 8 <= text->size) {
        memcpy(&word, text->data + place, 8);
        return word;
    }
#endif
    for (int64_t i = 0; i < 8 && place + i < text->size; i++)
        word |= (uint64_t)text->data[place + i] << (8 * i);
    return word;
}

/* The high bit of bytes that are 0; above the first of them, of others as well. */
INLINE uint64_t zero_bytes(uint64_t word)
{
    return (word - EACH_BYTE(0x01)) & ~word & EACH_BYTE(0x80);
}

INLINE int64_t first_byte(uint64_t high_bits) { return __builtin_ctzll(high_bits) >> 3; }

INLINE bool ends_cell(const Text *text, uint8_t byte)
{
    return byte == text->separator || byte == '\n' || byte == '\r';
}

/* Where the cell that begins at a place ends. */
INLINE int64_t cell_end(const Text *text, int64_t place)
{
    for (;; place += 8) {
        uint64_t word = eight(text, place);
        uint64_t ends = zero_bytes(word ^ EACH_BYTE(text->separator)) |
                        zero_bytes(word ^ EACH_BYTE('\n')) | zero_bytes(word ^ EACH_BYTE('\r'));
        if (ends)
            return place + first_byte(ends);
    }
}

/* value - quotient * divisor without rounding (Dekker). */
INLINE double rest(double value, double divisor, double quotient)
{
    const double split = 134217729.0;
    double a = quotient * split, b = divisor * split;
    double high_a = a - (a - quotient), low_a = quotient - high_a;
    double high_b = b - (b - divisor), low_b = divisor - high_b;
    double product = quotient * divisor;
    double error = ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b;
    return (value - product) - error;
}

/* mantissa * 10**power: the nearest float for powers of -22 to 0, else nearly. */
INLINE double number(uint64_t mantissa, int64_t power)
{
    double whole = (double)mantissa;
    if (power == 0)
        return whole;
    for (; power < -22; power += 22) {
        whole /= TENS[22];
        mantissa = 0; /* rounded already: nothing is left to correct */
    }
    for (; power > 22; power -= 22)
        whole *= TENS[22];
    if (power >= 0)
        return whole * TENS[power];
    double divisor = TENS[-power], quotient = whole / divisor;
    if (mantissa < 9007199254740992u || whole >= 1.8446744073709552e19)
        return quotient;
    /* The mantissa does not fit a float: what is left of it goes into the correction. */
    double left = (double)(int64_t)(mantissa - (uint64_t)whole);
    return quotient + (rest(whole, divisor, quotient) + left) / divisor;
}

/* Take digits into the mantissa, eight at a time; where they end. */
INLINE int64_t digits(const Text *text, int64_t place, uint64_t *mantissa)
{
    for (;;) {
        uint64_t word = eight(text, place) ^ EACH_BYTE('0');
        uint64_t others = ((word + EACH_BYTE(0x7f - 9)) | word) & EACH_BYTE(0x80);
        int64_t count = others ? first_byte(others) : 8;
        if (count == 0)
            return place;
        word <<= 8 * (8 - count); /* zeros in front, and what follows falls out */
        /* Neighbours are put together: to two digits each, to four, to eight. */
        word = word * 10 + (word >> 8);
        word = ((word & 0x000000ff000000ffu) * 0x000f424000000064u +
                ((word >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >> 32;
        *mantissa = *mantissa * WHOLE_TENS[count] + word;
        place += count;
        if (count < 8)
            return place;
    }
}

static int64_t leading_zeros(const Text *text, int64_t place)
{
    int64_t zeros = 0;
    for (; text->data[place] == '0' || text->data[place] == '.'; place++)
        zeros += text->data[place] == '0';
    return zeros;
}

/* The number that begins at a place, and where it ends; NOT_PLAIN: it is none. */
INLINE int64_t parse(const Text *text, int64_t start, double *found)
{
    const uint8_t *data = text->data;
    int64_t p = start, power = 0;
    bool negative = data[p] == '-';
    p += negative || data[p] == '+';
    uint64_t mantissa = 0;
    int64_t signed_end = p, counted;
    p = digits(text, p, &mantissa);
    counted = p - signed_end;
    if (data[p] == '.') {
        int64_t since = ++p;
        p = digits(text, p, &mantissa);
        counted += p - since;
        power = since - p;
    }
    if (counted == 0 || (counted > 19 && counted - leading_zeros(text, signed_end) > 19))
        return NOT_PLAIN;
    if (data[p] == 'e' || data[p] == 'E') {
        p++;
        bool down = data[p] == '-';
        p += down || data[p] == '+';
        int64_t since = p, tenth = 0;
        for (; data[p] >= '0' && data[p] <= '9' && p - since < 3; p++)
            tenth = tenth * 10 + (data[p] - '0');
        if (p == since)
            return NOT_PLAIN;
        power += down ? -tenth : tenth;
    }
    if (!ends_cell(text, data[p]))
        return NOT_PLAIN;
    double size = number(mantissa, power);
    *found = negative ? -size : size;
    return p;
}

/* The first `length` bytes of eight. */
INLINE uint64_t bytes_of(uint64_t word, int64_t length)
{
    return length >= 8 ? word : word & (((uint64_t)1 << (8 * length)) - 1);
}

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
            (length <= 8 || memcmp(text->data + seen, text->data + start, length) == 0) &&
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
    int32_t *codes;
    Labels labels;
} Cells;

/* Read one line into a row; where the next begins, or NOT_PLAIN. */
INLINE int64_t line(const Text *text, const Cells *cells, int64_t p, int64_t row)
{
    for (int64_t column = 0; column < cells->columns; column++) {
        int64_t start = p, slot = cells->slots[column];
        if (cells->kinds[column] == NUMBER) {
            double value = NAN;
            p = parse(text, start, &value);
            if (p < 0) {
                p = cell_end(text, start);
                if (!is_missing(text, start, p, cells->empty, cells->words))
                    return NOT_PLAIN;
            }
            cells->values[slot * cells->room + row] = value;
        } else {
            p = cell_end(text, start);
            if (cells->kinds[column] == LABEL) {
                Labels labels = cells->labels;
                labels.table += slot * labels.slots;
                labels.first += slot * labels.most;
                labels.known += slot;
                int64_t code = label(text, start, p, &labels);
                if (code < 0)
                    return NOT_PLAIN;
                cells->codes[slot * cells->room + row] = (int32_t)code;
            }
        }
        bool last = column == cells->columns - 1;
        if (text->data[p] == '\r') {
            p++;
            if (!last)
                return NOT_PLAIN;
        }
        if (last != (text->data[p] == '\n'))
            return NOT_PLAIN;
        p++;
    }
    return p;
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
    int64_t *begin = a[8].data, *end = a[9].data, *reached = a[13].data;
    int64_t row = 0, p = a[1].integer;
    if (text.size == 0 || text.data[text.size - 1] != '\n')
        row = NOT_PLAIN;
    while (row >= 0 && row < cells.room && p < text.size) {
        if (text.data[p] == '\n') { /* an empty line is no row */
            p++;
        } else if (text.data[p] == '\r' && text.data[p + 1] == '\n') {
            p += 2;
        } else {
            begin[row] = p;
            p = line(&text, &cells, p, row);
            if (p < 0)
                row = NOT_PLAIN;
            else
                end[row++] = p;
        }
    }
    reached[0] = row;
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
