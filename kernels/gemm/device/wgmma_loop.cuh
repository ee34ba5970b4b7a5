/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main loop of wgmma: a tile of Y, 128 rows of weights and up to 256 rows of X, by a thread block of three
 * warpgroups, of which the first two multiply, 64 rows of weights each, and two warps of the last one copy.
 *
 *     X (halves, bytes)  W (packed)
 *        | tensor copies    | bulk copies                 of one thread each
 *        v                  v
 *     +-------------------------------+
 *     | stage: X 128 bytes a row,     |  x slabs          full: both copies have arrived
 *     |        weights beside them    |                   empty: both warpgroups are through
 *     +-------------------------------+  x stages
 *        |                  | codes, 16 bytes a lane at a time, and scales
 *        |                  v
 *        |            registers: operand A, twice
 *        |                  |
 *        +----- wgmma ------+
 *                 v
 *          sums in registers
 *
 * What a warpgroup does at step i, while the tensor cores are busy with step i - 1:
 *
 *     wait for stage i, load its codes | wait for multiplications i - 2, stage i - 2 is empty | decode to the registers
 *     of A that they had | start multiplications i
 *
 * Codes that are bytes need no decoding, and ptxas has them loaded to where they are multiplied from: so they are
 * loaded after that wait.
 *
 * Sparse weights have two of every four columns: operand A is half as large, with the positions of what it has in a
 * register more, and a multiplication takes twice as many columns of X.
 *
 * A stage is read in two ways: its codes by loads, long before X is by the tensor cores, which is what frees it. So
 * three stages are the fewest that work. Where K ends within a stage, X is zeros there, and the last piece of the
 * weights comes once more: weights are finite, and 0 times any of them adds nothing.
 *
 * Tiles follow each other along the rows of weights of a panel, then along X, then panel by panel:
 *
 *              rows of weights ->
 *           +-----------+-----------+
 *         X | 0   1   2 | 6   7   8 |
 *         | | 3   4   5 | 9  10  11 |
 *         v +-----------+-----------+
 */
#ifndef PWL_QGEMM_WGMMA_LOOP_CUH
#define PWL_QGEMM_WGMMA_LOOP_CUH

#include "arch/overlap.cuh"
#include "arch/wgmma.cuh"
#include "gemm/tiles.h"
#include "weights.cuh"
#include "wgmma_strips.cuh"

