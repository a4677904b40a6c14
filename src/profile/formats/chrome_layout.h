/* Private to the Chrome reader. Parses one event and memoises its layout: producers repeat their layouts, so
 * the reader stores which parts of the text vary and parses only those. */
#ifndef OC_CHROME_LAYOUT_H
#define OC_CHROME_LAYOUT_H

#include "profile/formats/chrome_reader.h"

struct oc_chrome_layouts *oc_chrome_layouts_new(void);
void oc_chrome_layouts_free(struct oc_chrome_layouts *all);

/* memoisation pays off in this file so far */
bool oc_chrome_layouts_pay(const struct oc_chrome_layouts *all);

/* Parses the event at the start of `ahead` into r->f and r->note if it has a memoised layout. Returns its
 * length, or 0 if no layout matches. */
size_t oc_chrome_take_alike(struct oc_chrome *r, struct oc_str ahead);

/* Number of events parsed by a memoised layout. */
size_t oc_chrome_alike(const struct oc_chrome *r);

/* Parses a whole event, member by member, into r->f and memoises its layout. False: it is not valid JSON. */
bool oc_chrome_take_apart(struct oc_chrome *r, struct oc_str event);

#endif
