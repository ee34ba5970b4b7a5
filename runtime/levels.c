/* SPDX-License-Identifier: Apache-2.0 */
#include <pwl/plan.h>

#if defined(PWL_HAVE_AVX512) || defined(PWL_HAVE_AVX2) || defined(PWL_HAVE_SSE41)
/* Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, CPUID. */
typedef struct cpuid {
    uint32_t eax, ebx, ecx, edx;
} cpuid;

static cpuid ask(uint32_t leaf, uint32_t subleaf)
{
    cpuid r;
    __asm__ volatile("cpuid" : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx) : "a"(leaf), "c"(subleaf));
    return r;
}

/* Register states that the operating system saves: 1 << 1 XMM, 1 << 2 YMM, 7 << 5 masks and ZMM. */
static uint32_t saved_states(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static int all(uint32_t word, uint32_t bits)
{
    return (word & bits) == bits;
}

static uint32_t ask_levels(void)
{
    const uint32_t leaves = ask(0, 0).eax;
    const cpuid basic = ask(1, 0), none = {0, 0, 0, 0}, extended = leaves >= 7 ? ask(7, 0) : none;
    const uint32_t states = basic.ecx >> 27 & 1 ? saved_states() : 0;
    uint32_t levels = 0;
    if (all(basic.ecx, 1u << 9 | 1u << 19)) /* SSSE3, for its byte shuffle, and SSE4.1 */
        levels |= PWL_LEVEL_SSE41;
    if (all(states, 6) && extended.ebx >> 5 & 1) {
        levels |= PWL_LEVEL_AVX2;
        if (basic.ecx >> 29 & 1)
            levels |= PWL_LEVEL_F16C;
        if (extended.eax >= 1 && ask(7, 1).eax >> 4 & 1)
            levels |= PWL_LEVEL_AVXVNNI;
    }
    if (all(states, 0xe6) && all(extended.ebx, 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31)) { /* F, DQ, BW, VL */
        levels |= PWL_LEVEL_AVX512;
        if (extended.ecx >> 1 & 1)
            levels |= PWL_LEVEL_AVX512VBMI;
        if (extended.ecx >> 11 & 1)
            levels |= PWL_LEVEL_AVX512VNNI;
    }
    return levels;
}

/* Where the processor is virtual, CPUID leaves for its host, which takes tens of microseconds: it is asked once.
 * Threads that come before the answer is kept ask too, and keep the same: no order among them matters. */
uint32_t pwl_levels(void)
{
    enum { UNKNOWN = 0, KNOWN = 1u << 30 }; /* a bit that is no level's */
    static uint32_t kept = UNKNOWN;
    uint32_t levels = __atomic_load_n(&kept, __ATOMIC_RELAXED);
    if (levels == UNKNOWN) {
        levels = KNOWN | ask_levels();
        __atomic_store_n(&kept, levels, __ATOMIC_RELAXED);
    }
    return levels & ~(uint32_t)KNOWN;
}
#else
/* HWCAP2_SVE2, HWCAP2_I8MM and HWCAP_ASIMDDP. Source: Linux, "ARM64 ELF hwcaps" and
 * arch/arm64/include/uapi/asm/hwcap.h. */
#if defined(__aarch64__) && defined(__linux__) && (defined(PWL_HAVE_SVE2) || defined(PWL_HAVE_NEON))
#include <sys/auxv.h>
#define SYSTEM_HAS_SVE2 (getauxval(AT_HWCAP2) >> 1 & 1)
#define SYSTEM_HAS_DOTPROD (getauxval(AT_HWCAP) >> 20 & 1)
#define SYSTEM_HAS_I8MM (getauxval(AT_HWCAP2) >> 13 & 1)
#else
#define SYSTEM_HAS_SVE2 0
#define SYSTEM_HAS_DOTPROD 0
#define SYSTEM_HAS_I8MM 0
#endif
#ifdef __ARM_FEATURE_SVE2
#define HAS_SVE2 1
#else
#define HAS_SVE2 SYSTEM_HAS_SVE2
#endif
#ifdef __ARM_FEATURE_DOTPROD
#define HAS_DOTPROD 1
#else
#define HAS_DOTPROD SYSTEM_HAS_DOTPROD
#endif
#ifdef __ARM_FEATURE_MATMUL_INT8
#define HAS_I8MM 1
#else
#define HAS_I8MM SYSTEM_HAS_I8MM
#endif

/* What the build may take for granted, and what the system tells of. */
uint32_t pwl_levels(void)
{
    uint32_t levels = 0;
#ifdef PWL_HAVE_NEON
    levels |= PWL_LEVEL_NEON;
    if (HAS_DOTPROD)
        levels |= PWL_LEVEL_DOTPROD;
    if (HAS_I8MM)
        levels |= PWL_LEVEL_I8MM;
#endif
#ifdef PWL_HAVE_SVE2
    if (HAS_SVE2)
        levels |= PWL_LEVEL_SVE2;
#endif
#ifdef PWL_HAVE_DSP
    levels |= PWL_LEVEL_DSP;
#endif
#ifdef PWL_HAVE_HELIUM
    levels |= PWL_LEVEL_HELIUM;
#endif
#ifdef PWL_HAVE_RVV
    levels |= PWL_LEVEL_RVV;
#endif
    return levels;
}
#endif
