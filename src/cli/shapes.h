/* --dim, --shape, --value, --trip and --op-rules: texts to bindings; and all options of an analysis. */
#ifndef OC_CLI_SHAPES_H
#define OC_CLI_SHAPES_H

#include "cli/options.h"
#include "onnxcost.h"

struct cli_shapes {
    struct oc_bind *bind, *trip;
    struct oc_shape_bind *shape;
    struct oc_value_bind *value;
    size_t n_bind, n_trip, n_shape, n_value;
    struct oc_op_rules *rules; /* NULL: none */
    size_t n_own;              /* the first shapes, from the command line; what follows is borrowed */
};

/* `more`: shapes from elsewhere, used for inputs that the command line does not speak of.
 * Returns 0, or an exit code after a message. */
int cli_shapes_parse(const struct cli_opts *o, const struct oc_shape_bind *more, size_t n_more,
                     struct cli_shapes *out);
void cli_shapes_free(struct cli_shapes *s);

/* Borrows from both. The last --convention holds. */
struct oc_analyze_opts cli_analyze_opts(const struct cli_opts *o, const struct cli_shapes *s);

#endif
