/* Hardware files: any bytes are read or rejected with a location; the result can be described. The bytes are
 * used as a file, and as choices that generate a well-formed file, which passes the XML parser. */
#include "base/arena.h"
#include "hw/hwdb.h"
#include "onnxcost/hardware.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Every result can be printed in every format, compared, and changed. */
static void describe(struct oc_arena *arena, const struct oc_device_list *list)
{
    static const char *const set[] = {"dram.bandwidth=1GB/s", "vector.f32=1TFLOP/s", "clock.boost=1GHz",
                                      "L2.size=1MiB",         "matrix.i8=1TOP/s",    "overhead=1us"};
    FILE *null = fopen("/dev/null", "w");
    const struct oc_device *other;
    if (!null)
        return;
    for (size_t i = 0; i < list->n; i++) {
        oc_device_describe(list->item[i], (unsigned)(i % 3 * 40), null, NULL);
        oc_device_write(list->item[i], i % 2 ? "csv" : "json", 0, null, NULL);
        oc_device_write_diff(list->item[0], list->item[i], NULL, (unsigned)(i % 3 * 40), null, NULL);
        if (oc_device_change(arena, list->item[i], &set[i % OC_COUNT(set)], 1, &other, NULL) == 0)
            oc_device_describe(other, 80, null, NULL);
    }
    fclose(null);
}

/* As lint reads: for a valid file the reader has no warnings except for sources. */
static void read_lenient(const void *data, size_t n, bool right)
{
    struct oc_arena arena = {0};
    struct oc_device_list list = {0};
    struct oc_hw_findings findings = {.arena = &arena};
    struct oc_hw_reading how = {.arena = &arena, .list = &list, .findings = &findings};
    struct oc_err err = {0};
    int rc = oc_hw_read_text(&how, "fuzz.xml", data, n, &err);
    if (right && rc != 0)
        abort();
    for (size_t i = 0; right && i < findings.n; i++)
        if (!strstr(findings.item[i].text, "is not used"))
            abort();
    free(findings.item);
    free(list.item);
    oc_arena_free(&arena);
}

static void read_as_file(const void *data, size_t n)
{
    struct oc_arena arena = {0};
    struct oc_device_list list = {0};
    struct oc_err err = {0};
    int rc = oc_hw_read_mem("fuzz.xml", data, n, &arena, &list, &err);
    if ((rc != 0) != (err.msg[0] != '\0') || (rc != 0 && list.n))
        abort(); /* a failure without a message, or devices of a failed file */
    if (list.n)
        describe(&arena, &list);
    free(list.item);
    oc_arena_free(&arena);
    read_lenient(data, n, rc == 0);
}

/* Elements allowed inside an element, by its first letter; '/' closes it. */
static const char *const inside[][7] = {
    {"hwdb", "device", "device", "source", NULL},
    {"device", "unit", "memory", "clock", "power", "overhead", "/"},
    {"unit", "peak", "peak", "peak", "fallback", "/", NULL},
    {"memory", "size", "bandwidth", "/", NULL},
    {"", "/", NULL},
};

static const struct {
    const char *name, *value[8];
} attributes[] = {
    {"id", {"a", "b", "c", "A", "ds", NULL}},
    {"base", {"a", "b", "c", "zz", NULL}},
    {"name", {"n", "L2", "L3", "DRAM", "o", "p", NULL}},
    {"title", {"t", NULL}},
    {"vendor", {"v", NULL}},
    {"kind", {"cpu", "vector", "matrix", "special", "gpu", "boost", NULL}},
    {"of", {"core", "SM", NULL}},
    {"runtime", {"any", "x", NULL}},
    {"class", {"f32", "f16", "i8", "f64", "f17", NULL}},
    {"to", {"f32", "f16", NULL}},
    {"value", {"1", "2", "3.5", "1000", "0", "1e9", NULL}},
    {"unit", {"TFLOP/s", "TOP/s", "GB", "GB/s", "us", "MiB", "GHz", "W"}},
    {"dense", {"yes", "no", NULL}},
    {"clock", {"base", "boost", NULL}},
    {"accumulate", {"f32", "f16", "i32", NULL}},
    {"basis", {"vendor", "derived", "assumed", "measured", NULL}},
    {"source", {"ds", "ds ds", "x", NULL}},
    {"formula", {"1 * 1", "1000 GB/s / 1", "2 + 1.5", "*", NULL}},
    {"note", {"because", NULL}},
};

static const char *const needed[][2] = {
    {"source", "id title"},
    {"device", "id name vendor kind base"},
    {"unit", "kind name"},
    {"memory", "name"},
    {"alias", "name"},
    {"count", "of value basis source"},
    {"clock", "kind value unit basis source"},
    {"power", "of value unit basis source"},
    {"overhead", "runtime value unit basis source note"},
    {"peak", "class value unit dense clock basis source accumulate formula"},
    {"fallback", "class to note"},
    {"size", "value unit basis source"},
    {"bandwidth", "value unit basis source"},
};

struct choices {
    const uint8_t *data;
    size_t n, at;
};

static size_t choose(struct choices *c, size_t n)
{
    return c->at < c->n && n ? c->data[c->at++] % n : 0;
}

static size_t length(const char *const *list, size_t max)
{
    size_t n = 0;
    while (n < max && list[n])
        n++;
    return n;
}

static void add_attributes(struct oc_buf *out, struct choices *c, const char *names)
{
    for (size_t i = 0; i < OC_COUNT(attributes); i++) {
        const char *found = strstr(names, attributes[i].name);
        size_t len = strlen(attributes[i].name);
        if (!found || (found[len] != ' ' && found[len] != '\0') || choose(c, 32) == 31)
            continue;
        oc_buf_printf(out, " %s=\"%s\"", attributes[i].name,
                      attributes[i].value[choose(c, length(attributes[i].value, 8))]);
    }
}

static const char *next_inside(struct choices *c, const char *parent)
{
    for (size_t i = 0; i < OC_COUNT(inside); i++)
        if (strcmp(inside[i][0], parent) == 0 || !inside[i][0][0])
            return inside[i][1 + choose(c, length(inside[i] + 1, 6))];
    return "/";
}

static void make_file(struct oc_buf *out, struct choices *c)
{
    const char *stack[8] = {"hwdb"};
    size_t depth = 1;
    oc_buf_str(out, "<hwdb version=\"1\"><source id=\"ds\" title=\"t\"/>");
    while (c->at < c->n) {
        const char *name = next_inside(c, stack[depth - 1]);
        if (strcmp(name, "/") == 0) {
            oc_buf_printf(out, "</%s>", stack[--depth]);
            continue;
        }
        oc_buf_printf(out, "\n<%s", name);
        for (size_t i = 0; i < OC_COUNT(needed); i++)
            if (strcmp(needed[i][0], name) == 0)
                add_attributes(out, c, needed[i][1]);
        oc_buf_char(out, '>');
        stack[depth++] = name;
    }
    while (depth)
        oc_buf_printf(out, "</%s>", stack[--depth]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct oc_buf made = {.max = 1 << 20};
    struct choices c = {.data = data, .n = n};
    read_as_file(data, n);
    make_file(&made, &c);
    read_as_file(made.data, made.n);
    oc_buf_free(&made);
    return 0;
}
