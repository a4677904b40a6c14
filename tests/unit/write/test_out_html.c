/* The HTML report: its data parses and adds up, names are data, nothing is loaded from another file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_read.h"
#include "profile/profile.h"
#include "support/build.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

struct fixture {
    uint8_t *bytes;
    struct oc_model *model;
    struct oc_analysis *analysis;
    char *page;
    size_t n;
};

#define HOSTILE "</script><script>alert(1)</script><!--&\xe2\x80\xa8\xe2\x80\xa9'\"\n"

static void write_page(struct fixture *x, const struct oc_report_in *in)
{
    struct oc_err err;
    FILE *f = open_memstream(&x->page, &x->n);
    if (oc_report_write(in, &(struct oc_report_opts){.format = "html"}, f, &err))
        fail_msg("%s", err.msg);
    fclose(f);
}

/* Conv: 4*8*8 outputs of 3*3*3 taps: 6,912 MACs, without bias 13,824 FLOPs. Relu: 256. Mystery: unknown. */
static void fixture_init(struct fixture *x)
{
    size_t n;
    struct oc_err err;
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "my.domain", 1);
    oc_b_input(b, "x", "float[1,3,8,8]");
    oc_b_init(b, "w", "float[4,3,3,3]");
    oc_b_node(b, "Conv", HOSTILE, "x,w", "y", "pads=1,1,1,1");
    oc_b_node(b, "Relu", "relu", "y", "z", "");
    oc_b_node(b, "my.domain::Mystery", "what", "z", "u", "");
    oc_b_output(b, "z", "float");
    oc_b_output(b, "u", "float");
    x->bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    struct oc_analyze_opts o = {0};
    if (oc_model_load_mem(x->bytes, n, NULL, &x->model, &err) || oc_analyze(x->model, &o, &x->analysis, &err))
        fail_msg("%s", err.msg);
    write_page(x, &(struct oc_report_in){.model = x->model, .analysis = x->analysis});
}

static void fixture_free(struct fixture *x)
{
    free(x->page);
    oc_analysis_free(x->analysis);
    oc_model_free(x->model);
    free(x->bytes);
}

/* The document between its tags. */
static const char *data_of(const char *page, size_t *n)
{
    const char *from = strstr(page, " id=\"data\">");
    assert_non_null(from);
    from = strchr(from, '>') + 1;
    const char *end = strstr(from, "</script>");
    assert_non_null(end);
    *n = (size_t)(end - from);
    return from;
}

struct reader {
    struct oc_stream *s;
    struct oc_json *j;
};

static struct reader open_data(const struct fixture *x)
{
    size_t n;
    const char *data = data_of(x->page, &n);
    struct reader r = {.s = oc_stream_mem(data, n)};
    r.j = oc_json_open(r.s);
    assert_true(oc_json_enter(r.j));
    return r;
}

static void close_data(struct reader *r)
{
    oc_json_close(r->j);
    oc_stream_close(r->s);
}

/* Moves the reader to the value of the member; the others are skipped. */
static void seek_member(struct oc_json *j, const char *name)
{
    struct oc_str key;
    while (oc_json_member(j, &key)) {
        if (oc_str_eq(key, name))
            return;
        oc_json_skip(j);
    }
    fail_msg("no member '%s'", name);
}

/* Sum of the numbers of a column, and the number of unknown values. */
static double sum_of(const struct fixture *x, const char *wanted, unsigned *unknown)
{
    struct reader r = open_data(x);
    double sum = 0, v;
    bool found = false;
    *unknown = 0;
    seek_member(r.j, "columns");
    oc_json_enter(r.j);
    while (oc_json_item(r.j)) {
        struct oc_str key, text;
        bool this = false;
        oc_json_enter(r.j);
        while (oc_json_member(r.j, &key)) {
            if (oc_str_eq(key, "key") && oc_json_string(r.j, &text)) {
                this = oc_str_eq(text, wanted);
                found |= this;
            } else if (this && oc_str_eq(key, "values")) {
                oc_json_enter(r.j);
                while (oc_json_item(r.j))
                    if (oc_json_peek(r.j) == OC_JSON_NULL) {
                        oc_json_skip(r.j);
                        ++*unknown;
                    } else if (oc_json_double(r.j, &v)) {
                        sum += v;
                    }
            } else if (!oc_str_eq(key, "key")) {
                oc_json_skip(r.j);
            }
        }
    }
    close_data(&r);
    assert_true(found);
    return sum;
}

static void data_adds_up(void **state)
{
    (void)state;
    struct fixture x;
    unsigned unknown;
    fixture_init(&x);
    assert_true(sum_of(&x, "macs", &unknown) == 6912);
    assert_int_equal(unknown, 1);
    assert_true(sum_of(&x, "flo", &unknown) == 13824 + 256);
    assert_int_equal(unknown, 1);
    /* Conv: 3*8*8*4 + 4*27*4 read, 4*8*8*4 written; Relu: 1024 and 1024 */
    assert_true(sum_of(&x, "bytes", &unknown) == 768 + 432 + 1024 + 2048);
    struct reader r = open_data(&x);
    int64_t macs;
    seek_member(r.j, "totals");
    oc_json_enter(r.j);
    seek_member(r.j, "macs");
    assert_true(oc_json_i64(r.j, &macs));
    assert_int_equal(macs, 6912);
    close_data(&r);
    fixture_free(&x);
}

