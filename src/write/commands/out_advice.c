#include "write/report_write.h"

#include <math.h>
#include <string.h>

#include "base/unicode.h"
#include "base/units.h"
#include "onnxcost/report.h"
#include "write/tables/grid.h"
#include "write/tables/json_keys.h"
#include "write/tables/plain_table.h"

enum { SHOWN = 5, LABEL = 11, NAME = 60, MIN_NAME = 24, TYPE = 20, OTHER = 52 /* columns of the others */ };

/* ---- text ------------------------------------------------------------------------------------------- */

/* "0 to 1.2 ms (31.0 % of a run)", "at least 3 us", "1.2 ms", "1.5 MiB not moved", "unknown" */
static const char *saving(const struct oc_advice_item *f, const char *whole, struct oc_arena *a)
{
    char buf[32];
    const char *share = f->share >= 0 ? oc_printf(a, " (%.1f %% %s)", f->share * 100, whole) : "";
    if (!isnan(f->high_ns) && !isnan(f->low_ns) && f->low_ns > 0.95 * f->high_ns)
        return oc_printf(a, "%s%s", oc_time_text(a, f->high_ns, "unknown"), share);
    if (!isnan(f->high_ns) && f->low_ns > 0)
        return oc_printf(a, "%s to %s%s", oc_time_text(a, f->low_ns, "unknown"),
                         oc_time_text(a, f->high_ns, "unknown"), share);
    if (!isnan(f->high_ns))
        return oc_printf(a, "at most %s%s", oc_time_text(a, f->high_ns, "unknown"), share);
    if (f->low_ns > 0)
        return oc_printf(a, "at least %s%s", oc_time_text(a, f->low_ns, "unknown"), share);
    if (f->saved_bytes > 0)
        return oc_printf(a, "%s not moved; time unknown", oc_format_bytes(f->saved_bytes, buf, sizeof(buf)));
    return "unknown";
}

/* Kernel names can be very long; names of nodes differ at their end. */
static const char *advice_shortened(const char *s, size_t most, struct oc_arena *a)
{
    size_t n = strlen(s), columns = oc_utf8_columns(s, n);
    if (columns <= most)
        return s;
    const char *tail = s, *end = s + n;
    while (columns > most - 3 && tail < end)
        columns -= oc_uni_columns(oc_utf8_next(&tail, end));
    return oc_printf(a, "...%s", tail);
}

static const char *lead(const struct oc_advice *a)
{
    return a->n > 1 ? "Savings overlap and are not additive." : NULL;
}

static const char *none(const struct oc_advice *a, struct oc_arena *arena)
{
    return oc_printf(arena, "no suggestions (%u of %u rules had their inputs: times, a model, a device)",
                     a->rules, a->all_rules);
}

static void proof(const struct oc_advice_item *f, const struct oc_report_opts *o, struct oc_arena *a,
                  FILE *out)
{
    struct oc_plain_table t = {.width_chars = o->width_chars, .headless = true};
    char buf[32];
    size_t width = o->width_chars, name = !width || width >= NAME + OTHER ? NAME
                                          : width > MIN_NAME + OTHER      ? width - OTHER
                                                                          : MIN_NAME;
    for (uint32_t i = 0; i < f->n_proof && i < SHOWN; i++) {
        const struct oc_advice_proof *e = &f->proof[i];
        OC_ROW(&t, oc_printf(a, "%*s", LABEL, ""),
               isnan(e->time_ns) ? "" : oc_time_text(a, e->time_ns, "unknown"),
               isnan(e->bytes) ? "" : oc_strdup(a, oc_format_bytes(e->bytes, buf, sizeof(buf))),
               advice_shortened(e->name, name, a), advice_shortened(e->type, TYPE, a), e->text);
    }
    oc_plain_print(&t, 3, out);
    if (f->n_proof > SHOWN)
        fprintf(out, "%*s and %u more\n", LABEL + 1, "", f->n_proof - SHOWN);
    oc_plain_free(&t);
}

