/* SPDX-License-Identifier: Apache-2.0 */
/* AVR's header as check_small.sh has it on this machine: bits in flash are the complement of those in memory, so that
 * what reads an array as memory finds other values. */
#ifndef FLASH_PGMSPACE_H
#define FLASH_PGMSPACE_H

#include <stdint.h>
#include <string.h>

#define DEFINE_READ(name, type)                                                                                        \
    static inline type name(const void *at)                                                                            \
    {                                                                                                                  \
        type v;                                                                                                        \
        memcpy(&v, at, sizeof v);                                                                                      \
        return (type)~v;                                                                                               \
    }
DEFINE_READ(pgm_read_byte, uint8_t)
DEFINE_READ(pgm_read_word, uint16_t)
DEFINE_READ(pgm_read_dword, uint32_t)

#endif
