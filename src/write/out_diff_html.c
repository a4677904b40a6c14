/* A diff as one self-contained HTML page without scripts. */
#include <string.h>

#include "write/out_diff.h"
#include "write/xml_text.h"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
    "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src "
    "data:; form-action 'none'; base-uri 'none'\">\n<meta name=\"viewport\" content=\"width=device-width, "
    "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" "
    "content=\"no-referrer\">\n<title>diff - onnxcost</title>\n<link rel=\"icon\" "
    "href=\"data:,\">\n<style>\n:root { --bg: #fbfbfa; --panel: #ffffff; --ink: #1c2128; --soft: #545d68; "
    "--line: #dde1e6; --hair: #eceff2;\n  --good: #1e7a3c; --bad: #b3322b; --warn: #8a5a00;\n  --mono: "
    "ui-monospace, \"SFMono-Regular\", \"DejaVu Sans Mono\", Menlo, Consolas, monospace; }\n@media "
    "(prefers-color-scheme: dark) { :root { --bg: #14171b; --panel: #1b1f25; --ink: #e4e8ee;\n  --soft: "
    "#a3adb9; --line: #343b45; --hair: #272d35; --good: #6fce8d; --bad: #ff958c; --warn: #e5b968; } }\nbody "
    "{ margin: 0; background: var(--bg); color: var(--ink); font-variant-numeric: tabular-nums;\n  font: "
    "13px/1.45 system-ui, -apple-system, \"Segoe UI\", \"Noto Sans\", \"DejaVu Sans\", sans-serif; }\nmain, "
    "header, footer { max-width: 1560px; margin: 0 auto; padding: 0 20px; }\nh1 { font-size: 15px; margin: "
    "12px 0 0; } h2 { font-size: 14px; margin: 0 0 8px; font-weight: 650; }\nsection { margin: 22px 0 0; } "
    ".note, footer { color: var(--soft); }\n.panel { background: var(--panel); border: 1px solid "
    "var(--line); border-radius: 7px; padding: 6px 14px;\n  overflow-x: auto; }\ntable { border-collapse: "
    "collapse; } th, td { padding: 3px 14px 3px 0; text-align: left; vertical-align: top; }\nth { color: "
    "var(--soft); font-weight: 600; white-space: nowrap; border-bottom: 1px solid var(--line); }\ntbody tr + "
    "tr td { border-top: 1px solid var(--hair); }\n.n { text-align: right; white-space: nowrap; } td.c { "
    "font-family: var(--mono); font-size: 12px;\n  overflow-wrap: anywhere; min-width: 6em; }\n.added "
    "td:first-child { color: var(--good); } .removed td:first-child { color: var(--bad); }\n.changed "
    "td:first-child { color: var(--warn); }\n</style>\n</head>\n<body>\n<header><h1>Difference of two "
    "reports</h1></header>\n<main>\n";

static const char foot[] = "</main>\n<footer><p>Written by <b>onnxcost</b> " ONNXCOST_VERSION
                           ". This file is self-contained.</p></footer>\n</body>\n</html>\n";

static void section(struct oc_diff_view *v, const char *title,
                    void (*make)(struct oc_diff_view *, struct oc_sheet *), struct oc_buf *b)
{
    struct oc_sheet s;
    make(v, &s);
    s.title = title;
    if (s.n_row)
        oc_sheet_html(&s, "added removed changed renamed", b);
    oc_sheet_free(&s);
}

static void note(struct oc_buf *b, const char *text)
{
    oc_buf_str(b, "<p class=\"note\">");
    oc_xml_text(b, text);
    oc_buf_str(b, "</p>\n");
}

void oc_diff_html(struct oc_diff_view *v, FILE *f)
{
    struct oc_buf b = {0};
    const char *gaps = oc_diff_gaps(v);
    oc_buf_str(&b, head);
    section(v, "A and B", oc_diff_sides, &b);
    section(v, "Totals", oc_diff_totals, &b);
    note(&b, oc_diff_sentence(v));
    if (gaps)
        note(&b, gaps);
    section(v, "By operator type", oc_diff_kinds, &b);
    section(v, "Operators", oc_diff_list, &b);
    if (v->n_row < v->n_wanted)
        note(&b, oc_printf(&v->arena, "%u of %u rows that differ", v->n_row, v->n_wanted));
    section(v, "Outside the runs", oc_diff_beside, &b);
    oc_buf_str(&b, foot);
    fwrite(b.data, 1, b.n, f);
    oc_buf_free(&b);
}
