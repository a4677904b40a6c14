/* Fields of a config.json: names that mean the same, objects inside objects, lists by layer, and what the
 * family of a model_type adds. Names, words and families are data: decoders.xml. */
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/map.h"
#include "base/pattern.h"
#include "base/units.h"
#include "base/xml_read.h"
#include "model/decoder.h"
#include "model/model.h"
#include "model/stored.h"

enum { MAX_LIST = 4096, MAX_DEPTH = 6, MAX_NESTED = 8, MAX_UNREAD = 300, MILLION = 1000000 };
#define UNSET INT64_MIN

/* ---- data ------------------------------------------------------------------------------------------- */

enum kind { FIELD, WORD, NESTED, PART, IGNORED, TENSOR, DEFAULTS, REFUSED, FAMILY };
struct row { /* an element of decoders.xml */
    uint8_t kind;
    bool own;          /* of a file of the user */
    uint16_t is;       /* enum oc_dec_field_id, enum oc_dec_word */
    const char *names; /* separated by spaces */
    const char *gguf, *set;
    const struct row *next; /* of own ones */
};
#define ROW_FIELD(f, n)     {.kind = FIELD, .is = OC_F_##f, .names = (n)},
#define ROW_WORD(w, n)      {.kind = WORD, .is = OC_W_##w, .names = (n)},
#define ROW_NESTED(n)       {.kind = NESTED, .names = (n)},
#define ROW_PART(n)         {.kind = PART, .names = (n)},
#define ROW_IGNORED(n)      {.kind = IGNORED, .names = (n)},
#define ROW_TENSOR(n, s)    {.kind = TENSOR, .names = (n), .set = (s)},
#define ROW_DEFAULTS(n, s)  {.kind = DEFAULTS, .names = (n), .set = (s)},
#define ROW_REFUSED(n, s)   {.kind = REFUSED, .names = (n), .set = (s)},
#define ROW_FAMILY(n, g, s) {.kind = FAMILY, .names = (n), .gguf = (g), .set = (s)},
static const struct row rows[] = {OC_DECODER_ROWS};
#define TEXT(x) #x,
static const char *const fields[] = {OC_EACH_FIELD(TEXT)}, *const words[] = {OC_EACH_WORD(TEXT)};

/* The next name of a list. */
static bool next_name(const char **list, struct oc_str *name)
{
    const char *p = *list + strspn(*list, " ");
    *name = oc_str(p, strcspn(p, " "));
    *list = p + name->n;
    return name->n > 0;
}

static bool matches(struct oc_str pattern, struct oc_str key)
{
    char p[64], k[100];
    snprintf(p, sizeof(p), "%.*s", (int)pattern.n, pattern.s);
    snprintf(k, sizeof(k), "%.*s", (int)(key.n < 99 ? key.n : 99), key.s);
    return oc_glob(p, k);
}

/* The place of a name in the row, from 1 on; 0: it is not there. */
static uint8_t place_of(const struct row *r, struct oc_str key)
{
    struct oc_str name;
    uint8_t place = 1;
    for (const char *p = r->names; next_name(&p, &name); place++)
        if (r->kind == IGNORED ? matches(name, key) : name.n == key.n && !memcmp(name.s, key.s, key.n))
            return place;
    return 0;
}

/* The first row of that kind with the name: of the user's file, then of the table. NULL: none. */
static const struct row *row_of(const struct row *own, enum kind kind, struct oc_str key)
{
    for (; own; own = own->next)
        if (own->kind == kind && place_of(own, key))
            return own;
    for (size_t i = 0; i < OC_COUNT(rows); i++)
        if (rows[i].kind == kind && place_of(&rows[i], key))
            return &rows[i];
    return NULL;
}

struct oc_str oc_dec_field_name(enum oc_dec_field_id field)
{
    for (size_t i = 0; i < OC_COUNT(rows); i++)
        if (rows[i].kind == FIELD && rows[i].is == field) {
            const char *list = rows[i].names, *end = strstr(list, "_per_layer ");
            size_t n = strcspn(list, " ");
            return oc_str(list, end && end < list + n ? (size_t)(end - list) : n);
        }
    return oc_str(fields[field], strlen(fields[field]));
}

/* ---- values ----------------------------------------------------------------------------------------- */

int64_t oc_dec_field(const struct oc_dec_fields *f, enum oc_dec_field_id field, int64_t otherwise)
{
    return f->of[field].v == UNSET ? otherwise : f->of[field].v;
}

