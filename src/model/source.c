/* What a model file is: ONNX, or a description of a model (config.json, safetensors, GGUF) whose graph is
 * built. */
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/file.h"
#include "base/os.h"
#include "base/str.h"
#include "model/decoder.h"
#include "model/graph_writer.h"
#include "model/loader.h"
#include "model/stored.h"
#include "shape/type.h"

#define CONFIG "config.json"

struct source {
    struct oc_model *m;
    struct oc_stored_list stored;
    int64_t total_bytes;  /* as the index says; -1: it does not */
    bool last_layer;      /* the index has a tensor for it, also when it is the embedding table */
    bool more_layers;     /* and layers that predict further tokens */
    uint64_t frequencies; /* tensors of rotary frequencies in the index */
    bool masks;           /* it names masks of attention, which hold no parameters */
    const char **tensor;  /* names of the index, or of the headers; heap */
    uint32_t n_tensor, cap_tensor;
    struct oc_err *err;
};

/* ---- graphs ----------------------------------------------------------------------------------------- */

/* Weights without nodes. */
static int build_weights(struct source *s, const char *producer, const char *why)
{
    struct oc_graph_writer w = {.names = {.arena = NULL}};
    for (uint32_t i = 0; i < s->stored.n; i++) {
        const struct oc_stored *t = &s->stored.item[i];
        oc_gw_weight(&w, t->name, t->dtype, t->rank, t->dim);
    }
    oc_gw_write(&w, producer, &s->m->built);
    oc_gw_free(&w);
    oc_stored_parts(&s->stored, 0, &s->m->files);
    oc_diag_add(&s->m->diags, OC_WARNING, "W-no-graph", producer, "only weights are counted (%s): %s",
                oc_stored_text(&s->stored), why);
    return 0;
}

static void note_difference(struct source *s, const char *where, const char *unit, uint64_t stored,
                            uint64_t built)
{
    if (stored != built)
        oc_diag_add(&s->m->diags, OC_WARNING, "W-weights-differ", where,
                    "the files have %llu %s and the graph %llu: other sizes, or only some of the files",
                    (unsigned long long)stored, unit, (unsigned long long)built);
}

/* Bytes that an index counts and the graph does not: the embedding table as a last layer, frequencies of so many bytes each. */
static uint64_t bytes_beyond(const struct source *s, const struct oc_decoder *d, unsigned frequency_bytes)
{
    uint64_t twice = 0, last = (uint64_t)(d->vocabulary * d->embedding);
    if (!d->tied || !s->last_layer || !oc_bytes_of((unsigned)d->dtype, last, &twice))
        twice = 0;
    return twice + s->frequencies * (uint64_t)(d->layer[0].rotated / 2) * frequency_bytes;
}

/* What is counted roughly, or in part, is not more than what an index counts: a few scalars of quantization are within a
 * hundredth. */
static void check_most(struct source *s, const struct oc_decoder *d, uint64_t built)
{
    if (s->total_bytes > 0 && built > (uint64_t)s->total_bytes + (uint64_t)s->total_bytes / 100)
        note_difference(s, d->type, "bytes", (uint64_t)s->total_bytes, built);
}

/* An index names buffers without their sizes: of frequencies up to 32 bits each, of masks any number. */
static void compare_total(struct source *s, const struct oc_decoder *d, uint64_t built)
{
    uint64_t total = (uint64_t)s->total_bytes, least = built + bytes_beyond(s, d, 0),
             most = s->masks ? UINT64_MAX : built + bytes_beyond(s, d, sizeof(float));
    if (total < least || total > most)
        note_difference(s, d->type, "bytes", total, total < least ? least : most);
}

