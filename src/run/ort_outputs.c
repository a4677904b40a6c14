/* How far the outputs of two runs are apart, read from the runtime's tensors. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "run/ort_lib.h"
#include "shape/type.h"

struct output {
    struct ort_shape *shape; /* released */
    int dtype;               /* ONNX Runtime's, which is that of ONNX */
    size_t n;
    void *data;
};

static struct ort_status *read_output(const struct oc_ort *ort, struct ort_value *v, struct output *out)
{
    struct ort_status *s = ort->get_shape(v, &out->shape);
    if (s)
        return s;
    s = ort->get_dtype(out->shape, &out->dtype);
    s = s ? s : ort->get_elements(out->shape, &out->n);
    ort->release_shape(out->shape);
    return s ? s : out->dtype == OC_DT_STRING ? NULL : ort->get_data(v, &out->data);
}

static double element(const struct output *o, size_t i)
{
    return o->dtype == OC_DT_FLOAT ? (double)((const float *)o->data)[i] : ((const double *)o->data)[i];
}

/* Floating-point numbers: the largest difference over the largest magnitude. NaN differs from a number only. */
static double relative_difference(const struct output *a, const struct output *b)
{
    double most = 0, difference = 0;
    for (size_t i = 0; i < a->n; i++) {
        double x = element(a, i), y = element(b, i);
        if (x == y || (isnan(x) && isnan(y)))
            most = isfinite(x) ? fmax(most, fabs(x)) : most;
        else if (!isfinite(x) || !isfinite(y))
            return INFINITY;
        else
            most = fmax(most, fabs(x)), difference = fmax(difference, fabs(x - y));
    }
    return difference > 0 ? (most > 0 ? difference / most : INFINITY) : 0;
}

/* Other numbers are equal or not; texts are not looked at. */
static double difference_of(const struct output *a, const struct output *b)
{
    if (a->dtype != b->dtype || a->n != b->n)
        return INFINITY;
    if (a->dtype == OC_DT_FLOAT || a->dtype == OC_DT_DOUBLE)
        return relative_difference(a, b);
    uint64_t bytes;
    bool equal = a->dtype != OC_DT_STRING && oc_bytes_of((unsigned)a->dtype, a->n, &bytes) &&
                 !memcmp(a->data, b->data, bytes);
    return equal ? 0 : INFINITY;
}

struct ort_status *oc_ort_difference(const struct oc_ort *ort, struct ort_value *const *a,
                                     struct ort_value *const *b, size_t n, double *difference)
{
    *difference = 0;
    for (size_t i = 0; i < n; i++) {
        struct output x = {0}, y = {0};
        struct ort_status *s = read_output(ort, a[i], &x);
        s = s ? s : read_output(ort, b[i], &y);
        if (s)
            return s;
        *difference = fmax(*difference, difference_of(&x, &y));
    }
    return NULL;
}
