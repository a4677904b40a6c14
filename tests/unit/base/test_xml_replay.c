/* Documents that the build has cut into elements, replayed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/xml_read.h"
#include "onnxcost_types.h"

struct seen {
    uint32_t line[4], n, ended;
};

static int on_item(void *user, const struct oc_xml_elem *e)
{
    struct seen *s = user;
    s->line[s->n++ % 4] = e->line;
    return 0;
}

static int on_item_end(void *user, const struct oc_xml_elem *e)
{
    struct seen *s = user;
    (void)e;
    s->ended++;
    return 0;
}

static const struct oc_xml_spec specs[] = {
    {.name = "list", .parent = OC_XML_ROOT, .required = "version", .optional = ""},
    {.name = "item",
     .parent = 0,
     .label = "is",
     .required = "is",
     .optional = "",
     .start = on_item,
     .end = on_item_end},
};
static const struct oc_xml_format format = {specs, 2, "1", 1000};
static const char *const version[] = {"version", "1", NULL}, *const first[] = {"is", "a", NULL},
                         *const second[] = {"is", "b", NULL}, *const wrong[] = {"was", "c", NULL};

static int replay(const struct oc_xml_token *token, size_t n, struct seen *s, struct oc_err *err)
{
    struct oc_arena a = {0};
    const struct oc_xml *x;
    int rc = oc_xml_replay(&format, "list.xml", token, n, &a, s, &x, err);
    oc_arena_free(&a);
    return rc;
}

static void elements_come_with_their_lines(void **state)
{
    static const struct oc_xml_token token[] = {
        {"list", version, 0, 1}, {"item", first, 1, 3}, {"item", second, 1, 8}};
    struct seen s = {.n = 0};
    struct oc_err err;
    (void)state;
    assert_int_equal(replay(token, 3, &s, &err), 0);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.ended, 2);
    assert_int_equal(s.line[0], 3);
    assert_int_equal(s.line[1], 8);
}

static void errors_have_the_line(void **state)
{
    static const struct oc_xml_token token[] = {
        {"list", version, 0, 1}, {"item", first, 1, 3}, {"item", wrong, 1, 8}};
    struct seen s = {.n = 0};
    struct oc_err err;
    (void)state;
    assert_int_equal(replay(token, 3, &s, &err), -1);
    assert_non_null(strstr(err.msg, "list.xml"));
    assert_non_null(strstr(err.msg, "line 8:"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(elements_come_with_their_lines),
                                       cmocka_unit_test(errors_have_the_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