int64_t oc_dec_field_at(const struct oc_dec_fields *f, enum oc_dec_field_id field, int64_t layer,
                        int64_t otherwise)
{
    if (!f->of[field].list)
        return oc_dec_field(f, field, otherwise);
    int64_t v = layer < f->of[field].n ? f->of[field].list[layer] : UNSET;
    return v == UNSET ? otherwise : v;
}

bool oc_dec_field_is(const struct oc_dec_fields *f, enum oc_dec_field_id field)
{
    return oc_dec_field(f, field, 0) != 0;
}

bool oc_dec_field_lists(const struct oc_dec_fields *f, enum oc_dec_field_id field, int64_t v)
{
    for (uint32_t i = 0; i < f->of[field].n; i++)
        if (f->of[field].list[i] == v)
            return true;
    return false;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

struct reader {
    const struct oc_decoder_source *source;
    struct oc_arena *arena;
    struct oc_diags *diags;
    struct oc_dec_fields_read *out;
    const struct row *own;
    const char *architecture, *outer_type;
    const char *outer_part;   /* the last part of the file: NULL none */
    int64_t index;            /* of the element of an array of objects; -1: in none */
    uint8_t place[OC_FIELDS]; /* of the name that an object used for a field; 0: none */
    bool modelopt;            /* the file is ModelOpt's: its `quantization` is not that of MLX */
    struct oc_str nested[MAX_NESTED];
    unsigned n_nested;
    struct oc_buf unread;
};

static void append_value(struct reader *r, enum oc_dec_field_id f, int64_t index, int64_t v)
{
    struct oc_dec_fields *s = &r->out->f;
    if (index < 0 || index >= MAX_LIST)
        return;
    if (!s->of[f].list)
        s->of[f].list = OC_NEW_ARRAY(r->arena, MAX_LIST, int64_t);
    while (s->of[f].n <= index)
        s->of[f].list[s->of[f].n++] = UNSET;
    s->of[f].list[index] = v;
}

static void put(struct reader *r, enum oc_dec_field_id f, int64_t v)
{
    if (r->index >= 0) {
        append_value(r, f, r->index, v);
        return;
    }
    r->out->f.of[f].v = v;
    r->out->f.of[f].list = NULL;
    r->out->f.of[f].n = 0;
}

/* A word, or a text of letters or numbers that is a list: "MEM*E", "3,4,5". */
static bool put_text(struct reader *r, enum oc_dec_field_id f, struct oc_str text)
{
    const struct row *w = row_of(r->own, WORD, text);
    int64_t v, n = 0;
    if (w)
        put(r, f, w->is);
    if (w || r->index >= 0)
        return w;
    bool commas = text.n && oc_is_digit(text.s[0]);
    for (size_t i = 0, k; i < text.n && n < MAX_LIST; i += k + commas) {
        k = 1;
        while (commas && i + k < text.n && text.s[i + k] != ',')
            k++;
        w = commas ? NULL : row_of(r->own, WORD, oc_str(text.s + i, 1));
        if (commas ? !oc_parse_i64(text.s + i, k, &v) : !w)
            return false;
        append_value(r, f, n++, commas ? v : w->is);
    }
    return n > 0;
}

/* null says nothing. False: not understood. */
static bool put_value(struct reader *r, enum oc_dec_field_id f, struct oc_json *j)
{
    struct oc_str text;
    int64_t v;
    double d;
    bool flag;
    switch (oc_json_peek(j)) {
    case OC_JSON_TRUE:
    case OC_JSON_FALSE:
        if (oc_json_bool(j, &flag))
            put(r, f, flag);
        return true;
    case OC_JSON_NULL:
        oc_json_skip(j);
        return true;
    case OC_JSON_STRING:
        if (!oc_json_string(j, &text))
            return false;
        text = oc_str(oc_strndup(r->arena, text.s, text.n), text.n);
        return put_text(r, f, text);
    case OC_JSON_NUMBER:
        if (f < OC_FIRST_MILLIONTHS ? !oc_json_i64(j, &v) : !oc_json_double(j, &d))
            return false;
        if (f >= OC_FIRST_MILLIONTHS)
            v = d > -1e6 && d < 1e6 ? (int64_t)(d * MILLION + 0.5) : 0;
        put(r, f, v);
        return true;
    default:
        oc_json_skip(j);
        return false;
    }
}

static bool put_list(struct reader *r, enum oc_dec_field_id f, struct oc_json *j)
{
    bool understood = true;
    r->out->f.of[f].list = NULL;
    r->out->f.of[f].n = 0;
    r->index = 0;
    for (oc_json_enter(j); oc_json_item(j); r->index++)
        understood &= put_value(r, f, j);
    int64_t n = r->index;
    r->index = -1;
    if (n > 0 && n <= MAX_LIST && r->out->f.of[f].n < n &&
        r->out->f.of[f].list) /* the last ones say nothing */
        append_value(r, f, n - 1, UNSET);
    if (!r->out->f.of[f].list && understood) /* [] */
        r->out->f.of[f].list = OC_NEW_ARRAY(r->arena, 1, int64_t);
    return understood;
}

static void note_unread(struct reader *r, const char *prefix, struct oc_str key)
{
    if (strncmp(prefix, "rope_", 5) != 0 && !row_of(r->own, IGNORED, key) && r->unread.n < MAX_UNREAD)
        oc_buf_printf(&r->unread, "%s%s%.*s", r->unread.n ? ", " : "", prefix, (int)(key.n < 60 ? key.n : 60),
                      key.s);
}

static void read_object(struct reader *r, struct oc_json *j, const char *prefix, unsigned depth);

/* Members of objects and of arrays of objects, with the names of both. */
static void read_part(struct reader *r, struct oc_json *j, const char *prefix, struct oc_str key,
                      unsigned depth)
{
    const char *inside = oc_printf(r->arena, "%s%.*s.", prefix, (int)(key.n < 60 ? key.n : 60), key.s);
    if (oc_json_peek(j) == OC_JSON_OBJECT) {
        read_object(r, j, inside, depth + 1);
        return;
    }
    int64_t before = r->index, at = 0;
    for (oc_json_enter(j); oc_json_item(j); at++) {
        r->index = before >= 0 ? before : at;
        if (oc_json_peek(j) == OC_JSON_OBJECT)
            read_object(r, j, inside, depth + 1);
        else
            oc_json_skip(j);
    }
    r->index = before;
}

/* The field of a name, which is not read if an earlier name of the field is there: *later. */
static const struct row *field_of(struct reader *r, const char *prefix, struct oc_str key, bool *later)
{
    char full[160];
    int n = snprintf(full, sizeof(full), "%s%.*s", prefix, (int)(key.n < 100 ? key.n : 100), key.s);
    struct oc_str name = oc_str(full, (size_t)n);
    const struct row *row = row_of(r->own, FIELD, name);
    if (!row && (!strncmp(prefix, "rope_", 5) || !strncmp(prefix, "attn_config", 11) ||
                 !strncmp(prefix, "ffn_config", 10)))
        row = row_of(r->own, FIELD, name = key);
    uint8_t place = !row       ? 0
                    : row->own ? 1
                               : place_of(row, name) + 1,
            *best = row ? &r->place[row->is] : NULL;
    *later = row && *best && place > *best;
    if (row && !*later)
        *best = place;
    return row;
}

static void read_text_member(struct reader *r, struct oc_json *j, const char **to)
{
    struct oc_str text;
    if (oc_json_peek(j) == OC_JSON_ARRAY) { /* architectures */
        for (oc_json_enter(j); oc_json_item(j);)
            read_text_member(r, j, to);
    } else if (oc_json_peek(j) == OC_JSON_STRING && oc_json_string(j, &text)) {
        *to = oc_strndup(r->arena, text.s, text.n < 100 ? text.n : 100);
    } else {
        oc_json_skip(j);
    }
}

/* Members other than fields: types, quantization, objects. */
static bool read_special(struct reader *r, struct oc_json *j, const char *prefix, struct oc_str key,
                         unsigned depth)
{
    enum oc_json_type type = oc_json_peek(j);
    bool object = type == OC_JSON_OBJECT, quantization = oc_str_eq(key, "quantization");
    struct oc_str text;
    if (r->modelopt && !quantization)
        oc_json_skip(j);
    else if (object && (quantization || oc_str_eq(key, "quantization_config")))
        oc_quant_read(r->out->quant, j, quantization && !r->modelopt);
    else if (!*prefix && oc_str_eq(key, "model_type"))
        read_text_member(r, j, &r->out->type);
    else if (!*prefix && oc_str_eq(key, "architectures"))
        read_text_member(r, j, &r->architecture);
    else if (object && row_of(r->own, NESTED, key) && r->n_nested < MAX_NESTED) {
        if (oc_json_raw(j, &text))
            r->nested[r->n_nested++] = oc_str(OC_COPY_ARRAY(r->arena, text.s, text.n), text.n);
    } else if ((object || type == OC_JSON_ARRAY) && depth < MAX_DEPTH && row_of(r->own, PART, key)) {
        r->outer_part = *prefix ? r->outer_part : oc_strndup(r->arena, key.s, key.n);
        read_part(r, j, prefix, key, depth);
    } else {
        r->out->part |= object && oc_str_eq(key, "vision_config");
        return false;
    }
    return true;
}

static void read_object(struct reader *r, struct oc_json *j, const char *prefix, unsigned depth)
{
    struct oc_map seen = {.arena = r->arena};
    struct oc_str key;
    for (oc_json_enter(j); oc_json_member(j, &key);) {
        uint32_t once = 0;
        const char *kept;
        if (!oc_map_add(&seen, key.s, key.n, &once, &kept))
            oc_diag_add(r->diags, OC_WARNING, "W-duplicate-key", r->source->name,
                        "'%.60s' is there twice: the last one counts", oc_strndup(r->arena, key.s, key.n));
        key = oc_str(oc_strndup(r->arena, key.s, key.n), key.n);
        if (read_special(r, j, prefix, key, depth))
            continue;
        enum oc_json_type type = oc_json_peek(j);
        bool later = type == OC_JSON_NULL; /* says nothing */
        const struct row *row = later ? NULL : field_of(r, prefix, key, &later);
        if (!row || later)
            oc_json_skip(j);
        else if (type == OC_JSON_ARRAY && r->index < 0 ? put_list(r, (enum oc_dec_field_id)row->is, j)
                                                       : put_value(r, (enum oc_dec_field_id)row->is, j))
            continue;
        if (!later)
            note_unread(r, prefix, key);
    }
    oc_map_free(&seen);
}

static int read_text(struct reader *r, struct oc_str text, struct oc_err *err)
{
    struct oc_stream *s = oc_stream_mem(text.s, text.n);
    struct oc_json *j = oc_json_open(s);
    uint64_t at = 0;
    r->index = -1;
    memset(r->place, 0, sizeof(r->place));
    read_object(r, j, "", 0);
    const char *bad = oc_json_error(j, &at);
    if (!bad && oc_json_truncated(j))
        bad = "the text ends inside a value";
    if (bad)
        oc_fail(err, OC_EFORMAT, "damaged: %s (offset %llu)", bad, (unsigned long long)at);
    oc_json_close(j);
    oc_stream_close(s);
    return bad ? -1 : 0;
}

/* ---- families --------------------------------------------------------------------------------------- */

/* "Qwen3MoeForCausalLM" is the family "qwen3_moe". */
static bool is_architecture(struct oc_str family, const char *architecture)
{
    const char *p = architecture;
    for (size_t i = 0; i < family.n; i++) {
        if (family.s[i] == '_' || family.s[i] == '-')
            continue;
        if ((*p | 0x20) != family.s[i] && *p != family.s[i])
            return false;
        p++;
    }
    return !strncmp(p, "For", 3);
}

/* How much a type is like a family: both begin with the same letters; then the longest beginning in common, then the
 * newest version: "qwen3_moe_thinker" is like "qwen3_moe", "phi4flash" like "phi3". 0: not. */
static size_t likeness(struct oc_str family, const char *type)
{
    size_t letters = 0, same = 0, version = 0;
    while (letters < family.n && family.s[letters] >= 'a' && family.s[letters] <= 'z')
        letters++;
    while (same < family.n && type[same] == family.s[same])
        same++;
    while (same > letters && same < family.n && family.s[same - 1] != '_' && !oc_is_digit(family.s[same - 1]))
        same--; /* whole parts */
    same -= same > letters && family.s[same - 1] == '_';
    if (letters < 3 || same < letters || (type[letters] >= 'a' && type[letters] <= 'z'))
        return 0;
    for (size_t i = letters; i < family.n && oc_is_digit(family.s[i]) && version < 100; i++)
        version = 10 * version + (size_t)(family.s[i] - '0');
    return 1000 * same + version;
}

enum similarity { BY_ARCHITECTURE, BY_BEGINNING };
static const struct row *similar(const char *to, enum similarity how, struct oc_str *best)
{
    const struct row *found = NULL;
    struct oc_str name;
    size_t most = 0;
    for (size_t i = 0; to && i < OC_COUNT(rows); i++)
        for (const char *p = rows[i].names; rows[i].kind == FAMILY && next_name(&p, &name);) {
            size_t like = how == BY_BEGINNING ? likeness(name, to) : is_architecture(name, to) ? name.n : 0;
            found = like > most ? &rows[i] : found;
            *best = like > most ? name : *best;
            most = like > most ? like : most;
        }
    return found;
}

/* The family of a type, or of its end if that has a version: "llava_qwen2" is "qwen2". */
static const struct row *family_named(const struct reader *r, const char *type, bool end, struct oc_str *name)
{
    const struct row *f = NULL;
    for (const char *p = type; !f && p; p = *p ? strpbrk(p + 1, "_-") : NULL)
        if (p == type ? !end : end && strpbrk(p, "123456789"))
            f = row_of(r->own, FAMILY, *name = oc_str(p + (p > type), strlen(p + (p > type))));
    return f;
}

/* The family of the inner or outer model_type or of the architecture; `assumed`: one with a similar name, unless its
 * norms are others. */
static const struct row *family_of(struct reader *r)
{
    const char *outer = r->outer_type   ? r->outer_type
                        : r->outer_part ? r->outer_part
                                        : "",
               *type[] = {r->out->type ? r->out->type : "", outer};
    const struct oc_dec_fields *given = &r->out->f;
    const struct row *f = NULL;
    struct oc_str name = {0};
    for (int i = 0; !f && i < 2; i++)
        f = family_named(r, type[i], false, &name);
    if (!f)
        f = similar(r->architecture, BY_ARCHITECTURE, &name);
    r->out->assumed = !f;
    for (int i = 0; !f && i < 2; i++)
        f = family_named(r, type[i], true, &name);
    for (int i = 0; !f && i < 2; i++)
        f = similar(type[i], BY_BEGINNING, &name);
    if (f && r->out->assumed && strstr(f->set, "norm=layer") && given->of[OC_F_rms_epsilon].v != UNSET &&
        given->of[OC_F_layer_epsilon].v == UNSET)
        f = NULL;
    r->out->family = f ? oc_strndup(r->arena, name.s, name.n) : NULL;
    return f;
}

/* "norm=layer head=128": all, or those that the file does not say. False: a name is unknown. */
static bool apply(struct oc_dec_fields *f, const char *set, bool all)
{
    struct oc_str item;
    for (const char *p = set; p && next_name(&p, &item);) {
        const char *equals = oc_str_chr(item, '=');
        size_t i = 0, w = 0;
        if (!equals)
            return false;
        struct oc_str name = oc_str_before(item, equals), value = oc_str_from(item, equals + 1);
        while (i < OC_FIELDS && !oc_str_eq(name, fields[i]))
            i++;
        while (w < OC_COUNT(words) && !oc_str_eq(value, words[w]))
            w++;
        int64_t v = OC_WORDS_FROM + 1 + (int64_t)w;
        if (i == OC_FIELDS || (w == OC_COUNT(words) && !oc_parse_i64(value.s, value.n, &v)))
            return false;
        if (all || f->of[i].v == UNSET)
            f->of[i].v = i >= OC_FIRST_MILLIONTHS && w == OC_COUNT(words) ? v * MILLION : v;
    }
    return true;
}

/* What the class of an inner object has where the object leaves it out, and the names of it. */
static void apply_defaults(struct reader *r)
{
    struct oc_dec_fields *f = &r->out->f, before = *f;
    const char *type = r->n_nested && r->out->type ? r->out->type : "", *text = NULL;
    const struct row *row = row_of(r->own, DEFAULTS, oc_str(type, strlen(type)));
    apply(f, row ? row->set : NULL, false);
    for (size_t i = 0; i < OC_FIELDS; i++) {
        struct oc_str name = oc_dec_field_name((enum oc_dec_field_id)i);
        if (f->of[i].v != before.of[i].v)
            text = oc_printf(r->arena, "%s%s%.*s %lld", text ? text : "", text ? ", " : "", (int)name.n,
                             name.s, (long long)f->of[i].v);
    }
    if (text)
        r->out->left_out = oc_printf(r->arena, "%s, as in the class of '%s'", text, type);
}

/* Towers for images and sound have layers of their own, which say nothing of the decoder. */
static bool any_tensor(const struct oc_decoder_source *s, const char *names)
{
    struct oc_str part;
    for (const char *p = names; next_name(&p, &part);)
        for (uint32_t i = 0; i < s->n_tensor; i++) {
            enum oc_file_part of = oc_stored_part(s->tensor[i]);
            if (of != OC_FILE_VISION && of != OC_FILE_AUDIO &&
                oc_find(s->tensor[i], strlen(s->tensor[i]), part.s, part.n))
                return true;
        }
    return false;
}

/* "mlp.down_proj.bias" is not there, "mlp.down_proj.weight" is. */
static bool lacks_bias(const struct oc_decoder_source *s, const char *names)
{
    struct oc_str part;
    char weight[100];
    for (const char *p = names; next_name(&p, &part);) {
        bool bias = part.n > 5 && !memcmp(part.s + part.n - 5, ".bias", 5);
        snprintf(weight, sizeof(weight), "%.*s.weight", bias ? (int)part.n - 5 : 0, part.s);
        if (bias && any_tensor(s, weight))
            return true;
    }
    return false;
}

/* What tensors have or lack and fields do not say: without a family of the type. */
static void apply_tensors(struct reader *r)
{
    char none[40];
    for (size_t i = 0; r->out->assumed && r->source->n_tensor && i < OC_COUNT(rows); i++) {
        int name = rows[i].kind == TENSOR ? (int)strcspn(rows[i].set, "=") : 0;
        snprintf(none, sizeof(none), "%.*s=0", name, rows[i].set ? rows[i].set : "");
        if (name && any_tensor(r->source, rows[i].names))
            apply(&r->out->f, rows[i].set, true);
        else if (name && strcmp(rows[i].set + name, "=1") == 0 && lacks_bias(r->source, rows[i].names))
            apply(&r->out->f, none, true);
    }
    if (r->out->assumed && r->source->n_tensor && r->out->f.of[OC_F_tied].v == UNSET)
        r->out->f.of[OC_F_tied].v = !any_tensor(r->source, "lm_head.weight output.weight embed_out.weight");
    /* transformers leaves out what is as in its base class, whose embeddings are tied */
    if (r->out->assumed && r->out->f.of[OC_F_tied].v == UNSET &&
        oc_str_has(r->source->config, "\"transformers_version\""))
        r->out->f.of[OC_F_tied].v = 1;
}

const char *oc_decoder_family(size_t index, struct oc_arena *arena)
{
    struct oc_str name;
    for (size_t i = 0; i < OC_COUNT(rows); i++)
        for (const char *p = rows[i].names; rows[i].kind == FAMILY && next_name(&p, &name);)
            if (index-- == 0)
                return oc_strndup(arena, name.s, name.n);
    return NULL;
}

void oc_decoder_of_gguf(const char *architecture, bool correction, bool *latent, char type[64])
{
    snprintf(type, 64, "%s", architecture);
    *latent = false;
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        if (rows[i].kind != FAMILY || !*rows[i].gguf || strcmp(rows[i].gguf, architecture) != 0)
            continue;
        *latent = rows[i].set && strstr(rows[i].set, "latent=1");
        snprintf(type, 64, "%.*s", (int)strcspn(rows[i].names, " "), rows[i].names);
        if (!*latent || correction == !!strstr(rows[i].set, "correction=1"))
            break;
    }
}

