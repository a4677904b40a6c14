/* The columns of --order-by: quantities of rows under the names of MegEngine's tool, and their order. */
#ifndef OC_ORDER_H
#define OC_ORDER_H

#include "report/report.h"

struct oc_order_column {
    const char *name;
    size_t offset; /* offset of a double in struct oc_row, if the others are NULL */
    double (*number)(const struct oc_row *);
    int (*compare)(const struct oc_row *, const struct oc_row *); /* for rows with a known key */
    bool (*known)(const struct oc_row *);
};

enum { OC_N_ORDER_COLUMNS = 26 };
extern const struct oc_order_column oc_order_columns[OC_N_ORDER_COLUMNS];

/* The number that sorts a row, NaN: unknown. Only for columns without `compare`. */
double oc_order_key(const struct oc_order_column *c, const struct oc_row *row);
bool oc_order_known(const struct oc_order_column *c, const struct oc_row *row);

#endif
