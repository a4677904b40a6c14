/* The table that trtexec --dumpProfile prints into its log (samples/common/sampleReporting.cpp):
 *
 *   [05/08/2024-14:05:14] [I] === Profile (2094 iterations ) ===
 *   [05/08/2024-14:05:14] [I]    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer
 *   [05/08/2024-14:05:14] [I]       16.15       0.0077       0.0075       0.5   name
 *
 * Up to 8.2 the name is the first column; the median may be absent. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "profile/csv_rows.h"
#include "profile/trt_reading.h"

#define MAX_NUMBERS 4

struct table {
    bool open, name_first, has_median;
    unsigned numbers;
};

/* The text after "[date] [I] ", without blanks. */
static struct oc_str content(struct oc_str line)
{
    for (unsigned i = 0; i < 2 && line.n > 2 && line.s[0] == '['; i++) {
        const char *end = memchr(line.s, ']', line.n);
        bool level = end == line.s + 2, date = line.s[1] >= '0' && line.s[1] <= '9';
        if (!end || !(level || date))
            break;
        size_t used = (size_t)(end + 1 - line.s);
        line = oc_csv_trim((struct oc_str){line.s + used, line.n - used});
    }
    return oc_csv_trim(line);
}

static const char *find(struct oc_str s, const char *word)
{
    return memmem(s.s, s.n, word, strlen(word));
}

static struct oc_str text_after(struct oc_str s, const char *word)
{
    const char *at = find(s, word);
    size_t skip = at ? (size_t)(at - s.s) + strlen(word) : s.n;
    return (struct oc_str){s.s + skip, s.n - skip};
}

/* Returns the first word; *rest is the text after it. */
static struct oc_str word_of(struct oc_str *rest)
{
    size_t n = 0;
    *rest = oc_csv_trim(*rest);
    while (n < rest->n && rest->s[n] != ' ' && rest->s[n] != '\t')
        n++;
    struct oc_str word = {rest->s, n};
    *rest = (struct oc_str){rest->s + n, rest->n - n};
    return word;
}

static struct oc_str last_word_of(struct oc_str *rest)
{
    *rest = oc_csv_trim(*rest);
    size_t n = rest->n;
    while (n > 0 && rest->s[n - 1] != ' ' && rest->s[n - 1] != '\t')
        n--;
    struct oc_str word = {rest->s + n, rest->n - n};
    rest->n = n;
    return word;
}

static bool number(struct oc_str word, double *out)
{
    if (word.n && word.s[word.n - 1] == '%')
        word.n--;
    return oc_parse_double(word.s, word.n, out);
}

static double valid_ms(double ms)
{
    return fabs(ms) < TRT_MAX_MS ? ms : (double)NAN;
}

/* Total, mean, median if present, share. */
static bool read_row(const struct table *t, struct oc_str rest, struct trt_time *out, struct oc_str *name)
{
    double v[MAX_NUMBERS];
    for (unsigned i = 0; i < t->numbers; i++) {
        unsigned at = t->name_first ? t->numbers - 1 - i : i;
        if (!number(t->name_first ? last_word_of(&rest) : word_of(&rest), &v[at]))
            return false;
    }
    *name = oc_csv_trim(rest);
    *out = (struct trt_time){.total_ms = valid_ms(v[0]),
                             .average_ms = valid_ms(v[1]),
                             .median_ms = t->has_median ? valid_ms(v[2]) : (double)NAN};
    return name->n > 0;
}

static void open_table(struct table *t, struct oc_str header)
{
    t->name_first = header.n > 5 && memcmp(header.s, "Layer", 5) == 0;
    t->has_median = find(header, "Median") != NULL;
    t->numbers = t->has_median ? 4 : 3;
    t->open = true;
}

static void read_facts(struct oc_str s, struct oc_profile *p, struct trt_reading *r)
{
    if (find(s, "Selected Device:")) {
        struct oc_str device = oc_csv_trim(text_after(s, "Selected Device:"));
        r->device = oc_intern(&p->names, device.s, device.n);
    } else if (find(s, "GPU Compute Time:")) {
        struct oc_str rest = text_after(s, "median = ");
        struct oc_str word = word_of(&rest);
        double ms;
        if (oc_parse_double(word.s, word.n, &ms))
            r->device_run_ms = valid_ms(ms);
    }
}

/* "=== Profile (2094 iterations ) ===" */
static bool read_title(struct oc_str s, struct trt_reading *r)
{
    struct oc_str rest = text_after(s, "=== Profile (");
    int64_t count;
    if (!rest.n)
        return false;
    struct oc_str word = word_of(&rest);
    r->has_count = oc_parse_i64(word.s, word.n, &count) && count > 0;
    r->count = r->has_count ? count : 0;
    return r->has_count;
}

static void add_row(struct trt_reading *r, struct oc_profile *p, struct trt_time time, struct oc_str name)
{
    time.name = oc_intern(&p->names, name.s, name.n);
    r->has_times = true;
    OC_GROW(r->time, r->n_time, r->cap_time);
    r->time[r->n_time++] = time;
}

int trt_read_log(struct oc_stream *s, struct oc_profile *p, struct trt_reading *r, struct oc_err *err)
{
    struct oc_csv *c = oc_csv_open(s);
    struct oc_str line, name;
    struct table t = {0};
    bool ended = false;
    while (oc_csv_line(c, &line)) {
        struct oc_str text = content(line);
        struct trt_time time = {.where = oc_csv_offset(c)};
        if (!r->has_count) {
            if (!read_title(text, r))
                read_facts(text, p, r);
        } else if (!t.open) {
            if (find(text, "Layer"))
                open_table(&t, text);
        } else if (!ended) {
            ended = !read_row(&t, text, &time, &name) || oc_str_eq(name, "Total");
            if (!ended)
                add_row(r, p, time, name);
        }
    }
    int rc = oc_csv_failed(c) ? oc_csv_error(c, err) : 0;
    p->truncated |= rc == 0 && t.open && !ended;
    oc_csv_close(c);
    return rc;
}
