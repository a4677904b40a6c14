/* Printed formats as importers. */
#ifndef OC_PRINTED_H
#define OC_PRINTED_H

#include "profile/profile.h"

struct oc_printed_format;

/* Importers of the built-in formats, in the order of their descriptions: made once. */
const struct oc_importer *oc_printed_importers(size_t *n);

/* Importers of a file of descriptions (--profile-format FILE.xml): the list stays until the program ends. */
int oc_printed_importers_of(const char *path, const struct oc_importer **out, size_t *n, struct oc_err *err);

/* Of one importer whose member `printed` is set. */
void oc_printed_probe(const struct oc_printed_format *f, const struct oc_peek *peek, struct oc_bid *bid);
int oc_printed_read_profile(const struct oc_printed_format *f, const struct oc_source *src,
                            const struct oc_profile_opts *opts, struct oc_profile *out, struct oc_err *err);

/* The bid of the reader of such a format (reader=): this score, if the text has the header of a table. */
void oc_printed_bid(const char *format, const struct oc_peek *peek, int score, struct oc_bid *bid);

enum { OC_BID_NO_ROWS = 50 }; /* score of a text that a tool printed, without a row of its tables */

#endif
