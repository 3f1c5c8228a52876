/* Everything that `measure`, `decide` and `Tally.add` work out of an output, in one pass.
 *
 * The same operations as theirs, on the same doubles, so that results are equal bit for bit; only the three sums
 * add up in another order.  It is for real formats that float32 holds exactly, and stops before NaN, infinities and
 * overflow: compile it with -ffinite-math-only, and with -ffp-contract=off.  One loop without branches does what every
 * element needs, in blocks that stay in a core's first cache; what few need is done by block, where it says so.
 */

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define VERSION 3 /* another one whenever this file changes: `single_pass.py` takes no other */

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define WIDEST __attribute__((target_clones("avx2", "default")))
#else
#define WIDEST
#endif
#define INLINE static inline __attribute__((always_inline))

enum { MANTISSA_BITS = 52, BIAS = 1023, FINE_BITS = 3, BELOW = 8, FINE = (63 + BELOW) << FINE_BITS, OCTAVES = 2048 };
enum { BLOCK = 192, GROUP = 16, LINE = 64 };
enum { BY_TOLERANCE, BY_ULP, BY_BUDGET };

/* Errors are counted once, by their unit's octave (rows) and their eighth of an octave in ulp (columns): that tells
 * both histograms.  The first column is for less than 2**-DEEP ulp, the last from 2**HIGH on; a power of two for a
 * stride would put a column of all rows into one set of a cache. */
enum { HIGH = 63, DEEP = 54, COLUMNS = ((HIGH + DEEP) << FINE_BITS) + 2, ROWS = 256, STRIDE = (1 << 10) + (1 << 4) };
enum { SHIFT = MANTISSA_BITS - FINE_BITS, FIRST = ((BIAS - DEEP) << FINE_BITS) - 1 }; /* a double's bits to a column */

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
    int64_t mismatched, by_ulp, by_reference, got_nonzero, native_nonzero;
    double max_abs, max_rel, max_ulp, budget_ratio, reference_max_ulp, least_allowed, most_allowed;
    double least_size, most_size;      /* of the truths */
    int64_t tops, worsts;              /* from here on: of the last call alone */
    double errors, truths, signs;      /* sums of squares, and of signed ulp */
} Totals;

typedef struct {
    double got[BLOCK], native[BLOCK], sensitivity[BLOCK], ulp[BLOCK], own_ulp[BLOCK], severity[BLOCK];
    double suspect_error[BLOCK], suspect_size[BLOCK];
    int64_t key[BLOCK], own_key[BLOCK], outside[BLOCK];
    const double *want;
} Block;

/* Whether a block may have an element that needs more than all do. */
typedef struct {
    int64_t extreme, suspect, far;
} Flags;

int64_t single_pass_version(void) { return VERSION; }

INLINE double larger(double a, double b) { return a > b ? a : b; }
INLINE double smaller(double a, double b) { return a < b ? a : b; }

INLINE uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

INLINE double of_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

INLINE double power_of_two(int64_t exponent) { return of_bits((uint64_t)(exponent + BIAS) << MANTISSA_BITS); }

/* 0 where not all are finite.  By bits: compilers may take for granted that doubles are. */
INLINE int widen(const void *values, int64_t start, int n, int bfloat16, double *wide, int64_t *nonzero) {
    uint32_t odd = 0, some = 0;
    if (bfloat16) {
        const uint16_t *codes = (const uint16_t *)values + start;
        float narrow[BLOCK];
        uint32_t upper[BLOCK];
        uint16_t odd_codes = 0, some_codes = 0;
        for (int i = 0; i < n; i++) {
            const uint16_t size = codes[i] & 0x7fff;
            odd_codes |= size >= 0x7f80;
            some_codes |= size;
        }
        odd = odd_codes, some = some_codes;
        for (int i = 0; i < n; i++) upper[i] = (uint32_t)codes[i] << 16;
        memcpy(narrow, upper, n * sizeof *upper);
        for (int i = 0; i < n; i++) wide[i] = narrow[i];
    } else {
        const float *narrow = (const float *)values + start;
        const int32_t *bits = (const int32_t *)values + start;
        for (int i = 0; i < n; i++) {
            const int32_t size = bits[i] & 0x7fffffff;
            odd |= size >= 0x7f800000;
            some |= size;
        }
        for (int i = 0; i < n; i++) wide[i] = narrow[i];
    }
    *nonzero |= !odd && some;
    return !odd;
}

