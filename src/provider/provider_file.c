/* Reader of operator lists. Layout (hwdb/providers/providers.rng is the schema):
 *
 *   provider version="1" id name release opset source url [groups] [bodies] [shapes] [host] [memory] [cast]
 *            [maybe] [quantized] [variant] [note]
 *     types id list                              a set of types
 *     op name [domain] [opset] [in] [out] [host-in] [host-out]
 *       needs ...                                a condition, see struct oc_provider_need
 *
 * Everything not listed is an error. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/str.h"
#include "base/xml_read.h"
#include "provider/provider.h"

enum elem { E_PROVIDER, E_TYPES, E_OP, E_NEEDS, E_KINDS };
enum { MAX_ROWS = 4000, MAX_NEEDS = 32, MAX_OPSET = 10000, MAX_LISTS = 200 };

struct list_reader {
    const struct oc_xml *xml;
    struct oc_arena *arena;
    struct oc_provider *p;
    struct oc_map set; /* id of a set to its index */
    oc_type_set *types;
    uint32_t n_types, cap_types;
    struct oc_provider_need need[MAX_NEEDS]; /* of the row being read */
    uint32_t n_need;
};

/* ---- values ----------------------------------------------------------------------------------------- */

/* Takes the next word of a list; false at its end. */
static bool next_word(const char **list, struct oc_str *word)
{
    const char *s = *list + strspn(*list, " ");
    *word = oc_str(s, strcspn(s, " "));
    *list = s + word->n;
    return word->n > 0;
}

static bool list_integer(const char *text, int64_t *out)
{
    char *end;
    if (!*text || strlen(text) > 18)
        return false;
    *out = strtoll(text, &end, 10);
    return !*end;
}

static int read_integer(const struct list_reader *r, const char *text, bool *has, int64_t *out)
{
    *has = text != NULL;
    return text && !list_integer(text, out) ? oc_xml_fail(r->xml, "'%.40s' is not an integer", text) : 0;
}

/* "7-12", "13-" */
static int read_opsets(const struct list_reader *r, const char *text, int32_t *since, int32_t *until)
{
    int64_t from, to = 0;
    const char *dash = text ? strchr(text, '-') : NULL;
    *since = 1;
    *until = 0;
    if (!text)
        return 0;
    if (!dash || !list_integer(oc_strndup(r->arena, text, (size_t)(dash - text)), &from) ||
        (dash[1] && !list_integer(dash + 1, &to)) || from < 1 || from > MAX_OPSET || to > MAX_OPSET ||
        (dash[1] && to < from))
        return oc_xml_fail(r->xml, "opset '%.40s': expected FIRST-LAST or FIRST-", text);
    *since = (int32_t)from;
    *until = (int32_t)to;
    return 0;
}

static oc_type_set type_bit(struct oc_str word)
{
    bool sequence = oc_str_starts(word, "seq(") && oc_str_ends(word, ")");
    struct oc_str name = sequence ? oc_str(word.s + 4, word.n - 5) : word;
    if (oc_str_eq(word, "optional") || oc_str_eq(word, "map") || oc_str_eq(word, "sparse"))
        return OC_OTHER_TYPE;
    for (unsigned t = 1; t < OC_DT_COUNT; t++)
        if (oc_str_eq(name, oc_dtype_info(t)->name))
            return (oc_type_set)1 << (sequence ? t + 32 : t);
    return 0;
}

static int read_types(const struct list_reader *r, const char *list, oc_type_set *out)
{
    struct oc_str word;
    *out = 0;
    while (list && next_word(&list, &word)) {
        oc_type_set bit = type_bit(word);
        if (!bit)
            return oc_xml_fail(r->xml, "unknown type '%.*s'", (int)(word.n < 40 ? word.n : 40), word.s);
        *out |= bit;
    }
    return 0;
}

static int read_bits(const struct list_reader *r, const char *list, uint32_t *out)
{
    struct oc_str word;
    *out = 0;
    while (list && next_word(&list, &word)) {
        int64_t v;
        if (!list_integer(oc_strndup(r->arena, word.s, word.n), &v) || v < 0 || v > 31)
            return oc_xml_fail(r->xml, "'%.*s' is not a slot from 0 to 31", (int)(word.n < 40 ? word.n : 40),
                               word.s);
        *out |= 1u << v;
    }
    return 0;
}