/* The parameters and bytes of the files; of an index without its files, the bytes that it says. */
static void compare_weights(struct source *s, const struct oc_decoder *d, struct oc_stored_sum built)
{
    struct oc_stored_sum stored = oc_stored_decoder(&s->stored, d->layers, d->tied);
    const struct oc_packing *all = &d->quant.all;
    bool packed = d->quant.method; /* counted exactly, but not by the types of stored tensors */
    bool rough = (all->kind == OC_PACK_BLOCKS && !all->biases) || all->kind == OC_PACK_TYPE ||
                 (all->kind == OC_PACK_SCALED && all->rows < 2) ||
                 d->quant.n_rule; /* but for a few scalars */
    if (rough || d->quant.unknown || d->part || (packed && s->stored.n)) {
        check_most(s, d, built.bytes);
        return;
    }
    if (stored.elements != built.elements && s->stored.n)
        note_difference(s, d->type, "parameters", stored.elements, built.elements);
    else if (s->stored.n)
        note_difference(s, d->type, "bytes", stored.bytes, built.bytes);
    else if (s->total_bytes >= 0 && !s->more_layers)
        compare_total(s, d, built.bytes);
}

/* Matrices of integers: packed weights. */
static bool has_integers(const struct source *s)
{
    for (uint32_t i = 0; i < s->stored.n; i++)
        if (s->stored.item[i].rank > 1 && oc_dtype_info(s->stored.item[i].dtype)->kind != OC_KIND_FLOAT)
            return true;
    return false;
}

static int close_file(struct source *s, struct oc_file *f, int rc)
{
    rc = oc_remote_check(f, s->err) ? -1 : rc;
    oc_file_unmap(f);
    return rc;
}

/* The graph. Without a type in the description, the bytes of an index decide between 16 and 32 bits. */
static struct oc_stored_sum build_graph(struct source *s, struct oc_decoder *d)
{
    const struct oc_stored_list *stored = s->stored.n ? &s->stored : NULL;
    struct oc_stored_sum built = oc_decoder_build(d, stored, &s->m->built);
    if (oc_dec_is(d, OC_F_type) || stored || s->total_bytes < 0 || d->dtype != OC_DT_FLOAT ||
        (uint64_t)s->total_bytes >= 3 * built.elements)
        return built;
    oc_diag_add(&s->m->diags, OC_WARNING, "W-assumed", d->type,
                "bfloat16, as total_size of the index has 16 bits");
    d->dtype = OC_DT_BFLOAT16;
    s->m->built.n = 0;
    return oc_decoder_build(d, stored, &s->m->built);
}

static int build_decoder(struct source *s, const char *name, const void *config, size_t n)
{
    struct oc_decoder d;
    struct oc_str text = oc_str(config, n), modelopt = {0};
    struct oc_file beside;
    bool found = !strcmp(name, CONFIG) && !oc_str_has(text, "\"quantization") &&
                 oc_beside_map(s->m, OC_MODELOPT_CONFIG, &beside);
    if (found) {
        oc_os_need(beside.data, beside.size_bytes);
        modelopt = oc_str((const char *)beside.data, beside.size_bytes);
    }
    for (uint32_t i = 0; !s->n_tensor && i < s->stored.n; i++)
        OC_PUSH(s->tensor, s->n_tensor, s->cap_tensor) = s->stored.item[i].name;
    const struct oc_decoder_source from = {.name = name,
                                           .config = text,
                                           .modelopt = modelopt,
                                           .own = s->m->limits.decoder,
                                           .tensor = s->tensor,
                                           .n_tensor = s->n_tensor};
    int rc = oc_decoder_read(&from, &s->m->arena, &s->m->diags, &d, s->err);
    if ((found ? close_file(s, &beside, rc) : rc) != 0)
        return -1;
    oc_decoder_note_quantization(&d, s->stored.n > 0, &s->m->diags);
    s->m->unknown_weights = d.quant.unknown && (!s->stored.n || has_integers(s));
    if (s->stored.n && !oc_stored_any(&s->stored, "pooler."))
        d.f.of[OC_F_pooler].v = 0;
    compare_weights(s, &d, build_graph(s, &d));
    oc_quant_free(&d.quant);
    oc_stored_parts(&s->stored, d.layers, &s->m->files);
    return 0;
}

/* Tensors were to be expected. */
static void note_no_weights(struct source *s, const char *where)
{
    if (!s->stored.n)
        oc_diag_add(&s->m->diags, OC_WARNING, "W-no-weights", where,
                    "no tensors are here: their types come from the description");
}

