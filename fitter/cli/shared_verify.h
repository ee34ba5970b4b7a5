/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verification in jobs that are shared out (jobs/share.h): a job is a target, or a part of the codes of one. */
#ifndef PWLC_SHARED_VERIFY_H
#define PWLC_SHARED_VERIFY_H

#include "base/diag.h"
#include "verify/verify.h"

#define SHARED_VERIFY_MOST 8

struct shared_verify {
    const struct verification *verification;
    char targets[SHARED_VERIFY_MOST][16];
    int count;                       /* of targets */
    int parts;                       /* of each */
    struct shared_verdict *verdicts; /* of each part of each; malloc'd */
};

void shared_verify_add(struct shared_verify *shared, const char *target);

/* share_run() of all of them. */
int shared_verify_run(struct shared_verify *shared, bool *goes_on, struct diag *diag);

/* What verify() says of a target: of all of its parts. */
void shared_verify_join(const struct shared_verify *shared, int target, struct verdict *verdict, struct diag *diag);

void shared_verify_free(struct shared_verify *shared);

#endif