INLINE int are_finite(const float *values, int n) {
    const int32_t *bits = (const int32_t *)values;
    int32_t odd = 0;
    for (int i = 0; i < n; i++) odd |= (bits[i] & 0x7fffffff) >= 0x7f800000;
    return !odd;
}

/* Sizes of numbers are ordered as their bits are. */
INLINE int are_below(const double *values, int n, double bound) {
    const int64_t *bits = (const int64_t *)values;
    int64_t limit, odd = 0;
    memcpy(&limit, &bound, sizeof limit);
    for (int i = 0; i < n; i++) odd |= (bits[i] & INT64_MAX) >= limit;
    return !odd;
}

INLINE double largest(const double *values, int n, double most) {
    for (int i = 0; i < n; i++) most = larger(most, values[i]);
    return most;
}

/* The power of two at or below a size as the format rounds it, within its normal range. */
INLINE double octave_of(double size, const Rule *r) {
    const uint64_t half = UINT64_C(1) << (MANTISSA_BITS - r->precision);
    const double power = of_bits((bits_of(size) + half) & (UINT64_C(0x7ff) << MANTISSA_BITS));
    return smaller(larger(power, power_of_two(r->e_min)), power_of_two(r->e_max));
}

INLINE double unit_of(double octave, const Rule *r) {
    return of_bits(bits_of(octave) - ((uint64_t)(r->precision - 1) << MANTISSA_BITS));
}

INLINE double inverse_of(double unit) { return of_bits(((uint64_t)(2 * BIAS) << MANTISSA_BITS) - bits_of(unit)); }

/* Times STRIDE, from the bits of a power of two. */
INLINE int64_t row_of(double octave) {
    return (int64_t)((bits_of(octave) >> (MANTISSA_BITS - 10)) + (bits_of(octave) >> (MANTISSA_BITS - 4)));
}

INLINE int64_t eighth_of(double ulp) { return (int64_t)(bits_of(ulp) >> SHIFT); }

INLINE double budget_of(double size, double sensitivity, double unit, const Rule *r) {
    return larger(size, sensitivity) * r->accumulated + size * r->relative + r->floor + unit * r->budget_rounding;
}

INLINE double allowed_by(int decides, double size, double unit, double budget, const Rule *r) {
    return decides == BY_BUDGET ? budget : size * r->rtol + r->atol + unit * r->rounding;
}

