/* The queue of a machine, event by event (compass.schedule). At every instant jobs end first, then
 * jobs arrive, then the scheduler passes once over the queue.
 *
 * The machine is a pool of up to a few resources (nodes, cores, ...): a job fits where each of them
 * has enough left. Nodes are counted, not named. What the scheduler knows of a job is its limit, not
 * its runtime; a job that is past its limit and still there is expected to end at any moment. */
#include "kernel.h"

enum { FCFS, SJF, MULTIFACTOR };
enum { NO_BACKFILL, EASY, CONSERVATIVE };

#define BLOCK 64 /* jobs whose smallest request and limit are known together */

typedef struct {
    double time;
    int64_t job;
} Ending;

typedef struct {
    int64_t jobs, kinds; /* kinds of resources */
    const double *submit, *run, *limit;
    const int64_t *need; /* [jobs, kinds] */
    int64_t order, backfill;
    bool kill;
    double *start, *end, *promised, *reserved;
    int64_t *left; /* [kinds] what is not in use */
    /* Jobs that run: a heap by the time they end, and a row sorted by the time they are expected to. */
    Ending *heap, *expected;
    int64_t running;
    /* Jobs that wait: in order of arrival flags are enough, other orders need a row of them. */
    uint8_t *waits;
    int64_t *queue, queued, arrived, head, tested;
    int64_t *least_need;
    double *least_limit;
    /* When the head of the queue can start at the latest, and what is left over then. */
    bool known;
    double shadow;
    int64_t *extra;
    /* What is left over time, as running jobs and reservations have it: from times[i] on, frees[i]. */
    double *times;
    int64_t *frees, steps, first, room;
    bool no_memory;
    /* Priority. */
    const int64_t *user;
    const double *fixed;
    double *priority, age_weight, oldest, fair_weight, half_life;
    double *usage, *rate, *touched, *fair, *fair_at; /* [users + 1], the last one is all of them */
    int64_t users;
} Queue;

INLINE bool fits(const Queue *q, const int64_t *left, int64_t job)
{
    const int64_t *need = q->need + job * q->kinds;
    for (int64_t k = 0; k < q->kinds; k++)
        if (need[k] > left[k])
            return false;
    return true;
}

INLINE void give(const Queue *q, int64_t *left, int64_t job, int64_t sign)
{
    const int64_t *need = q->need + job * q->kinds;
    for (int64_t k = 0; k < q->kinds; k++)
        left[k] += sign * need[k];
}

/* ---- jobs that run ---- */

INLINE bool sooner(Ending a, Ending b) { return a.time < b.time || (a.time == b.time && a.job < b.job); }

static void heap_add(Ending *heap, int64_t count, Ending one)
{
    int64_t i = count;
    while (i > 0 && sooner(one, heap[(i - 1) / 2])) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = one;
}

