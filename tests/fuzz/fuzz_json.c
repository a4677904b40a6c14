/* Any bytes: the reader recovers and advances. Text that is JSON by the letter is read completely. */
#include <stdlib.h>

#include "base/json_read.h"
#include "support/strict_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct walk {
    struct oc_json *j;
    unsigned choice; /* the next reader function: each is used in turn */
    uint64_t sum;
};

static void touch(struct walk *w, struct oc_str s)
{
    for (size_t i = 0; i < s.n; i++)
        w->sum += (unsigned char)s.s[i];
}

static void value(struct walk *w, unsigned level)
{
    struct oc_str s;
    int64_t i;
    double d;
    bool b;
    enum oc_json_type type = oc_json_peek(w->j);
    switch (w->choice++ % 7) {
    case 0:
        w->sum += oc_json_i64(w->j, &i) ? (uint64_t)i : 1;
        return;
    case 1:
        w->sum += oc_json_double(w->j, &d) && d > 0;
        return;
    case 2:
        if (oc_json_raw(w->j, &s))
            touch(w, s);
        return;
    case 3:
        w->sum += oc_json_bool(w->j, &b) && b;
        return;
    default:
        break;
    }
    if (type == OC_JSON_OBJECT && level < 300 && oc_json_enter(w->j)) {
        while (oc_json_member(w->j, &s)) {
            touch(w, s);
            value(w, level + 1);
        }
    } else if (type == OC_JSON_ARRAY && oc_json_enter(w->j)) {
        while (oc_json_item(w->j))
            value(w, level + 1);
    } else if (oc_json_string(w->j, &s)) {
        touch(w, s);
    }
}

/* Numbers of values and members of a value, and whether it has an end. */
static bool count(struct oc_json *j, struct strict_json *sum, unsigned level)
{
    struct oc_str key;
    enum oc_json_type type = oc_json_peek(j);
    sum->values++;
    if (type != OC_JSON_OBJECT && type != OC_JSON_ARRAY)
        return oc_json_skip(j);
    if (level > 250 || !oc_json_enter(j))
        return false;
    while (type == OC_JSON_OBJECT ? oc_json_member(j, &key) : oc_json_item(j)) {
        sum->members += type == OC_JSON_OBJECT;
        if (!count(j, sum, level + 1))
            return false;
    }
    return true;
}

static void compare(const uint8_t *data, size_t n)
{
    struct strict_json strict, own = {0};
    uint64_t at;
    if (!strict_json((const char *)data, n, &strict) || strict.depth > 250)
        return;
    struct oc_stream *s = oc_stream_mem(data, n);
    struct oc_json *j = oc_json_open(s);
    if (!count(j, &own, 0) || oc_json_error(j, &at) || own.values != strict.values ||
        own.members != strict.members)
        abort();
    oc_json_close(j);
    oc_stream_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    compare(data, n);
    for (unsigned start = 0; start < 7; start++) {
        struct oc_stream *s = oc_stream_mem(data, n);
        struct walk w = {.j = oc_json_open(s), .choice = start};
        value(&w, 0);
        uint64_t at, last = 0;
        while (oc_json_error(w.j, &at) && oc_json_resync(w.j, 1)) {
            uint64_t now = oc_json_offset(w.j);
            if (now < last) /* recovery must advance */
                abort();
            last = now;
            while (oc_json_item(w.j))
                value(&w, 1);
        }
        oc_json_close(w.j);
        oc_stream_close(s);
    }
    return 0;
}
