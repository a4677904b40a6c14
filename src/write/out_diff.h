/* Formats of a diff. */
#ifndef OC_OUT_DIFF_H
#define OC_OUT_DIFF_H

#include "write/diff_view.h"

void oc_diff_csv(struct oc_diff_view *v, FILE *f);
void oc_diff_json(struct oc_diff_view *v, FILE *f);
void oc_diff_github(struct oc_diff_view *v, FILE *f); /* annotations of GitHub Actions */

#endif
