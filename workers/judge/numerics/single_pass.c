/* Everything that `measure`, `decide` and `Tally.add` work out of a piece of an output, in one pass.
 *
 * The same operations as theirs, on the same doubles, so that results are equal bit for bit; only the three sums
 * add up in another order.  It is for real formats that float32 holds exactly, and for pieces without NaN,
 * infinities and overflow: compile it with -ffinite-math-only, and with -ffp-contract=off.  Blocks that stay in a core's
 * first cache, and loops that do one thing, let compilers use vector instructions.
 */

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define VERSION 2 /* another one whenever this file changes: `single_pass.py` takes no other */

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define WIDEST __attribute__((target_clones("avx2", "default")))
#else
#define WIDEST
#endif
#define INLINE static inline __attribute__((always_inline))

enum { MANTISSA_BITS = 52, BIAS = 1023, FINE_BITS = 3, BELOW = 8, FINE = (63 + BELOW) << FINE_BITS, OCTAVES = 2048 };
enum { BLOCK = 160, LANES = 2, MOST_RULES = 32 };
enum { BY_TOLERANCE, BY_ULP, BY_BUDGET };

static const double NO_ALLOWANCE = 0x1p-800, JUST_OUTSIDE = 1.0 + 0x1p-40, TINY = 1e-8;
static const double NEARLY = 1.0 - 0x1p-40; /* a product that is not above a quotient's bound, for all rounding */

typedef struct {
    double overflow;
    double atol, rtol, rounding;       /* rounding and budget_rounding: in ulp */
    double ulp_limit;
    double slack, excuse_slack;        /* times the reference's own error: in the budget's ratio; to pass */
    double relative, accumulated, scale, floor, budget_rounding;
    double tight_atol, tight_rtol;     /* within them, an element is within every named rule */
    int64_t precision, e_min, e_max;
    int64_t decides, ulp_suffices, with_oracle, bfloat16;
    int64_t sums, eithers, not_boths;  /* how many named rules of each kind */
} Rule;

typedef struct {
    int64_t mismatched, by_ulp, by_reference, got_nonzero, native_nonzero, tops, worsts;
    double max_abs, max_rel, max_ulp, budget_ratio, reference_max_ulp, least_allowed, most_allowed;
    double errors, truths, signs;      /* sums of squares, and of signed ulp */
} Totals;

typedef struct {
    double got[BLOCK], native[BLOCK], want[BLOCK], magnitude[BLOCK], unit[BLOCK], inverse[BLOCK];
    double error[BLOCK], ulp[BLOCK], own_error[BLOCK], own_ulp[BLOCK], signs[BLOCK];
    double budget[BLOCK], allowed[BLOCK], ratio[BLOCK], severity[BLOCK], relative[BLOCK], ones[BLOCK];
    double suspect_error[BLOCK], suspect_size[BLOCK];
    int64_t outside[BLOCK];
    int32_t key[BLOCK];
} Block;

/* In lanes, so that neighbours of one bin do not wait for each other; one of each for candidate and reference. */
typedef struct {
    uint32_t fine[2][LANES][FINE + 1], octaves[2][LANES][OCTAVES];
    int64_t violations[MOST_RULES];
} Counts;

int64_t single_pass_version(void) { return VERSION; }

INLINE double larger(double a, double b) { return a > b ? a : b; }
INLINE double smaller(double a, double b) { return a < b ? a : b; }

INLINE void widen(const void *values, int64_t start, int n, int bfloat16, double *wide) {
    if (bfloat16) {
        const uint16_t *codes = (const uint16_t *)values + start;
        float narrow[BLOCK];
        uint32_t upper[BLOCK];
        for (int i = 0; i < n; i++) upper[i] = (uint32_t)codes[i] << 16;
        memcpy(narrow, upper, n * sizeof *upper);
        for (int i = 0; i < n; i++) wide[i] = narrow[i];
    } else {
        const float *narrow = (const float *)values + start;
        for (int i = 0; i < n; i++) wide[i] = narrow[i];
    }
}

/* By bits: compilers may take for granted that doubles are finite.  Sizes of numbers are ordered as their bits are. */
INLINE int are_finite(const void *values, int64_t start, int n, int bfloat16) {
    const uint16_t *codes = (const uint16_t *)values + start;
    const int32_t *bits = (const int32_t *)values + start;
    int32_t odd = 0;
    if (bfloat16) for (int i = 0; i < n; i++) odd |= (codes[i] & 0x7fff) >= 0x7f80;
    else for (int i = 0; i < n; i++) odd |= (bits[i] & 0x7fffffff) >= 0x7f800000;
    return !odd;
}

