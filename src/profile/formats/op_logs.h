/* Private to imp_op_logs.c, imp_summary_tables.c, onednn_lines.c and deepspeed_lines.c: sources that print a
 * line per operator.
 */
#ifndef OC_OP_LOGS_H
#define OC_OP_LOGS_H

#include "profile/core/op_sums.h"
#include "profile/text_table.h"

#define OC_LOG_FIELDS 24

struct oc_op_log {
    struct oc_csv *c;
    struct oc_profile *p;
    struct oc_op_rows rows;
    struct oc_buf text;
    /* state of tables */
    bool in_table, had_table, wanted, csv;
    int section;
    size_t at[8], width, name_at;
    struct oc_recording_count recordings;
    uint64_t process, counted;      /* of nvprof: that of the lines, that of the last rows */
    struct oc_map kernels;          /* of ONNX Runtime Web: hash of the name, indexed by id */
    struct oc_module_tree *modules; /* of DeepSpeed */
};

bool oc_onednn_is_line(struct oc_str line);
int oc_onednn_take(struct oc_op_log *log, struct oc_str line);
bool oc_deepspeed_is_line(struct oc_str line);
int oc_deepspeed_take(struct oc_op_log *log, struct oc_str line);

#endif