/* ---- a file of the user ----------------------------------------------------------------------------- */

struct own_rows {
    struct oc_arena *arena;
    const struct oc_xml *xml;
    struct row *first, **last;
};
static int add_row(void *user, const struct oc_xml_elem *e)
{
    struct own_rows *o = user;
    struct row *row = OC_NEW(o->arena, struct row);
    *row = (struct row){.own = true,
                        .kind = (uint8_t)(e->kind - 1),
                        .names = oc_xml_get(e, "names"),
                        .gguf = oc_xml_get(e, "gguf"),
                        .set = oc_xml_get(e, "set")};
    const char *is = oc_xml_get(e, "is");
    size_t n = row->kind == FIELD ? OC_FIELDS : OC_COUNT(words), i = 0;
    while (is && i < n && strcmp(is, row->kind == FIELD ? fields[i] : words[i]) != 0)
        i++;
    if (is && i == n)
        return oc_xml_fail(o->xml, "unknown %s '%.40s'", row->kind == FIELD ? "field" : "word", is);
    row->is = (uint16_t)(row->kind == WORD ? OC_WORDS_FROM + 1 + i : i);
    struct oc_dec_fields unused;
    if (row->set && row->kind != REFUSED && !apply(&unused, row->set, true))
        return oc_xml_fail(o->xml, "'set' is not like \"norm=layer head=128\": %.100s", row->set);
    *o->last = row;
    o->last = (struct row **)(uintptr_t)&row->next;
    return 0;
}

