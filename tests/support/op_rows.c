#include "support/op_rows.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static bool matches(const char *got, const char *want)
{
    size_t n = strlen(want);
    return n && want[n - 1] == '*' ? strncmp(got, want, n - 1) == 0 : strcmp(got, want) == 0;
}

/* ---- less knowledge ------------------------------------------------------------------------------------ */

/* An input with less knowledge: without elements, with one size as a symbol, without shape. Returns false
 * when there is no variant `k` of the text. */
static bool weaker_input(const char *text, size_t len, unsigned k, char *out, size_t cap)
{
    const char *open = memchr(text, '[', len), *close = memchr(text, ']', len);
    const char *elements = memchr(text, '{', len), *end = text + len;
    bool constant = len && end[-1] == '!';
    if (!open || !close || memchr(text, '(', len))
        return false;
    if (elements && k == 0) /* computed instead of constant */
        return snprintf(out, cap, "%.*s", (int)(close + 1 - text), text) > 0;
    if (elements ? k == 1 : k == 0)
        return snprintf(out, cap, "%.*s%s", (int)(open - text), text, constant ? "!" : "") > 0;
    k -= elements ? 2 : 1;
    const char *from = open + 1;
    while (k && from < close) {
        const char *comma = memchr(from, ',', (size_t)(close - from));
        from = comma ? comma + 1 : close;
        k--;
    }
    if (elements || from >= close || !isdigit((unsigned char)*from))
        return false;
    const char *to = from + strspn(from, "0123456789");
    return snprintf(out, cap, "%.*sFree%.*s", (int)(from - text), text, (int)(end - to), to) > 0;
}

/* Calls `check` for every variant of the inputs `in` in which one input is known less well. */
static void with_less_knowledge(const char *in, void (*check)(const void *row, const char *in),
                                const void *row)
{
    for (const char *at = in; *at;) {
        size_t len = strcspn(at, " ");
        for (unsigned k = 0; k < 10; k++) {
            char word[256], text[1024];
            if (!weaker_input(at, len, k, word, sizeof(word)))
                continue;
            snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - in), in, word, at + len);
            check(row, text);
        }
        at += len + strspn(at + len, " ");
    }
}

/* The end of a size (stop: ',') or of a type (' '). */
static const char *part_end(const char *s, char stop)
{
    int depth = 0;
    for (; *s && (depth || (*s != stop && *s != ']')); s++)
        depth += (*s == '(' || *s == '[') - (*s == ')' || *s == ']');
    return s;
}

/* Whether the types `got` are those of `want` with less knowledge: no other size, rank or element type. */
static bool is_weaker(const char *got, const char *want)
{
    while (*got && *want) {
        if (!strncmp(got, "[...]", 5)) {
            want = strchr(want, ']') ? strchr(want, ']') + 1 : "?";
            got += 5;
        } else if (*got == '?' && got[1] != '[') {
            want = part_end(want, ' ');
            got++;
        } else if (*got == '[' || *got == ',') {
            const char *g = part_end(got + 1, ','), *w = part_end(want + 1, ',');
            bool number = strspn(got + 1, "0123456789") == (size_t)(g - got - 1);
            if (*want != *got ||
                (number && (w - want != g - got || memcmp(got, want, (size_t)(g - got)) != 0)))
                return false;
            got = g;
            want = w;
        } else if (*got++ != *want++) {
            return false;
        }
    }
    return !*got && !*want;
}

/* Without contents a cost is an upper bound, and a flag is assumed. */
static bool same_contents(const char *a, const char *b)
{
    int n = 0;
    for (; *a; a++)
        n += *a == '{';
    for (; *b; b++)
        n -= *b == '{';
    return n == 0;
}

/* Squeeze without axes: a size that is unknown is assumed not to be 1. */
static void check_weaker_shape(const void *row, const char *in)
{
    const struct op_shape_row *r = row;
    const char *got = op_shapes(r->op, r->opset, r->attrs, in, r->out);
    if (!is_weaker(got, r->types) && same_contents(in, r->in) && strcmp(r->op, "Squeeze") != 0)
        fail_msg("%s-%d [%s] (%s): %s, although (%s) is %s", r->op, r->opset, r->attrs, in, got, r->in,
                 r->types);
}

static void check_weaker_cost(const void *row, const char *in)
{
    const struct op_cost_row *r = row;
    struct op_case t;
    op_case_run(&t, r->op, r->opset, r->attrs, in, r->out);
    if (t.rc)
        fail_msg("%s-%d [%s] (%s): %s", r->op, r->opset, r->attrs, in, t.err.msg);
    if (!t.ctx.unknown && same_contents(in, r->in) && t.macs != r->macs)
        fail_msg("%s-%d [%s] (%s): %llu MACs, although (%s) has %llu", r->op, r->opset, r->attrs, in,
                 (unsigned long long)t.macs, r->in, (unsigned long long)r->macs);
    op_case_free(&t);
}

void op_check_shapes(const struct op_shape_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *got = op_shapes(row[i].op, row[i].opset, row[i].attrs, row[i].in, row[i].out);
        if (!matches(got, row[i].types))
            fail_msg("%s-%d [%s] (%s): %s instead of %s", row[i].op, row[i].opset, row[i].attrs, row[i].in,
                     got, row[i].types);
        if (!strstr(row[i].types, "error:") && !strchr(row[i].types, '*'))
            with_less_knowledge(row[i].in, check_weaker_shape, &row[i]);
    }
}

void op_check_folds(const struct op_fold_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *got = op_fold(row[i].op, row[i].opset, row[i].attrs, row[i].in);
        if (strcmp(got, row[i].value) != 0)
            fail_msg("%s-%d [%s] (%s): value %s instead of %s", row[i].op, row[i].opset, row[i].attrs,
                     row[i].in, got, row[i].value);
    }
}

static void check_number(const struct op_cost_row *r, const char *what, uint64_t got, uint64_t want)
{
    if (got != want)
        fail_msg("%s-%d [%s] (%s): %s %llu instead of %llu", r->op, r->opset, r->attrs, r->in, what,
                 (unsigned long long)got, (unsigned long long)want);
}

void op_check_costs(const struct op_cost_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct op_cost_row *r = &row[i];
        struct op_case t;
        op_case_run(&t, r->op, r->opset, r->attrs, r->in, r->out);
        if (t.rc || t.ctx.unknown || t.ctx.overflow)
            fail_msg("%s-%d [%s] (%s): no cost: %s", r->op, r->opset, r->attrs, r->in, t.err.msg);
        check_number(r, "macs", t.macs, r->macs);
        check_number(r, "operations", t.total, r->total);
        check_number(r, "bytes read", t.rd_act, r->rd_act);
        check_number(r, "constant bytes read", t.rd_const, r->rd_const);
        check_number(r, "bytes written", t.wr, r->wr);
        op_case_free(&t);
        with_less_knowledge(r->in, check_weaker_cost, r);
    }
}

void op_check_hists(const struct op_hist_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct op_hist_row *r = &row[i];
        const char *got = op_hist(r->op, r->opset, r->attrs, r->in, r->out);
        if (!matches(got, r->hist))
            fail_msg("%s-%d [%s] (%s): %s instead of %s", r->op, r->opset, r->attrs, r->in, got, r->hist);
    }
}