/* ---- safetensors ------------------------------------------------------------------------------------ */

/* With the config.json in the folder of the weights; without one, or with one of another kind of model, the
 * weights alone. */
static int build_with_config(struct source *s)
{
    struct oc_file config;
    if (!oc_beside_map(s->m, CONFIG, &config))
        return s->stored.n
                   ? build_weights(s, "safetensors", "no config.json is in their folder")
                   : oc_fail(s->err, OC_EIO, "no weight file of the index is here, and no config.json");
    note_no_weights(s, "safetensors");
    oc_os_need(config.data, config.size_bytes);
    int rc = close_file(s, &config, build_decoder(s, CONFIG, config.data, config.size_bytes));
    if (rc == 0 || !s->stored.n || s->err->code != OC_EUNSUPPORTED)
        return rc;
    return build_weights(s, "safetensors", s->err->msg);
}

static int read_file(struct source *s, const char *name, const struct oc_file *f)
{
    size_t look = f->size_bytes < OC_DESCRIBED_BYTES ? (size_t)f->size_bytes : OC_DESCRIBED_BYTES;
    oc_os_need(f->data, look);
    bool sound = look > 9 && !memcmp(f->data + 4, "\0\0\0\0{", 5); /* the length of a header, and its begin */
    const struct oc_signature *is = sound ? NULL : oc_recognize(name, f->data, look);
    if (is)
        return oc_fail(s->err, OC_EFORMAT, "this is %s, not safetensors: %s", is->what, is->todo);
    return oc_safetensors_read(name, f->data, f->size_bytes, &s->stored, &s->m->diags, s->err);
}

/* The files of an index; all of them or none are here. */
static int read_files(struct source *s, const struct oc_weight_index *index)
{
    const char *missing = NULL;
    for (uint32_t i = 0; i < index->n_file; i++) {
        struct oc_file f;
        if (!oc_beside_map(s->m, index->file[i], &f)) {
            missing = missing ? missing : index->file[i];
            continue;
        }
        int rc = close_file(s, &f, read_file(s, index->file[i], &f));
        if (rc)
            return oc_err_prefix(s->err, "%s", index->file[i]);
    }
    if (missing && s->stored.n)
        return oc_fail(s->err, OC_EIO, "'%.200s' is not here: download all files of the index, or none",
                       missing);
    for (uint32_t i = 0; i < index->n_tensor && !missing; i++)
        if (!oc_stored_find(&s->stored, index->tensor[i]))
            return oc_fail(s->err, OC_EFORMAT, "tensor '%.100s' of the index is in none of its files",
                           index->tensor[i]);
    return 0;
}

static void compare_bytes(struct source *s)
{
    if (s->total_bytes >= 0 && s->stored.n && (uint64_t)s->total_bytes != s->stored.bytes)
        oc_diag_add(&s->m->diags, OC_WARNING, "W-weights-differ", "total_size",
                    "the index says %lld bytes, its files have %llu", (long long)s->total_bytes,
                    (unsigned long long)s->stored.bytes);
}

static int from_index(struct source *s, const struct oc_file *f)
{
    struct oc_weight_index index;
    int rc = oc_weight_index_read(f->data, f->size_bytes, &s->m->arena, &index, s->err);
    s->total_bytes = index.total_bytes;
    for (uint32_t i = 0; i < index.n_tensor; i++) {
        OC_PUSH(s->tensor, s->n_tensor, s->cap_tensor) = index.tensor[i];
        if (strstr(index.tensor[i], "inv_freq"))
            s->frequencies++;
        else if (oc_stored_is_mask(index.tensor[i]))
            s->masks = true;
        else if (strstr(index.tensor[i], ".mtp"))
            s->more_layers = true;
        else
            s->last_layer |= strcmp(index.tensor[i], "lm_head.weight") == 0;
    }
    if (rc == 0)
        rc = read_files(s, &index);
    oc_weight_index_free(&index);
    if (rc)
        return -1;
    compare_bytes(s);
    return build_with_config(s);
}

