#pragma once
#include <cstdio>
#include <cstdlib>

/// A failed call ends the program: a table with a gap is worth nothing.
#define EMMY_CHECK(call)                                                                                  \
    do {                                                                                                  \
        const cudaError_t error_ = (call);                                                                \
        if (error_ != cudaSuccess) {                                                                      \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
            std::exit(1);                                                                                 \
        }                                                                                                 \
    } while (0)