static int read_own(const char *path, struct oc_arena *arena, const struct row **out, struct oc_err *err)
{
#define ELEMENT(n, need, may)                                                                                \
    {                                                                                                        \
        .name = (n), .parent = 0, .label = "names", .required = (need), .optional = (may), .start = add_row  \
    }
    static const struct oc_xml_spec spec[] = {
        {.name = "decoders", .parent = OC_XML_ROOT, .label = "", .required = "version", .optional = ""},
        [1 + FIELD] = ELEMENT("field", "is names", ""),
        [1 + WORD] = ELEMENT("word", "is names", ""),
        [1 + NESTED] = ELEMENT("nested", "names", ""),
        [1 + PART] = ELEMENT("part", "names", ""),
        [1 + IGNORED] = ELEMENT("ignored", "names", ""),
        [1 + TENSOR] = ELEMENT("tensor", "names set", ""),
        [1 + DEFAULTS] = ELEMENT("defaults", "names set", ""),
        [1 + REFUSED] = ELEMENT("refused", "names set", ""),
        [1 + FAMILY] = ELEMENT("family", "names", "gguf set")};
    static const struct oc_xml_format format = {spec, OC_COUNT(spec), "1", 1 << 20};
    struct own_rows o = {.arena = arena};
    struct oc_file f;
    o.last = &o.first;
    if (oc_file_map(path, 1 << 20, &f, err))
        return -1;
    int rc = oc_xml_read(&format, path, f.data, f.size_bytes, arena, &o, &o.xml, err);
    oc_file_unmap(&f);
    *out = o.first;
    return rc;
}