void oc_advice_text(const struct oc_advice *a, const struct oc_report_opts *o, struct oc_arena *arena,
                    FILE *f)
{
    size_t width = o->width_chars;
    fputc('\n', f);
    oc_plain_say("advice", LABEL + 1, width,
                 !a->n     ? none(a, arena)
                 : lead(a) ? lead(a)
                           : "One suggestion.",
                 f);
    for (uint32_t i = 0; i < a->n; i++) {
        const struct oc_advice_item *k = a->item[i];
        fputc('\n', f);
        oc_plain_say(oc_printf(arena, "%u", i + 1), 3, width,
                     oc_printf(arena, "%s  [%s, %s]", k->title, oc_advice_severity_name(k->severity), k->id),
                     f);
        oc_plain_say("   found", LABEL + 1, width, k->found, f);
        oc_plain_say("   saves", LABEL + 1, width,
                     k->basis ? oc_printf(arena, "%s: %s", saving(k, a->whole, arena), k->basis)
                              : saving(k, a->whole, arena),
                     f);
        oc_plain_say("   do", LABEL + 1, width, k->todo, f);
        proof(k, o, arena, f);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

static void proof_json(const struct oc_advice_proof *e, struct oc_json_out *w)
{
    oc_jw_begin_object(w);
    oc_key_u64_if(w, "node", e->node != OC_NONE, e->node);
    oc_key_u64_if(w, "record", e->record != OC_NONE, e->record);
    oc_key_text(w, "name", e->name);
    oc_key_text(w, "op_type", *e->type ? e->type : NULL);
    oc_key_time(w, "time_ns", e->time_ns);
    oc_key_count(w, "bytes", e->bytes);
    oc_key_text(w, "text", e->text);
    oc_jw_end_object(w);
}

void oc_advice_json(const struct oc_advice *a, struct oc_json_out *w)
{
    oc_advice_json_cut(a, UINT32_MAX, w);
}

void oc_advice_json_cut(const struct oc_advice *a, uint32_t most, struct oc_json_out *w)
{
    oc_jw_begin_object(w);
    oc_key_time(w, "run_time_ns", a->run_ns);
    oc_key_text(w, "share_of", a->whole);
    oc_key_u64(w, "rules", a->rules);
    oc_key_array(w, "findings");
    for (uint32_t i = 0; i < a->n; i++) {
        const struct oc_advice_item *k = a->item[i];
        oc_jw_begin_object(w);
        oc_key_text(w, "id", k->id);
        oc_key_text(w, "title", k->title);
        oc_key_text(w, "severity", oc_advice_severity_name(k->severity));
        oc_key_text(w, "found", k->found);
        oc_key_text(w, "todo", k->todo);
        oc_key_object(w, "saving");
        oc_key_time(w, "low_ns", k->low_ns);
        oc_key_time(w, "high_ns", k->high_ns);
        oc_key_double(w, "share", k->share);
        oc_key_count(w, "bytes", k->saved_bytes);
        oc_key_text(w, "basis", k->basis);
        oc_jw_end_object(w);
        oc_key_array(w, "evidence");
        for (uint32_t e = 0; e < k->n_proof && e < most; e++)
            proof_json(&k->proof[e], w);
        oc_jw_end_array(w);
        if (most < UINT32_MAX)
            oc_key_u64(w, "rows", k->n_proof);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

/* ---- Markdown --------------------------------------------------------------------------------------- */

static void proof_markdown(const struct oc_advice_item *k, struct oc_arena *arena, struct oc_buf *b)
{
    oc_buf_str(b, "\n| time | type | name | |\n| ---: | --- | --- | --- |\n");
    for (uint32_t i = 0; i < k->n_proof && i < SHOWN; i++) {
        const struct oc_advice_proof *e = &k->proof[i];
        oc_buf_printf(b, "| %s | ", isnan(e->time_ns) ? "" : oc_time_text(arena, e->time_ns, "unknown"));
        oc_md_code(b, e->type);
        oc_buf_str(b, " | ");
        oc_md_code(b, e->name);
        oc_buf_str(b, " | ");
        oc_md_text(b, e->text);
        oc_buf_str(b, " |\n");
    }
    if (k->n_proof > SHOWN)
        oc_buf_printf(b, "\nand %u more\n", k->n_proof - SHOWN);
}

void oc_advice_markdown(const struct oc_advice *a, struct oc_arena *arena, struct oc_buf *b)
{
    oc_buf_str(b, "\n#### Advice\n\n");
    oc_md_text(b, !a->n ? none(a, arena) : lead(a) ? lead(a) : "One suggestion.");
    oc_buf_char(b, '\n');
    if (a->n)
        oc_buf_str(b, "\n| | suggestion | saves |\n| ---: | --- | --- |\n");
    for (uint32_t i = 0; i < a->n; i++) {
        oc_buf_printf(b, "| %u | %s (%s) | ", i + 1, a->item[i]->title,
                      oc_advice_severity_name(a->item[i]->severity));
        oc_md_text(b, saving(a->item[i], a->whole, arena));
        oc_buf_str(b, " |\n");
    }
    for (uint32_t i = 0; i < a->n; i++) {
        const struct oc_advice_item *k = a->item[i];
        oc_buf_printf(b, "\n<details>\n<summary>%u: %s</summary>\n\n", i + 1, k->title);
        oc_md_text(b, k->found);
        oc_buf_str(b, "\n\nDo: ");
        oc_md_text(b, k->todo);
        if (k->basis) {
            oc_buf_str(b, "\n\nThe saving is ");
            oc_md_text(b, k->basis);
        }
        oc_buf_char(b, '\n');
        proof_markdown(k, arena, b);
        oc_buf_str(b, "\n</details>\n");
    }
}
