#include "estimate/samples.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/many.h"
#include "onnxcost.h"

/* A folder of empty files. */
static char folder[64];

static char *path_to(const char *name)
{
    static char buf[8][256];
    static unsigned at;
    at = (at + 1) % 8;
    snprintf(buf[at], sizeof(buf[at]), "%s/%s", folder, name);
    return buf[at];
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(path_to(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/onnxcost-test-XXXXXX");
    if (!mkdtemp(folder) || mkdir(path_to("t1"), 0700))
        return -1;
    for (const char *const *v =
             (const char *const[]){"net50.onnx", "other.onnx", "net50.profile.json", "net50.optimized.onnx",
                                   "t1/net50@224.profile.json", "t1/net50@224.optimized.onnx",
                                   "t1/net50.b4.2.profile.json", "t1/lost.profile.json", NULL};
         *v; v++)
        put(*v, "");
    return 0;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    return system(command);
}

static const struct oc_recording_files *find(struct oc_recordings *r, const char *const *path, size_t n)
{
    struct oc_err err = {0};
    if (oc_recordings_find(path, n, r, &err))
        fail_msg("%s", err.msg);
    return r->item;
}

static void files_in_one_folder_belong_together(void **state)
{
    (void)state;
    struct oc_recordings r;
    const char *const path[] = {path_to("net50.profile.json"), path_to("t1/net50@224.profile.json"),
                                path_to("t1/net50.b4.2.profile.json")};
    const struct oc_recording_files *f = find(&r, path, 3);
    assert_int_equal(r.n, 3);
    assert_string_equal(f[0].model, path_to("net50.onnx"));
    assert_string_equal(f[0].optimized, path_to("net50.optimized.onnx"));
    assert_string_equal(f[0].id, "net50");
    assert_string_equal(f[0].family, "net");
    assert_string_equal(f[1].model, path_to("t1/../net50.onnx"));
    assert_string_equal(f[1].optimized, path_to("t1/net50@224.optimized.onnx"));
    assert_string_equal(f[1].name, "net50@224");
    assert_string_equal(f[1].id, "net50");
    assert_string_equal(f[2].model, path_to("t1/../net50.onnx"));
    assert_null(f[2].optimized);
    assert_true(isnan(f[0].plain_s) && f[0].warmup == -1);
    oc_recordings_free(&r);
}

/* A model belongs to the profiles after it. */
static void model_applies_to_the_profiles_after_it(void **state)
{
    (void)state;
    struct oc_recordings r;
    const char *const path[] = {path_to("other.onnx"), path_to("t1/lost.profile.json"),
                                path_to("net50.optimized.onnx"), path_to("net50.profile.json")};
    const struct oc_recording_files *f = find(&r, path, 4);
    assert_int_equal(r.n, 2);
    assert_string_equal(f[0].id, "other");
    assert_string_equal(f[1].model, path_to("other.onnx"));
    oc_recordings_free(&r);
}

static void lists_are_read(void **state)
{
    (void)state;
    struct oc_recordings r;
    put("list.csv", "model,profile,id,family,dims,plain_ms,warmup,name\n"
                    "# a comment\n"
                    "\n"
                    "net50.onnx,t1/lost.profile.json,a,b,batch=4;seq=8,12.5,3,c\n"
                    ",net50.profile.json,,,,,,\n");
    put("list.tsv", "profile\tfamily\nnet50.profile.json\tx\n");
    const char *const path[] = {path_to("list.csv"), path_to("list.tsv")};
    const struct oc_recording_files *f = find(&r, path, 2);
    assert_int_equal(r.n, 3);
    assert_string_equal(f[0].profile, path_to("t1/lost.profile.json"));
    assert_string_equal(f[0].id, "a");
    assert_string_equal(f[0].family, "b");
    assert_string_equal(f[0].name, "c");
    assert_string_equal(f[0].dims, "batch=4;seq=8");
    assert_true(fabs(f[0].plain_s - 0.0125) < 1e-12);
    assert_int_equal(f[0].warmup, 3);
    assert_string_equal(f[1].id, "net50");
    assert_string_equal(f[2].family, "x");
    oc_recordings_free(&r);
}

static void expect_list_error(const char *list, const char *says)
{
    struct oc_recordings r;
    struct oc_err err = {0};
    put("bad.csv", list);
    const char *const path[] = {path_to("bad.csv")};
    assert_int_equal(oc_recordings_find(path, 1, &r, &err), -1);
    if (!strstr(err.msg, says))
        fail_msg("%s: %s", says, err.msg);
}

static void rejects_invalid_lists(void **state)
{
    (void)state;
    expect_list_error("", "no profile is given");
    expect_list_error("model\nx\n", "column 'profile' is missing");
    expect_list_error("profile,modell\n", "unknown column 'modell'");
    expect_list_error("profile,profile\n", "column 'profile' twice");
    expect_list_error("profile,model\n,x\n", "line 2: no profile is given");
    expect_list_error("profile,model,plain_ms\na,b,-1\n", "plain_ms is not a time: '-1'");
    expect_list_error("profile,model,warmup\na,b,many\n", "warmup is not a number of runs: 'many'");
    expect_list_error("profile\nt1/lost.profile.json\n", "no model for");
    char *text = t_many("profile,model\n", ",", 8192, "\n");
    expect_list_error(text, "line 2: more than 8192 columns (--limit csv-columns=N)");
    free(text);
    text = t_many("model,profile\n", "net50.onnx,net50.profile.json\n", OC_MAX_RECORDINGS + 1, "");
    expect_list_error(text, "more than 10000 recordings");
    free(text);
}

static void dimensions_are_parsed(void **state)
{
    (void)state;
    struct oc_arena a = {0};
    struct oc_sample_dims d;
    struct oc_err err;
    assert_int_equal(oc_sample_dims_parse("batch=4; seq=128", &a, &d, &err), 0);
    assert_int_equal(d.n, 2);
    assert_string_equal(d.bind[1].symbol, "seq");
    assert_int_equal(d.bind[1].value, 128);
    assert_int_equal(oc_sample_dims_parse("", &a, &d, &err), 0);
    assert_int_equal(d.n, 0);
    for (const char *const *v = (const char *const[]){"batch", "=4", "batch=", "batch=-1", "batch=4x",
                                                      "batch=99999999999999999999", NULL};
         *v; v++)
        assert_int_equal(oc_sample_dims_parse(*v, &a, &d, &err), -1);
    oc_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_in_one_folder_belong_together),
        cmocka_unit_test(model_applies_to_the_profiles_after_it),
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(rejects_invalid_lists),
        cmocka_unit_test(dimensions_are_parsed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