static void document_parses(void **state)
{
    (void)state;
    struct fixture x;
    fixture_init(&x);
    struct reader r = open_data(&x);
    struct oc_str key;
    unsigned members = 0;
    while (oc_json_member(r.j, &key)) {
        assert_true(oc_json_skip(r.j));
        members++;
    }
    assert_null(oc_json_error(r.j, NULL));
    assert_false(oc_json_truncated(r.j));
    assert_true(members >= 15);
    close_data(&r);
    fixture_free(&x);
}

/* The data cannot end its element or open a comment, and the name is unchanged. */
static void hostile_names_stay_data(void **state)
{
    (void)state;
    struct fixture x;
    size_t n;
    fixture_init(&x);
    const char *data = data_of(x.page, &n);
    for (size_t i = 0; i < n; i++)
        assert_false(data[i] == '<' || data[i] == '>' || data[i] == '&');
    assert_null(memmem(data, n, "\xe2\x80\xa8", 3));
    assert_null(memmem(data, n, "\xe2\x80\xa9", 3));
    struct reader r = open_data(&x);
    struct oc_str text = {0};
    seek_member(r.j, "columns");
    oc_json_enter(r.j);
    oc_json_item(r.j);
    oc_json_enter(r.j);
    seek_member(r.j, "values");
    oc_json_enter(r.j);
    oc_json_item(r.j);
    assert_true(oc_json_string(r.j, &text));
    assert_int_equal(text.n, strlen(HOSTILE));
    assert_memory_equal(text.s, HOSTILE, text.n);
    close_data(&r);
    fixture_free(&x);
}

/* Two events of one thread, one inside the other: 80 us and 20 us, with hostile names. */
static void timeline_events_nest(void **state)
{
    (void)state;
    static const char trace[] =
        "[{\"ph\":\"X\",\"cat\":\"op\",\"name\":\"</script>\",\"ts\":100,\"dur\":80,\"pid\":1,\"tid\":7},"
        "{\"ph\":\"X\",\"cat\":\"op\",\"name\":\"b\",\"ts\":110,\"dur\":20,\"pid\":1,\"tid\":7}]";
    struct fixture x = {0};
    struct oc_profile *p;
    struct oc_err err;
    size_t n;
    const struct oc_importer *const *imp = oc_importers(&n);
    while (n && strcmp((*imp)->name, "chrome"))
        imp++, n--;
    struct oc_profile_opts o = {.keep_events = true};
    if (oc_profile_from_mem(*imp, trace, sizeof(trace) - 1, &o, &p, &err))
        fail_msg("%s", err.msg);
    write_page(&x, &(struct oc_report_in){.profile = p});
    data_of(x.page, &n); /* the name has not ended it: */
    struct reader r = open_data(&x);
    double ns;
    seek_member(r.j, "timeline");
    oc_json_enter(r.j);
    seek_member(r.j, "length_ns");
    assert_true(oc_json_double(r.j, &ns) && ns == 80000);
    seek_member(r.j, "start");
    oc_json_enter(r.j);
    assert_true(oc_json_item(r.j) && oc_json_double(r.j, &ns) && ns == 0);
    assert_true(oc_json_item(r.j) && oc_json_double(r.j, &ns) && ns == 10000);
    assert_false(oc_json_item(r.j));
    seek_member(r.j, "dur");
    oc_json_enter(r.j);
    assert_true(oc_json_item(r.j) && oc_json_double(r.j, &ns) && ns == 80000);
    assert_true(oc_json_item(r.j) && oc_json_double(r.j, &ns) && ns == 20000);
    close_data(&r);
    fixture_free(&x);
    oc_profile_close(p);
}

static void page_loads_nothing(void **state)
{
    (void)state;
    static const char *const loads[] = {"src=",   "href=\"http", "href='http", "@import",        "url(h",
                                        "url(\"", "url('",       "fetch(",     "XMLHttpRequest", "import("};
    struct fixture x;
    fixture_init(&x);
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
        if (strstr(x.page, loads[i]))
            fail_msg("the page has '%s'", loads[i]);
    assert_non_null(strstr(x.page, "default-src 'none'"));
    assert_non_null(strstr(x.page, "Chart.js Contributors")); /* its licence */
    assert_null(strstr(x.page, "@js@"));
    assert_memory_equal(x.page + x.n - 8, "</html>\n", 8);
    fixture_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_adds_up),
        cmocka_unit_test(document_parses),
        cmocka_unit_test(hostile_names_stay_data),
        cmocka_unit_test(timeline_events_nest),
        cmocka_unit_test(page_loads_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