namespace pwl
{
namespace wgmma
{

constexpr unsigned group_threads = 128, groups = 2; /* warpgroups that multiply */
constexpr unsigned multiplying = groups * group_threads, threads = multiplying + group_threads;
static_assert(multiplying / 32 + 2 + PWL_QGEMM_STRIP_WARPS == threads / 32, "two warps copy");
constexpr unsigned group_rows = PWL_QGEMM_ROWS / groups; /* of weights */

constexpr unsigned alignment = 1024; /* of operand B in shared memory */
constexpr unsigned fewest_stages = 3, most_stages = 64, most_tokens = 256;
constexpr unsigned most_ahead = 64 << 10; /* bytes of weights */

/* Lanes of a warp that tell that it is through with a stage. One will do: what the other lanes read went into
 * multiplications of the whole warp, and those have ended. racecheck takes no lane's word for another's, and has a
 * build in which each tells for itself. */
#ifdef PWL_QGEMM_EACH_LANE_TELLS
constexpr unsigned tellers = 32;
#else
constexpr unsigned tellers = 1;
#endif

using hopper::elements;

constexpr unsigned row_bytes = 128, row_steps = 4; /* of X in a slab; multiplications take 32 bytes at a time, of
                                                    * sparse weights 64 */

/* When codes are decoded: behind the wait, as above, or a step ahead; `in_runs` as above, and sums are added in fp32
 * after every run of K. */
enum class loop { behind, ahead, in_runs };

/* Which tiles a thread block has: those of one product, or of a group (wgmma_experts.cuh). */
struct tile_place;
struct group_place;

/* What the loop is compiled for: a variant of launch.cuh, rows of X, and slabs of a stage. */
template <class variant, unsigned count, unsigned slabs_of_stage> struct stage_shape : variant {
    static constexpr unsigned tokens = count, slabs = slabs_of_stage;
    static constexpr bool of_integers = pwl_qgemm_is_rows(variant::format),
                          of_e4m3 = pwl_qgemm_is_e4m3(variant::format);
    static constexpr bool of_bytes = of_integers || of_e4m3;
    static constexpr bool plain = of_bytes && mma::is_wide(variant::format); /* codes are operands as they are */
    static constexpr loop way = loop::behind;
    static constexpr bool of_group = false;
    using places = tile_place;
    using number = std::conditional_t<of_integers, int32_t, float>;
    static constexpr elements element = of_integers     ? elements::s8
                                        : of_e4m3       ? elements::e4m3
                                        : variant::bf16 ? elements::bf16
                                                        : elements::f16;
    static constexpr bool sparse = pwl_qgemm_is_sparse(variant::format);
    static constexpr unsigned slab_steps = sparse ? row_steps / 2 : row_steps; /* multiplications of a slab */
    /* Pieces of the weights beside a slab of X, and what both have of K. */
    static constexpr unsigned slab_pieces = of_bytes ? 2 : 1, columns = slab_pieces * PWL_QGEMM_COLUMNS;
    static constexpr unsigned pieces = slabs * slab_pieces, piece_steps = slab_steps / slab_pieces;
    static constexpr unsigned x_slab = tokens * row_bytes, x_bytes = slabs * x_slab;
    static constexpr unsigned piece = mma::piece_bytes(variant::format), w_bytes = pieces * piece;
    static constexpr unsigned bytes = x_bytes + w_bytes + 16; /* with two barriers */
    static_assert(x_slab % alignment == 0 && w_bytes % 16 == 0, "as copies want it");
};

/* Of halves, two slabs where registers have room for so much of A, and shared memory for four stages; and whether Y is
 * `direct` (gemm/tiles.h). */
template <class variant, unsigned count, bool is_direct>
struct shape : stage_shape<variant, count, (count > 128 ? 1 : 2)> {
    static constexpr bool direct = is_direct;
    static constexpr bool strips = count >= PWL_QGEMM_STRIP_TILE; /* of X may be made meanwhile */
    static constexpr unsigned y_rows = count;
    static constexpr bool meets_early = false, sends_parts = false, pairs = false;
};

/* What a launch has to do, and where what lies in shared memory: X of the stages at first, then their weights. Y of a
 * block that has one tile takes the place of stages. */
struct work {
    uint32_t across, down; /* tiles along N, and along M */
    uint32_t panel;        /* tiles along N of a panel */
    uint32_t whole, turns; /* tiles that a thread block has for itself, and these and the parts of all others */
    uint32_t m_last;       /* row of X of the last tile along M */
    uint32_t rows;         /* of X in a copy: those of a tile, or of X, where it has fewer */
    uint32_t depth, steps; /* pieces along K, and stages that they fill */
    uint32_t split;        /* 1, or 2: parts of each other tile, for the blocks of a cluster: each takes half of K */
    uint32_t alone;        /* whether each thread block has one turn at most */
    uint32_t pairs;    /* whether the blocks of a cluster take tiles that are neighbours along M; `down` is of twos */
    uint32_t copies_y; /* whether Y is copied as the tensor that describes it */
    uint32_t stages, w_at, out_at, parts_at, table_at;
    uint32_t units_at; /* exponents of a tile's rows of X, for each warpgroup that multiplies */
    uint32_t group_at; /* of a group, what wgmma_experts.cuh keeps */
    uint32_t experts;
    uint32_t barriers_at; /* of each stage full and empty, then one for what another block sends */
    uint32_t zero;        /* 0, which ptxas does not know */
};

#if PWL_IS_HOPPER

/* A stage, and which of its phases comes next. */
template <class shape> struct place {
    const work &of;
    const uint32_t memory;
    uint32_t stage = 0;
    bool odd;

    __device__ place(const work &of, uint32_t memory, bool odd) : of(of), memory(memory), odd(odd)
    {
    }

    /* Its barriers, and its operands. */
    __device__ uint32_t full() const
    {
        return memory + of.barriers_at + stage * 16;
    }

    __device__ uint32_t empty() const
    {
        return full() + 8;
    }

    __device__ uint32_t x() const
    {
        return memory + stage * shape::x_bytes;
    }

    /* Counted from where shared memory begins. */
    __device__ uint32_t w() const
    {
        return of.w_at + stage * shape::w_bytes;
    }

    __device__ void advance()
    {
        stage++;
        if (stage == of.stages) {
            stage = 0;
            odd = !odd;
        }
    }
};

/* Tiles of this thread block, one after the other, and its part of their steps: turns in rows of as many as there are
 * blocks, the last tiles in a row of parts. */
struct tile_place {
    uint32_t turn, part, first, end; /* steps */
    uint32_t across;                 /* among the tiles along N */
    bool shared;                     /* with the cluster's other block */

