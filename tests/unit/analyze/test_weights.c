#include "analyze/analysis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Reads a text as a file of weights; the path in messages becomes '*'. */
static int read_text(const char *text, struct oc_weights *w, char *msg, size_t cap, uint32_t *line)
{
    char path[] = "/tmp/oc_weights_XXXXXX";
    struct oc_err err = {0};
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || close(fd) != 0)
        abort();
    int rc = oc_weights_get(path, w, &err);
    unlink(path);
    const char *at = strstr(err.msg, path);
    snprintf(msg, cap, "%s", at ? at + strlen(path) + 1 : err.msg);
    *line = err.line;
    return rc;
}

static void reads_weight_files(void **state)
{
    (void)state;
    struct oc_weights w;
    char msg[1024];
    uint32_t line;
    int rc =
        read_text("# ours\n\nMAC 1\n  EXP\t12 # slow\r\nDEQ 3\nCVT 1000000", &w, msg, sizeof(msg), &line);
    assert_int_equal(rc, 0);
    assert_int_equal(w.w[OC_MAC], 1);
    assert_int_equal(w.w[OC_EXP], 12);
    assert_int_equal(w.w[OC_DEQ], 3);
    assert_int_equal(w.w[OC_CVT], 1000000);
    assert_int_equal(w.w[OC_LOG], 1); /* the others as in unit */
    assert_int_equal(w.w[OC_BIT], 1);
    assert_int_equal(read_text("", &w, msg, sizeof(msg), &line), 0);
    assert_int_equal(w.w[OC_MAC], 2);
}

static void mistakes_in_weight_files_name_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *msg;
        uint32_t line;
    } row[] = {
        {"MAC 2\nFOO 3\n", ": line 2: unknown primitive 'FOO'; primitives: MAC ADD", 2},
        {"mac 2", ": line 1: unknown primitive 'mac'", 1},
        {"MAC 2\n#\nMAC 2", ": line 3: duplicate weight for MAC", 3},
        {"EXP", ": line 1: EXP needs an integer from 0 to 1000000, not ''", 1},
        {"EXP 1.5", ": line 1: EXP needs an integer from 0 to 1000000, not '1.5'", 1},
        {"EXP -1", ": line 1: EXP needs an integer from 0 to 1000000, not '-1'", 1},
        {"EXP 1000001", ": line 1: EXP needs an integer from 0 to 1000000, not '1000001'", 1},
        {"EXP 99999999999999999999", ": line 1: EXP needs an integer", 1},
        {"EXP 1 2", ": line 1: EXP needs an integer from 0 to 1000000, not '1 2'", 1},
        {"EXP=1", ": line 1: unknown primitive 'EXP=1'", 1},
    };
    struct oc_weights w;
    char msg[1024];
    uint32_t line;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        assert_int_equal(read_text(row[i].text, &w, msg, sizeof(msg), &line), -1);
        if (strncmp(msg, row[i].msg, strlen(row[i].msg)) != 0)
            fail_msg("row %zu: %s", i, msg);
        assert_int_equal(line, row[i].line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_weight_files),
                                       cmocka_unit_test(mistakes_in_weight_files_name_the_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
