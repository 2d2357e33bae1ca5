/* Training of one network of the family `neural` (compass.model.perceptron), whole epochs without
 * the interpreter.
 *
 * A network is one vector of single-precision weights: the first layer [width, units], the inner
 * ones [layers - 1, units + 1, units] and the last one [units + 1, raw], one after another. The
 * last row of a layer is its offset: whatever is fed to a layer ends in a column of ones. */
#include "product.h"

static const float SMALL = 0.1f; /* deviations below which an error counts by its square */
static const double PI = 3.14159265358979323846;

typedef struct {
    int64_t width, units, layers, raw; /* width counts the column of ones */
    bool classes;
} Shape;

typedef struct {
    float *first, *inner, *last;
} Layers;

INLINE Layers layers_of(const Shape *s, float *net)
{
    float *inner = net + s->width * s->units;
    return (Layers){net, inner, inner + (s->layers - 1) * (s->units + 1) * s->units};
}

INLINE Shape shape_of(int64_t weights, int64_t width, int64_t layers, int64_t units, bool classes)
{
    int64_t before = (width + (layers - 1) * (units + 1)) * units;
    return (Shape){width, units, layers, (weights - before) / (units + 1), classes};
}

typedef struct {
    const float *Z, *y, *weight;
} Rows;

/* Where the numbers of one step are kept. */
typedef struct {
    int64_t batch;      /* rows that there is room for */
    float *z;           /* [batch, width] the rows */
    float *h;           /* [layers, batch, units + 1] fed to the layers; ends in 1 */
    float *slope;       /* [layers, batch, units] slopes of silu */
    float *more, *back; /* [batch, units] */
    float *out;         /* [batch, raw] raw columns, then slopes of the error by them */
    float *by_raw;      /* [units + 1] slopes by the weights of one raw column */
    float *last;        /* [units] those weights */
    float *strip;       /* [terms of a product, STRIP] */
} Room;

/* All of it is one piece of memory that begins at `z`, which is NULL if there was none. */
static Room room_for(const Shape *s, int64_t batch)
{
    int64_t fed = s->layers * batch * (s->units + 1), inside = batch * s->units;
    int64_t sizes[] = {batch * s->width, fed, s->layers * inside, inside, inside,
                       batch * s->raw, s->units + 1, s->units,
                       STRIP * most_of(most_of(s->width, s->units + 1), batch)};
    int64_t total = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        total += sizes[i];
    Room room = {.batch = batch, .z = malloc((total + 1) * sizeof(float))};
    float **parts[] = {&room.h, &room.slope, &room.more, &room.back,
                       &room.out, &room.by_raw, &room.last, &room.strip};
    if (!room.z)
        return room;
    float *at = room.z;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *parts[i] = at += sizes[i];
    for (int64_t i = s->units; i < fed; i += s->units + 1)
        room.h[i] = 1.0f;
    return room;
}

/* The silu of values [units] added to what is there before, and its slopes. A quotient of
 * polynomials that is tanh to single precision, as in the library Eigen: exp() of the C library is
 * called for one number at a time, this one is not. */
INLINE void silu(const float *restrict value, const float *before, float *restrict to,
                 float *restrict slope, int64_t units)
{
    const float edge = 7.905311f;
    for (int64_t j = 0; j < units; j++) {
        float x = value[j], t = 0.5f * x;
        t = t < -edge ? -edge : t;
        t = t > edge ? edge : t;
        float s = t * t;
        float top = -2.76076847742355e-16f * s + 2.00018790482477e-13f;
        top = top * s + -8.60467152213735e-11f;
        top = top * s + 5.12229709037114e-08f;
        top = top * s + 1.48572235717979e-05f;
        top = top * s + 6.37261928875436e-04f;
        top = (top * s + 4.89352455891786e-03f) * t;
        float bottom = 1.19825839466702e-06f * s + 1.18534705686654e-04f;
        bottom = (bottom * s + 2.26843463243900e-03f) * s + 4.89352518554385e-03f;
        float share = 0.5f + 0.5f * (top / bottom);
        to[j] = before ? x * share + before[j] : x * share;
        slope[j] = share + x * share * (1.0f - share);
    }
}

