/* Events of chrome traces taken apart, and how they are written: what differs between events that are written
 * alike, and where. Inside of the reader. */
#ifndef OC_CHROME_LAYOUT_H
#define OC_CHROME_LAYOUT_H

#include "profile/chrome_reader.h"

struct oc_chrome_layouts *oc_chrome_layouts_new(void);
void oc_chrome_layouts_free(struct oc_chrome_layouts *all);

/* Remembering pays in this file so far. */
bool oc_chrome_layouts_pay(const struct oc_chrome_layouts *all);

/* The event at the start of `ahead` into r->f and r->note if it is written as one before. Returns its length,
 * 0: it is not. */
size_t oc_chrome_take_alike(struct oc_chrome *r, struct oc_str ahead);

/* How many events were. */
size_t oc_chrome_alike(const struct oc_chrome *r);

/* A whole event, member by member, into r->f; its way of writing is remembered. False: it cannot be told
 * apart. */
bool oc_chrome_take_apart(struct oc_chrome *r, struct oc_str event);

#endif
