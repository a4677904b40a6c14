/* Strict, locale-independent parsing and printing of numbers with units. Parsing accepts the whole text or
 * fails. */
#ifndef OC_UNITS_H
#define OC_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oc_arena;

bool oc_parse_i64(const char *s, size_t n, int64_t *out);
bool oc_parse_u64(const char *s, size_t n, uint64_t *out);
bool oc_parse_double(const char *s, size_t n, double *out); /* correctly rounded; accepts nan and inf */

/* "1.5T", "80G", "12k" (powers of 1000), "80GiB", "48Ki" (powers of 1024); an optional trailing `unit`
 * ("B", "FLOP/s", "Hz", "s") must match when given; blanks between number and unit are accepted. */
bool oc_parse_scaled(const char *s, const char *unit, double *out);

/* The same forms for a whole number, in exact arithmetic: "4.1G" is 4100000000. Fractions are rounded down;
 * false: not a number, negative, or beyond 64 bits. */
bool oc_parse_count(const char *s, const char *unit, uint64_t *out);

/* Shortest text that reads back as the same double ("0.1", "1e-05" style as Python's repr). Returns length.
 */
size_t oc_format_repr(double v, char *buf, size_t cap); /* cap >= 32 */

/* Human-readable forms into buf (cap >= 32), which is returned. */
const char *oc_format_si(double v, const char *unit, char *buf, size_t cap); /* 236.03 MFLOP */
const char *oc_format_bytes(double v, char *buf, size_t cap);                /* 9.00 MiB */
const char *oc_format_time_ns(double ns, char *buf, size_t cap);             /* 12.3 us, 1.25 ms */
const char *oc_format_count(uint64_t v, char *buf, size_t cap);              /* 118,013,952 */

static inline const char *oc_plural(uint64_t n) /* "" after 1: "1 node", "2 nodes" */
{
    return n == 1 ? "" : "s";
}

/* The same as texts in an arena; a number that is not finite is "unknown", a time the text `unknown`. */
const char *oc_u64_text(struct oc_arena *a, uint64_t v); /* 118013952 */
const char *oc_count_text(struct oc_arena *a, uint64_t v);
/* That many significant digits, never an exponent for large numbers: "12.35", "123,456". */
const char *oc_number_text(struct oc_arena *a, double v, int digits);
const char *oc_si_text(struct oc_arena *a, double v, const char *unit);
const char *oc_price_text(struct oc_arena *a,
                          double price); /* three digits, never an exponent: "0.0000981" */
const char *oc_bytes_text(struct oc_arena *a, double v);
const char *oc_joule_text(struct oc_arena *a, double joule);
const char *oc_time_text(struct oc_arena *a, double ns, const char *unknown);
const char *oc_seconds_text(struct oc_arena *a, double s, const char *unknown);

/* Writes the digits of v before `end` (at most 20 bytes) and returns the first one; no zero byte. */
char *oc_put_digits(char *end, uint64_t v);

/* Of enum oc_quality: "exact", "upper", "lower", "est" or "unknown"; the mark in front of such a number in
 * text:
 * "<=", ">=", "~" or nothing. */
const char *oc_quality_name(unsigned quality);
const char *oc_quality_mark(unsigned quality);
/* The quality of a sum with one more part, from OC_EXACT; an unknown part makes it a lower bound. */
unsigned oc_quality_add(unsigned sum, unsigned part);
/* The mark of a sum over nodes: ">=" also for one with unknown parts. */
const char *oc_sum_mark(unsigned quality);

#endif
