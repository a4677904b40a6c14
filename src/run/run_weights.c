/* Whether a model has the weights that a run of it reads. */
#include <string.h>

#include "base/diag.h"
#include "model/model.h"
#include "run/record_files.h"

/* How to get the weights of a model that lacks them. */
static const char *zoo_hint(const struct oc_model *m)
{
    bool zoo = m->producer_name && !strcmp(m->producer_name, "onnxzoo");
    return zoo ? "; onnxzoo MODEL --weights random writes the model with weights" : "";
}

static int no_data(const struct oc_model *m, const struct oc_tensor *t, struct oc_err *err)
{
    struct oc_tensor_bytes b;
    if (t->storage == OC_STORE_NONE && t->elements)
        return oc_fail(err, OC_EFORMAT, "cannot run '%s': its weights are absent: '%s' has no data%s",
                       m->path, t->name, zoo_hint(m));
    if (t->storage != OC_STORE_EXTERNAL || !t->elements)
        return 0;
    if (!oc_tensor_bytes_open(m, t, &b))
        return oc_fail(err, OC_EFORMAT,
                       "cannot run '%s': its weights are absent: '%s' should be in '%s' next to it%s",
                       m->path, t->name, t->external_path, zoo_hint(m));
    oc_tensor_bytes_close(&b);
    return 0;
}

/* The runtime would open a file that was rejected here. */
static int check_folder(const struct oc_model *m, struct oc_err *err)
{
    for (size_t i = 0; i < m->diags.n; i++)
        if (!strcmp(m->diags.item[i].code, "W-external-path"))
            return oc_fail(err, OC_EFORMAT, "cannot run '%s': %s: %s", m->path, m->diags.item[i].where,
                           m->diags.item[i].text);
    return 0;
}

int oc_check_weights(const struct oc_model *m, struct oc_err *err)
{
    if (check_folder(m, err))
        return -1;
    for (uint32_t i = 0; i < m->n_value; i++)
        if (m->value[i].constant && no_data(m, m->value[i].constant, err))
            return -1;
    return 0;
}