/* in="t1 * t2": a set for each slot */
static int read_slots(const struct list_reader *r, const char *list, oc_type_set *out, uint32_t *n)
{
    struct oc_str word;
    *n = 0;
    while (list && next_word(&list, &word)) {
        uint32_t at = oc_str_eq(word, "*") ? 0 : oc_map_get(&r->set, word.s, word.n);
        if (*n == OC_PROVIDER_MAX_IO)
            return oc_xml_fail(r->xml, "more than %d slots", OC_PROVIDER_MAX_IO);
        if (at == OC_NONE)
            return oc_xml_fail(r->xml, "no types '%.*s'", (int)(word.n < 40 ? word.n : 40), word.s);
        out[(*n)++] = oc_str_eq(word, "*") ? OC_ANY_TYPE : r->types[at];
    }
    return 0;
}

static bool is_set(const struct oc_xml_elem *e, const char *name, const char *value)
{
    const char *given = oc_xml_get(e, name);
    return given && strcmp(given, value) == 0;
}

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

/* ---- elements --------------------------------------------------------------------------------------- */

static int start_provider(void *user, const struct oc_xml_elem *e)
{
    struct list_reader *r = user;
    struct oc_provider *p = r->p;
    const char *cast = oc_xml_get(e, "cast");
    struct oc_str from, to;
    p->info = (struct oc_provider_info){.id = oc_xml_get(e, "id"),
                                        .name = oc_xml_get(e, "name"),
                                        .variant = or_empty(oc_xml_get(e, "variant")),
                                        .release = oc_xml_get(e, "release"),
                                        .source = oc_xml_get(e, "source"),
                                        .url = oc_xml_get(e, "url"),
                                        .note = or_empty(oc_xml_get(e, "note"))};
    p->memory = oc_xml_get(e, "memory") ? oc_xml_get(e, "memory") : p->info.id;
    p->quantized = oc_xml_get(e, "quantized");
    p->groups = is_set(e, "groups", "yes");
    p->bodies = is_set(e, "bodies", "yes");
    p->fixed_shapes = is_set(e, "shapes", "static");
    p->host = is_set(e, "host", "yes");
    if (cast) {
        oc_type_set a = next_word(&cast, &from) ? type_bit(from) : 0;
        oc_type_set b = next_word(&cast, &to) ? type_bit(to) : 0;
        if (!a || !b || a >= OC_OTHER_TYPE || b >= OC_OTHER_TYPE)
            return oc_xml_fail(r->xml, "cast: expected two types");
        p->cast_from = (unsigned)__builtin_ctzll(a);
        p->cast_to = (unsigned)__builtin_ctzll(b);
    }
    return read_opsets(r, oc_xml_get(e, "opset"), &p->since, &p->until) ||
                   read_types(r, oc_xml_get(e, "maybe"), &p->maybe)
               ? -1
               : 0;
}

static int start_types(void *user, const struct oc_xml_elem *e)
{
    struct list_reader *r = user;
    const char *id = oc_xml_get(e, "id");
    uint32_t at = r->n_types;
    if (!oc_map_add(&r->set, id, strlen(id), &at, NULL))
        return oc_xml_fail(r->xml, "given twice");
    OC_GROW(r->types, r->n_types, r->cap_types);
    return read_types(r, oc_xml_get(e, "list"), &r->types[r->n_types++]);
}

static int list_start_op(void *user, const struct oc_xml_elem *e)
{
    struct list_reader *r = user;
    struct oc_provider_row row = {
        .name = oc_xml_get(e, "name"), .domain = or_empty(oc_xml_get(e, "domain")), .next = OC_NONE};
    r->n_need = 0;
    if (r->p->n_row == MAX_ROWS)
        return oc_xml_fail(r->xml, "more than %d rows", MAX_ROWS);
    if (read_opsets(r, oc_xml_get(e, "opset"), &row.since, &row.until) ||
        read_slots(r, oc_xml_get(e, "in"), row.in, &row.n_in) ||
        read_slots(r, oc_xml_get(e, "out"), row.out, &row.n_out) ||
        read_bits(r, oc_xml_get(e, "host-in"), &row.host_in) ||
        read_bits(r, oc_xml_get(e, "host-out"), &row.host_out))
        return -1;
    OC_GROW(r->p->row, r->p->n_row, r->p->cap_row);
    r->p->row[r->p->n_row] = row;
    return 0;
}

