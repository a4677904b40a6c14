/* From kernels to whole runs: what a run takes beside its kernels, how models err as a whole, and signatures.
 */
#ifndef OC_CAL_WALL_H
#define OC_CAL_WALL_H

#include "estimate/cal_data.h"

void oc_cal_fit_wall(const struct oc_cal_data *data, struct oc_calibration *out);       /* t_fix_s, gap_s */
void oc_cal_fit_signatures(const struct oc_cal_data *data, struct oc_calibration *out); /* signature, again */

#endif
