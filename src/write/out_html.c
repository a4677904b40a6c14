/* Writes the report as one HTML file: the built-in page with the data. */
#include "report/findings.h"
#include "report/what_if.h"
#include "write/out_advice.h"
#include "write/out_html.h"
#include "write/out_sizes.h"

#include <stdlib.h>
#include <string.h>

/* Text that would end the script element or start markup occurs only inside JSON strings, where it is
 * written as an escape. */
static void write_escaped(const char *json, size_t n, FILE *f)
{
    size_t done = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)json[i];
        bool markup = c == '<' || c == '>' || c == '&';
        bool line_end = c == 0xe2 && i + 2 < n && (unsigned char)json[i + 1] == 0x80 &&
                        ((unsigned char)json[i + 2] & 0xfe) == 0xa8;
        if (!markup && !line_end)
            continue;
        fwrite(json + done, 1, i - done, f);
        fprintf(f, "\\u%04x", markup ? c : 0x2000u + ((unsigned char)json[i + 2] & 0x3fu));
        i += line_end ? 2 : 0;
        done = i + 1;
    }
    fwrite(json + done, 1, n - done, f);
}

static void write_text(const char *s, FILE *f)
{
    for (; *s; s++) {
        const char *as = *s == '<' ? "&lt;" : *s == '>' ? "&gt;" : *s == '&' ? "&amp;" : NULL;
        if (as)
            fputs(as, f);
        else
            putc((unsigned char)*s < ' ' ? ' ' : *s, f);
    }
}

/* "resnet50.onnx", or the profile's file. */
static const char *title_of(const struct oc_report *r)
{
    const char *path = r->in->model ? r->in->model->path : r->in->profile->path;
    const char *slash = path ? strrchr(path, '/') : NULL;
    return !path ? "model" : slash && slash[1] ? slash + 1 : path;
}

static void about(struct oc_json_out *w, struct oc_report *r)
{
    struct oc_summary s = {0};
    oc_report_summary(r, &s);
    oc_jw_key(w, "about");
    oc_jw_begin_array(w);
    for (uint32_t i = 0; i < s.n; i++) {
        oc_jw_begin_array(w);
        oc_jw_string(w, s.line[i].label);
        oc_jw_string(w, s.line[i].text);
        oc_jw_end_array(w);
    }
    oc_jw_end_array(w);
    free(s.line);
}

static void document(struct oc_json_out *w, struct oc_report *r)
{
    oc_jw_begin_object(w);
    oc_key_text(w, "schema", "onnxcost.page");
    oc_key_u64(w, "version", 1);
    oc_key_text(w, "tool", ONNXCOST_VERSION);
    oc_key_text(w, "title", title_of(r));
    about(w, r);
    oc_page_totals(w, r);
    oc_jw_key(w, "sizes");
    if (oc_report_sizes(r))
        oc_json_sizes(w, oc_report_sizes(r));
    else
        oc_jw_null(w);
    oc_page_hardware(w, r);
    oc_page_coverage(w, r);
    if (r->what_if) {
        oc_jw_key(w, "what_if");
        oc_what_if_json(r->what_if, w);
    }
    if (r->advice) {
        enum { SHOWN = 100 };
        oc_jw_key(w, "advice");
        oc_advice_json_cut(r->advice, SHOWN, w);
    }
    oc_page_rows(w, r);
    oc_page_memory(w, r);
    oc_page_kernels(w, r);
    oc_page_timeline(w, r);
    oc_jw_end_object(w);
}

static void write_data(struct oc_report *r, FILE *f)
{
    struct oc_buf json = {0};
    struct oc_json_out w = {.f = oc_buf_stream(&json)};
    document(&w, r);
    fclose(w.f);
    write_escaped(json.data, json.n, f);
    oc_buf_free(&json);
}

/* Writes the page up to the mark and skips the mark. */
static const char *write_until(const char *at, const char *mark, FILE *f)
{
    const char *end = (const char *)oc_page + oc_page_bytes;
    const char *hit = memmem(at, (size_t)(end - at), mark, strlen(mark));
    size_t n = (size_t)((hit ? hit : end) - at);
    fwrite(at, 1, n, f);
    return hit ? hit + strlen(mark) : end;
}

void oc_out_html(struct oc_report *r, FILE *f)
{
    const char *at = write_until((const char *)oc_page, "@title@", f), *text[OC_MAX_MISMATCHES];
    size_t n = oc_mismatches(r->in, text);
    write_text(title_of(r), f);
    at = write_until(at, "@mismatch@", f);
    for (size_t i = 0; i < n; i++) {
        fputs("<p class=\"mismatch\" role=\"alert\">", f);
        write_text(text[i], f);
        fputs("</p>\n", f);
    }
    at = write_until(at, "@data@", f);
    write_data(r, f);
    write_until(at, "@end@", f);
}
