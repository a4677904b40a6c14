/* From kernels to whole runs: fixed time and gaps of a run, errors common to a model, and errors of
 * signatures. */
#ifndef OC_CAL_WALL_H
#define OC_CAL_WALL_H

#include "estimate/cal_data.h"

void oc_cal_fit_wall(const struct oc_cal_data *data, struct oc_calibration *out); /* t_fix_s, gap_s */
void oc_cal_fit_signatures(const struct oc_cal_data *data,
                           struct oc_calibration *out); /* of measured signatures */

#endif