/* Raw columns of the n rows in the room. */
VECTORS static void forward(const Shape *s, float *net, const Room *room, int64_t n)
{
    int64_t units = s->units, fed = units + 1;
    Layers own = layers_of(s, net);
    const float *before = NULL;
    for (int64_t l = 0; l < s->layers; l++) {
        float *h = room->h + l * room->batch * fed;
        float *slope = room->slope + l * room->batch * units;
        Matrix given = l == 0 ? (Matrix){room->z, s->width, 1} : (Matrix){before, fed, 1};
        const float *weights = l == 0 ? own.first : own.inner + (l - 1) * fed * units;
        multiply(given, (Matrix){weights, units, 1}, n, l == 0 ? s->width : fed, units,
                 room->strip, room->more);
        for (int64_t i = 0; i < n; i++)
            if (l == 0)
                silu(room->more + i * units, NULL, h + i * fed, slope + i * units, units);
            else
                silu(room->more + i * units, before + i * fed, h + i * fed, slope + i * units,
                     units);
        before = h;
    }
    for (int64_t i = 0; i < n; i += HEIGHT) {
        /* Rows side by side: a sum waits for each of its terms. */
        int64_t rows = least_of(HEIGHT, n - i);
        for (int64_t k = 0; k < s->raw; k++) {
            float sum[HEIGHT] = {0};
            for (int64_t j = 0; j < fed; j++)
                for (int64_t r = 0; r < HEIGHT; r++)
                    sum[r] += before[(i + (r < rows ? r : 0)) * fed + j] * own.last[j * s->raw + k];
            for (int64_t r = 0; r < rows; r++)
                room->out[(i + r) * s->raw + k] = sum[r];
        }
    }
}

/* Slopes of the error by the weights, `found`, from those by the raw columns of n rows; the rest
 * of the room is as `forward` left it. */
VECTORS static void backward(const Shape *s, float *net, const Room *room, int64_t n, float *found)
{
    int64_t units = s->units, fed = units + 1;
    Layers own = layers_of(s, net), by = layers_of(s, found);
    const float *h = room->h + (s->layers - 1) * room->batch * fed;
    float *restrict back = room->back, *restrict by_raw = room->by_raw;
    memset(back, 0, n * units * sizeof *back);
    for (int64_t k = 0; k < s->raw; k++) {
        memset(by_raw, 0, fed * sizeof *by_raw);
        for (int64_t j = 0; j < units; j++)
            room->last[j] = own.last[j * s->raw + k];
        for (int64_t i = 0; i < n; i++) {
            float out = room->out[i * s->raw + k];
            for (int64_t j = 0; j < fed; j++)
                by_raw[j] += h[i * fed + j] * out;
            for (int64_t j = 0; j < units; j++)
                back[i * units + j] += out * room->last[j];
        }
        for (int64_t j = 0; j < fed; j++)
            by.last[j * s->raw + k] = by_raw[j];
    }
    for (int64_t l = s->layers - 1; l >= 0; l--) {
        float *restrict slope = room->slope + l * room->batch * units;
        for (int64_t i = 0; i < n * units; i++)
            slope[i] *= back[i];
        Matrix by_slope = {slope, units, 1};
        if (l == 0) {
            multiply((Matrix){room->z, 1, s->width}, by_slope, s->width, n, units, room->strip,
                     by.first);
            break;
        }
        const float *weights = own.inner + (l - 1) * fed * units;
        const float *before = room->h + (l - 1) * room->batch * fed;
        multiply((Matrix){before, 1, fed}, by_slope, fed, n, units, room->strip,
                 by.inner + (l - 1) * fed * units);
        multiply(by_slope, (Matrix){weights, 1, units}, n, units, units, room->strip,
                 room->more);
        for (int64_t i = 0; i < n * units; i++)
            back[i] += room->more[i];
    }
}

/* The error of the raw columns of one row, of a class: cross-entropy. They are replaced by its
 * slopes by them. */
INLINE float miss_class(float *out, int64_t raw, float y, float weight)
{
    int64_t right = (int64_t)y;
    float highest = out[0], shares = 0.0f;
    for (int64_t k = 1; k < raw; k++)
        highest = out[k] > highest ? out[k] : highest;
    float own = out[right] - highest;
    for (int64_t k = 0; k < raw; k++) {
        out[k] = expf(out[k] - highest);
        shares += out[k];
    }
    for (int64_t k = 0; k < raw; k++)
        out[k] *= weight / shares;
    out[right] -= weight;
    return weight * (logf(shares) - own);
}

