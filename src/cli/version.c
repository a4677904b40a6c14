/* --version, and with --verbose what the program was made of and what it finds here. */
#include <stdio.h>

#include "build_info.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/hardware.h"
#include "onnxcost/profile.h"
#include "onnxcost/record.h"
#include "onnxcost/report.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

static void write_libraries(FILE *f)
{
    struct oc_library_info l;
    for (size_t i = 0; oc_library(i, &l); i++) {
        fprintf(f, "%-12s %s", l.name, l.found ? l.version : "not found");
        if (l.file[0])
            fprintf(f, "  (%s)", l.file);
        fprintf(f, "  for %s\n", l.use);
    }
}

static void version_write_data(FILE *f)
{
    struct oc_hwdb *db;
    struct oc_err err;
    const char *dir, *name, *title;
    if (oc_hwdb_open(NULL, &db, &err)) {
        fprintf(f, "devices      %s\n", err.msg);
    } else {
        const struct oc_device *const *device;
        size_t n;
        if (oc_hwdb_list(db, &device, &n, &err))
            fprintf(f, "devices      %s\n", err.msg);
        else
            fprintf(f, "devices      %zu\n", n);
        for (size_t i = 0; (dir = oc_hwdb_folder(db, i)); i++)
            fprintf(f, "data         %s\n", dir);
        oc_hwdb_free(db);
    }
    size_t formats = 0, conventions = 0;
    while (oc_profile_format(formats, &name, &title))
        formats++;
    while (oc_convention_name(conventions))
        conventions++;
    fprintf(f, "operators    %zu rules\nprofiles     %zu formats\nconventions  %zu\n", oc_op_count(), formats,
            conventions);
}

int cli_version(const struct cli_opts *o)
{
    struct cli_output out;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    fprintf(out.f, "onnxcost %s\n", ONNXCOST_VERSION);
    if (o->verbose) {
        fprintf(out.f, "commit       %s\n", *ONNXCOST_COMMIT ? ONNXCOST_COMMIT : "unknown");
        fprintf(out.f, "compiler     %s, %zu bits\n", COMPILER, 8 * sizeof(void *));
        write_libraries(out.f);
        version_write_data(out.f);
    }
    return cli_output_close(&out, true);
}
