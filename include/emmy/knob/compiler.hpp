#pragma once
// What the library is compiled with. Older compilers stop at templates and constant expressions with errors that say nothing.
#if defined(__clang__)
#if !defined(__apple_build_version__)
static_assert(__clang_major__ >= 16, "emmy needs clang 16 or later, or g++ 12 or later (Debian 12: clang++-16)");
#endif
#elif defined(__GNUC__)
static_assert(__GNUC__ >= 12, "emmy needs g++ 12 or later, or clang 16 or later");
#endif
