/* A program that sets no out-of-memory handler: every function of the library that fails must return. Exit code 4 when
 * memory has run out, as for the program onnxcost (alloc_runs.c). usage: host MODEL [PROFILE] */
#include <stdio.h>
#include <string.h>

#include "onnxcost.h"
#include "onnxcost/report.h"

static int end(const struct oc_err *err)
{
    fprintf(stderr, "host: %s\n", err->msg);
    return err->code == OC_EMEMORY ? 4 : 3;
}

/* Everything is left alone when a call fails, as the header says. */
static int report(const char *path, const char *profile)
{
    struct oc_err err;
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_profile *p = NULL;
    struct oc_join *j = NULL;
    if (oc_model_load(path, NULL, &m, &err) || oc_analyze(m, NULL, &a, &err))
        return end(&err);
    if (profile && (oc_profile_open(profile, NULL, &p, &err) || oc_join_make(m, a, p, NULL, &j, &err)))
        return end(&err);
    const struct oc_report_in in = {.model = m, .analysis = a, .profile = p, .join = j};
    const struct oc_report_opts opts = {.format = "json"};
    if (oc_report_write(&in, &opts, stdout, &err))
        return end(&err);
    oc_join_free(j);
    oc_profile_close(p);
    oc_analysis_free(a);
    oc_model_free(m);
    return 0;
}

int main(int argc, char **argv)
{
    return argc < 2 ? 2 : report(argv[1], argc > 2 ? argv[2] : NULL);
}
