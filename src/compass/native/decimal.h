/* Numbers as text writes them. The text is from strangers: nothing is read outside of it. */
#ifndef DECIMAL_H
#define DECIMAL_H

#include "kernel.h"

typedef struct { /* the last byte is a line end: no number goes on after it */
    const uint8_t *data;
    int64_t size;
    uint8_t separator;
} Text;

#define EACH_BYTE(byte) ((uint64_t)(byte) * 0x0101010101010101u)

/* Eight bytes, the first one lowest. */
INLINE uint64_t load(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Eight bytes of a text from a place on; zeros where the text has ended. */
INLINE uint64_t eight(const Text *text, int64_t place)
{
    if (place + 8 <= text->size)
        return load(text->data + place);
    uint64_t word = 0;
    for (int64_t i = 0; place + i < text->size; i++)
        word |= (uint64_t)text->data[place + i] << (8 * i);
    return word;
}

/* Powers of ten that a float holds exactly. */
static const double TENS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
static const uint64_t WHOLE_TENS[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};

/* Numbers are first put down as they are read; then a block of them is turned into floats together,
 * which are vector instructions without a branch. */
enum { BLOCK = 128 };

typedef struct {
    int32_t high[BLOCK], low[BLOCK]; /* halves of the mantissa, less 2**31 each */
    double divisor[BLOCK];           /* a power of ten with the sign; 0: it is a float already */
} Digits;

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

/* The nearest floats to mantissa / divisor, where they are not there already. */
VECTORS static void to_floats(const Digits *restrict digits, int64_t count, double *restrict values)
{
    for (int64_t i = 0; i < count; i++) {
        double high = (digits->high[i] + 0x1p31) * 0x1p32, low = digits->low[i] + 0x1p31;
        double whole = high + low, left = low - (whole - high); /* of what does not fit a float */
        double divisor = digits->divisor[i], quotient = whole / divisor;
        double closer = quotient + (rest(whole, divisor, quotient) + left) / divisor;
        double found = whole < 0x1p53 ? quotient : closer;
        values[i] = divisor == 0.0 ? values[i] : found;
    }
}

/* mantissa * 10**power, nearly: for other powers than -22 to 0. */
static double nearly(uint64_t mantissa, int64_t power)
{
    double whole = (double)mantissa;
    for (; power < -22; power += 22)
        whole /= TENS[22];
    for (; power > 22; power -= 22)
        whole *= TENS[22];
    return power < 0 ? whole / TENS[-power] : whole * TENS[power];
}

/* How many of eight bytes are digits, up to the first that is none. */
INLINE int64_t digits_in(uint64_t word)
{
    word ^= EACH_BYTE('0');
    uint64_t others = ((word + EACH_BYTE(0x7f - 9)) | word) & EACH_BYTE(0x80);
    return others ? __builtin_ctzll(others) >> 3 : 8;
}

/* The number of the first `count` digits of eight, 1 to 8 of them. */
INLINE uint64_t number_of(uint64_t word, int64_t count)
{
    word = (word ^ EACH_BYTE('0')) << (8 * (8 - count)); /* zeros in front; the others fall out */
    /* Neighbours are put together: to two digits each, to four, to eight. */
    word = word * 10 + (word >> 8);
    return ((word & 0x000000ff000000ffu) * 0x000f424000000064u +
            ((word >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >> 32;
}

/* Take digits into the mantissa, eight at a time; where they end. */
INLINE int64_t take_digits(const Text *text, int64_t place, uint64_t *mantissa)
{
    for (;;) {
        uint64_t word = eight(text, place);
        int64_t count = digits_in(word);
        if (count == 0)
            return place;
        *mantissa = *mantissa * WHOLE_TENS[count] + number_of(word, count);
        place += count;
        if (count < 8)
            return place;
    }
}

/* Zeros before the first digit that counts. */
static int64_t leading_zeros(const Text *text, int64_t place)
{
    int64_t zeros = 0;
    for (; text->data[place] == '0' || text->data[place] == '.'; place++)
        zeros += text->data[place] == '0';
    return zeros;
}

/* Put down mantissa / 10**decimals. */
INLINE void put(Digits *digits, int64_t row, uint64_t mantissa, int64_t decimals, bool negative)
{
    digits->high[row] = (int32_t)((mantissa >> 32) ^ 0x80000000u);
    digits->low[row] = (int32_t)(mantissa ^ 0x80000000u);
    digits->divisor[row] = negative ? -TENS[decimals] : TENS[decimals];
}

/* Put down the number of a cell of any form; false: it is not a plain one. */
static bool parse(const Text *text, int64_t start, int64_t end, Digits *digits, int64_t row,
                  double *value)
{
    const uint8_t *data = text->data;
    int64_t p = start, power = 0;
    bool negative = data[p] == '-';
    p += negative || data[p] == '+';
    uint64_t mantissa = 0;
    int64_t unsigned_start = p, counted;
    p = take_digits(text, p, &mantissa);
    counted = p - unsigned_start;
    if (data[p] == '.') {
        int64_t since = ++p;
        p = take_digits(text, p, &mantissa);
        counted += p - since;
        power = since - p;
    }
    if (counted == 0 || (counted > 19 && counted - leading_zeros(text, unsigned_start) > 19))
        return false;
    if (data[p] == 'e' || data[p] == 'E') {
        p++;
        bool down = data[p] == '-';
        p += down || data[p] == '+';
        int64_t since = p, tenth = 0;
        for (; data[p] >= '0' && data[p] <= '9' && p - since < 3; p++)
            tenth = tenth * 10 + (data[p] - '0');
        if (p == since)
            return false;
        power += down ? -tenth : tenth;
    }
    if (p != end)
        return false;
    if (power <= 0 && power >= -22) {
        put(digits, row, mantissa, -power, negative);
    } else {
        *value = negative ? -nearly(mantissa, power) : nearly(mantissa, power);
        digits->divisor[row] = 0.0;
    }
    return true;
}

/* Put down the number of a cell; false: it is not a plain one. Most have few digits, then nothing
 * or a point and up to sixteen more: where these are follows from where the cell ends. */
INLINE bool number(const Text *text, int64_t start, int64_t end, Digits *digits, int64_t row,
                   double *value)
{
    bool negative = text->data[start] == '-';
    int64_t from = start + negative;
    uint64_t word = eight(text, from);
    int64_t count = digits_in(word), decimals = end - from - count - 1;
    if (count == 0 || count == 8)
        return parse(text, start, end, digits, row, value);
    if (decimals < 0) {
        put(digits, row, number_of(word, count), 0, negative);
        return true;
    }
    int64_t point = from + count;
    if (text->data[point] != '.' || decimals < 1 || decimals > 16)
        return parse(text, start, end, digits, row, value);
    uint64_t mantissa = number_of(word, count), fraction = eight(text, point + 1);
    int64_t front = decimals > 8 ? decimals - 8 : decimals;
    bool plain = digits_in(fraction) >= front;
    mantissa = mantissa * WHOLE_TENS[front] + number_of(fraction, front);
    if (decimals > 8) {
        uint64_t back = load(text->data + end - 8);
        plain &= digits_in(back) == 8;
        mantissa = mantissa * WHOLE_TENS[8] + number_of(back, 8);
    }
    if (!plain || count + decimals > 19)
        return parse(text, start, end, digits, row, value);
    put(digits, row, mantissa, decimals, negative);
    return true;
}

#endif