    __device__ tile_place(const pwl_qgemm_call &, const work &of)
    {
        take(of, blockIdx.x);
    }

    /* The product as stores are to see it, and what they see of a tile, which is nothing of its own. */
    static __device__ const pwl_qgemm_call &own_call(const pwl_qgemm_call &call, const work &)
    {
        return call;
    }

    __device__ void show(const pwl_qgemm_call &, const work &, const pwl_qgemm_call &) const
    {
    }

    /* Where its weights begin in those of the call. */
    static __device__ size_t weights_at(const pwl_qgemm_call &)
    {
        return 0;
    }

    __device__ bool is_there(const work &of) const
    {
        return turn < of.turns;
    }

    __device__ void advance(const work &of)
    {
        take(of, turn + gridDim.x);
    }

    __device__ void take(const work &of, uint32_t next)
    {
        turn = next;
        shared = turn >= of.whole;
        part = shared && of.split > 1 ? (turn - of.whole) % 2 : 0;
        first = part ? of.steps / 2 : 0;
        end = shared && of.split > 1 && !part ? of.steps / 2 : of.steps;
        const uint32_t tile = shared && of.split > 1 ? of.whole + (turn - of.whole) / 2 : of.pairs ? turn / 2 : turn;
        /* Divisions take a while, and weights wait to be copied. */
        const uint32_t in_panel = of.panel * of.down, begin = tile < in_panel ? 0 : tile / in_panel * of.panel;
        const uint32_t in = tile - begin * of.down, width = min(of.panel, of.across - begin);
        down = in < width ? 0 : in / width;
        across = begin + in - down * width;
        if (of.pairs)
            down = 2 * down + turn % 2;
    }

    /* Its first row of X. The last tile begins so early that it ends with X, since copies of boxes that reach beyond a
     * tensor take longer: of rows that it shares with the tile before it, it makes the same Y. */
    __device__ uint32_t m(const work &of, uint32_t tokens) const
    {
        return min(down * tokens, of.m_last);
    }