/* The same for a number: absolute beyond a tenth of a standard deviation, squared below (Huber),
 * so that a few odd runs do not decide. */
INLINE float miss_number(float *out, float y, float weight)
{
    float miss = *out - y, near = miss < -SMALL ? -SMALL : miss;
    near = near > SMALL ? SMALL : near;
    *out = weight * near / SMALL;
    return weight * near * (miss - 0.5f * near) / SMALL;
}

/* The summed error on n rows, no more than there is room for, and their summed weight. */
static double error_of(const Shape *s, float *net, const Rows *from, const int64_t *rows,
                       int64_t n, const Room *room, double *weight)
{
    double total = 0.0;
    *weight = 0.0;
    for (int64_t i = 0; i < n; i++) {
        memcpy(room->z + i * s->width, from->Z + rows[i] * s->width, s->width * sizeof(float));
        *weight += from->weight[rows[i]];
    }
    forward(s, net, room, n);
    for (int64_t i = 0; i < n; i++) {
        float *out = room->out + i * s->raw, y = from->y[rows[i]], counts = from->weight[rows[i]];
        total += s->classes ? miss_class(out, s->raw, y, counts) : miss_number(out, y, counts);
    }
    return total;
}

/* The slopes of the mean error on n rows by the weights, and the mean error. */
static double slopes_of(const Shape *s, float *net, const Rows *from, const int64_t *rows,
                        int64_t n, const Room *room, float *found)
{
    double weight, error = error_of(s, net, from, rows, n, room, &weight);
    weight = weight < 1e-30 ? 1e-30 : weight;
    for (int64_t i = 0; i < n * s->raw; i++)
        room->out[i] /= (float)weight;
    backward(s, net, room, n, found);
    return error / weight;
}

/* One step of AdamW down the slopes `by`, with the usual memory of slopes and of their squares,
 * which is updated. */
VECTORS static void step_down(float *restrict net, const float *restrict by, float *restrict mean,
                              float *restrict square, int64_t n, double rate, double decay,
                              int64_t step)
{
    const float first = 0.9f, second = 0.999f, keep = (float)(1.0 - rate * decay);
    const float pace = (float)(rate / (1.0 - pow(0.9, (double)step)));
    const float unbias = (float)(1.0 / sqrt(1.0 - pow(0.999, (double)step)));
    for (int64_t i = 0; i < n; i++) {
        mean[i] = first * mean[i] + (1.0f - first) * by[i];
        square[i] = second * square[i] + (1.0f - second) * by[i] * by[i];
        net[i] = keep * net[i] - pace * mean[i] / (sqrtf(square[i]) * unbias + 1e-8f);
    }
}

