/* A small model whose texts all contain terminal control sequences and HTML markup. */
#include "zoo.h"

#include <stdio.h>

/* Colours and a screen clear (ESC, CSI as C1 in UTF-8 and as a single byte), a window title, bell, line ends,
 * bidirectional controls, invalid UTF-8, markup. No comma and no blank: the builder's lists end there. */
/* NOLINTBEGIN(misc-misleading-bidirectional): the test is about it */
#define POISON                                                                                               \
    "\033[31m\033[2J\033]0;EVIL\007\xc2\x9b"                                                                 \
    "31m\x9b"                                                                                                \
    "5m\nEVIL\r\nEVIL\xc2\x85\xe2\x80\xa8"                                                                   \
    "EVIL\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xff\xc3\x7f\b"                                                 \
    "</script><img/src=x/onerror=alert(1)><!--|`[a](javascript:b)\"'&;"

static const char *evil(struct zoo *z, const char *name)
{
    return zoo_text(z, "%s" POISON "end", name);
}
/* NOLINTEND(misc-misleading-bidirectional) */

static void add_metadata(struct zoo *z)
{
    static Onnx__StringStringEntryProto entry = ONNX__STRING_STRING_ENTRY_PROTO__INIT;
    static Onnx__StringStringEntryProto *entries[] = {&entry};
    Onnx__ModelProto *m = oc_b_model(z->b);
    entry.key = (char *)evil(z, "key");
    entry.value = (char *)evil(z, "value");
    m->metadata_props = entries;
    m->n_metadata_props = 1;
    m->producer_name = m->producer_version = m->domain = m->doc_string = m->graph->doc_string =
        m->graph->name = (char *)evil(z, "model");
}

static void rename_symbol(struct zoo *z, Onnx__ValueInfoProto *v)
{
    v->type->tensor_type->shape->dim[0]->dim_param = (char *)evil(z, "batch");
}

void zoo_hostile(struct zoo *z)
{
    struct oc_builder *b = z->b;
    const char *x = evil(z, "x"), *w = evil(z, "w"), *c = evil(z, "c"), *r = evil(z, "r"), *u = evil(z, "u");
    const char *f = evil(z, "f"), *s = evil(z, "s"), *y = evil(z, "y"), *big = evil(z, "big");
    const char *domain = evil(z, "domain"), *call = evil(z, "Call");
    oc_b_opset(b, domain, 1);
    rename_symbol(z, oc_b_input(b, x, "float[batch,3,8,8]"));
    oc_b_init(b, w, "float[4,3,3,3]");
    oc_b_init_external(b, big, "float[4,1,1]", evil(z, "data"), 0, 16);
    oc_b_node(b, "Conv", evil(z, "conv"), zoo_text(z, "%s,%s", x, w), c, "pads=1,1,1,1");
    oc_b_node(b, "Relu", evil(z, "relu"), c, r, "");
    oc_b_node(b, "Add", evil(z, "add"), zoo_text(z, "%s,%s", r, big), s, "");
    oc_b_node(b, zoo_text(z, "%s::%s", domain, call), evil(z, "call"), s, f, "");
    oc_b_node(b, zoo_text(z, "%s::%s", domain, evil(z, "Unknown")), evil(z, "unknown"), f, u, "");
    oc_b_node(b, "Concat", evil(z, "conflict"), zoo_text(z, "%s,%s", r, x), evil(z, "k"), "axis=0");
    oc_b_node(b, "MatMul", evil(z, "matmul"), zoo_text(z, "%s,%s", r, r), y, "");
    oc_b_value(b, r, "float[7,7]");
    oc_b_output(b, y, "float[1,2,3,4]");
    oc_b_output(b, u, NULL);
    oc_b_function(b, domain, call, x, y, "");
    oc_b_opset(b, "", 17);
    oc_b_node(b, "Sigmoid", evil(z, "inner"), x, y, "");
    oc_b_close(b);
    add_metadata(z);
}