INLINE int are_below(const double *values, int n, double bound) {
    const int64_t *bits = (const int64_t *)values;
    int64_t limit, odd = 0;
    memcpy(&limit, &bound, sizeof limit);
    for (int i = 0; i < n; i++) odd |= (bits[i] & INT64_MAX) >= limit;
    return !odd;
}

INLINE void units(const double *magnitude, int n, const Rule *rule, double *unit, double *inverse) {
    uint64_t bits[BLOCK], half = UINT64_C(1) << (MANTISSA_BITS - rule->precision);
    int64_t low = rule->e_min + BIAS, high = rule->e_max + BIAS, below = rule->precision - 1;
    uint64_t up[BLOCK], down[BLOCK];
    memcpy(bits, magnitude, n * sizeof *bits);
    for (int i = 0; i < n; i++) {
        int64_t exponent = (int64_t)((bits[i] + half) >> MANTISSA_BITS);
        exponent = exponent < low ? low : exponent;
        exponent = (exponent > high ? high : exponent) - below;
        up[i] = (uint64_t)exponent << MANTISSA_BITS;
        down[i] = (uint64_t)(2 * BIAS - exponent) << MANTISSA_BITS;
    }
    memcpy(unit, up, n * sizeof *up);
    memcpy(inverse, down, n * sizeof *down);
}

/* Counts by eighths of an octave from 2**-8, as `statistics.fine_histogram`. */
INLINE void count_ulp(const double *ulp, int n, uint32_t fine[LANES][FINE + 1], int32_t *key) {
    uint64_t bits[BLOCK];
    memcpy(bits, ulp, n * sizeof *bits);
    for (int i = 0; i < n; i++) {
        int32_t k = (int32_t)(bits[i] >> (MANTISSA_BITS - FINE_BITS)) - ((BIAS - BELOW) << FINE_BITS) + 1;
        k = k < 0 ? 0 : k;
        key[i] = k > FINE ? FINE : k;
    }
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) fine[i % LANES][key[i]]++;
}

INLINE void count_octaves(const double *error, int n, uint32_t octaves[LANES][OCTAVES], int32_t *key) {
    uint64_t bits[BLOCK];
    memcpy(bits, error, n * sizeof *bits);
    for (int i = 0; i < n; i++) key[i] = (int32_t)(bits[i] >> MANTISSA_BITS);
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) octaves[i % LANES][key[i]]++;
}

INLINE double largest(const double *values, int n, double most) {
    for (int i = 0; i < n; i++) most = larger(most, values[i]);
    return most;
}

INLINE double largest_relative(Block *b, int n) {
    for (int i = 0; i < n; i++) {
        const double quotient = b->error[i] / (b->magnitude[i] > 0.0 ? b->magnitude[i] : 1.0);
        b->relative[i] = b->magnitude[i] > 0.0 ? quotient : 0.0;
    }
    return largest(b->relative, n, 0.0);
}

INLINE double sum_of_products(const double *a, const double *b, int n) {
    double lanes[8] = {0}, sum = 0;
    int i = 0;
    for (; i + 8 <= n; i += 8) for (int j = 0; j < 8; j++) lanes[j] += a[i + j] * b[i + j];
    for (; i < n; i++) sum += a[i] * b[i];
    for (int j = 0; j < 8; j++) sum += lanes[j];
    return sum;
}

/* How many elements miss each named rule; those within the tightest of all are not asked. */
INLINE void count_violations(Block *b, int n, const Rule *rule, const double *atol, const double *rtol, int64_t *violations) {
    int found = 0;
    for (int i = 0; i < n; i++) {
        const double apart = fabs(b->got[i] - b->native[i]), size = fabs(b->native[i]);
        b->suspect_error[found] = apart;
        b->suspect_size[found] = size;
        found += !(apart <= size * rule->tight_rtol + rule->tight_atol);
    }
    const double *a = b->suspect_error, *r = b->suspect_size;
    int64_t k = 0, to = rule->sums, missed;
    for (; found && k < to; violations[k++] += missed) {
        missed = 0;
        for (int i = 0; i < found; i++) missed += !(a[i] <= atol[k] + rtol[k] * r[i]);
    }
    for (to += rule->eithers; found && k < to; violations[k++] += missed) {
        missed = 0;
        for (int i = 0; i < found; i++) missed += !((a[i] <= atol[k]) | (a[i] <= rtol[k] * r[i]));
    }
    for (to += rule->not_boths; found && k < to; violations[k++] += missed) {
        missed = 0;
        for (int i = 0; i < found; i++) missed += (a[i] > atol[k]) & (a[i] / (r[i] + TINY) > rtol[k]);
    }
}

