#include "profile/text_table.h"

size_t oc_text_rule(struct oc_str line, struct oc_text_column *out)
{
    size_t n = 0;
    for (size_t i = 0; i < line.n;) {
        if (line.s[i] == ' ' || line.s[i] == '\t' || line.s[i] == '\r') {
            i++;
            continue;
        }
        size_t from = i;
        while (i < line.n && line.s[i] == '-')
            i++;
        if (i == from || n == OC_TEXT_COLUMNS)
            return 0;
        out[n++] = (struct oc_text_column){from, i};
    }
    return n >= 3 ? n : 0;
}

void oc_text_cut(struct oc_str line, const struct oc_text_column *span, size_t n, struct oc_str *out)
{
    for (size_t i = 0; i < n; i++) {
        size_t from = i ? span[i - 1].to : 0, to = i + 1 < n ? span[i].to : line.n;
        if (from > line.n)
            from = line.n;
        if (to > line.n || to < from)
            to = line.n;
        out[i] = oc_csv_trim((struct oc_str){line.s + from, to - from});
    }
}

bool oc_recording_begins(struct oc_recordings *r, const struct oc_csv *c)
{
    if (r->n < OC_COUNT(r->line))
        r->line[r->n] = oc_csv_line_number(c);
    return r->n++ == 0;
}

void oc_recordings_warn(const struct oc_recordings *r, const char *what, struct oc_profile *p)
{
    if (r->n > 1)
        oc_diag_add(&p->diags, OC_WARNING, "W-several-profiles", "",
                    "the file has %u %s, at lines %u and %u%s: only the first is read; save each to its own "
                    "file",
                    r->n, what, (unsigned)r->line[0], (unsigned)r->line[1], r->n > 2 ? " .." : "");
}
