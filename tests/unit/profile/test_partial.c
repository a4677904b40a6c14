/* Reading stopped by a flag: the part read is a profile whose time is conserved, and reports how much of the
 * file it covers. The flag is set when a chosen byte is read for the first time: its page is not readable
 * until then. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "profile/profile.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

enum { EVENTS = 40000, EVENT_BYTES = 128, HEAD_BYTES = 16, PIECE = 1 << 20 };

static volatile int stop;
static struct oc_reading reading; /* of the last file */
static char *guard;               /* the page */

static void on_touch(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    const char *at = info->si_addr;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (at < guard || at >= guard + page || mprotect(guard, page, PROT_READ | PROT_WRITE)) {
        signal(signal_number, SIG_DFL);
        return;
    }
    stop = 1;
}

/* ---- files: a head, and events of EVENT_BYTES each, the i-th of i % 7 + 1 us ---- */

struct form {
    const char *name, *map, *head, *event, *tail;
};

static const struct form forms[] = {
    {"onnxruntime", NULL, "[",
     "{\"cat\":\"Node\",\"pid\":1,\"tid\":1,\"dur\":%d,\"ts\":%d,\"ph\":\"X\",\"name\":\"n%d_kernel_time\","
     "\"args\":{\"op_name\":\"Relu\"}},",
     "{}]"},
    {"chrome", NULL, "{\"traceEvents\":[",
     "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"dur\":%d,\"ts\":%d,\"name\":\"n%d\"},", "{}]}"},
    {"generic_csv", "name=Name,time='Time (us)'", "Time (us),S,Name", "%d,%d,n%d", ""},
};

static char *make(const struct form *f, size_t *n)
{
    struct oc_buf b = {0};
    oc_buf_printf(&b, "%-*s\n", HEAD_BYTES - 1, f->head);
    for (int i = 0; i < EVENTS; i++) {
        char event[EVENT_BYTES];
        snprintf(event, sizeof(event), f->event, i % 7 + 1, i * 10, i % 5);
        oc_buf_printf(&b, "%*s\n", EVENT_BYTES - 1, event);
    }
    oc_buf_str(&b, f->tail);
    *n = b.n;
    return b.data;
}

static char *packed(const char *text, size_t *n)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)text, .avail_in = (uInt)*n};
    assert_int_equal(deflateInit2(&z, 0, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t cap = deflateBound(&z, *n);
    char *out = oc_xmalloc(cap);
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    *n = z.total_out;
    deflateEnd(&z);
    return out;
}

/* The bytes in memory; reading the page of byte `at` sets the flag. */
static char *guarded(const char *text, size_t n, size_t at)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct sigaction action = {.sa_sigaction = on_touch, .sa_flags = SA_SIGINFO};
    assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0); /* each time: tests have one of their own */
    char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    memcpy(p, text, n);
    guard = p + at / page * page;
    assert_int_equal(mprotect(guard, page, PROT_NONE), 0);
    return p;
}

static const struct oc_importer *importer(const char *name)
{
    size_t n;
    const struct oc_importer *const *all = oc_importers(&n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(all[i]->name, name))
            return all[i];
    fail_msg("no importer '%s'", name);
    return NULL;
}

/* ---- the remaining part ---- */

static double time_ns_of(int events)
{
    double us = 0;
    for (int i = 0; i < events; i++)
        us += i % 7 + 1;
    return us * 1e3;
}

static void check_profile(const struct oc_profile *p, int events)
{
    struct oc_conserved c;
    oc_profile_conserved(p, false, &c);
    assert_true(c.imported_ns == time_ns_of(events));
    assert_true(c.lost_ns == 0);
    assert_null(t_finding(p, "E-conservation"));
    assert_null(t_finding(p, "W-truncated"));
    assert_true(p->truncated);
}

