#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/store/environment.hpp>

#include <string>
#include <vector>

namespace emmy::store {

/// One test of a store's tables against themselves.
struct check_line {
    std::string name;             ///< "digests", "references", "cards", "vocabularies", "times"
    std::uint64_t tested = 0;     ///< entries looked at
    std::uint64_t failed = 0;
    std::vector<std::string> examples;  ///< at most 5 of the failing entries
};

/// Every row digest, reference, card and vocabulary; no body is decoded. One pass over each table.
EMMY_DECL result<std::vector<check_line>> check(const read_transaction& txn);

/// Entries per named database, in table order.
struct table_size {
    std::string name;
    std::uint64_t entries = 0;
};
EMMY_DECL result<std::vector<table_size>> sizes(const read_transaction& txn);

}  // namespace emmy::store

#ifdef EMMY_HEADER_ONLY
#include <emmy/store/impl/check.ipp>
#endif
