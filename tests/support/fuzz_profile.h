/* What every importer must keep to, whatever it is fed. */
#ifndef TEST_FUZZ_PROFILE_H
#define TEST_FUZZ_PROFILE_H

#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Probes and reads the bytes with several options; aborts where the profile is not sound: texts missing,
 * indices outside, times that do not add up, events out of order. */
void fuzz_profile(const struct oc_importer *imp, const uint8_t *data, size_t n);

#endif