static int open_until(const struct form *f, const char *text, size_t n, size_t at, struct oc_profile **p,
                      struct oc_err *err)
{
    struct oc_profile_opts opts = {.map = f->map, .stop = &stop, .reading = &reading};
    char *data = guarded(text, n, at);
    stop = 0;
    int rc = oc_profile_from_mem(importer(f->name), data, n, &opts, p, err);
    munmap(data, n);
    return rc;
}

/* Byte 1.5 MiB is in the second block: that block is read to its end, the third is not started, and an event
 * that crosses the end is skipped. */
static void stopped_reading_gives_a_partial_profile(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(forms); i++) {
        struct oc_profile *p;
        struct oc_err err;
        size_t n;
        char want[160], *text = make(&forms[i], &n);
        assert_true(n > 4 * PIECE);
        if (open_until(&forms[i], text, n, PIECE + PIECE / 2, &p, &err))
            fail_msg("%s: %s", forms[i].name, err.msg);
        check_profile(p, (2 * PIECE - HEAD_BYTES) / EVENT_BYTES);
        snprintf(want, sizeof(want),
                 "reading was stopped after %d of %zu bytes: the file is only a part of the measurement",
                 2 * PIECE, n);
        assert_string_equal(t_finding(p, "W-partial"), want);
        assert_true(reading.read_bytes == 2 * PIECE && reading.all_bytes == n);
        oc_profile_close(p);
        free(text);
    }
}

static void stopped_decompression_gives_a_partial_profile(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(forms); i++) {
        struct oc_profile *p;
        struct oc_err err;
        size_t n, all;
        char *text = make(&forms[i], &n), *gz = packed(text, &n);
        if (open_until(&forms[i], gz, n, n / 2, &p, &err))
            fail_msg("%s: %s", forms[i].name, err.msg);
        struct oc_conserved c;
        oc_profile_conserved(p, false, &c);
        assert_true(c.lost_ns == 0 && c.imported_ns > 0 && c.imported_ns < time_ns_of(EVENTS) * 0.75);
        const char *told = t_finding(p, "W-partial");
        assert_int_equal(sscanf(told, "reading was stopped after %*u of %zu bytes", &all), 1);
        assert_int_equal(all, n);
        assert_true(reading.read_bytes > 0 && reading.read_bytes < n && reading.all_bytes == n);
        oc_profile_close(p);
        free(text);
        free(gz);
    }
}

/* The flag in the last block: nothing is missing. */
static void stop_in_the_last_block_gives_a_whole_profile(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(forms); i++) {
        struct oc_profile *p;
        struct oc_err err;
        size_t n;
        char *text = make(&forms[i], &n);
        if (open_until(&forms[i], text, n, n - 1, &p, &err))
            fail_msg("%s: %s", forms[i].name, err.msg);
        assert_true(stop);
        struct oc_conserved c;
        oc_profile_conserved(p, false, &c);
        assert_true(c.imported_ns == time_ns_of(EVENTS) && c.lost_ns == 0);
        assert_true(reading.read_bytes == n && reading.all_bytes == n);
        assert_null(t_finding(p, "W-partial"));
        assert_false(p->truncated);
        oc_profile_close(p);
        free(text);
    }
}

static void stop_before_any_event_is_an_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(forms); i++) {
        struct oc_profile_opts opts = {.map = forms[i].map, .stop = &stop};
        struct oc_profile *p;
        struct oc_err err;
        size_t n;
        char want[160], *text = make(&forms[i], &n);
        stop = 1;
        assert_int_equal(oc_profile_from_mem(importer(forms[i].name), text, n, &opts, &p, &err), -1);
        assert_int_equal(err.code, OC_ESTOPPED);
        snprintf(want, sizeof(want),
                 "reading was stopped after 0 of %zu bytes, which contain nothing to report", n);
        assert_non_null(strstr(err.msg, want));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped_reading_gives_a_partial_profile),
        cmocka_unit_test(stopped_decompression_gives_a_partial_profile),
        cmocka_unit_test(stop_in_the_last_block_gives_a_whole_profile),
        cmocka_unit_test(stop_before_any_event_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
