/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_bits COUNTS JSON: elements per clock of each conversion, as Markdown rows on standard output and as JSON lines
 * in a file. COUNTS has the instructions of the kernels below, from count_sass.sh.
 *
 * A block of 1024 threads per multiprocessor, four independent chains a thread: each converts a word and folds what
 * comes out, with a number that changes by the round, into its next word. The fold is part of the time, at one or two
 * instructions a word, but not of the counted instructions. Methods of the same meaning must end with the same words.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#include "bits_methods.cuh"

namespace
{

constexpr int threads = 1024, chains = 4, rounds = 2048, repetitions = 9;

/* 0.1 and 2^14 * 0.1 as fp16, and 8 */
struct parameters {
    uint16_t s = 0x2e66, s_2_14 = 0x6666, z = 0x4800;
};

#define CONVERT(name, what, cycles, elements, same, value)                                                             \
    __device__ __forceinline__ auto convert_##name(uint32_t x, parameters p)                                           \
    {                                                                                                                  \
        [[maybe_unused]] const uint16_t s = p.s, s_2_14 = p.s_2_14, z = p.z;                                           \
        return value;                                                                                                  \
    }
BITS_METHODS(CONVERT)
#undef CONVERT

__device__ __forceinline__ uint32_t fold(results<4> v, uint32_t with)
{
    return v.w[0] ^ v.w[1] ^ v.w[2] ^ v.w[3] ^ with;
}

__device__ __forceinline__ uint32_t fold(results<2> v, uint32_t with)
{
    return v.w[0] ^ v.w[1] ^ with;
}

/* For count_sass.sh. */
template <auto convert, int words>
__device__ __forceinline__ void convert_words(const uint32_t *x, void *y, parameters p)
{
    auto *const to = static_cast<decltype(convert(0, p)) *>(y);
#pragma unroll
    for (int i = 0; i < words; i++)
        to[threadIdx.x * 16 + i] = convert(x[threadIdx.x * 16 + i], p);
}

template <auto convert> __device__ __forceinline__ void time_conversion(uint32_t *ends, long long *clocks, parameters p)
{
    uint32_t x[chains];
    for (uint32_t c = 0; c < chains; c++)
        x[c] = (threadIdx.x * chains + c) * 2654435761u;
    __syncthreads();
    const long long began = clock64();
#pragma unroll 1
    for (uint32_t round = 0; round < rounds; round++) {
#pragma unroll
        for (int c = 0; c < chains; c++)
            x[c] = fold(convert(x[c], p), round * 0x9e3779b9u);
    }
    __syncthreads();
    const long long ended = clock64();
    for (int c = 0; c < chains; c++)
        ends[(blockIdx.x * threads + threadIdx.x) * chains + c] = x[c];
    if (threadIdx.x == 0)
        clocks[blockIdx.x] = ended - began;
}

} // namespace

