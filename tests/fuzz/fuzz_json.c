#include <stdlib.h>

#include "base/json_read.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
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
