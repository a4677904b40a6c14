/* The text form of layer information (trtexec --dumpLayerInfo, verbose logs of the builder): one layer a
 * line,
 *
 *   Name: a + b, LayerType: CaskConvolution, Inputs: [ { Name: x, Location: Device, Dimensions: [1,3,8,8],
 *   Format/Datatype: Half }], ..., Weights: {"Type": "Half", "Count": 23232}, Metadata: [ONNX Layer: a]
 *
 * is rewritten as the JSON of --exportLayerInfo, which has the same keys. TensorRT 8.0 to 8.2 prints
 *
 *   Layer(CaskConvolution): a + b, Tactic: 0x4727434768e46395, x[Half(1,3,8,8)], y[Half(1,8)] ->
 * z[Int8(1,-1)]
 */
#include <string.h>

#include "base/buf.h"
#include "profile/formats/trt_reading.h"

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

/* ---- TensorRT 8.0 to 8.2 ---------------------------------------------------------------------------- */

/* "x[Half(1,3,8,8)], y[Half(1,8)]": names may contain brackets and commas. */
static bool put_tensors(struct oc_str s, struct oc_buf *out)
{
    oc_buf_char(out, '[');
    for (bool first = true; s.n; first = false) {
        const char *close = oc_str_find(s, ")], "), *dims, *bracket;
        bool last = !close;
        if (last && (s.n < 4 || !oc_str_ends(s, ")]")))
            return false;
        close = last ? s.s + s.n - 2 : close;
        dims = memrchr(s.s, '(', (size_t)(close - s.s));
        bracket = dims ? memrchr(s.s, '[', (size_t)(dims - s.s)) : NULL;
        if (!bracket || strspn(dims + 1, "0123456789,-") < (size_t)(close - dims - 1))
            return false;
        oc_buf_str(out, first ? "{\"Name\":" : ",{\"Name\":");
        trt_layer_text_put_text(out, s.s, (size_t)(bracket - s.s));
        oc_buf_printf(out, ",\"Dimensions\":[%.*s],\"Format/Datatype\":", (int)(close - dims - 1), dims + 1);
        trt_layer_text_put_text(out, bracket + 1, (size_t)(dims - bracket - 1));
        oc_buf_char(out, '}');
        s = last ? oc_str_skip(s, s.n) : oc_str_from(s, close + 4);
    }
    oc_buf_char(out, ']');
    return true;
}

static bool put_layer_of_8_0(struct oc_str line, struct oc_buf *out)
{
    const char *type_end = oc_str_find(line, "): "), *tactic = oc_str_find(line, ", Tactic: ");
    if (!type_end || !tactic || type_end > tactic)
        return false;
    struct oc_str type = oc_str_skip(oc_str_before(line, type_end), strlen("Layer(")),
                  name = oc_str_before(oc_str_from(line, type_end + 3), tactic),
                  rest = oc_str_from(line, tactic + strlen(", Tactic: "));
    const char *tensors = oc_str_find(rest, ", "), *arrow = oc_str_find(rest, " -> ");
    if (!tensors || !arrow)
        return false;
    struct oc_str in = arrow > tensors ? oc_str_before(oc_str_from(rest, tensors + 2), arrow) : oc_str("", 0);
    oc_buf_str(out, "{\"Name\":");
    trt_layer_text_put_text(out, name.s, name.n);
    oc_buf_str(out, ",\"LayerType\":");
    trt_layer_text_put_text(out, type.s, type.n);
    oc_buf_str(out, ",\"Inputs\":");
    bool ok = put_tensors(in, out);
    oc_buf_str(out, ",\"Outputs\":");
    ok = ok && put_tensors(oc_str_from(rest, arrow + 4), out);
    oc_buf_char(out, '}');
    return ok;
}

bool trt_layer_line(struct oc_str line, struct oc_buf *json)
{
    struct text t = {line.s, line.s + line.n, json, 0};
    size_t before = json->n;
    if (oc_str_starts(line, "Layer(")) {
        if (before)
            oc_buf_char(json, ',');
        bool ok = put_layer_of_8_0(line, json);
        json->n = ok ? json->n : before;
        return ok;
    }
    if (!oc_str_starts(trt_layer_text_rest_of(&t), "Name: ") || !oc_str_has(line, ", LayerType: "))
        return false;
    if (before)
        oc_buf_char(json, ',');
    if (put_members(&t, false))
        return true;
    json->n = before;
    return false;
}