/* What every element needs.  A quotient that cannot be the largest is not divided: only its block is flagged. */
INLINE Flags measure(Block *b, int n, const Rule *rule, int decides, double worst_floor, Totals *t) {
    const Rule r = *rule;
    const double rel_bound = t->max_rel * NEARLY, ratio_bound = t->budget_ratio * NEARLY;
    const double bound = smaller(worst_floor * NEARLY, 1.0); /* whoever is outside is flagged, too */
    const double below = of_bits((uint64_t)FIRST << SHIFT), high = power_of_two(HIGH);
    const int64_t first = (r.e_min + BIAS) * STRIDE + FIRST;
    double max_abs = t->max_abs, max_ulp = 0, own_max = 0, least_size = DBL_MAX, most_size = 0;
    double least = t->least_allowed, most = t->most_allowed, errors = 0, truths = 0, signs = 0;
    int64_t extreme = 0, suspect = 0;
#pragma omp simd reduction(+ : errors, truths, signs) reduction(max : max_abs, max_ulp, own_max, most, most_size) \
    reduction(min : least, least_size) reduction(| : extreme, suspect)
    for (int i = 0; i < n; i++) {
        const double want = b->want[i], size = fabs(want);
        const double octave = octave_of(size, &r), unit = unit_of(octave, &r), inverse = inverse_of(unit);
        const double off = b->got[i] - want, error = fabs(off), signed_ulp = off * inverse, ulp = fabs(signed_ulp);
        const double own_ulp = fabs(b->native[i] - want) * inverse;
        const double budget = budget_of(size, b->sensitivity[i], unit, &r);
        const double tight = fabs(b->native[i]) * r.tight_rtol + r.tight_atol;
        const double by_rule = decides == BY_ULP ? ulp : error;
        const double allowed = decides == BY_ULP ? r.ulp_limit : allowed_by(decides, size, unit, budget, &r);
        const int64_t row = row_of(octave) - first;
        b->ulp[i] = ulp;
        b->own_ulp[i] = own_ulp;
        b->key[i] = row + eighth_of(smaller(larger(ulp, below), high));
        b->own_key[i] = row + eighth_of(smaller(larger(own_ulp, below), high));
        max_abs = larger(max_abs, error);
        max_ulp = larger(max_ulp, ulp);
        own_max = larger(own_max, own_ulp);
        least_size = smaller(least_size, size);
        most_size = larger(most_size, size);
        errors += error * error;
        truths += size * size;
        signs += signed_ulp;
        if (decides == BY_BUDGET) {
            least = smaller(least, allowed);
            most = larger(most, allowed);
        }
        suspect |= -(int64_t)(fabs(b->got[i] - b->native[i]) > tight);
        extreme |= -(int64_t)((error > rel_bound * size) | (error > ratio_bound * budget));
        extreme |= -(int64_t)(by_rule > bound * allowed);
    }
    t->max_abs = max_abs, t->max_ulp = larger(t->max_ulp, max_ulp);
    if (r.with_oracle) t->reference_max_ulp = larger(t->reference_max_ulp, own_max);
    t->least_size = smaller(t->least_size, least_size), t->most_size = larger(t->most_size, most_size);
    t->least_allowed = least, t->most_allowed = most;
    t->errors += errors, t->truths += truths, t->signs += signs;
    /* A truth that the format holds as a normal number is further than 2**-DEEP ulp away, or not at all. */
    const int64_t far = (larger(max_ulp, own_max) >= high) | (least_size < power_of_two(r.e_min + 1));
    return (Flags){extreme, suspect, far};
}

/* The budget's ratio, and the severity before it is known who passes. */
INLINE int64_t weigh(Block *b, int n, const Rule *rule, int decides, Totals *t) {
    const Rule r = *rule;
    double most = t->budget_ratio;
    int64_t outside = 0;
    for (int i = 0; i < n; i++) {
        const double size = fabs(b->want[i]), unit = unit_of(octave_of(size, &r), &r);
        const double error = fabs(b->got[i] - b->want[i]), own_error = fabs(b->native[i] - b->want[i]);
        const double budget = budget_of(size, b->sensitivity[i], unit, &r);
        const double whole = error / larger(budget, NO_ALLOWANCE), capped = smaller(whole, 1.0);
        const double ratio = (r.with_oracle != 0) & (error <= r.slack * own_error) ? capped : whole;
        const double allowed = allowed_by(decides, size, unit, budget, &r);
        most = larger(most, ratio);
        if (decides == BY_ULP) {
            b->severity[i] = b->ulp[i] / larger(r.ulp_limit, NO_ALLOWANCE);
            outside |= b->outside[i] = b->ulp[i] > r.ulp_limit;
        } else {
            b->severity[i] = decides == BY_BUDGET ? ratio : error / larger(allowed, NO_ALLOWANCE);
            outside |= b->outside[i] = error > allowed;
        }
    }
    t->budget_ratio = most;
    return outside;
}

/* In the order of the rules: `max_ulp`, then the reference's own error. */
INLINE void excuse(Block *b, int n, const Rule *rule, Totals *t) {
    for (int i = 0; i < n; i++) {
        const double error = fabs(b->got[i] - b->want[i]), own_error = fabs(b->native[i] - b->want[i]);
        if (b->outside[i] && rule->ulp_suffices && b->ulp[i] <= rule->ulp_limit) b->outside[i] = !(t->by_ulp = 1);
        if (b->outside[i] && rule->with_oracle && error <= rule->excuse_slack * own_error)
            b->outside[i] = !(t->by_reference = 1);
        t->mismatched += b->outside[i];
        b->severity[i] = b->outside[i] ? larger(b->severity[i], JUST_OUTSIDE) : smaller(b->severity[i], 1.0);
    }
}

INLINE double largest_relative(const Block *b, int n, double most) {
    for (int i = 0; i < n; i++) {
        const double size = fabs(b->want[i]), quotient = fabs(b->got[i] - b->want[i]) / (size > 0.0 ? size : 1.0);
        most = larger(most, size > 0.0 ? quotient : 0.0);
    }
    return most;
}

