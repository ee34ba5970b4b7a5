/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cover.h"

#include "base/progress.h"

bool cover_finds(struct cover *cover, int begin, int end, struct line *line)
{
    return cover_takes(cover, cover->find(cover->context, begin, end, line));
}

int cover_longest(struct cover *cover, int begin, struct line *line)
{
    const struct points *points = cover->points;
    const int reach = cover->reach(cover->context, begin);
    /* To the point where that proves something. */
    const int coarse = cover->is_coarse && !points->exhaustive ? 1 + (reach - begin) / 64 : 1,
              close = points->between ? 1 : coarse;
    struct line found;
    int good = begin, bad = reach + 1;
    for (int back = 0; good + (good == begin ? 1 : close) < bad;) {
        int probe = reach - back;
        if (probe <= good || back > reach - good)
            probe = good + (bad - good) / 2;
        if (cover_finds(cover, begin, probe, &found)) {
            *line = found;
            good = probe;
            back = reach; /* from here on, bisection */
        } else {
            bad = probe;
            back = 2 * back + coarse;
        }
    }
    return good;
}

bool cover_greedily(struct cover *cover)
{
    int end = 0;
    for (cover->segments = 0; end < points_places(cover->points); cover->segments++) {
        progress_step("lines that keep to an error", (uint64_t)end, (uint64_t)points_places(cover->points));
        if (cover->segments == cover->most)
            return false;
        const int next = cover_longest(cover, end, &cover->lines[cover->segments]);
        if (next == end || cover_is_late(cover, cover->segments + 1, next))
            return false;
        cover->place[cover->segments] = end;
        end = next;
    }
    cover->place[cover->segments] = end;
    return true;
}
