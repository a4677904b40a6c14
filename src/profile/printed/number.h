/* Numbers as printed in the locale of the user. */
#ifndef OC_PRINTED_NUMBER_H
#define OC_PRINTED_NUMBER_H

#include "base/str.h"

/* A number under both readings of its marks; NAN: it is none. A cell of a column of whole numbers has no decimal
 * sign and the same value under both. */
enum oc_decimal { OC_POINT, OC_COMMA, OC_DECIMALS };

struct oc_printed_number {
    double v[OC_DECIMALS];
};

/* Parses the number at the start of the text. *rest: the text after it. False: there is none. */
bool oc_printed_number(struct oc_str s, bool whole, struct oc_printed_number *out, struct oc_str *rest);

/* The decimal sign that this number shows: "1.234,5", "0,86", "1,234,567"; OC_DECIMALS: it may be either. */
enum oc_decimal oc_printed_evidence(struct oc_str s, bool whole);

/* The same number where the locale is known: "1,205.00", as oc_csv_number. */
bool oc_printed_plain(struct oc_str s, double *out, struct oc_str *rest);

/* "0:00:00.003569", "1:02:03.5": nanoseconds. */
bool oc_printed_clock(struct oc_str s, double *ns);

/* Bytes of a unit: "MB", "KiB". */
bool oc_printed_size(struct oc_str s, double *bytes);

/* Nanoseconds of a unit: those of oc_csv_time_unit, with a dot, "10 ns". */
bool oc_printed_unit(struct oc_str s, double *ns);

#endif
