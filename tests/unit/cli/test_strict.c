/* --strict: the report is printed, and the exit code is 1 when anything is assumed, conflicting or unknown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/build.h"

struct result {
    int exit_code;
    bool report; /* was printed */
};

static struct result run(const char *model, const char *options)
{
    char command[512], line[256];
    const char *build = getenv("BUILD");
    struct result r = {.report = false};
    snprintf(command, sizeof(command), "timeout 600 %s/onnxcost %s %s 2>/dev/null",
             build ? build : "build/release", model, options);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f))
        r.report = r.report || strncmp(line, "model ", 6) == 0;
    int status = pclose(f);
    assert_true(WIFEXITED(status));
    r.exit_code = WEXITSTATUS(status);
    return r;
}

/* Writes the model, runs the program without and with --strict, and deletes it. */
static void check(struct oc_builder *b, int strict)
{
    char path[] = "/tmp/oc_strict_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(oc_b_save(b, path), 0);
    oc_b_free(b);
    struct result plain = run(path, ""), with = run(path, "--strict");
    unlink(path);
    assert_int_equal(plain.exit_code, 0);
    assert_int_equal(with.exit_code, strict);
    assert_true(plain.report && with.report);
}

static struct oc_builder *relu(const char *in, const char *out)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", in);
    oc_b_node(b, "Relu", "r", "x", "y", "");
    oc_b_output(b, "y", out);
    return b;
}

static void strict_exit_code_reports_assumptions_conflicts_and_unknowns(void **state)
{
    (void)state;
    check(relu("float[2,3]", "float[2,3]"), 0);
    check(relu("float[N,3]", NULL), 1);         /* N is assumed */
    check(relu("float[2,3]", "float[2,5]"), 1); /* conflicting */
    struct oc_builder *b = relu("float[2,3]", NULL);
    oc_b_opset(b, "acme", 1);
    oc_b_node(b, "acme::Magic", "m", "y", "z", ""); /* unknown */
    oc_b_output(b, "z", NULL);
    check(b, 1);
    b = relu("float[2,3]", NULL);
    oc_b_input(b, "w", "float[4,5]");
    oc_b_node(b, "MatMul", "m", "y,w", "z", ""); /* incompatible shapes */
    oc_b_output(b, "z", NULL);
    check(b, 1);
    b = relu("float[1,4,8,8]", NULL);
    oc_b_input(b, "rois", "float[3,4]");
    oc_b_input(b, "i", "int64[3]");
    oc_b_node(b, "RoiAlign", "roi", "y,rois,i", "z",
              "sampling_ratio=0 output_height=2 output_width=2"); /* estimated */
    oc_b_output(b, "z", NULL);
    check(b, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strict_exit_code_reports_assumptions_conflicts_and_unknowns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