/* The octaves of errors in the first and the last column, which `fold` takes for zeros. */
INLINE void count_far(const double *values, const double *ulp, int n, const double *want, int64_t *octaves) {
    const double deep = power_of_two(-DEEP), high = power_of_two(HIGH);
    for (int i = 0; i < n; i++) {
        if (ulp[i] >= deep && ulp[i] < high) continue;
        octaves[0]--;
        octaves[bits_of(fabs(values[i] - want[i])) >> MANTISSA_BITS]++;
    }
}

/* The two histograms of `statistics`, from a table whose rows are used between two truths of these sizes. */
void single_pass_fold(const Rule *rule, double least_size, double most_size, const uint32_t *table, int64_t *fine,
                      int64_t *octaves) {
    const int64_t bottom = rule->e_min + BIAS;
    const int64_t last = (int64_t)(bits_of(octave_of(most_size, rule)) >> MANTISSA_BITS) - bottom;
    for (int64_t row = (int64_t)(bits_of(octave_of(least_size, rule)) >> MANTISSA_BITS) - bottom; row <= last; row++) {
        const uint32_t *counts = table + row * STRIDE;
        const int64_t unit = row + rule->e_min - (rule->precision - 1); /* its exponent */
        for (int64_t column = 0; column < COLUMNS; column++) {
            const int64_t k = column - ((DEEP - BELOW) << FINE_BITS), exponent = (column + FIRST) >> FINE_BITS;
            const int told = column > 0 && column < COLUMNS - 1;
            fine[k < 0 ? 0 : k > FINE ? FINE : k] += counts[column];
            octaves[told ? exponent + unit : 0] += counts[column];
        }
    }
}

/* How many elements miss each named rule; those within the tightest of all are not asked. */
INLINE void count_violations(Block *b, int n, const Rule *rule, const double *atol, const double *rtol,
                             int64_t *violations) {
    int found = 0;
    for (int i = 0; i < n; i++) {
        const double apart = fabs(b->got[i] - b->native[i]), size = fabs(b->native[i]);
        b->suspect_error[found] = apart;
        b->suspect_size[found] = size;
        found += apart > size * rule->tight_rtol + rule->tight_atol;
    }
    const double *a = b->suspect_error, *r = b->suspect_size;
    int64_t k = 0, to = rule->sums, missed;
    for (; k < to; violations[k++] += missed) {
        missed = 0;
        for (int i = 0; i < found; i++) missed += !(a[i] <= atol[k] + rtol[k] * r[i]);
    }
    for (to += rule->eithers; k < to; violations[k++] += missed) {
        missed = 0;
        for (int i = 0; i < found; i++) missed += !((a[i] <= atol[k]) | (a[i] <= rtol[k] * r[i]));
    }
    for (to += rule->not_boths; k < to; violations[k++] += missed) {
        missed = 0;
        for (int i = 0; i < found; i++) missed += (a[i] > atol[k]) & (a[i] / (r[i] + TINY) > rtol[k]);
    }
}

