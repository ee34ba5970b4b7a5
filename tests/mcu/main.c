/* SPDX-License-Identifier: Apache-2.0 */
/* A program without a C library: check_freestanding.sh links it, so that every symbol the runtime needs is found in
 * the runtime or in the compiler's own support library. */
#include <pwl/plan.h>
#include <pwl/pwl.h>
#include <pwl/real.h>
#include <pwl/reduce.h>
#include <pwl/rows.h>

/* With EVAL_ONLY nothing but pwl_eval and what it needs is linked, so that the script can weigh it. */
int main(void);
void start(void);

static const int16_t start_codes[] = {-8, 1};
static const int16_t slopes[] = {3, -2};
static const int8_t shifts[] = {1, 2};
static const int32_t term_c[] = {5, 7};
#define TABLE                                                                                                          \
    {                                                                                                                  \
        .version = PWL_TABLE_VERSION, .storage = PWL_INT16, .segments = 2, .start = start_codes, .q_b = slopes,        \
        .n = shifts, .offset = term_c, .qmin_x = -8, .qmax_x = 8, .qmin_y = -100, .qmax_y = 100                        \
    }
static const pwl_table table = TABLE;

/* volatile: the compiler must call, not compute. */
static volatile int16_t code = 3;

#ifdef EVAL_ONLY
int main(void)
{
    return (int)pwl_eval(&table, code);
}
#else
static const pwl_reduced reduced = {{.version = PWL_REDUCTION_VERSION, .qmin_x = -8, .qmax_x = 8}, TABLE};

#ifdef WHOLE
static const pwl_softmax *volatile softmax;
static const pwl_norm *volatile norm;
static const pwl_rows *volatile rows;
#endif

#define MAP(in, in_t, out, out_t)                                                                                      \
    {                                                                                                                  \
        in_t x = (in_t)code;                                                                                           \
        out_t y;                                                                                                       \
        pwl_map_##in##_##out(&table, &x, &y, 1);                                                                       \
        sum += (int)y;                                                                                                 \
    }
int main(void)
{
    pwl_proof proof;
    pwl_plan plan;
    char memory[256];
    int sum = (int)pwl_table_check(&table, &proof) + *pwl_status_text(proof.status);
    sum += (int)pwl_eval(&table, code) + (int)pwl_eval_unclamped(&table, code) + pwl_segment(&table, code);
    sum += pwl_fits(&table, PWL_S8);
    PWL_MAP_PAIRS(MAP)
    sum += (int)pwl_reduced_check(&reduced, &proof) + (int)pwl_reduced_eval(&reduced, code);
    pwl_reduced_map(&reduced, PWL_S32, &sum, PWL_S32, &sum, 1);
    sum += (int)pwl_plan_init(&plan, memory, sizeof memory, &table, PWL_S32, PWL_S32, PWL_LEVELS_ALL);
    pwl_run(&plan, &sum, &sum, 1);
    sum += (int)pwl_reduced_plan_init(&plan, memory, sizeof memory, &reduced, PWL_S32, PWL_S32, PWL_LEVELS_ALL);
#ifdef WHOLE /* beside what check_freestanding.sh links; compilers may want memcpy() to pass structures */
    const pwl_affine affine = {0.25f, 1};
    float real = 1.0f;
    sum += (int)pwl_run_real(&plan, affine, &real, affine, &real, 1) + (real > 0.0f);
    pwl_softmax_run(softmax, rows, PWL_LEVELS_ALL);
    pwl_norm_run(norm, rows->x, rows->y, rows->count, PWL_LEVELS_ALL);
#endif
    return sum;
}
#endif

void start(void)
{
    code = (int16_t)main();
    for (;;) {
    }
}