INLINE void measure(Block *b, int n, const Rule *rule) {
    units(b->magnitude, n, rule, b->unit, b->inverse);
    for (int i = 0; i < n; i++) b->signs[i] = (b->got[i] - b->want[i]) * b->inverse[i];
    for (int i = 0; i < n; i++) b->error[i] = fabs(b->got[i] - b->want[i]);
    for (int i = 0; i < n; i++) b->ulp[i] = fabs(b->signs[i]);
    for (int i = 0; i < n; i++) b->own_error[i] = fabs(b->native[i] - b->want[i]);
    for (int i = 0; i < n; i++) b->own_ulp[i] = b->own_error[i] * b->inverse[i];
}

INLINE void hold_to_budget(Block *b, int n, const Rule *rule, const float *sensitivity) {
    if (sensitivity)
        for (int i = 0; i < n; i++) b->budget[i] = larger(b->magnitude[i], sensitivity[i]) * rule->accumulated;
    else
        for (int i = 0; i < n; i++) b->budget[i] = larger(b->magnitude[i], rule->scale) * rule->accumulated;
    for (int i = 0; i < n; i++) {
        double budget = b->budget[i] + b->magnitude[i] * rule->relative + rule->floor + b->unit[i] * rule->budget_rounding;
        double ratio = b->error[i] / larger(budget, NO_ALLOWANCE);
        double capped = smaller(ratio, 1.0);
        b->budget[i] = budget;
        b->ratio[i] = rule->with_oracle & (b->error[i] <= rule->slack * b->own_error[i]) ? capped : ratio;
    }
}

/* `allowed` and the severity before it is known who passes; returns whether someone is outside. */
INLINE int64_t hold_to_rule(Block *b, int n, const Rule *rule) {
    int64_t some = 0;
    if (rule->decides == BY_ULP) {
        for (int i = 0; i < n; i++) b->severity[i] = b->ulp[i] / larger(rule->ulp_limit, NO_ALLOWANCE);
        for (int i = 0; i < n; i++) some |= b->outside[i] = b->ulp[i] > rule->ulp_limit;
        return some;
    }
    if (rule->decides == BY_BUDGET) {
        memcpy(b->allowed, b->budget, n * sizeof *b->allowed);
        memcpy(b->severity, b->ratio, n * sizeof *b->severity);
    } else {
        for (int i = 0; i < n; i++)
            b->allowed[i] = b->magnitude[i] * rule->rtol + rule->atol + b->unit[i] * rule->rounding;
        for (int i = 0; i < n; i++) b->severity[i] = b->error[i] / larger(b->allowed[i], NO_ALLOWANCE);
    }
    for (int i = 0; i < n; i++) some |= b->outside[i] = b->error[i] > b->allowed[i];
    return some;
}

/* In the order of the rules: `max_ulp`, then the reference's own error. */
INLINE void excuse(Block *b, int n, const Rule *rule, Totals *t) {
    for (int i = 0; i < n; i++) {
        if (b->outside[i] && rule->ulp_suffices && b->ulp[i] <= rule->ulp_limit) b->outside[i] = !(t->by_ulp = 1);
        if (b->outside[i] && rule->with_oracle && b->error[i] <= rule->excuse_slack * b->own_error[i])
            b->outside[i] = !(t->by_reference = 1);
        t->mismatched += b->outside[i];
        b->severity[i] = b->outside[i] ? larger(b->severity[i], JUST_OUTSIDE) : smaller(b->severity[i], 1.0);
    }
}

INLINE int64_t above(const double *values, int n, double floor, int64_t first, double *found, int64_t *at) {
    int64_t count = 0;
    for (int i = 0; i < n; i++) {
        if (values[i] > floor) {
            found[count] = values[i];
            at[count++] = first + i;
        }
    }
    return count;
}

/* The largest distance of every cell of `statistics.ErrorMap`; a cell's columns end at `ends`. */
INLINE void map(const double *ulp, int n, int64_t at, const int64_t shape[4], const int64_t *ends, double *cells) {
    const int64_t rows = shape[0], columns = shape[1], height = shape[2], width = shape[3];
    int i = 0;
    while (i < n) {
        const int64_t row = (at + i) / columns;
        int64_t column = (at + i) % columns, cell = column * width / columns;
        double *line = cells + row * height / rows * width;
        for (; i < n && cell < width; cell++) {
            const int64_t left = ends[cell] - column;
            const int stop = n - i < left ? n : i + (int)left;
            column += stop - i;
            line[cell] = largest(ulp + i, stop - i, line[cell]);
            i = stop;
        }
    }
}

