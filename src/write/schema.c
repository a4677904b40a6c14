#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "onnxcost/report.h"

/* Published schemas of the documents that the program writes: one file in src/write each. */
static const struct {
    const char *name, *text;
} schemas[] = {
    {
        "report",
#include "report_schema.h"
    },
    {
        "compare",
#include "compare_schema.h"
    },
};

int oc_schema_write(const char *name, FILE *f, struct oc_err *err)
{
    OC_C_LOCALE;
    for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
        if (name && strcmp(name, schemas[i].name) != 0)
            continue;
        fputs(schemas[i].text, f);
        return 0;
    }
    return oc_fail(err, OC_ENOTFOUND, "unknown schema '%s'; valid: report, compare", name);
}
