#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/golden/document.hpp>

#include <string>

/// A golden file as a C++ header whose compilation checks it (golden/compiled.hpp says what is in it).
namespace emmy::golden {

struct header_options {
    std::string name;     ///< namespace of the table: an identifier, or several joined by ::
    std::string target;   ///< "sm_90": the card that the build is for; empty = the file's own
};

/// The text of the header: dictionaries of distinct texts, rows of places in them, per kernel the canonical text and its digest.
/// Errors (user): a name that is no identifier, a target other than the file's. (input): a body that is none, a knob that does not fit a
/// dictionary, a canonical text longer than compiled::longest_text (the digest of a longer one is no constant expression).
EMMY_DECL result<std::string> header_text(const document& file, const header_options& options);

}  // namespace emmy::golden

#ifdef EMMY_HEADER_ONLY
#include <emmy/golden/impl/emit_header.ipp>
#endif