/* Every order is as likely as any other; the generator SplitMix64 goes on from its state. */
static void put_in_order(int64_t *order, int64_t n, uint64_t *chance)
{
    for (int64_t i = n - 1; i > 0; i--) {
        *chance += 0x9E3779B97F4A7C15u;
        uint64_t mixed = (*chance ^ (*chance >> 30)) * 0xBF58476D1CE4E5B9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
        int64_t other = (int64_t)((mixed ^ (mixed >> 31)) % (uint64_t)(i + 1)), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

/* net, Z [n, width], y, weight, held, order, chance, layers, units, rows of a step, epochs at
 * most, rate of learning, its decay of weights, patience, classes -> least [1]: train a network on
 * the rows `order` of Z, whose last column is 1. Afterwards `net` is as it was after the epoch with
 * the least error on the rows `held`, which is `least`. Patience is the share of epochs without a
 * better network that ends it. The rate rises in the first steps and then falls along half a
 * cosine. */
static int descend(const Argument *a)
{
    Rows from = {a[1].data, a[2].data, a[3].data};
    const int64_t *held = a[4].data, others = a[4].shape[0], weights = a[0].shape[0];
    int64_t *order = a[5].data, batch = a[9].integer, epochs = a[10].integer;
    double rate = a[11].number, decay = a[12].number, patience = a[13].number;
    Shape shape = shape_of(weights, a[1].shape[1], a[7].integer, a[8].integer, a[14].integer);
    Room room = room_for(&shape, batch);
    float *net = a[0].data, *mean = calloc(4 * weights + 1, sizeof *mean);
    if (!room.z || !mean) {
        free(room.z);
        free(mean);
        return NO_MEMORY;
    }
    float *square = mean + weights, *found = square + weights, *kept = found + weights;
    memcpy(kept, net, weights * sizeof *net);
    int64_t steps = a[5].shape[0] / batch, total = steps * epochs, since = 0, done = 0;
    double warm = (double)least_of(total / 20 + 1, 500), best = INFINITY;
    for (int64_t epoch = 0; epoch < epochs; epoch++) {
        put_in_order(order, a[5].shape[0], a[6].data);
        for (int64_t at = 0; at < steps * batch; at += batch) {
            done++;
            double rise = (double)done / warm;
            double fall = 0.5 * (1.0 + cos(PI * (double)done / (double)total));
            slopes_of(&shape, net, &from, order + at, batch, &room, found);
            step_down(net, found, mean, square, weights, rate * (fall < rise ? fall : rise), decay,
                      done);
        }
        double miss = 0.0, counts = 0.0;
        for (int64_t at = 0; at < others; at += batch) {
            double some;
            miss += error_of(&shape, net, &from, held + at, least_of(batch, others - at), &room,
                             &some);
            counts += some;
        }
        miss /= counts;
        since = miss < 0.999 * best ? 0 : since + 1;
        if (miss < best) {
            best = miss;
            memcpy(kept, net, weights * sizeof *net);
        }
        if ((double)since > patience * (double)epochs)
            break;
    }
    memcpy(net, kept, weights * sizeof *net);
    *(double *)a[15].data = best;
    free(room.z);
    free(mean);
    return 0;
}

/* net, Z, y, weight, rows, layers, units, classes -> found, error [1]: the slopes of the mean error
 * on these rows by the weights, and the error. */
static int error_slopes(const Argument *a)
{
    Rows from = {a[1].data, a[2].data, a[3].data};
    Shape shape = shape_of(a[0].shape[0], a[1].shape[1], a[5].integer, a[6].integer, a[7].integer);
    Room room = room_for(&shape, a[4].shape[0]);
    if (!room.z)
        return NO_MEMORY;
    *(double *)a[9].data = slopes_of(&shape, a[0].data, &from, a[4].data, a[4].shape[0], &room,
                                     a[8].data);
    free(room.z);
    return 0;
}

/* A [n, m] (or, if it is turned, [m, n]), B [m, columns], turned -> out [n, columns]. */
static int product(const Argument *a)
{
    int64_t m = a[1].shape[0], n = a[3].shape[0];
    Matrix A = {a[0].data, a[2].integer ? 1 : m, a[2].integer ? n : 1};
    float *strip = malloc((m * STRIP + 1) * sizeof *strip);
    if (!strip)
        return NO_MEMORY;
    multiply(A, (Matrix){a[1].data, a[1].shape[1], 1}, n, m, a[1].shape[1], strip, a[3].data);
    free(strip);
    return 0;
}

/* net, by, mean, square, rate, decay, step. */
static int adamw(const Argument *a)
{
    step_down(a[0].data, a[1].data, a[2].data, a[3].data, a[0].shape[0], a[4].number, a[5].number,
              a[6].integer);
    return 0;
}

/* order, chance [1]. */
static int shuffle(const Argument *a)
{
    put_in_order(a[0].data, a[0].shape[0], a[1].data);
    return 0;
}

const Kernel NETWORK[] = {
    {"descend", "to_f4 f4_2d f4 f4 i8 to_i8 to_u8 integer integer integer integer number number "
                "number integer to_f8", descend},
    /* Parts of it, which tests ask one by one. */
    {"error_slopes", "to_f4 f4_2d f4 f4 i8 integer integer integer to_f4 to_f8", error_slopes},
    {"product", "f4_2d f4_2d integer to_f4_2d", product},
    {"adamw", "to_f4 f4 to_f4 to_f4 number number integer", adamw},
    {"shuffle", "to_i8 to_u8", shuffle},
    {0},
};