static int start_needs(void *user, const struct oc_xml_elem *e)
{
    struct list_reader *r = user;
    struct oc_provider_need n = {.attr = oc_xml_get(e, "attr"),
                                 .fallback = oc_xml_get(e, "default"),
                                 .value = oc_xml_get(e, "value"),
                                 .except = oc_xml_get(e, "not"),
                                 .rank = oc_xml_get(e, "rank"),
                                 .unknown = oc_xml_get(e, "unknown"),
                                 .constant = is_set(e, "constant", "yes"),
                                 .absent = is_set(e, "absent", "yes"),
                                 .symmetric = is_set(e, "symmetric", "yes")};
    int64_t input = -1, outputs = 0;
    bool has_input, has_outputs;
    if (r->n_need == MAX_NEEDS)
        return oc_xml_fail(r->xml, "more than %d conditions", MAX_NEEDS);
    if (read_integer(r, oc_xml_get(e, "input"), &has_input, &input) ||
        read_integer(r, oc_xml_get(e, "outputs"), &has_outputs, &outputs) ||
        read_integer(r, oc_xml_get(e, "min"), &n.has_min, &n.min) ||
        read_integer(r, oc_xml_get(e, "max"), &n.has_max, &n.max) ||
        read_integer(r, oc_xml_get(e, "without"), &n.has_without, &n.without) ||
        read_integer(r, oc_xml_get(e, "only"), &n.has_only, &n.only) ||
        read_types(r, oc_xml_get(e, "types"), &n.types))
        return -1;
    if (input < -1 || input > INT16_MAX || outputs < 0 || outputs > INT16_MAX)
        return oc_xml_fail(r->xml, "no such slot");
    n.input = (int32_t)input;
    n.outputs = (uint32_t)outputs;
    r->need[r->n_need++] = n;
    return 0;
}

/* Enters the row under its name, after earlier ones. */
static int list_end_op(void *user, const struct oc_xml_elem *e)
{
    struct list_reader *r = user;
    struct oc_provider *p = r->p;
    struct oc_provider_row *row = &p->row[p->n_row];
    (void)e;
    row->need = r->n_need ? OC_COPY_ARRAY(r->arena, r->need, r->n_need) : NULL;
    row->n_need = r->n_need;
    const char *key = oc_printf(r->arena, "%s:%s", row->domain, row->name);
    uint32_t at = p->n_row;
    if (!oc_map_add(&p->by_name, key, strlen(key), &at, NULL)) {
        row->next = p->row[at].next;
        p->row[at].next = p->n_row;
    }
    p->n_row++;
    return 0;
}

static const struct oc_xml_spec specs[E_KINDS] = {
    [E_PROVIDER] = {"provider", OC_XML_ROOT, "id", false, "version id name release opset source url",
                    "groups bodies shapes host memory cast maybe quantized variant note", start_provider,
                    NULL},
    [E_TYPES] = {"types", E_PROVIDER, "id", false, "id list", "", start_types, NULL},
    [E_OP] = {"op", E_PROVIDER, "name opset", false, "name", "domain opset in out host-in host-out",
              list_start_op, list_end_op},
    [E_NEEDS] =
        {"needs", E_OP, NULL, false, "",
         "attr default value not rank unknown constant absent symmetric input outputs min max without "
         "only types",
         start_needs, NULL},
};

static const struct oc_xml_format list_format = {specs, E_KINDS, "1", OC_PROVIDER_MAX_FILE_BYTES};

static uint32_t count_operators(const struct oc_provider *p)
{
    return p->by_name.n;
}

int oc_provider_read_mem(const char *name, const void *data, size_t n, struct oc_arena *arena,
                         struct oc_provider **out, struct oc_err *err)
{
    struct list_reader r = {.arena = arena, .p = OC_NEW(arena, struct oc_provider)};
    r.set.arena = r.p->by_name.arena = arena;
    int rc = oc_xml_read(&list_format, name, data, n, arena, &r, &r.xml, err);
    r.p->info.operators = count_operators(r.p);
    oc_map_free(&r.set);
    free(r.types);
    if (rc)
        oc_provider_free(r.p);
    *out = rc ? NULL : r.p;
    return rc;
}

void oc_provider_free(struct oc_provider *p)
{
    oc_map_free(&p->by_name);
    free(p->row);
    p->row = NULL;
}