/* ---- all together ----------------------------------------------------------------------------------- */

/* The file, then the objects in it, then ModelOpt's. */
static int read_all(struct reader *r, struct oc_err *err)
{
    if (read_text(r, r->source->config, err))
        return -1;
    r->outer_type = r->out->type;
    for (unsigned i = 0; i < r->n_nested; i++)
        if (read_text(r, r->nested[i], err))
            return -1;
    r->out->part |= r->n_nested > 0;
    r->modelopt = true;
    int rc =
        !r->source->modelopt.n || oc_quant_given(r->out->quant) ? 0 : read_text(r, r->source->modelopt, err);
    return rc ? oc_err_prefix(err, OC_MODELOPT_CONFIG) : 0;
}

int oc_dec_fields_read(const struct oc_decoder_source *s, struct oc_arena *arena, struct oc_diags *diags,
                       struct oc_dec_fields_read *out, struct oc_err *err)
{
    struct reader r = {.source = s, .arena = arena, .diags = diags, .out = out};
    *out = (struct oc_dec_fields_read){.quant = oc_quant_open(arena)};
    for (size_t i = 0; i < OC_FIELDS; i++)
        out->f.of[i].v = UNSET;
    if (s->own && read_own(s->own, arena, &r.own, err))
        return -1;
    int rc = read_all(&r, err);
    if (rc == 0) {
        const struct row *family = family_of(&r);
        apply(&out->f, family ? family->set : NULL, false);
        apply_defaults(&r);
        apply_tensors(&r);
    }
    out->type = out->type ? out->type : r.outer_type ? r.outer_type : "";
    const struct row *refused = row_of(r.own, REFUSED, oc_str(out->type, strlen(out->type)));
    if (rc == 0 && refused)
        rc = oc_fail(err, OC_EUNSUPPORTED, "%s are not built; export the model to ONNX", refused->set);
    out->unread = r.unread.n ? oc_strndup(arena, r.unread.data, r.unread.n) : NULL;
    oc_buf_free(&r.unread);
    return rc ? oc_err_prefix(err, "%s", s->name) : 0;
}
