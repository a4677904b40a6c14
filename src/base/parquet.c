/* The format: github.com/apache/parquet-format, README.md, Encodings.md and parquet.thrift. Structures of
 * metadata are in Thrift's compact protocol. */
#include "base/row_cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/map.h"
#include "base/unicode.h"
#include "base/wire.h"
#include "onnxcost.h"

enum {
    GROUP_BYTES = 16 << 20, /* cells of a row group in memory; one page is one column of it */
    GROUP_ROWS = 122880,    /* the unit of work of DuckDB */
    LONGEST_BOUND = 256     /* bytes of a text as minimum or maximum; longer ones: no bounds */
};

/* enums of parquet.thrift */
enum { TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum { CONVERTED_UTF8 = 0, CONVERTED_UINT_64 = 14, CONVERTED_INT_64 = 18 };
enum { REQUIRED = 0, OPTIONAL = 1 };
enum { LOGICAL_STRING = 1, LOGICAL_INTEGER = 10 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_RLE_DICTIONARY = 8 };
enum { CODEC_GZIP = 2 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };

static const char magic[] = {'P', 'A', 'R', '1'};

/* ---- Thrift's compact protocol ---------------------------------------------------------------------- */

enum thrift_type { T_TRUE = 1, T_BYTE = 3, T_I32 = 5, T_I64 = 6, T_BINARY = 8, T_LIST = 9, T_STRUCT = 12 };

struct thrift {
    struct oc_buf *out;
    int last[8]; /* id of the last field of each open structure */
    int depth;
};

static void put_varint(struct oc_buf *b, uint64_t v)
{
    for (; v > 0x7f; v >>= 7)
        oc_buf_char(b, (char)(v | 0x80));
    oc_buf_char(b, (char)v);
}

static void put_zigzag(struct oc_buf *b, int64_t v)
{
    put_varint(b, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

static void t_field(struct thrift *t, int id, enum thrift_type type)
{
    int *last = &t->last[t->depth], step = id - *last;
    if (step > 0 && step < 16) {
        oc_buf_char(t->out, (char)(step << 4 | (int)type));
    } else {
        oc_buf_char(t->out, (char)type);
        put_zigzag(t->out, id);
    }
    *last = id;
}

static void t_open(struct thrift *t)
{
    t->last[++t->depth] = 0;
}

static void t_close(struct thrift *t)
{
    oc_buf_char(t->out, 0);
    t->depth--;
}

static void t_struct(struct thrift *t, int id)
{
    t_field(t, id, T_STRUCT);
    t_open(t);
}

static void t_i32(struct thrift *t, int id, int32_t v)
{
    t_field(t, id, T_I32);
    put_zigzag(t->out, v);
}

static void t_i64(struct thrift *t, int id, uint64_t v)
{
    t_field(t, id, T_I64);
    put_zigzag(t->out, (int64_t)v);
}

static void put_binary(struct thrift *t, const void *data, size_t n)
{
    put_varint(t->out, n);
    oc_buf_add(t->out, data, n);
}

static void t_binary(struct thrift *t, int id, const void *data, size_t n)
{
    t_field(t, id, T_BINARY);
    put_binary(t, data, n);
}

static void t_text(struct thrift *t, int id, const char *s)
{
    t_binary(t, id, s, strlen(s));
}

static void t_list(struct thrift *t, int id, size_t n, enum thrift_type type)
{
    t_field(t, id, T_LIST);
    if (n < 15) {
        oc_buf_char(t->out, (char)(n << 4 | type));
    } else {
        oc_buf_char(t->out, (char)(0xf0 | type));
        put_varint(t->out, n);
    }
}

/* ---- the columns of a row group --------------------------------------------------------------------- */

struct bounds { /* of the known values */
    bool known, too_long;
    struct oc_datum min, max;
};

struct column {
    uint8_t *is_known;     /* by row */
    uint64_t *value;       /* of the known rows: bits of the number, or number of the text */
    struct oc_arena arena; /* of the texts */
    struct oc_map text_no; /* number of a text */
    const char **text;     /* by number */
    size_t n_text, text_cap;
    size_t n_known, value_cap, known_cap;
    struct bounds bounds;
};

struct chunk {                  /* of a row group that is written */
    uint64_t at, dictionary_at; /* 0: no dictionary */
    uint64_t packed_bytes, plain_bytes, nulls;
    struct oc_buf min, max;
};

struct group {
    struct chunk *chunk;
    uint64_t rows, packed_bytes, plain_bytes;
};

struct oc_parquet {
    const struct oc_cell_table *table;
    FILE *f;
    uint64_t at; /* offset in the file */
    struct column *column;
    struct oc_buf text;
    size_t n_row, bytes; /* of the row group in memory */
    uint64_t all_rows;
    struct group *group;
    size_t n_group, group_cap;
};

static void write_bytes(struct oc_parquet *p, const void *data, size_t n)
{
    fwrite(data, 1, n, p->f);
    p->at += n;
}

struct oc_parquet *oc_parquet_open(const struct oc_cell_table *t, FILE *f)
{
    struct oc_parquet *p = oc_xcalloc(1, sizeof(*p));
    p->table = t;
    p->f = f;
    p->column = oc_xcalloc(t->n, sizeof(*p->column));
    for (size_t i = 0; i < t->n; i++)
        p->column[i].text_no.arena = &p->column[i].arena;
    write_bytes(p, magic, sizeof(magic));
    return p;
}

static int compare(unsigned kind, const struct oc_datum *a, const struct oc_datum *b)
{
    switch (kind) {
    case OC_DATUM_TEXT: /* unsigned bytes, as the format requires */
        return strcmp(a->as.text, b->as.text);
    case OC_DATUM_U64:
        return (a->as.u64 > b->as.u64) - (a->as.u64 < b->as.u64);
    case OC_DATUM_I64:
        return (a->as.i64 > b->as.i64) - (a->as.i64 < b->as.i64);
    default:
        return (a->as.number > b->as.number) - (a->as.number < b->as.number);
    }
}

static void extend(struct bounds *b, unsigned kind, const struct oc_datum *cell)
{
    b->too_long |= kind == OC_DATUM_TEXT && strlen(cell->as.text) > LONGEST_BOUND;
    if (!b->known || compare(kind, cell, &b->min) < 0)
        b->min = *cell;
    if (!b->known || compare(kind, cell, &b->max) > 0)
        b->max = *cell;
    b->known = true;
}

static void add_value(struct column *c, uint64_t v)
{
    OC_PUSH(c->value, c->n_known, c->value_cap) = v;
}

/* Bytes of invalid UTF-8 and of surrogates become U+FFFD each, as in JSON. */
static void put_utf8(struct oc_buf *out, const char *s, const char *end)
{
    for (const char *next = s; s < end; s = next) {
        char utf8[4];
        uint32_t cp = oc_utf8_next(&next, end);
        bool bad = cp >= OC_BAD_BYTE || (cp >= 0xd800 && cp < 0xe000);
        next = bad ? s + 1 : next;
        oc_buf_add(out, utf8, oc_utf8_put(utf8, bad ? 0xfffd : cp));
    }
}

static void add_text(struct oc_parquet *p, struct column *c, struct oc_datum *cell)
{
    uint32_t no = (uint32_t)c->n_text;
    const char *stored;
    oc_buf_clear(&p->text);
    put_utf8(&p->text, cell->as.text, cell->as.text + strlen(cell->as.text));
    size_t n = p->text.n;
    if (oc_map_add(&c->text_no, n ? p->text.data : "", n, &no, &stored)) {
        OC_PUSH(c->text, c->n_text, c->text_cap) = stored;
        p->bytes += n + sizeof(char *);
    }
    cell->as.text = c->text[no];
    add_value(c, no);
}

static void write_group(struct oc_parquet *p);

void oc_parquet_row(struct oc_parquet *p, const struct oc_datum *cell)
{
    for (size_t i = 0; i < p->table->n; i++) {
        struct column *c = &p->column[i];
        struct oc_datum own = cell[i];
        OC_GROW(c->is_known, p->n_row, c->known_cap);
        c->is_known[p->n_row] = own.known;
        p->bytes++;
        if (!own.known)
            continue;
        if (p->table->column[i].kind == OC_DATUM_TEXT)
            add_text(p, c, &own);
        else
            add_value(c, own.as.u64);
        extend(&c->bounds, p->table->column[i].kind, &own);
        p->bytes += sizeof(uint64_t);
    }
    p->n_row++;
    p->all_rows++;
    if (p->n_row == GROUP_ROWS || p->bytes >= GROUP_BYTES)
        write_group(p);
}

/* ---- pages ------------------------------------------------------------------------------------------ */

static void put_u32(struct oc_buf *b, size_t v)
{
    uint8_t bytes[4];
    oc_store_le(bytes, v, sizeof(bytes));
    oc_buf_add(b, bytes, sizeof(bytes));
}

static void put_u64(struct oc_buf *b, uint64_t v)
{
    uint8_t bytes[8];
    oc_store_le(bytes, v, sizeof(bytes));
    oc_buf_add(b, bytes, sizeof(bytes));
}

/* One bit-packed run of the hybrid encoding: groups of eight values. */
static void put_packed(struct oc_buf *b, const uint64_t *wide, const uint8_t *narrow, size_t n, unsigned bits)
{
    size_t groups = (n + 7) / 8;
    uint64_t have = 0;
    unsigned n_have = 0;
    put_varint(b, groups << 1 | 1);
    for (size_t i = 0; i < groups * 8; i++) {
        if (i < n && wide)
            have |= wide[i] << n_have;
        else if (i < n && narrow)
            have |= (uint64_t)narrow[i] << n_have;
        for (n_have += bits; n_have >= 8; n_have -= 8, have >>= 8)
            oc_buf_char(b, (char)have);
    }
}

/* Which rows are known, with the length of the bytes before them: runs, or bits where runs are short. */
static void put_levels(struct oc_buf *b, const uint8_t *is_known, size_t n)
{
    struct oc_buf own = {0};
    size_t n_run = n > 0;
    for (size_t i = 1; i < n; i++)
        n_run += is_known[i] != is_known[i - 1];
    if (n_run * 2 > n / 8) {
        put_packed(&own, NULL, is_known, n, 1);
    } else {
        for (size_t i = 0, end; i < n; i = end) {
            for (end = i + 1; end < n && is_known[end] == is_known[i]; end++)
                ;
            put_varint(&own, (end - i) << 1);
            oc_buf_char(&own, (char)is_known[i]);
        }
    }
    put_u32(b, own.n);
    oc_buf_add(b, own.data, own.n);
    oc_buf_free(&own);
}

static void put_text(struct oc_buf *b, const char *s)
{
    size_t n = strlen(s);
    put_u32(b, n);
    oc_buf_add(b, s, n);
}

static unsigned bits_of(size_t n) /* of numbers below n */
{
    unsigned bits = 1;
    while (n > (size_t)1 << bits)
        bits++;
    return bits;
}

/* A page with its header; its size is added to the chunk. */
static void write_page(struct oc_parquet *p, struct chunk *k, int type, size_t n_value, int encoding,
                       const struct oc_buf *body)
{
    struct oc_buf packed = {0}, head = {0};
    struct thrift t = {.out = &head};
    oc_gz_pack(body->n ? body->data : "", body->n, &packed);
    t_i32(&t, 1, type);
    t_i32(&t, 2, (int32_t)body->n);
    t_i32(&t, 3, (int32_t)packed.n);
    t_struct(&t, type == PAGE_DATA ? 5 : 7);
    t_i32(&t, 1, (int32_t)n_value);
    t_i32(&t, 2, encoding);
    if (type == PAGE_DATA) {
        t_i32(&t, 3, ENCODING_RLE);
        t_i32(&t, 4, ENCODING_RLE);
    }
    t_close(&t);
    t_close(&t);
    write_bytes(p, head.data, head.n);
    write_bytes(p, packed.data, packed.n);
    k->packed_bytes += head.n + packed.n;
    k->plain_bytes += head.n + body->n;
    oc_buf_free(&head);
    oc_buf_free(&packed);
}

static void write_dictionary(struct oc_parquet *p, const struct column *c, struct chunk *k)
{
    struct oc_buf body = {0};
    for (size_t i = 0; i < c->n_text; i++)
        put_text(&body, c->text[i]);
    k->dictionary_at = p->at;
    write_page(p, k, PAGE_DICTIONARY, c->n_text, ENCODING_PLAIN, &body);
    oc_buf_free(&body);
}

static void put_bound(unsigned kind, struct oc_datum *cell, bool lower, struct oc_buf *out)
{
    /* zeros compare as equal: -0 is the smaller one */
    if (kind == OC_DATUM_DOUBLE && cell->as.number == 0)
        cell->as.number = lower ? -0.0 : 0.0;
    if (kind == OC_DATUM_TEXT)
        oc_buf_str(out, cell->as.text);
    else
        put_u64(out, cell->as.u64);
}

static void write_column(struct oc_parquet *p, size_t i, struct chunk *k)
{
    struct column *c = &p->column[i];
    const struct oc_cell_column *def = &p->table->column[i];
    bool text = def->kind == OC_DATUM_TEXT, dictionary = text && c->n_text * 2 <= c->n_known && c->n_text;
    struct oc_buf body = {0};
    k->nulls = p->n_row - c->n_known;
    if (dictionary)
        write_dictionary(p, c, k);
    if (!def->required)
        put_levels(&body, c->is_known, p->n_row);
    if (dictionary) {
        unsigned bits = bits_of(c->n_text);
        oc_buf_char(&body, (char)bits);
        put_packed(&body, c->value, NULL, c->n_known, bits);
    } else {
        for (size_t v = 0; v < c->n_known; v++)
            if (text)
                put_text(&body, c->text[c->value[v]]);
            else
                put_u64(&body, c->value[v]);
    }
    k->at = p->at;
    write_page(p, k, PAGE_DATA, p->n_row, dictionary ? ENCODING_RLE_DICTIONARY : ENCODING_PLAIN, &body);
    oc_buf_free(&body);
    if (c->bounds.known && !c->bounds.too_long) {
        put_bound(def->kind, &c->bounds.min, true, &k->min);
        put_bound(def->kind, &c->bounds.max, false, &k->max);
    }
}

static void clear_column(struct column *c)
{
    oc_map_free(&c->text_no);
    oc_arena_free(&c->arena);
    c->text_no = (struct oc_map){.arena = &c->arena};
    c->n_text = c->n_known = 0;
    c->bounds = (struct bounds){.known = false};
}

static void write_group(struct oc_parquet *p)
{
    if (!p->n_row)
        return;
    struct group *g = &OC_PUSH(p->group, p->n_group, p->group_cap);
    *g = (struct group){.rows = p->n_row, .chunk = oc_xcalloc(p->table->n, sizeof(struct chunk))};
    for (size_t i = 0; i < p->table->n; i++) {
        write_column(p, i, &g->chunk[i]);
        g->packed_bytes += g->chunk[i].packed_bytes;
        g->plain_bytes += g->chunk[i].plain_bytes;
        clear_column(&p->column[i]);
    }
    p->n_row = p->bytes = 0;
}

/* ---- the footer ------------------------------------------------------------------------------------- */

static const struct {
    int type, converted;
} type_of[] = {[OC_DATUM_TEXT] = {TYPE_BYTE_ARRAY, CONVERTED_UTF8},
               [OC_DATUM_U64] = {TYPE_INT64, CONVERTED_UINT_64},
               [OC_DATUM_I64] = {TYPE_INT64, CONVERTED_INT_64},
               [OC_DATUM_DOUBLE] = {TYPE_DOUBLE, -1}};

static void put_logical_type(struct thrift *t, unsigned kind)
{
    if (kind == OC_DATUM_DOUBLE)
        return;
    t_struct(t, 10);
    t_struct(t, kind == OC_DATUM_TEXT ? LOGICAL_STRING : LOGICAL_INTEGER);
    if (kind != OC_DATUM_TEXT) {
        t_field(t, 1, T_BYTE);
        oc_buf_char(t->out, 64);
        t_field(t, 2, kind == OC_DATUM_I64 ? T_TRUE : T_TRUE + 1); /* signed */
    }
    t_close(t);
    t_close(t);
}

static void put_schema(const struct oc_cell_table *table, struct thrift *t)
{
    t_list(t, 2, table->n + 1, T_STRUCT);
    t_open(t);
    t_text(t, 4, table->name);
    t_i32(t, 5, (int32_t)table->n);
    t_close(t);
    for (size_t i = 0; i < table->n; i++) {
        const struct oc_cell_column *c = &table->column[i];
        t_open(t);
        t_i32(t, 1, type_of[c->kind].type);
        t_i32(t, 3, c->required ? REQUIRED : OPTIONAL);
        t_text(t, 4, c->name);
        if (type_of[c->kind].converted >= 0)
            t_i32(t, 6, type_of[c->kind].converted);
        put_logical_type(t, c->kind);
        t_close(t);
    }
}

static void put_chunk(struct thrift *t, const struct oc_cell_column *c, const struct chunk *k, uint64_t rows)
{
    t_open(t);
    t_i64(t, 2, 0); /* deprecated, required */
    t_struct(t, 3);
    t_i32(t, 1, type_of[c->kind].type);
    t_list(t, 2, k->dictionary_at ? 3 : 2, T_I32);
    put_zigzag(t->out, ENCODING_PLAIN);
    put_zigzag(t->out, ENCODING_RLE);
    if (k->dictionary_at)
        put_zigzag(t->out, ENCODING_RLE_DICTIONARY);
    t_list(t, 3, 1, T_BINARY);
    put_binary(t, c->name, strlen(c->name));
    t_i32(t, 4, CODEC_GZIP);
    t_i64(t, 5, rows);
    t_i64(t, 6, k->plain_bytes);
    t_i64(t, 7, k->packed_bytes);
    t_i64(t, 9, k->at);
    if (k->dictionary_at)
        t_i64(t, 11, k->dictionary_at);
    t_struct(t, 12);
    t_i64(t, 3, k->nulls);
    if (k->min.data) {
        t_binary(t, 5, k->max.data, k->max.n);
        t_binary(t, 6, k->min.data, k->min.n);
    }
    t_close(t);
    t_close(t);
    t_close(t);
}

static void put_groups(const struct oc_parquet *p, struct thrift *t)
{
    t_list(t, 4, p->n_group, T_STRUCT);
    for (size_t i = 0; i < p->n_group; i++) {
        const struct group *g = &p->group[i];
        const struct chunk *first = &g->chunk[0];
        t_open(t);
        t_list(t, 1, p->table->n, T_STRUCT);
        for (size_t c = 0; c < p->table->n; c++)
            put_chunk(t, &p->table->column[c], &g->chunk[c], g->rows);
        t_i64(t, 2, g->plain_bytes);
        t_i64(t, 3, g->rows);
        t_i64(t, 5, first->dictionary_at ? first->dictionary_at : first->at);
        t_i64(t, 6, g->packed_bytes);
        t_close(t);
    }
}

/* {"macs":{"unit":"MAC","meaning":"..."}, ...} */
static void columns_json(const struct oc_cell_table *table, struct oc_buf *out)
{
    struct oc_json_out w = {.f = oc_buf_stream(out)};
    oc_jw_begin_object(&w);
    for (size_t i = 0; i < table->n; i++) {
        oc_jw_key(&w, table->column[i].name);
        oc_jw_begin_object(&w);
        oc_jw_key(&w, "unit");
        oc_jw_string(&w, table->column[i].unit[0] ? table->column[i].unit : NULL);
        oc_jw_key(&w, "meaning");
        oc_jw_string(&w, table->column[i].what);
        oc_jw_end_object(&w);
    }
    oc_jw_end_object(&w);
    fclose(w.f);
}

static void put_pair(struct thrift *t, const char *key, const char *value)
{
    t_open(t);
    t_text(t, 1, key);
    t_text(t, 2, value);
    t_close(t);
}

static void put_metadata(const struct oc_cell_table *table, struct thrift *t)
{
    char version[24];
    struct oc_buf columns = {0};
    snprintf(version, sizeof(version), "%u", table->version);
    columns_json(table, &columns);
    t_list(t, 5, 3, T_STRUCT);
    put_pair(t, "onnxcost.table", table->name);
    put_pair(t, "onnxcost.table_version", version);
    put_pair(t, "onnxcost.columns", columns.data);
    oc_buf_free(&columns);
}

static void put_footer(const struct oc_parquet *p, struct oc_buf *out)
{
    struct thrift t = {.out = out};
    t_i32(&t, 1, 1);
    put_schema(p->table, &t);
    t_i64(&t, 3, p->all_rows);
    put_groups(p, &t);
    put_metadata(p->table, &t);
    t_text(&t, 6, "onnxcost version " ONNXCOST_VERSION " (build 0)");
    t_list(&t, 7, p->table->n, T_STRUCT); /* bounds are in the order of the type */
    for (size_t i = 0; i < p->table->n; i++) {
        t_open(&t);
        t_struct(&t, 1);
        t_close(&t);
        t_close(&t);
    }
    t_close(&t);
}

static void free_all(struct oc_parquet *p)
{
    for (size_t i = 0; i < p->n_group; i++) {
        for (size_t c = 0; c < p->table->n; c++) {
            oc_buf_free(&p->group[i].chunk[c].min);
            oc_buf_free(&p->group[i].chunk[c].max);
        }
        free(p->group[i].chunk);
    }
    for (size_t i = 0; i < p->table->n; i++) {
        clear_column(&p->column[i]);
        free(p->column[i].is_known);
        free(p->column[i].value);
        free(p->column[i].text);
    }
    oc_buf_free(&p->text);
    free(p->column);
    free(p->group);
    free(p);
}

void oc_parquet_close(struct oc_parquet *p)
{
    struct oc_buf footer = {0};
    if (!p)
        return;
    write_group(p);
    put_footer(p, &footer);
    put_u32(&footer, footer.n);
    oc_buf_add(&footer, magic, sizeof(magic));
    write_bytes(p, footer.data, footer.n);
    oc_buf_free(&footer);
    free_all(p);
}
