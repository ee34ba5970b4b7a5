/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Covers all points with segments of which each, from the left, is as long as an oracle finds a line for it. */
#ifndef PWLC_COVER_H
#define PWLC_COVER_H

#include <stdbool.h>

#include "line.h"
#include "points.h"

enum line_answer {
    LINE_FOUND,    /* *line is such a line */
    LINE_NONE,     /* no line of the rules is */
    LINE_UNDECIDED /* too many candidates: none of those tried is */
};

/* A cover of the points with at most `most` segments, between places of the knot grid (points.h). */
struct cover {
    const struct points *points;
    /* The oracle. `reach` is asked once for each segment, before `find`: the last place to which a line may serve. */
    int (*reach)(void *context, int begin);
    enum line_answer (*find)(void *context, int begin, int end, struct line *line);
    void *context;
    bool is_coarse; /* where points are not all codes, long segments may end a little before they have to */
    int most;
    const int *deadline; /* by the number of segments, the place where these end at the least; null: any */
    int segments;        /* found so far, with room for `most` of them: */
    int *place;          /* where they begin, and the end */
    struct line *lines;
    bool complete; /* the oracle left no question undecided */
};

/* Whether a line was found; notes where that was left undecided. */
static inline bool cover_takes(struct cover *cover, enum line_answer answer)
{
    cover->complete &= answer != LINE_UNDECIDED;
    return answer == LINE_FOUND;
}

/* Whether so many segments end at a place that leaves more than real lines can serve with the others. */
static inline bool cover_is_late(const struct cover *cover, int segments, int end)
{
    return cover->deadline && end < cover->deadline[segments];
}

/* Whether there is a line between two places. */
bool cover_finds(struct cover *cover, int begin, int end, struct line *line);

/* The farthest place that is found for the end of a segment from `begin`, and its line; or `begin` itself. Integer
 * lines mostly stop a little short of the reach: from there steps back double until an end passes; then bisection. */
int cover_longest(struct cover *cover, int begin, struct line *line);

/* Covers everything, from the left each segment as long as it can be; false where `most` segments do not suffice. */
bool cover_greedily(struct cover *cover);

#endif
