/* Hardware files: rates that are large, small, zero or missing. */
#include "case.h"

static const char *const rates[] = {"312", "19.5", "1", "0.001", "1e30", "0", "-1", "1e-30", ""};

static const char *rate(struct fuzz_choices *c)
{
    return fuzz_pick(c, rates, fuzz_one_in(c, 6) ? sizeof(rates) / sizeof(rates[0]) : 4);
}

static void unit(struct fuzz_choices *c, struct oc_buf *out)
{
    static const char *const kinds[] = {"vector", "matrix", "special", "vector"};
    static const char *const classes[] = {"f32", "f16", "i8", "tf32", "bf16", "f64", "i4", "f8"};
    const char *kind = FUZZ_PICK(c, kinds);
    oc_buf_printf(out, "<unit kind=\"%s\" name=\"%s\">", kind, kind);
    for (size_t i = 1 + fuzz_below(c, 3); i; i--) {
        const char *class = FUZZ_PICK(c, classes);
        oc_buf_printf(out,
                      "<peak class=\"%s\" value=\"%s\" unit=\"%s\" dense=\"yes\" clock=\"boost\" "
                      "basis=\"vendor\" source=\"s\"/>",
                      class, rate(c), *class == 'i' ? "TOP/s" : "TFLOP/s");
    }
    oc_buf_str(out, "</unit>\n");
}

static void memory(struct fuzz_choices *c, const char *name, struct oc_buf *out)
{
    oc_buf_printf(out, "<memory name=\"%s\">", name);
    if (!fuzz_one_in(c, 6))
        oc_buf_printf(out, "<size value=\"%s\" unit=\"GB\" basis=\"vendor\" source=\"s\"/>", rate(c));
    if (!fuzz_one_in(c, 4))
        oc_buf_printf(out, "<bandwidth value=\"%s\" unit=\"GB/s\" basis=\"vendor\" source=\"s\"/>", rate(c));
    oc_buf_str(out, "</memory>\n");
}

void fuzz_make_device(struct fuzz_choices *c, struct oc_buf *out)
{
    static const char *const kinds[] = {"gpu", "cpu", "npu"};
    oc_buf_printf(
        out,
        "<?xml version=\"1.0\"?>\n<hwdb version=\"1\"><source id=\"s\" title=\"Data sheet\" section=\"1\"/>\n"
        "<device id=\"d\" name=\"D\" vendor=\"V\" kind=\"%s\">\n<clock kind=\"boost\" value=\"%s\" "
        "unit=\"GHz\" "
        "basis=\"vendor\" source=\"s\"/>\n",
        FUZZ_PICK(c, kinds), rate(c));
    for (size_t i = fuzz_below(c, 3); i; i--)
        unit(c, out);
    if (fuzz_one_in(c, 2))
        memory(c, "L2", out);
    if (!fuzz_one_in(c, 8))
        memory(c, "DRAM", out);
    if (fuzz_one_in(c, 3))
        oc_buf_printf(out,
                      "<overhead runtime=\"any\" value=\"%s\" unit=\"us\" basis=\"assumed\" note=\"n\"/>\n",
                      rate(c));
    oc_buf_str(out, "</device></hwdb>\n");
}
