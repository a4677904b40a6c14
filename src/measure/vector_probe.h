/* The rate of the vector units between the runs of a recording (vector_probe.c). */
#ifndef OC_VECTOR_PROBE_H
#define OC_VECTOR_PROBE_H

#include <stdint.h>

struct oc_peak_kernel;
struct oc_probe {
    const struct oc_peak_kernel *kernel; /* NULL: none that this processor has; then nothing is measured */
    uint64_t rounds;                     /* of one probe: about 0.1 ms */
    double fastest_ns, sum_ns;           /* of a round */
    uint64_t n; /* probes since oc_probe_begin, or since sum_ns and n were set to 0 */
};
void oc_probe_begin(struct oc_probe *p);
void oc_probe_run(struct oc_probe *p);
double oc_probe_mean_ns(const struct oc_probe *p); /* of a round; 0: not known, or too few */

#endif