/* ---- files ------------------------------------------------------------------------------------------ */

static int open_list(struct oc_arena *a, const char *path, struct oc_provider **out, struct oc_err *err)
{
    struct oc_file file;
    if (oc_file_map(path, OC_PROVIDER_MAX_FILE_BYTES, &file, err))
        return -1;
    int rc = oc_provider_read_mem(path, file.data, (size_t)file.size_bytes, a, out, err);
    oc_file_unmap(&file);
    return rc;
}

static const char *list_folder(struct oc_arena *a)
{
    const char *dir = oc_data_dir(a, "hwdb");
    return dir ? oc_printf(a, "%s/providers", dir) : NULL;
}

static int fail_no_lists(struct oc_err *err)
{
    return oc_fail(err, OC_ELIBRARY, "the folder hwdb/providers is missing: install onnxcost's data files");
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char **list_ids(struct oc_arena *a, size_t *n)
{
    const char *folder = list_folder(a);
    const char **id = OC_NEW_ARRAY(a, MAX_LISTS, const char *);
    DIR *d = folder ? opendir(folder) : NULL;
    *n = 0;
    for (struct dirent *e; d && *n < MAX_LISTS && (e = readdir(d)) != NULL;) {
        struct oc_str name = oc_str(e->d_name, strlen(e->d_name));
        if (name.n > 4 && name.s[0] != '.' && oc_str_ends(name, ".xml"))
            id[(*n)++] = oc_strndup(a, name.s, name.n - 4);
    }
    if (d)
        closedir(d);
    qsort(id, *n, sizeof(*id), compare_ids);
    return id;
}

/* The list that the words of `given` name: an id, the name in ONNX Runtime, or a file. */
static int find_list(struct oc_providers *x, const char *given, struct oc_provider **out, struct oc_err *err)
{
    struct oc_arena *a = &x->arena;
    size_t n;
    if (strchr(given, '/') || oc_str_ends(oc_str(given, strlen(given)), ".xml"))
        return open_list(a, given, out, err);
    const char **id = list_ids(a, &n), *folder = list_folder(a);
    size_t length = strlen(given), end = strlen("ExecutionProvider");
    if (length > end && oc_casecmp(given + length - end, "ExecutionProvider") == 0)
        length -= end;
    for (size_t i = 0; i < n; i++)
        if (strlen(id[i]) == length && oc_ncasecmp(id[i], given, length) == 0)
            return open_list(a, oc_printf(a, "%s/%s.xml", folder, id[i]), out, err);
    if (!n)
        return fail_no_lists(err);
    return oc_fail_unknown(err, OC_EARG,
                           &(struct oc_unknown){.what = "execution provider",
                                                .given = given,
                                                .valid = id,
                                                .n = n,
                                                .more = "onnxcost providers lists them"});
}

int oc_providers_open(const char *const *name, size_t n, struct oc_providers **out, struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_providers *x = oc_xcalloc(1, sizeof(*x));
    int rc = 0;
    *out = NULL;
    for (size_t i = 0; i < n && !rc; i++) {
        rc = x->n == OC_PROVIDER_MAX ? oc_fail(err, OC_EARG, "more than %d providers", OC_PROVIDER_MAX)
                                     : find_list(x, name[i], &x->list[x->n], err);
        for (size_t k = 0; k < x->n && !rc; k++)
            if (strcmp(x->list[k]->info.id, x->list[x->n]->info.id) == 0) {
                oc_provider_free(x->list[x->n]);
                rc = oc_fail(err, OC_EARG, "provider '%.40s' is given twice", name[i]);
            }
        x->n += !rc;
    }
    if (rc)
        oc_providers_free(x);
    else
        *out = x;
    return rc;
}

int oc_providers_open_all(struct oc_providers **out, struct oc_err *err)
{
    struct oc_arena a = {0};
    size_t n;
    const char **id = list_ids(&a, &n);
    *out = NULL;
    int rc = n ? oc_providers_open(id, n, out, err) : fail_no_lists(err);
    oc_arena_free(&a);
    return rc;
}

void oc_providers_free(struct oc_providers *x)
{
    for (size_t i = 0; x && i < x->n; i++)
        oc_provider_free(x->list[i]);
    if (x)
        oc_arena_free(&x->arena);
    free(x);
}
