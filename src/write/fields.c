#include "write/fields.h"

#include <inttypes.h>
#include <math.h>

#include "base/units.h"
#include "write/json_keys.h"

void oc_fields_begin(struct oc_fields *f)
{
    f->n = 0;
    if (f->json)
        oc_jw_begin_object(f->json);
}

void oc_fields_head(struct oc_fields *f)
{
    f->table.n_col = f->n;
    if (!f->table.n_row)
        oc_plain_row(&f->table, f->name);
}

void oc_fields_end(struct oc_fields *f)
{
    if (f->json) {
        oc_jw_end_object(f->json);
        return;
    }
    oc_fields_head(f);
    oc_plain_row(&f->table, f->cell);
}

static void put(struct oc_fields *f, const char *name, const char *cell)
{
    if (f->n == OC_MAX_FIELDS)
        return;
    f->name[f->n] = name;
    f->cell[f->n++] = cell;
}

void oc_field_text(struct oc_fields *f, const char *name, const char *s)
{
    if (f->json)
        oc_key_text(f->json, name, s);
    else
        put(f, name, s ? s : "");
}

void oc_field_u64(struct oc_fields *f, const char *name, uint64_t v)
{
    if (f->json)
        oc_key_u64(f->json, name, v);
    else
        put(f, name, oc_printf(&f->arena, "%" PRIu64, v));
}

void oc_field_double(struct oc_fields *f, const char *name, double v)
{
    char buf[40] = "";
    if (f->json) {
        oc_key_double(f->json, name, v);
        return;
    }
    if (isfinite(v))
        oc_format_repr(v, buf, sizeof(buf));
    put(f, name, oc_strdup(&f->arena, buf));
}

void oc_field_size(struct oc_fields *f, const char *name, double v)
{
    if (v >= 1 && v < 0x1p63 && v == floor(v))
        oc_field_u64(f, name, (uint64_t)v);
    else
        oc_field_double(f, name, v > 0 ? v : (double)NAN);
}

void oc_fields_csv(struct oc_fields *f, const char *version, FILE *out)
{
    oc_plain_csv(&f->table, version, out);
}

void oc_fields_free(struct oc_fields *f)
{
    oc_plain_free(&f->table);
    oc_arena_free(&f->arena);
}
