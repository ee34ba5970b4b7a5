/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of the work along K: every piece of every tile once, in order, and nothing that waits for itself. */
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "gemm/schedule.h"

enum { MOST_TILES = 13, MOST_DEPTH = 21, PIECES = MOST_TILES * MOST_DEPTH };

/* What became of a schedule that was carried out, the last share first. */
struct outcome {
    int done[PIECES];        /* how often */
    int left[PIECES + 1];    /* 1 + the tile whose sums a share left, until they are added */
    size_t next[MOST_TILES]; /* the piece up to which a tile's sums were added */
    int stored[MOST_TILES];  /* how often */
    size_t from[PIECES];     /* where the sums begin that a share left, and where they end */
    size_t until[PIECES];
};

static int carry_out_share(const pwl_qgemm_schedule *schedule, size_t share, struct outcome *outcome)
{
    const size_t begin = pwl_qgemm_share_at(schedule, share), end = pwl_qgemm_share_at(schedule, share + 1);
    const size_t each = schedule->pieces / schedule->shares;
    int good = end - begin == each || end - begin == each + 1;
    for (size_t at = begin; at < end;) {
        const pwl_qgemm_part part = pwl_qgemm_part_from(schedule, at, end);
        const size_t first = part.tile * schedule->depth + part.piece;
        good &= first == at && part.count > 0 && part.piece + part.count <= schedule->depth && at + part.count <= end;
        if (!good)
            return 0;
        for (size_t i = 0; i < part.count; i++)
            outcome->done[first + i]++;
        at += part.count;
        if (part.piece) { /* a tile that an earlier share began: left once, before this share could wait */
            good &= first == begin && !outcome->left[share];
            outcome->left[share] = 1 + (int)part.tile;
            outcome->from[share] = part.piece;
            outcome->until[share] = part.piece + part.count;
            continue;
        }
        outcome->next[part.tile] = part.count;
        for (size_t other = share + 1; other <= pwl_qgemm_last_share(schedule, part.tile); other++) {
            good &= outcome->left[other] == 1 + (int)part.tile && outcome->from[other] == outcome->next[part.tile];
            outcome->next[part.tile] = outcome->until[other];
            outcome->left[other] = 0;
        }
        outcome->stored[part.tile]++;
    }
    return good;
}

static int carry_out(const pwl_qgemm_schedule *schedule)
{
    static struct outcome outcome;
    int good = 1;
    memset(&outcome, 0, sizeof outcome);
    for (size_t share = schedule->shares; share-- > 0 && good;)
        good = carry_out_share(schedule, share, &outcome);
    for (size_t i = 0; i < schedule->pieces; i++)
        good &= outcome.done[i] == 1;
    for (size_t tile = 0; tile < schedule->pieces / schedule->depth; tile++)
        good &= outcome.stored[tile] == 1 && outcome.next[tile] == schedule->depth;
    for (size_t share = 0; share < schedule->shares; share++)
        good &= !outcome.left[share];
    return good;
}

static void test_schedules(void)
{
    int good = 1;
    for (size_t tiles = 1; tiles <= MOST_TILES && good; tiles++) {
        for (size_t depth = 1; depth <= MOST_DEPTH && good; depth++) {
            for (size_t shares = 1; shares <= tiles * depth && good; shares++) {
                const pwl_qgemm_schedule schedule = {depth, tiles * depth, shares};
                good = carry_out(&schedule);
                if (!good)
                    printf("# %zu tiles, %zu pieces deep, in %zu shares\n", tiles, depth, shares);
            }
        }
    }
    tap(good, "every piece once, sums that are left added once and in order, every tile stored once");
}

/* Shares begin where tiles do when there are as many to each. */
static void test_alike(void)
{
    int good = 1;
    for (size_t tiles = 1; tiles <= 300; tiles++) {
        for (size_t parts = 1; parts <= 20; parts++) {
            const pwl_qgemm_schedule schedule = {65, tiles * 65, tiles * parts};
            for (size_t tile = 0; tile <= tiles; tile++)
                good &= pwl_qgemm_share_at(&schedule, tile * parts) == tile * 65;
        }
    }
    tap(good, "as many shares to each tile cut all alike");
}

static void test_shares(void)
{
    int good = 1;
    for (size_t room = 1; room <= 270; room++) {
        for (size_t tiles = 1; tiles <= 300; tiles++) {
            for (size_t depth = 1; depth <= 230; depth += depth < 20 ? 1 : 35) {
                const size_t shares = pwl_qgemm_shares(tiles, depth, room), parts = (shares - 1) / tiles + 1;
                good &= shares >= 1 && shares <= room && shares <= tiles * depth;
                good &= parts == 1 || 2 * parts * parts <= depth;
                /* No more idle than a sixteenth, unless all tiles are cut as finely as they may be. */
                good &= 16 * (room - shares) <= room || 2 * (parts + 1) * (parts + 1) > depth;
            }
        }
    }
    tap(good, "as many shares as there is room for, within limits");
    tap(pwl_qgemm_shares(128, 64, 264) == 256, "128 tiles and room for 264: halves");
    tap(pwl_qgemm_shares(128, 64, 132) == 128, "128 tiles and room for 132: whole");
    tap(pwl_qgemm_shares(135, 64, 264) == 264, "135 tiles and room for 264: cut anywhere");
    tap(pwl_qgemm_shares(300, 64, 264) == 264, "300 tiles and room for 264: cut anywhere");
    tap(pwl_qgemm_shares(2, 64, 264) == 10, "two tiles of 64 pieces: into five each");
    tap(pwl_qgemm_shares(2, 7, 264) == 2, "two tiles of 7 pieces: whole");
}

/* Tiles of Y, and when they are cut. */
static void test_tiles(void)
{
    tap(pwl_qgemm_streamk_rows(32) == 32 && pwl_qgemm_streamk_rows(33) == 128, "low tiles up to 32 rows");
    tap(pwl_qgemm_streamk_tiles(1, 1) == 1 && pwl_qgemm_streamk_tiles(128, 128) == 1, "one tile");
    tap(pwl_qgemm_streamk_tiles(32, 129) == 2 && pwl_qgemm_streamk_tiles(129, 128) == 2, "two tiles");
    tap(pwl_qgemm_streamk_tiles(512, 4096) == 128, "128 tiles");
    tap(pwl_qgemm_suits_shares(32, 64, 132), "32 tiles on 132 multiprocessors are cut");
    tap(pwl_qgemm_suits_shares(98, 16, 132) && !pwl_qgemm_suits_shares(99, 16, 132), "so are 98, but not 99");
    tap(pwl_qgemm_suits_shares(133, 16, 132) && !pwl_qgemm_suits_shares(198, 16, 132), "so are 133, but not 198");
    tap(!pwl_qgemm_suits_shares(32, 15, 132), "but not those of 15 pieces");
}

int main(void)
{
    test_schedules();
    test_alike();
    test_shares();
    test_tiles();
    return tap_end();
}
