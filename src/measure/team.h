/* Threads for measurements: each on a processor of its own, working in step. Between two regions they sleep,
 * or they wait awake, as told. */
#ifndef OC_TEAM_H
#define OC_TEAM_H

#include "onnxcost.h"

unsigned oc_team_processors(void); /* that this process may use */

struct oc_team;
/* The caller is thread 0, and stays on the first processor until the team is freed. threads: 1 to
 * oc_team_processors(). */
int oc_team_make(unsigned threads, struct oc_team **out, struct oc_err *err);
void oc_team_free(struct oc_team *t);

/* awake: waiting threads look for work all the time; else they sleep, and the others have the machine for
 * themselves. */
void oc_team_awake(struct oc_team *t, bool awake);

/* A parallel region: work(user, 0) ... work(user, active - 1), each by its thread; returns when all are done.
 */
void oc_team_run(struct oc_team *t, unsigned active, void (*work)(void *user, unsigned index), void *user);

double oc_seconds(void); /* of a clock that only moves forward */

#endif
