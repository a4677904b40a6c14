#include "support/json_paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_read.h"

static void keep(struct t_json *t, const char *path, const char *value)
{
    OC_GROW(t->value, t->n, t->cap);
    t->value[t->n] = value;
    oc_map_set(&t->paths, path, strlen(path), (uint32_t)t->n++);
}

static void walk(struct t_json *t, struct oc_json *j, const char *path)
{
    enum oc_json_type type = oc_json_peek(j);
    struct oc_str key, text;
    unsigned n = 0;
    if (type == OC_JSON_OBJECT) {
        assert_true(oc_json_enter(j));
        while (oc_json_member(j, &key))
            walk(t, j, oc_printf(&t->arena, "%s%s%.*s", path, *path ? "." : "", (int)key.n, key.s));
    } else if (type == OC_JSON_ARRAY) {
        assert_true(oc_json_enter(j));
        for (; oc_json_item(j); n++)
            walk(t, j, oc_printf(&t->arena, "%s[%u]", path, n));
        keep(t, oc_printf(&t->arena, "%s.n", path), oc_printf(&t->arena, "%u", n));
    } else {
        assert_true(type == OC_JSON_STRING ? oc_json_string(j, &text) : oc_json_raw(j, &text));
        keep(t, path, type == OC_JSON_NULL ? NULL : oc_strndup(&t->arena, text.s, text.n));
    }
}

struct t_json t_json_read(const char *text)
{
    struct t_json t = {0};
    struct oc_arena *arena = calloc(1, sizeof(*arena));
    t.paths.arena = arena;
    struct oc_stream *s = oc_stream_mem(text, strlen(text));
    struct oc_json *j = oc_json_open(s);
    walk(&t, j, "");
    assert_null(oc_json_error(j, NULL));
    assert_false(oc_json_truncated(j));
    oc_json_close(j);
    oc_stream_close(s);
    return t;
}

void t_json_free(struct t_json *t)
{
    oc_map_free(&t->paths);
    oc_arena_free(t->paths.arena);
    free(t->paths.arena);
    oc_arena_free(&t->arena);
    free(t->value);
}

static const char *look_up(const struct t_json *t, const char *format, va_list args)
{
    char path[256];
    vsnprintf(path, sizeof(path), format, args);
    uint32_t at = oc_map_get(&t->paths, path, strlen(path));
    if (at == OC_NONE)
        fail_msg("the report has no '%s'", path);
    return t->value[at];
}

#define LOOK_UP(value)                                                                                       \
    va_list args;                                                                                            \
    va_start(args, path);                                                                                    \
    const char *value = look_up(j, path, args);                                                              \
    va_end(args)

const char *t_text(const struct t_json *j, const char *path, ...)
{
    LOOK_UP(text);
    return text;
}

bool t_is_null(const struct t_json *j, const char *path, ...)
{
    LOOK_UP(text);
    return !text;
}

double t_number(const struct t_json *j, const char *path, ...)
{
    LOOK_UP(text);
    return text ? strtod(text, NULL) : 0;
}

uint64_t t_whole(const struct t_json *j, const char *path, ...)
{
    LOOK_UP(text);
    char *end = NULL;
    uint64_t v = text ? strtoull(text, &end, 10) : 0;
    if (text && *end)
        fail_msg("'%s' is not an integer", text);
    return v;
}
