#pragma once
// One switch decides where non-template bodies live: in the static library (default: declarations here, bodies compiled once
// from <folder>/impl/*.ipp), or inline in every including file (EMMY_HEADER_ONLY).
#ifdef EMMY_HEADER_ONLY
#define EMMY_DECL inline
#else
#define EMMY_DECL
#endif

#define EMMY_VERSION_MAJOR 0
#define EMMY_VERSION_MINOR 1
#define EMMY_VERSION_PATCH 0
#define EMMY_VERSION_TEXT "0.1.0"