static int from_safetensors(struct source *s, const struct oc_file *f)
{
    if (read_file(s, oc_base_name(s->m->path), f))
        return -1;
    return s->stored.n ? build_with_config(s) : oc_fail(s->err, OC_EFORMAT, "the file has no tensors");
}

/* ---- GGUF ------------------------------------------------------------------------------------------- */

/* "model-00001-of-00003.gguf": the name of another part. False: not named so. */
static bool name_of_part(const char *first, unsigned part, unsigned parts, char *out, size_t room)
{
    char mark[32];
    snprintf(mark, sizeof(mark), "-00001-of-%05u.gguf", parts);
    const char *at = strstr(first, mark);
    return at &&
           snprintf(out, room, "%.*s-%05u-of-%05u.gguf", (int)(at - first), first, part, parts) < (int)room;
}

static int read_parts(struct source *s, unsigned parts)
{
    const char *first = oc_base_name(s->m->path);
    for (unsigned i = 2; i <= parts; i++) {
        char name[512];
        struct oc_file f;
        struct oc_gguf part;
        if (!name_of_part(first, i, parts, name, sizeof(name)) || !oc_beside_map(s->m, name, &f))
            return oc_fail(s->err, OC_EIO,
                           "part %u of %u is not here: give the first part, with the others in its folder", i,
                           parts);
        int rc = close_file(
            s, &f, oc_gguf_read(name, f.data, f.size_bytes, &s->stored, &part, &s->m->diags, s->err));
        if (rc)
            return oc_err_prefix(s->err, "%s", name);
    }
    return 0;
}

/* The decoder that the metadata describe; if it cannot be built, the weights alone. */
static int build_from_metadata(struct source *s, const struct oc_gguf *gguf)
{
    struct oc_buf config = {0};
    int rc = -1;
    if (gguf->mixed)
        oc_fail(s->err, OC_EUNSUPPORTED, "layers with different sizes are not built");
    else if (!oc_gguf_config(gguf, &s->stored, &config))
        oc_fail(s->err, OC_EUNSUPPORTED, "the architecture '%s' is not built", gguf->architecture);
    else
        rc = build_decoder(s, "GGUF", config.data, config.n);
    oc_buf_free(&config);
    return rc && s->stored.n ? build_weights(s, "GGUF", s->err->msg) : rc;
}

static int from_gguf(struct source *s, const struct oc_file *f)
{
    struct oc_gguf gguf;
    if (oc_gguf_read(s->m->path, f->data, f->size_bytes, &s->stored, &gguf, &s->m->diags, s->err) ||
        (gguf.parts > 1 && read_parts(s, (unsigned)gguf.parts)))
        return -1;
    note_no_weights(s, "GGUF");
    return build_from_metadata(s, &gguf);
}

/* ---- any file --------------------------------------------------------------------------------------- */

int oc_source_read(struct oc_model *m, ProtobufCBinaryData *out, struct oc_err *err)
{
    struct source s = {
        .m = m, .stored = {.arena = &m->arena, .limits = &m->limits}, .total_bytes = -1, .err = err};
    const struct oc_file *f = &m->file;
    int rc = 0;
    oc_os_need(f->data, f->size_bytes < OC_DESCRIBED_BYTES ? (size_t)f->size_bytes : OC_DESCRIBED_BYTES);
    switch (oc_described_by(m->path, f->data, f->size_bytes)) {
    case OC_DESCRIBED_NOT:
        break;
    case OC_DESCRIBED_CONFIG:
        rc = build_decoder(&s, CONFIG, f->data, f->size_bytes);
        break;
    case OC_DESCRIBED_INDEX:
        rc = from_index(&s, f);
        break;
    case OC_DESCRIBED_SAFETENSORS:
        rc = from_safetensors(&s, f);
        break;
    case OC_DESCRIBED_GGUF:
        rc = from_gguf(&s, f);
        break;
    }
    oc_stored_free(&s.stored);
    free(s.tensor);
    *out = m->built.n ? (ProtobufCBinaryData){m->built.n, (uint8_t *)m->built.data}
                      : (ProtobufCBinaryData){f->size_bytes, (uint8_t *)(uintptr_t)f->data};
    return rc;
}