/* Few elements are among the largest: most groups are passed by their maximum. */
INLINE int64_t above(const double *values, int n, double floor, int64_t first, double *found, int64_t *at) {
    int64_t count = 0;
    for (int from = 0; from < n; from += GROUP) {
        const int to = n - from < GROUP ? n : from + GROUP;
        if (to == from + GROUP && largest(values + from, GROUP, values[from]) <= floor) continue;
        for (int i = from; i < to; i++) {
            if (values[i] > floor) {
                found[count] = values[i];
                at[count++] = first + i;
            }
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

/* Memory is slower than the arithmetic here, unless it is asked for a block ahead. */
INLINE void prefetch(const void *values, int64_t at, int itemsize) {
#ifdef __GNUC__
    if (values)
        for (int i = 0; i < BLOCK * itemsize; i += LINE) __builtin_prefetch((const char *)values + at * itemsize + i);
#endif
}

/* How many elements were counted: all, or those of the blocks before the first that is not plain.
 *
 * `start`: flat index of the piece.  `truth` and `sensitivity` may be NULL.  `atol` and `rtol`: the named rules', first
 * those that add them, then those that take either, then those that want neither exceeded; `violations` as many.
 * `top` and `worst` take the ulp distances and severities above `floors[0]` and `floors[1]`, and where they are.
 * `tables` and `octaves` are of candidate and reference; `single_pass_fold` makes histograms of the tables in the end.
 */
WIDEST int64_t single_pass(int64_t start, int64_t n, const void *got, const void *native, const double *truth,
                           const float *sensitivity, const Rule *rule, const double *atol, const double *rtol,
                           const double floors[2], double *top, int64_t *top_at, double *worst, int64_t *worst_at,
                           uint32_t (*tables)[ROWS * STRIDE], int64_t (*octaves)[OCTAVES], int64_t *violations,
                           const int64_t map_shape[4], const int64_t *ends, double *cells, Totals *totals) {
    const int itemsize = rule->bfloat16 ? sizeof(uint16_t) : sizeof(float), known = sensitivity != 0;
    Totals t = *totals;
    Block b;
    int64_t first = 0;
    for (int i = 0; !known && i < BLOCK; i++) b.sensitivity[i] = rule->scale;
    t.tops = t.worsts = 0;
    t.errors = t.truths = t.signs = 0;
    for (; first < n; first += BLOCK) {
        const int size = n - first < BLOCK ? (int)(n - first) : BLOCK;
        int64_t got_nonzero = 0, native_nonzero = 0;
        if (n - first >= 2 * BLOCK) {
            prefetch(truth, first + BLOCK, sizeof *truth);
            prefetch(sensitivity, first + BLOCK, sizeof *sensitivity);
            prefetch(got, first + BLOCK, itemsize);
            prefetch(native, first + BLOCK, itemsize);
        }
        if (!widen(got, first, size, rule->bfloat16, b.got, &got_nonzero)) break;
        if (!widen(native, first, size, rule->bfloat16, b.native, &native_nonzero)) break;
        if (truth && !are_below(truth + first, size, rule->overflow)) break;
        if (known && !are_finite(sensitivity + first, size)) break;
        t.got_nonzero |= got_nonzero, t.native_nonzero |= native_nonzero;
        b.want = truth ? truth + first : b.native;
        for (int i = 0; known && i < size; i++) b.sensitivity[i] = sensitivity[first + i];
        Flags some;
        /* Written out, so that the one loop has no branch. */
        if (rule->decides == BY_TOLERANCE) some = measure(&b, size, rule, BY_TOLERANCE, floors[1], &t);
        else if (rule->decides == BY_ULP) some = measure(&b, size, rule, BY_ULP, floors[1], &t);
        else some = measure(&b, size, rule, BY_BUDGET, floors[1], &t);
        if (some.extreme) {
            if (weigh(&b, size, rule, (int)rule->decides, &t)) excuse(&b, size, rule, &t);
            t.worsts += above(b.severity, size, floors[1], start + first, worst + t.worsts, worst_at + t.worsts);
            t.max_rel = largest_relative(&b, size, t.max_rel);
        }
        if (some.suspect) count_violations(&b, size, rule, atol, rtol, violations);
        t.tops += above(b.ulp, size, floors[0], start + first, top + t.tops, top_at + t.tops);
        map(b.ulp, size, start + first, map_shape, ends, cells);
        if (rule->with_oracle) {
            for (int i = 0; i < size; i++) tables[0][b.key[i]]++, tables[1][b.own_key[i]]++;
        } else {
            for (int i = 0; i < size; i++) tables[0][b.key[i]]++;
        }
        if (some.far) {
            count_far(b.got, b.ulp, size, b.want, octaves[0]);
            if (rule->with_oracle) count_far(b.native, b.own_ulp, size, b.want, octaves[1]);
        }
    }
    if (rule->decides == BY_TOLERANCE && first) { /* it grows with the size */
        const double finest = unit_of(octave_of(t.least_size, rule), rule);
        const double coarsest = unit_of(octave_of(t.most_size, rule), rule);
        t.least_allowed = allowed_by(BY_TOLERANCE, t.least_size, finest, 0, rule);
        t.most_allowed = allowed_by(BY_TOLERANCE, t.most_size, coarsest, 0, rule);
    }
    *totals = t;
    return first < n ? first : n;
}