  private:
    uint32_t down;
};

/* The first thread of a warp copies X of all steps; the others take part where X is made meanwhile. */
template <class shape>
__device__ void copy_x(const pwl_qgemm_call &call, const work &of, const CUtensorMap &x, uint32_t memory)
{
    place<shape> to(of, memory, true);
    wait_for_last_launch();
    for (typename shape::places here(call, of); here.is_there(of); here.advance(of)) {
        const uint32_t m = here.m(of, shape::tokens);
        uint32_t made = shape::strips && call.strips.count ? 0 : of.depth;
        for (uint32_t step = here.first; step < here.end; step++, to.advance()) {
            const uint32_t needed = min((step + 1) * shape::pieces, of.depth);
            if (shape::strips && made < needed)
                made = wait_for_strips(call, m, of.rows, needed);
            if (threadIdx.x % 32)
                continue;
            wait_for(to.empty(), to.odd);
            arrive_and_expect(to.full(), shape::slabs * of.rows * row_bytes);
#pragma unroll
            for (uint32_t slab = 0; slab < shape::slabs; slab++)
                copy_tensor(to.x() + slab * shape::x_slab, &x,
                            static_cast<int32_t>((step * shape::slabs + slab) * shape::columns),
                            static_cast<int32_t>(m), to.full());
        }
    }
}

/* Where the weights of a tile begin. */
template <class shape>
__device__ const uint8_t *weights_of(const pwl_qgemm_call &call, const work &of, const typename shape::places &here)
{
    return static_cast<const uint8_t *>(call.weights.memory) + here.weights_at(call) +
           (size_t{here.across} * of.depth + here.first * shape::pieces) * shape::piece;
}

/* Weights of a step. */
template <class shape>
__device__ void copy_step(const work &of, uint32_t memory, uint32_t step, const uint8_t *from, const place<shape> &to)
{
    arrive_and_expect(to.full(), shape::w_bytes);
    if ((step + 1) * shape::pieces <= of.depth) {
        copy_bytes(memory + to.w(), from, shape::w_bytes, to.full());
    } else {
#pragma unroll
        for (uint32_t i = 0; i < shape::pieces; i++)
            copy_bytes(memory + to.w() + i * shape::piece,
                       from + min(i, of.depth - 1 - step * shape::pieces) * shape::piece, shape::piece, to.full());
    }
}

/* The same of a pair, whose blocks copy half of it to both, once the stage of both is empty. */
template <class shape>
__device__ void copy_half_step(const work &of, uint32_t memory, uint32_t step, const uint8_t *from,
                               const place<shape> &to)
{
    constexpr uint32_t count = shape::pieces / 2;
    const uint32_t first = blockIdx.x % 2 * count, last = of.depth - 1 - step * shape::pieces;
    arrive_and_expect(to.full(), shape::w_bytes);
#pragma unroll
    for (uint32_t i = first; i < first + count; i++)
        copy_bytes_to_both(memory + to.w() + i * shape::piece, from + min(i, last) * shape::piece, shape::piece,
                           to.full());
}

/* How many steps fill_stages() has copied. X waits for what is copied before it. Of a group none, since it takes
 * offsets to tell whose weights they are. */
template <class shape> __device__ uint32_t steps_ahead(const work &of, const typename shape::places &here)
{
    if (shape::of_group)
        return 0;
    return min(min(of.stages, most_ahead / shape::w_bytes), here.end - here.first);
}

/* Weights are no launch's output: who makes the barriers copies those of some steps at once, before other threads have
 * so much as begun. */
template <class shape> __device__ void fill_stages(const pwl_qgemm_call &call, const work &of, uint32_t memory)
{
    const typename shape::places here(call, of);
    place<shape> to(of, memory, true);
    const uint8_t *from = weights_of<shape>(call, of, here);
    for (uint32_t i = 0; i < steps_ahead<shape>(of, here); i++, from += shape::w_bytes, to.advance())
        copy_step<shape>(of, memory, here.first + i, from, to);
}

/* Another thread than that of X copies the weights. */
template <class shape> __device__ void copy_weights(const pwl_qgemm_call &call, const work &of, uint32_t memory)
{
    place<shape> to(of, memory, true);
    typename shape::places here(call, of);
    uint32_t ahead = steps_ahead<shape>(of, here);
    for (; here.is_there(of); here.advance(of)) {
        const uint8_t *from = weights_of<shape>(call, of, here);
        for (uint32_t step = here.first; step < here.end; step++, from += shape::w_bytes, to.advance()) {
            if (ahead > 0) {
                ahead--;
                continue;
            }
            wait_for(to.empty(), to.odd);
            if constexpr (shape::pairs)
                copy_half_step<shape>(of, memory, step, from, to);
            else
                copy_step<shape>(of, memory, step, from, to);
        }
    }
}

/* Keeps what is made of codes behind what waits before it. */
template <pwl_qgemm_format format> __device__ void hold(mma::codes<format, 1> &codes)
{
#pragma unroll
    for (uint32_t &word : codes.words[0])
        asm volatile("" : "+r"(word)); /* it may have changed */
    if constexpr (pwl_qgemm_is_sparse(format))
        asm volatile("" : "+r"(codes.positions));
}

/* Operand A of a stage, with the positions of sparse weights. */
template <unsigned count> struct dense_operand {
    pwl_fragment of[count];
};

template <unsigned count> struct sparse_operand {
    pwl_fragment of[count];
    uint32_t positions[count / 2] = {}; /* of two fragments, in different lanes */
};

/*
 * The next positions in the place of `old` ones. ptxas takes their register for read as soon as a multiplication was
 * started, but tensor cores read it when they come to that, so that what is kept there meanwhile would be read. So
 * `old` is needed until here, and `written` makes here later than the wait for its multiplications: it is of operand A,
 * which ptxas knows to be read until then. Both are nothing to the result.
 */
__device__ inline uint32_t follow(uint32_t positions, uint32_t old, uint32_t written, uint32_t zero)
{
    return positions ^ ((old | written) & zero);
}

/*
 * What a warpgroup does with a stage: `codes` are loaded, decoded to operand A, and multiplied by the stage's X; then
 * the stage is told to be empty.
 */
template <class shape> struct multiplier {
    static constexpr pwl_qgemm_format format = shape::format;
    using raw = mma::codes<format, 1>[shape::pieces];
    static constexpr unsigned fragments = shape::slabs * shape::slab_steps;
    using operand = std::conditional_t<shape::sparse, sparse_operand<fragments>, dense_operand<fragments>>;

    const uint8_t *const memory;
    const mma::decoder<format, shape::bf16, shape::exponents, 1> weights;
    const bool tells; /* of a pair, as many lanes more tell the other block */
    const uint32_t codes_at, scales_at;
    place<shape> from;
    uint32_t last = 0, before = 0; /* barriers of empty stages to come: of the last step, and of that before */

    /* n is the first of this warp's rows of weights, `row` that in a tile. */
    __device__ multiplier(const pwl_qgemm_call &call, const uint8_t *memory, size_t n, unsigned row,
                          const place<shape> &begin)
        : memory(memory), weights(call, n), tells(threadIdx.x % 32 < tellers * (shape::pairs ? 2 : 1)),
          codes_at(row / PWL_QGEMM_TILE_ROWS * mma::code_bytes(format)),
          scales_at(PWL_QGEMM_TILES * mma::code_bytes(format) + row / PWL_QGEMM_TILE_ROWS * mma::scale_bytes(format)),
          from(begin)
    {
        /* So that ptxas sees that it is the same for all lanes, after what it has to keep it through. */
        if (!shape::direct)
            from.stage = __shfl_sync(0xffffffff, from.stage, 0);
    }

    __device__ void tell(uint32_t empty) const
    {
        if (!tells)
            return;
        if constexpr (shape::pairs)
            arrive_in_cluster(address_in(blockIdx.x % 2 ^ (threadIdx.x % 32 / tellers), empty));
        else
            arrive(empty);
    }

    __device__ void load(raw &codes) const
    {
#pragma unroll
        for (unsigned piece = 0; piece < shape::pieces; piece++) {
            const uint32_t stage = from.w() + piece * shape::piece;
            if constexpr (shape::of_e4m3)
                codes[piece].load(from.memory + stage + codes_at, from.memory + stage + scales_at);
            else
                codes[piece].load(memory + stage + codes_at, memory + stage + scales_at);
        }
    }

    /* Positions are needed until their multiplications have ended, which is when sums can be read. */
    __device__ void keep(const operand &a, typename shape::number (&sums)[shape::tokens / 8][4]) const
    {
        if constexpr (shape::sparse) {
#pragma unroll
            for (unsigned i = 0; i < shape::pieces; i++)
                sums[i / 4][i % 4] =
                    __uint_as_float(follow(__float_as_uint(sums[i / 4][i % 4]), a.positions[i], 0, from.of.zero));
        }
    }

    __device__ void decode(raw &codes, operand &a) const
    {
#pragma unroll
        for (unsigned piece = 0; piece < shape::pieces; piece++) {
            hold<format>(codes[piece]);
#pragma unroll
            for (unsigned step = 0; step < shape::piece_steps; step++)
                a.of[piece * shape::piece_steps + step] = weights.fragment(codes[piece], 0, step);
            if constexpr (shape::sparse)
                a.positions[piece] = follow(codes[piece].positions, a.positions[piece],
                                            a.of[piece * shape::piece_steps].r[0], from.of.zero);
        }
    }

    /* Starts to multiply by X at x, of a stage whose barrier is `empty`. */
    __device__ void start(const operand &a, uint32_t x, uint32_t empty,
                          typename shape::number (&sums)[shape::tokens / 8][4])
    {
        begin_multiplications();
        const uint64_t matrix = matrix_at(x);
#pragma unroll
        for (unsigned slab = 0; slab < shape::slabs; slab++) {
#pragma unroll
            for (unsigned step = 0; step < shape::slab_steps; step++) {
                const uint64_t b = matrix_beyond(matrix, slab * shape::x_slab + step * (row_bytes / shape::slab_steps));
                const uint32_t(&r)[4] = a.of[slab * shape::slab_steps + step].r;
                if constexpr (!shape::sparse)
                    multiply_add<shape::element>(sums, r, b);
                else if (step == 0)
                    multiply_add_sparse<shape::element, 0>(sums, r, a.positions[slab], b);
                else
                    multiply_add_sparse<shape::element, 1>(sums, r, a.positions[slab], b);
            }
        }
        close_multiplications();
        before = last;
        last = empty;
    }

    /* A step as the drawing above has it. */
    __device__ void add(uint32_t i, operand &a, typename shape::number (&sums)[shape::tokens / 8][4])
    {
        raw codes;
        wait_for(from.full(), from.odd);
        if (!shape::plain)
            load(codes);
        wait_for_multiplications<1>();
        if (i >= 2)
            tell(before);
        if (shape::plain)
            load(codes);
        decode(codes, a);
        start(a, from.x(), from.empty(), sums);
        from.advance();
    }
};

/* A warpgroup adds `steps` stages to its sums; n is the first of this warp's rows of weights, `row` that in a tile.
 * Once, while the first step is multiplied, `meanwhile` runs, which must leave sums alone. */
template <class shape, class function>
__device__ void multiply(const pwl_qgemm_call &call, const uint8_t *memory, size_t n, unsigned row, uint32_t steps,
                         place<shape> &begin, typename shape::number (&sums)[shape::tokens / 8][4],
                         const function &meanwhile)
{
    multiplier<shape> by(call, memory, n, row, begin);
    typename multiplier<shape>::operand a[2];
    hopper::hold(sums);
    uint32_t i = 0;
    for (; i + 1 < steps; i += 2) { /* operands of neighbouring steps are in different registers */
        by.add(i, a[0], sums);
        if (i == 0)
            meanwhile();
        by.add(i + 1, a[1], sums);
    }
    if (i < steps) {
        by.add(i, a[0], sums);
        if (i == 0)
            meanwhile();
    }
    wait_for_multiplications<0>();
    hopper::hold(sums);
    by.keep(a[0], sums);
    by.keep(a[1], sums);
    begin.stage = by.from.stage;
    begin.odd = by.from.odd;
    if (steps >= 2)
        by.tell(by.before);
    if (steps >= 1)
        by.tell(by.last);
}

#endif

} // namespace wgmma
} // namespace pwl

#endif
