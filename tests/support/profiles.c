#include "support/profiles.h"
#include "onnxcost.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct oc_profile *t_profile_mem(const void *data, size_t n, const struct oc_profile_opts *opts,
                                 struct oc_err *err)
{
    char path[] = "/tmp/oc_profile_XXXXXX";
    int fd = mkstemp(path);
    struct oc_profile *p = NULL;
    if (fd < 0 || write(fd, data, n) != (ssize_t)n || close(fd) != 0)
        abort();
    oc_profile_open(path, opts, &p, err);
    unlink(path);
    return p;
}

struct oc_profile *t_profile_text(const char *text, const struct oc_profile_opts *opts, struct oc_err *err)
{
    return t_profile_mem(text, strlen(text), opts, err);
}

const char *t_sample(const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "../shared/samples/%s", name);
    if (access(path, R_OK) == 0)
        return path;
    fprintf(stderr, "SKIPPED: no sample '%s'\n", path);
    return NULL;
}

const struct oc_prof_rec *t_rec(const struct oc_profile *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (strcmp(p->rec[i].name, name) == 0)
            return &p->rec[i];
    return NULL;
}

double t_self_ns(const struct oc_profile *p, const char *bucket)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const char *b = p->rec[i].bucket;
        if (bucket ? b && strcmp(b, bucket) == 0 : !b)
            sum += p->rec[i].self_ns;
    }
    return sum;
}

const char *t_finding(const struct oc_profile *p, const char *code)
{
    for (size_t i = 0; i < p->diags.n; i++)
        if (strcmp(p->diags.item[i].code, code) == 0)
            return p->diags.item[i].text;
    return NULL;
}
