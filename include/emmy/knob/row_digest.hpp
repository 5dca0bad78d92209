#pragma once
#include <emmy/core/digest.hpp>
#include <emmy/knob/row_text.hpp>

namespace emmy::knob {

/// The peer's digest of a row: SHA-256, 64 lowercase hex digits, of ('<row text>',). Only for its text forms; ours is the row itself.
inline std::string row_digest_of_text(std::string_view row_text) {
    std::string tuple = "('";
    for (char c : row_text) {
        if (c == '\\') tuple += '\\';
        tuple += c;
    }
    return sha256_hex(tuple += "',)");
}

template <class Row>
std::string row_digest(const Row& row) {
    return row_digest_of_text(row_text(row));
}

}  // namespace emmy::knob