/* 0 where the piece is not plain; nothing is counted then, and `cells` has what counting it will find again.
 *
 * `start`: flat index of the piece.  `truth` and `sensitivity` may be NULL.  `atol` and `rtol`: the named rules', first
 * those that add them, then those that take either, then those that want neither exceeded; `violations` as many.
 * `top` and `worst` take the ulp distances and severities above `floors[0]` and `floors[1]`, and where they are.
 */
WIDEST int single_pass(int64_t start, int64_t n, const void *got, const void *native, const double *truth,
                       const float *sensitivity, const Rule *rule, const double *atol, const double *rtol,
                       const double floors[2], double *top, int64_t *top_at, double *worst, int64_t *worst_at,
                       int64_t (*fine)[FINE + 1], int64_t (*octaves)[OCTAVES], int64_t *violations,
                       const int64_t map_shape[4], const int64_t *ends, double *cells,
                       Totals *totals) {
    Counts counts = {0};
    Totals t = {.least_allowed = DBL_MAX, .most_allowed = -DBL_MAX};
    Block b;
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int size = n - first < BLOCK ? (int)(n - first) : BLOCK;
        if (!are_finite(got, first, size, rule->bfloat16) || !are_finite(native, first, size, rule->bfloat16)) return 0;
        if (truth && !are_below(truth + first, size, rule->overflow)) return 0;
        if (sensitivity && !are_finite(sensitivity, first, size, 0)) return 0;
        widen(got, first, size, rule->bfloat16, b.got);
        widen(native, first, size, rule->bfloat16, b.native);
        memcpy(b.want, truth ? truth + first : b.native, size * sizeof *b.want);
        for (int i = 0; i < size; i++) b.magnitude[i] = fabs(b.want[i]);
        measure(&b, size, rule);
        hold_to_budget(&b, size, rule, sensitivity ? sensitivity + first : sensitivity);
        t.budget_ratio = largest(b.ratio, size, t.budget_ratio);
        if (hold_to_rule(&b, size, rule)) excuse(&b, size, rule, &t);
        if (rule->decides != BY_ULP) {
            for (int i = 0; i < size; i++) t.least_allowed = smaller(t.least_allowed, b.allowed[i]);
            t.most_allowed = largest(b.allowed, size, t.most_allowed);
        }
        int64_t some = 0;
        for (int i = 0; i < size; i++) {
            some |= b.error[i] > t.max_rel * NEARLY * b.magnitude[i];
            b.ones[i] = 1.0;
        }
        if (some) t.max_rel = larger(t.max_rel, largest_relative(&b, size));
        t.max_abs = largest(b.error, size, t.max_abs);
        t.max_ulp = largest(b.ulp, size, t.max_ulp);
        t.errors += sum_of_products(b.error, b.error, size);
        t.truths += sum_of_products(b.magnitude, b.magnitude, size);
        t.signs += sum_of_products(b.signs, b.ones, size);
        count_ulp(b.ulp, size, counts.fine[0], b.key);
        count_octaves(b.error, size, counts.octaves[0], b.key);
        if (rule->with_oracle) {
            t.reference_max_ulp = largest(b.own_ulp, size, t.reference_max_ulp);
            count_ulp(b.own_ulp, size, counts.fine[1], b.key);
            count_octaves(b.own_error, size, counts.octaves[1], b.key);
        }
        if (largest(b.ulp, size, -1.0) > floors[0])
            t.tops += above(b.ulp, size, floors[0], start + first, top + t.tops, top_at + t.tops);
        if (largest(b.severity, size, 0.0) > floors[1])
            t.worsts += above(b.severity, size, floors[1], start + first, worst + t.worsts, worst_at + t.worsts);
        map(b.ulp, size, start + first, map_shape, ends, cells);
        for (int i = 0; i < size; i++) t.got_nonzero |= b.got[i] != 0.0;
        for (int i = 0; i < size; i++) t.native_nonzero |= b.native[i] != 0.0;
        count_violations(&b, size, rule, atol, rtol, counts.violations);
    }
    for (int of = 0; of < 2; of++) {
        for (int lane = 0; lane < LANES; lane++) {
            for (int k = 0; k <= FINE; k++) fine[of][k] += counts.fine[of][lane][k];
            for (int k = 0; k < OCTAVES; k++) octaves[of][k] += counts.octaves[of][lane][k];
        }
    }
    for (int k = 0; k < rule->sums + rule->eithers + rule->not_boths; k++) violations[k] += counts.violations[k];
    *totals = t;
    return 1;
}