#define KERNELS(name, what, cycles, elements, same, value)                                                             \
    extern "C" __global__ void count_8_##name(const uint32_t *x, void *y, parameters p)                                \
    {                                                                                                                  \
        convert_words<convert_##name, 8>(x, y, p);                                                                     \
    }                                                                                                                  \
    extern "C" __global__ void count_16_##name(const uint32_t *x, void *y, parameters p)                               \
    {                                                                                                                  \
        convert_words<convert_##name, 16>(x, y, p);                                                                    \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(threads, 1)                                                           \
        time_##name(uint32_t *ends, long long *clocks, parameters p)                                                   \
    {                                                                                                                  \
        time_conversion<convert_##name>(ends, clocks, p);                                                              \
    }
BITS_METHODS(KERNELS)
#undef KERNELS

namespace
{

struct method {
    const char *name, *what, *cycles;
    int elements;
    const char *same;
    void (*kernel)(uint32_t *ends, long long *clocks, parameters p);
};

const method methods[] = {
#define ENTRY(name, what, cycles, elements, same, value) {#name, what, cycles, elements, #same, time_##name},
    BITS_METHODS(ENTRY)
#undef ENTRY
};

struct measured {
    double low, median, high; /* elements per clock of a multiprocessor, over the repetitions */
    std::vector<uint32_t> ends;
};

void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "bench_bits: %s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

/* The first run warms up. A repetition is the median over the multiprocessors. */
measured measure(const method &m, int multiprocessors, uint32_t *ends, long long *clocks)
{
    const size_t words = size_t{threads} * chains;
    std::vector<long long> each(multiprocessors);
    std::vector<double> rates;
    measured result;
    for (int i = 0; i <= repetitions; i++) {
        m.kernel<<<multiprocessors, threads>>>(ends, clocks, parameters{});
        check(cudaGetLastError(), m.name);
        check(cudaMemcpy(each.data(), clocks, each.size() * sizeof each[0], cudaMemcpyDeviceToHost), m.name);
        std::nth_element(each.begin(), each.begin() + multiprocessors / 2, each.end());
        if (i > 0)
            rates.push_back(1.0 * words * rounds * m.elements / static_cast<double>(each[multiprocessors / 2]));
    }
    std::sort(rates.begin(), rates.end());
    result.low = rates.front();
    result.median = rates[repetitions / 2];
    result.high = rates.back();
    /* Every block begins and ends with the same words. */
    std::vector<uint32_t> all(words * multiprocessors);
    check(cudaMemcpy(all.data(), ends, all.size() * sizeof all[0], cudaMemcpyDeviceToHost), m.name);
    for (size_t i = 0; i < all.size(); i++) {
        if (all[i] != all[i % words]) {
            std::fprintf(stderr, "bench_bits: %s: blocks end with different words\n", m.name);
            std::exit(1);
        }
    }
    result.ends.assign(all.begin(), all.begin() + words);
    return result;
}

/* Instructions an element, from lines of `NAME COUNT`; below 0 when the file has none of that name. */
double count_of(const char *path, const char *name)
{
    FILE *const file = std::fopen(path, "r");
    char found[64];
    double count;
    while (file && std::fscanf(file, "%63s %lf", found, &count) == 2) {
        if (std::strcmp(found, name) == 0) {
            std::fclose(file);
            return count;
        }
    }
    if (file)
        std::fclose(file);
    return -1;
}

void print(const method &m, const measured &v, double count, FILE *json)
{
    char counted[32] = "-", number[32] = "null";
    if (count >= 0) {
        std::snprintf(counted, sizeof counted, "%.3f", count);
        std::snprintf(number, sizeof number, "%.4f", count);
    }
    /* 128 lanes: with one instruction a clock each, an element that takes n of them takes n of a lane's clocks. */
    std::printf("| %s | %s | %s | %.1f | %.1f to %.1f | %.2f |\n", m.what, m.cycles, counted, v.median, v.low, v.high,
                128 / v.median);
    std::fprintf(json,
                 "{\"bench\": \"bits\", \"method\": \"%s\", \"instructions_per_element\": %s, "
                 "\"elements_per_clock\": %.3f, \"lowest\": %.3f, \"highest\": %.3f}\n",
                 m.name, number, v.median, v.low, v.high);
}

} // namespace

int main(int argc, char **argv)
{
    cudaDeviceProp device;
    int devices = 0;
    if (argc != 3) {
        std::fprintf(stderr, "usage: bench_bits COUNTS JSON\n");
        return 2;
    }
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess || devices == 0) {
        std::fprintf(stderr, "bench_bits: no CUDA device: %s\n", cudaGetErrorString(error));
        return 77;
    }
    check(cudaGetDeviceProperties(&device, 0), "device 0");
    const int multiprocessors = device.multiProcessorCount;
    uint32_t *ends;
    long long *clocks;
    check(cudaMalloc(&ends, size_t{4} * threads * chains * multiprocessors), "memory");
    check(cudaMalloc(&clocks, size_t{8} * multiprocessors), "memory");
    FILE *const json = std::fopen(argv[2], "w");
    if (!json) {
        std::perror(argv[2]);
        return 1;
    }

    std::printf(
        "\n| conversion | document's cycles an element | instructions an element | elements per clock | of %d | "
        "lane clocks an element |\n|---|---|---|---|---|---|\n",
        repetitions);
    std::vector<measured> all;
    for (const method &m : methods) {
        all.push_back(measure(m, multiprocessors, ends, clocks));
        print(m, all.back(), count_of(argv[1], m.name), json);
    }
    std::fclose(json);
    check(cudaFree(ends), "memory");
    check(cudaFree(clocks), "memory");

    int status = 0;
    for (size_t i = 0; i < all.size(); i++) {
        for (size_t k = 0; k < i; k++) {
            if (std::strcmp(methods[i].same, methods[k].same) == 0 && all[i].ends != all[k].ends) {
                std::fprintf(stderr, "bench_bits: %s and %s end with different words\n", methods[i].name,
                             methods[k].name);
                status = 1;
            }
        }
    }
    return status;
}
