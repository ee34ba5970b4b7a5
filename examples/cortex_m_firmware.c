/* SPDX-License-Identifier: 0BSD */
/*
 * Firmware of a Cortex-M without a C library: frames of INT8 codes, as an ADC or a layer of a network gives them, go
 * through a GELU in place. No heap, no float: the table lies in ROM, the plan takes 320 bytes of RAM.
 * tests/examples/check_firmware.sh builds it and runs it under QEMU.
 */
#include <stddef.h>
#include <stdint.h>

#include <pwl/plan.h>

#include "pwl_gelu_s8.h"
#include "say.h" /* say(): a line for whoever watches; a board's support package has its own way */

enum { FRAME = 96, FRAMES = 50 };
#define SUM 0x1086 /* of all frames, as it should be */

/* Where the plan puts what it prepares, here the table's 256 values and what aligns them. A plan by fewer bytes, down
 * to none, takes longer and gives the same codes. */
static uint8_t plan_memory[320];
static int8_t frame[FRAME];

/* Stands for a driver: a triangle wave over all codes, whose phase moves from frame to frame. */
static void receive(int number)
{
    for (int k = 0; k < FRAME; k++) {
        const int phase = (number * 37 + k * 5) & 511;
        frame[k] = (int8_t)((phase < 256 ? phase : 511 - phase) - 128);
    }
}

/* The Fletcher-16 sum, stands for what sends frames on. */
static uint16_t send(uint16_t sum)
{
    uint32_t low = sum & 255, high = sum >> 8;
    for (int k = 0; k < FRAME; k++) {
        low = (low + (uint8_t)frame[k]) % 255;
        high = (high + low) % 255;
    }
    return (uint16_t)(high << 8 | low);
}

/* At start-up: every code comes out as it is specified. */
static int self_test(const pwl_plan *plan)
{
    for (int q_x = -128; q_x <= 127; q_x++) {
        const int8_t x = (int8_t)q_x;
        int8_t y;
        pwl_run(plan, &x, &y, 1);
        if (y != pwl_eval(&pwl_gelu_s8, q_x))
            return 0;
    }
    return 1;
}

int main(void)
{
    pwl_plan plan;
    uint16_t sum = 0;
    if (pwl_table_check(&pwl_gelu_s8, NULL) != PWL_OK ||
        pwl_plan_init(&plan, plan_memory, sizeof plan_memory, &pwl_gelu_s8, PWL_S8, PWL_S8, PWL_LEVELS_ALL) != PWL_OK ||
        !self_test(&plan)) {
        say("the self test failed\n");
        return 1;
    }
    for (int number = 0; number < FRAMES; number++) {
        receive(number);
        pwl_run(&plan, frame, frame, FRAME);
        sum = send(sum);
    }
    say("frames sent by way of ");
    say(pwl_plan_way(&plan));
    say(sum == SUM ? "\n" : ", and their sum is wrong\n");
    return sum != SUM;
}