static Ending heap_take(Ending *heap, int64_t count)
{
    Ending top = heap[0], last = heap[count - 1];
    int64_t i = 0;
    while (true) {
        int64_t child = 2 * i + 1;
        if (child >= count - 1)
            break;
        if (child + 1 < count - 1 && sooner(heap[child + 1], heap[child]))
            child++;
        if (!sooner(heap[child], last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return top;
}

/* The place of the first one that is not sooner. */
static int64_t place_of(const Ending *row, int64_t count, Ending one)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (sooner(row[middle], one))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- priority: what users have used fades away; it is exact at every instant ---- */

static void bring_up(Queue *q, int64_t u, double now)
{
    double kept = exp2(-(now - q->touched[u]) / q->half_life);
    q->usage[u] = q->usage[u] * kept + q->rate[u] * (q->half_life / log(2.0)) * (1 - kept);
    q->touched[u] = now;
}

static void change_rate(Queue *q, int64_t job, double now, double sign)
{
    if (q->order != MULTIFACTOR)
        return;
    double amount = sign * (double)q->need[job * q->kinds];
    bring_up(q, q->user[job], now);
    bring_up(q, q->users, now);
    q->rate[q->user[job]] += amount;
    q->rate[q->users] += amount;
}

static double fair_share(Queue *q, int64_t u, double now)
{
    if (q->fair_at[u] != now) {
        bring_up(q, u, now);
        bring_up(q, q->users, now);
        double all = q->usage[q->users];
        q->fair[u] = all > 0 ? exp2(-(q->usage[u] / all) * (double)q->users) : 1.0;
        q->fair_at[u] = now;
    }
    return q->fair[u];
}

static void look_at_priorities(Queue *q, double now)
{
    for (int64_t i = 0; i < q->queued; i++) {
        int64_t job = q->queue[i];
        double age = now - q->submit[job];
        age = (age < q->oldest ? age : q->oldest) / q->oldest;
        /* A whole number, as Slurm has it. */
        q->priority[job] = rint(q->fixed[job] + q->age_weight * age +
                                q->fair_weight * fair_share(q, q->user[job], now));
    }
}

/* Whether a job stands before another one in the queue. */
INLINE bool before(const Queue *q, int64_t a, int64_t b)
{
    if (q->order == SJF && q->limit[a] != q->limit[b])
        return q->limit[a] < q->limit[b];
    if (q->order == MULTIFACTOR && q->priority[a] != q->priority[b])
        return q->priority[a] > q->priority[b];
    return a < b; /* jobs are numbered as they arrive */
}

/* Merge sort of the queue; `room` has place for as many. */
static void sort_queue(const Queue *q, int64_t *row, int64_t count, int64_t *room)
{
    if (count < 2)
        return;
    int64_t half = count / 2;
    sort_queue(q, row, half, room);
    sort_queue(q, row + half, count - half, room);
    if (before(q, row[half - 1], row[half]))
        return;
    memcpy(room, row, half * sizeof(int64_t));
    int64_t i = 0, j = half, to = 0;
    while (i < half)
        row[to++] = j < count && before(q, row[j], room[i]) ? row[j++] : room[i++];
}

/* ---- starting and ending ---- */

static void start_job(Queue *q, int64_t job, double now)
{
    double ran = q->kill && q->limit[job] < q->run[job] ? q->limit[job] : q->run[job];
    q->start[job] = now;
    q->end[job] = now + ran;
    q->waits[job] = 0;
    give(q, q->left, job, -1);
    heap_add(q->heap, q->running, (Ending){q->end[job], job});
    Ending known = {now + q->limit[job], job};
    int64_t place = place_of(q->expected, q->running, known);
    memmove(q->expected + place + 1, q->expected + place,
            (q->running - place) * sizeof(Ending));
    q->expected[place] = known;
    q->running++;
    change_rate(q, job, now, 1);
}

/* The job that ends next has ended; whether that was sooner than it was expected to. */
static int64_t end_job(Queue *q)
{
    Ending one = heap_take(q->heap, q->running);
    Ending known = {q->start[one.job] + q->limit[one.job], one.job};
    int64_t place = place_of(q->expected, q->running, known);
    q->running--;
    memmove(q->expected + place, q->expected + place + 1,
            (q->running - place) * sizeof(Ending));
    give(q, q->left, one.job, 1);
    change_rate(q, one.job, one.time, -1);
    return one.job;
}

/* When the head can start at the latest, and what is left over then. */
static void find_shadow(Queue *q, int64_t head, double now)
{
    memcpy(q->extra, q->left, q->kinds * sizeof(int64_t));
    int64_t i = 0;
    q->shadow = now;
    while (i < q->running && (!fits(q, q->extra, head) || q->expected[i].time <= q->shadow)) {
        if (q->expected[i].time > q->shadow)
            q->shadow = q->expected[i].time;
        give(q, q->extra, q->expected[i].job, 1);
        i++;
    }
    give(q, q->extra, head, -1);
    if (isnan(q->promised[head]))
        q->promised[head] = q->shadow;
}

/* Start a job behind the head if that cannot delay the head. */
INLINE bool backfilled(Queue *q, int64_t job, double now)
{
    if (!fits(q, q->left, job))
        return false;
    if (!(now + q->limit[job] <= q->shadow)) {
        if (!fits(q, q->extra, job))
            return false;
        give(q, q->extra, job, -1);
    }
    start_job(q, job, now);
    return true;
}

/* ---- first come, first served: a job's place in the queue is its number ---- */

static void note_arrival(Queue *q, int64_t job)
{
    int64_t b = job / BLOCK, need = q->need[job * q->kinds];
    q->waits[job] = 1;
    if (job % BLOCK == 0 || need < q->least_need[b])
        q->least_need[b] = need;
    if (job % BLOCK == 0 || q->limit[job] < q->least_limit[b])
        q->least_limit[b] = q->limit[job];
}

/* The waiting jobs of a block from a job on; what is least in the block is found again. */
static void scan_block(Queue *q, int64_t from, int64_t to, double now)
{
    int64_t b = from / BLOCK, least = INT64_MAX;
    double shortest = INFINITY;
    for (int64_t job = from; job < to; job++) {
        if (!q->waits[job] || backfilled(q, job, now))
            continue;
        least = least_of(least, q->need[job * q->kinds]);
        shortest = q->limit[job] < shortest ? q->limit[job] : shortest;
    }
    if (from % BLOCK == 0) {
        q->least_need[b] = least;
        q->least_limit[b] = shortest;
    }
}

static void pass_in_order_of_arrival(Queue *q, double now, bool ended)
{
    int64_t head = q->head;
    while (head < q->arrived && (!q->waits[head] || fits(q, q->left, head))) {
        if (q->waits[head])
            start_job(q, head, now);
        head++;
        q->known = false;
    }
    q->head = head;
    if (head == q->arrived || q->backfill == NO_BACKFILL)
        return;
    /* Without an end nothing has become possible for jobs that were looked at before. */
    int64_t from = q->tested;
    if (ended || !q->known || q->shadow < now) {
        find_shadow(q, head, now);
        q->known = true;
        from = head + 1;
    }
    while (from < q->arrived && q->left[0] > 0) {
        int64_t b = from / BLOCK, to = least_of((b + 1) * BLOCK, q->arrived);
        bool late = now + q->least_limit[b] > q->shadow;
        if (q->least_need[b] <= q->left[0] && !(late && q->least_need[b] > q->extra[0]))
            scan_block(q, from, to, now);
        from = to;
    }
    q->tested = q->arrived;
}

/* ---- other orders: the queue is a row of jobs ---- */

static void put_in_row(Queue *q, int64_t job)
{
    int64_t low = 0, high = q->queued;
    q->waits[job] = 1;
    if (q->order == MULTIFACTOR) /* sorted at the next pass */
        low = high;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (before(q, q->queue[middle], job))
            low = middle + 1;
        else
            high = middle;
    }
    memmove(q->queue + low + 1, q->queue + low, (q->queued - low) * sizeof(int64_t));
    q->queue[low] = job;
    q->queued++;
}

static void leave_row(Queue *q)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < q->queued; i++)
        if (q->waits[q->queue[i]])
            q->queue[kept++] = q->queue[i];
    q->queued = kept;
}

