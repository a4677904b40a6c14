/* The text form of layer information (trtexec --dumpLayerInfo, verbose logs of the builder): one layer a
 * line,
 *
 *   Name: a + b, LayerType: CaskConvolution, Inputs: [ { Name: x, Location: Device, Dimensions: [1,3,8,8],
 *   Format/Datatype: Half }], ..., Weights: {"Type": "Half", "Count": 23232}, Metadata: [ONNX Layer: a]
 *
 * is rewritten as the JSON of --exportLayerInfo, which has the same keys. */
#include "base/buf.h"
#include "profile/trt_reading.h"

enum { MAX_DEPTH = 6 };

struct text {
    const char *s, *end;
    struct oc_buf *out;
    unsigned depth;
};

static struct oc_str trt_layer_text_rest_of(const struct text *t)
{
    return oc_str(t->s, (size_t)(t->end - t->s));
}

static void trt_layer_text_skip_blanks(struct text *t)
{
    while (t->s < t->end && *t->s == ' ')
        t->s++;
}

static bool trt_layer_text_take(struct text *t, char c)
{
    trt_layer_text_skip_blanks(t);
    bool found = t->s < t->end && *t->s == c;
    t->s += found;
    return found;
}

/* Length of "Key: " at s, without the separator; 0: none. */
static size_t key_length(const char *s, const char *end)
{
    size_t n = 0, left = (size_t)(end - s);
    if (!left || ((*s < 'A' || *s > 'Z') && *s != '"'))
        return 0;
    while (n < left && (oc_is_alpha((unsigned char)s[n]) || s[n] == '/' || s[n] == '"'))
        n++;
    return n < left && s[n] == ':' && (n + 1 == left || s[n + 1] == ' ') ? n : 0;
}

/* End of a text: before the next key, or the end of the object. */
static const char *text_end(const struct text *t, bool nested)
{
    const char *s = t->s;
    for (; s < t->end; s++) {
        struct oc_str rest = oc_str(s, (size_t)(t->end - s));
        if ((nested && oc_str_starts(rest, " }")) || (oc_str_starts(rest, ", ") && key_length(s + 2, t->end)))
            break;
    }
    return s;
}

static void trt_layer_text_put_text(struct oc_buf *out, const char *s, size_t n)
{
    oc_buf_char(out, '"');
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"' || s[i] == '\\')
            oc_buf_char(out, '\\');
        oc_buf_char(out, s[i]);
    }
    oc_buf_char(out, '"');
}

/* A number, if that is the value. */
static bool put_number(struct text *t)
{
    const char *s = t->s;
    s += s < t->end && *s == '-';
    while (s < t->end && ((*s >= '0' && *s <= '9') || *s == '.'))
        s++;
    if (s == t->s || s[-1] == '-' || s[-1] == '.' ||
        (s < t->end && *s != ',' && *s != ']' && *s != '}' && *s != ' '))
        return false;
    oc_buf_add(t->out, t->s, (size_t)(s - t->s));
    t->s = s;
    return true;
}

static bool put_value(struct text *t, bool is_text, bool nested);

/* Key: value, Key: value */
static bool put_members(struct text *t, bool nested)
{
    oc_buf_char(t->out, '{');
    for (bool first = true; first || trt_layer_text_take(t, ','); first = false) {
        trt_layer_text_skip_blanks(t);
        size_t n = key_length(t->s, t->end), quote = n && *t->s == '"';
        struct oc_str key = oc_str(t->s + quote, n > 2 * quote ? n - 2 * quote : 0);
        bool is_text = oc_str_eq(key, "Name") || oc_str_eq(key, "TacticName") || oc_str_eq(key, "Metadata");
        if (!key.n)
            return false;
        if (!first)
            oc_buf_char(t->out, ',');
        trt_layer_text_put_text(t->out, key.s, key.n);
        oc_buf_char(t->out, ':');
        t->s += n + 1;
        trt_layer_text_skip_blanks(t);
        if (!put_value(t, is_text, nested))
            return false;
    }
    oc_buf_char(t->out, '}');
    return true;
}

static bool put_list(struct text *t)
{
    oc_buf_char(t->out, '[');
    for (bool first = true; !trt_layer_text_take(t, ']'); first = false) {
        if (!first && !trt_layer_text_take(t, ','))
            return false;
        if (!first)
            oc_buf_char(t->out, ',');
        trt_layer_text_skip_blanks(t);
        if (t->s == t->end || !put_value(t, false, true))
            return false;
    }
    oc_buf_char(t->out, ']');
    return true;
}

static bool put_value(struct text *t, bool is_text, bool nested)
{
    char open = '\0';
    if (t->s < t->end)
        open = *t->s;
    if (!is_text && put_number(t))
        return true;
    if (is_text || (open != '[' && open != '{')) {
        bool quoted = !is_text && open == '"';
        t->s += quoted;
        const char *end = quoted ? memchr(t->s, '"', (size_t)(t->end - t->s)) : text_end(t, nested);
        if (!end)
            return false;
        trt_layer_text_put_text(t->out, t->s, (size_t)(end - t->s));
        t->s = end + quoted;
        return true;
    }
    if (t->depth == MAX_DEPTH)
        return false;
    t->depth++;
    t->s++;
    bool ok = open == '[' ? put_list(t) : put_members(t, true) && trt_layer_text_take(t, '}');
    t->depth--;
    return ok;
}

bool trt_layer_line(struct oc_str line, struct oc_buf *json)
{
    struct text t = {line.s, line.s + line.n, json, 0};
    size_t before = json->n;
    if (!oc_str_starts(trt_layer_text_rest_of(&t), "Name: ") || !oc_str_has(line, ", LayerType: "))
        return false;
    if (before)
        oc_buf_char(json, ',');
    if (put_members(&t, false))
        return true;
    json->n = before;
    return false;
}
