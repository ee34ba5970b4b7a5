/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integers of N bits, up to 127, as ap_int and ac_int have them: what they are given wraps, what they compute grows. For
 * tests of emitted headers alone, and only the operations that those use. */
#ifndef SIZED_INT_H
#define SIZED_INT_H

#include <type_traits>

__extension__ typedef __int128 sized_number;
__extension__ typedef unsigned __int128 sized_pattern;

template <int N, bool S> struct sized {
    static_assert(N >= 1 && N <= 127, "bits of an integer");
    sized_number v;

    static sized_number wrapped(sized_number value)
    {
        const sized_pattern top = sized_pattern(value) << (128 - N);
        return S ? sized_number(top) >> (128 - N) : sized_number(top >> (128 - N));
    }
    sized() : v(0) {}
    template <class T, class = typename std::enable_if<std::is_integral<T>::value>::type>
    sized(T value) : v(wrapped(sized_number(value)))
    {
    }
    template <int M, bool R> sized(sized<M, R> other) : v(wrapped(other.v)) {}
    static sized of(sized_number value)
    {
        sized result;
        result.v = wrapped(value);
        return result;
    }
    unsigned to_uint() const { return unsigned(v); }
    template <int M, bool R> sized &operator|=(sized<M, R> other)
    {
        v = wrapped(v | other.v);
        return *this;
    }
    sized operator<<(unsigned n) const { return n >= N ? of(0) : of(sized_number(sized_pattern(v) << n)); }
    sized operator>>(unsigned n) const { return of(n >= N ? (v < 0 ? -1 : 0) : v >> n); }
    sized operator~() const { return of(~v); }
    sized<N + 1, true> operator-() const { return sized<N + 1, true>::of(-v); }
};

/* The bits that a result needs: one more where one operand has a sign and the other has none. */
constexpr int sized_max(int a, int b) { return a > b ? a : b; }
constexpr int sized_common(int n, bool s, int m, bool r) { return sized_max(n + (!s && r), m + (!r && s)); }

#define SIZED_OPERATION(op, bits)                                                                                      \
    template <int N, bool S, int M, bool R> sized<(bits), S || R> operator op(sized<N, S> a, sized<M, R> b)            \
    {                                                                                                                  \
        return sized<(bits), S || R>::of(a.v op b.v);                                                                  \
    }
SIZED_OPERATION(+, sized_common(N, S, M, R) + 1)
SIZED_OPERATION(*, N + M)
SIZED_OPERATION(&, sized_common(N, S, M, R))
SIZED_OPERATION(|, sized_common(N, S, M, R))
SIZED_OPERATION(^, sized_common(N, S, M, R))
template <int N, bool S, int M, bool R> sized<sized_common(N, S, M, R) + 1, true> operator-(sized<N, S> a, sized<M, R> b)
{
    return sized<sized_common(N, S, M, R) + 1, true>::of(a.v - b.v);
}
#define SIZED_COMPARISON(op)                                                                                           \
    template <int N, bool S, int M, bool R> bool operator op(sized<N, S> a, sized<M, R> b) { return a.v op b.v; }
SIZED_COMPARISON(<)
SIZED_COMPARISON(<=)
SIZED_COMPARISON(>)
SIZED_COMPARISON(>=)
SIZED_COMPARISON(==)
SIZED_COMPARISON(!=)

/* A C integer beside one is as wide as its type. */
#define SIZED_WITH_C(op)                                                                                               \
    template <int N, bool S, class T, class = typename std::enable_if<std::is_integral<T>::value>::type>               \
    auto operator op(sized<N, S> a, T b)->decltype(a op sized<8 * sizeof(T), std::is_signed<T>::value>(b))             \
    {                                                                                                                  \
        return a op sized<8 * sizeof(T), std::is_signed<T>::value>(b);                                                 \
    }                                                                                                                  \
    template <int N, bool S, class T, class = typename std::enable_if<std::is_integral<T>::value>::type>               \
    auto operator op(T a, sized<N, S> b)->decltype(sized<8 * sizeof(T), std::is_signed<T>::value>(a) op b)             \
    {                                                                                                                  \
        return sized<8 * sizeof(T), std::is_signed<T>::value>(a) op b;                                                 \
    }
SIZED_WITH_C(+)
SIZED_WITH_C(-)
SIZED_WITH_C(*)
SIZED_WITH_C(<)
SIZED_WITH_C(<=)
SIZED_WITH_C(>)
SIZED_WITH_C(>=)
SIZED_WITH_C(==)
SIZED_WITH_C(!=)

#endif