static void put_row_in_order(Queue *q, double now)
{
    if (q->order != MULTIFACTOR)
        return;
    look_at_priorities(q, now);
    sort_queue(q, q->queue, q->queued, q->queue + q->jobs);
}

static void pass_in_row(Queue *q, double now)
{
    put_row_in_order(q, now);
    int64_t i = 0;
    while (i < q->queued && fits(q, q->left, q->queue[i]))
        start_job(q, q->queue[i++], now);
    if (i < q->queued && q->backfill == EASY) {
        find_shadow(q, q->queue[i], now);
        for (i++; i < q->queued && q->left[0] > 0; i++)
            backfilled(q, q->queue[i], now);
    }
    leave_row(q);
}

/* ---- conservative: every job has a reservation ---- */

/* The step that a time is in, made to start there. */
static int64_t split_at(Queue *q, double time)
{
    int64_t low = q->first, high = q->steps;
    while (low < high) { /* the first step that starts later */
        int64_t middle = (low + high) / 2;
        if (q->times[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > q->first && q->times[low - 1] == time)
        return low - 1;
    if (q->steps == q->room) {
        int64_t room = 2 * q->room;
        double *times = realloc(q->times, room * sizeof(double));
        if (times)
            q->times = times;
        int64_t *frees = realloc(q->frees, room * q->kinds * sizeof(int64_t));
        if (frees)
            q->frees = frees;
        if (!times || !frees) {
            q->no_memory = true;
            return low - 1;
        }
        q->room = room;
    }
    memmove(q->times + low + 1, q->times + low, (q->steps - low) * sizeof(double));
    memmove(q->frees + (low + 1) * q->kinds, q->frees + low * q->kinds,
            (q->steps - low) * q->kinds * sizeof(int64_t));
    q->times[low] = time;
    memcpy(q->frees + low * q->kinds, q->frees + (low - 1) * q->kinds,
           q->kinds * sizeof(int64_t));
    q->steps++;
    return low;
}

/* A step that is like the one before it is not needed. */
static void join_at(Queue *q, int64_t step)
{
    size_t size = q->kinds * sizeof(int64_t);
    if (step <= q->first || step >= q->steps ||
        memcmp(q->frees + step * q->kinds, q->frees + (step - 1) * q->kinds, size) != 0)
        return;
    memmove(q->times + step, q->times + step + 1, (q->steps - step - 1) * sizeof(double));
    memmove(q->frees + step * q->kinds, q->frees + (step + 1) * q->kinds,
            (q->steps - step - 1) * size);
    q->steps--;
}

/* Take what a job needs from `from` to `to` (sign -1), or give it back (sign 1). */
static void book(Queue *q, int64_t job, double from, double to, int64_t sign)
{
    from = from > q->times[q->first] ? from : q->times[q->first];
    if (!(from < to))
        return;
    int64_t a = split_at(q, from), b = split_at(q, to);
    for (int64_t s = a; s < b; s++)
        give(q, q->frees + s * q->kinds, job, sign);
    join_at(q, b);
    join_at(q, a);
}

/* The earliest time from now on at which a job fits until its limit. */
static double earliest(const Queue *q, int64_t job, double now)
{
    int64_t s = q->first;
    while (s + 1 < q->steps && q->times[s + 1] <= now)
        s++;
    double from = now;
    while (s < q->steps) {
        if (!fits(q, q->frees + s * q->kinds, job)) {
            s++;
            from = s < q->steps ? q->times[s] : INFINITY;
            continue;
        }
        if (s + 1 == q->steps || q->times[s + 1] >= from + q->limit[job])
            return from;
        s++;
    }
    return from; /* not reached: the last step is the empty machine */
}

static void forget_before(Queue *q, double now)
{
    while (q->first + 1 < q->steps && q->times[q->first + 1] <= now)
        q->first++;
    if (q->first > 1024 && q->first > q->steps / 2) {
        memmove(q->times, q->times + q->first, (q->steps - q->first) * sizeof(double));
        memmove(q->frees, q->frees + q->first * q->kinds,
                (q->steps - q->first) * q->kinds * sizeof(int64_t));
        q->steps -= q->first;
        q->first = 0;
    }
}

/* Jobs in order move to an earlier place among the reservations of the others, where there is one
 * (only when something became free before its time); then those whose time has come start. Gives
 * the next time at which a reservation begins. */
static double pass_with_reservations(Queue *q, double now, bool moved)
{
    put_row_in_order(q, now);
    for (int64_t i = 0; i < q->queued && !q->no_memory; i++) {
        int64_t job = q->queue[i];
        double had = q->reserved[job];
        if (!isnan(had)) {
            if (!moved)
                continue;
            book(q, job, had, had + q->limit[job], 1);
        }
        double from = earliest(q, job, now);
        book(q, job, from, from + q->limit[job], -1);
        q->reserved[job] = from;
        if (isnan(q->promised[job]))
            q->promised[job] = from;
    }
    double next = INFINITY;
    for (int64_t i = 0; i < q->queued; i++) {
        int64_t job = q->queue[i];
        if (q->reserved[job] <= now && fits(q, q->left, job))
            start_job(q, job, now);
        else if (q->reserved[job] > now && q->reserved[job] < next)
            next = q->reserved[job];
    }
    leave_row(q);
    return next;
}

/* ---- events ---- */

static void run_events(Queue *q, int64_t *state)
{
    double wake = INFINITY;
    bool rows = q->order != FCFS || q->backfill == CONSERVATIVE, late = false;
    while (q->arrived < q->jobs || q->running > 0 || wake < INFINITY) {
        if (*(volatile int64_t *)(state + 1) || q->no_memory)
            return; /* somebody wants it to stop */
        double now = q->running > 0 ? q->heap[0].time : INFINITY;
        if (q->arrived < q->jobs && q->submit[q->arrived] < now)
            now = q->submit[q->arrived];
        if (wake < now)
            now = wake;
        bool ended = false, early = false;
        if (q->backfill == CONSERVATIVE)
            forget_before(q, now);
        while (q->running > 0 && q->heap[0].time <= now) {
            int64_t job = end_job(q);
            double expected = q->start[job] + q->limit[job];
            ended = true;
            if (q->backfill == CONSERVATIVE && expected > now) {
                early = true;
                book(q, job, now, expected, 1);
            }
        }
        while (q->arrived < q->jobs && q->submit[q->arrived] <= now) {
            if (rows)
                put_in_row(q, q->arrived);
            else
                note_arrival(q, q->arrived);
            q->arrived++;
        }
        if (q->backfill == CONSERVATIVE) {
            bool overdue = q->running > 0 && q->expected[0].time <= now;
            wake = pass_with_reservations(q, now, early || overdue || late);
            late = overdue;
        } else if (rows)
            pass_in_row(q, now);
        else
            pass_in_order_of_arrival(q, now, ended);
        *(volatile int64_t *)state = q->arrived;
    }
}

/* submit, run, limit [n], need [n, k], capacity [k], user, fixed priority [n], what (order,
 * backfill, kill, users), weights (age, oldest, fair share, half-life) -> start, end, promised [n],
 * state [2]: jobs that have arrived so far, and whether to stop, which may be set meanwhile. */
static int schedule(const Argument *a)
{
    const int64_t *what = a[7].data;
    const double *weights = a[8].data;
    int64_t n = a[0].shape[0], k = a[3].shape[1], users = what[3], *state = a[12].data;
    int64_t blocks = n / BLOCK + 1, room = 1024;
    Queue q = {.jobs = n, .kinds = k, .submit = a[0].data, .run = a[1].data, .limit = a[2].data,
               .need = a[3].data, .user = a[5].data, .fixed = a[6].data, .order = what[0],
               .backfill = what[1], .kill = what[2] != 0, .users = users,
               .age_weight = weights[0], .oldest = weights[1], .fair_weight = weights[2],
               .half_life = weights[3], .start = a[9].data, .end = a[10].data,
               .promised = a[11].data, .room = room, .steps = 1};
    bool conservative = q.backfill == CONSERVATIVE, rows = conservative || q.order != FCFS;
    q.left = malloc(2 * k * sizeof(int64_t));
    q.heap = malloc(2 * (n + 1) * sizeof(Ending));
    q.waits = calloc(n + 1, 1);
    q.queue = malloc((rows ? 2 * n + 1 : 1) * sizeof(int64_t));
    q.least_need = malloc(blocks * sizeof(int64_t));
    q.least_limit = malloc(blocks * sizeof(double));
    q.reserved = malloc((conservative ? n + 1 : 1) * sizeof(double));
    q.priority = malloc((q.order == MULTIFACTOR ? n + 1 : 1) * sizeof(double));
    q.usage = calloc(5 * (users + 1), sizeof(double));
    q.times = malloc(room * sizeof(double));
    q.frees = malloc(room * k * sizeof(int64_t));
    q.no_memory = !q.left || !q.heap || !q.waits || !q.queue || !q.least_need ||
                  !q.least_limit || !q.reserved || !q.priority || !q.usage || !q.times || !q.frees;
    if (!q.no_memory) {
        q.extra = q.left + k;
        q.expected = q.heap + n + 1;
        q.rate = q.usage + users + 1;
        q.touched = q.rate + users + 1;
        q.fair = q.touched + users + 1;
        q.fair_at = q.fair + users + 1;
        for (int64_t u = 0; u <= users; u++) {
            q.touched[u] = n > 0 ? q.submit[0] : 0;
            q.fair_at[u] = NAN;
        }
        memcpy(q.left, a[4].data, k * sizeof(int64_t));
        memcpy(q.frees, a[4].data, k * sizeof(int64_t));
        q.times[0] = -INFINITY;
        for (int64_t j = 0; j < n; j++)
            q.start[j] = q.end[j] = q.promised[j] = NAN;
        for (int64_t j = 0; conservative && j < n; j++)
            q.reserved[j] = NAN;
        run_events(&q, state);
    }
    void *held[] = {q.left, q.heap, q.waits, q.queue, q.least_need, q.least_limit,
                    q.reserved, q.priority, q.usage, q.times, q.frees};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        free(held[i]);
    return q.no_memory ? NO_MEMORY : 0;
}

const Kernel SCHEDULE[] = {
    {"schedule",
     "f8 f8 f8 i8_2d i8 i8 f8 i8 f8 to_f8 to_f8 to_f8 to_i8", schedule},
    {0},
};
