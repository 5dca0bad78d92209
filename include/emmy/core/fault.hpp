#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace emmy {

/// Whose mistake it was; decides the exit code of a tool (see exit_code).
enum class fault_kind : std::uint8_t {
    user,          ///< a wrong request: flag, pin, name                         -> exit 2
    input,         ///< a file or text that does not hold what it must           -> exit 3
    device_limit,  ///< a candidate that this device cannot take: data, not an error -> exit 4 when it surfaces
    device,        ///< no device, or the wrong one, or it failed                -> exit 4
    store,         ///< the evidence store could not be opened, read or written  -> exit 5
    internal       ///< our bug                                                  -> exit 70
};

constexpr int exit_code(fault_kind k) {
    switch (k) {
        case fault_kind::user: return 2;
        case fault_kind::input: return 3;
        case fault_kind::device_limit:
        case fault_kind::device: return 4;
        case fault_kind::store: return 5;
        case fault_kind::internal: return 70;
    }
    return 70;
}

/// One clear line: where (file, then JSON path, knob or flag) and what (found, expected).
class fault {
public:
    fault() = default;
    fault(fault_kind kind, std::string message, std::string place = {}, std::string file = {})
        : kind_(kind), message_(std::move(message)), place_(std::move(place)), file_(std::move(file)) {}

    fault_kind kind() const { return kind_; }
    const std::string& message() const { return message_; }
    const std::string& place() const { return place_; }  ///< JSON path, knob or flag; may be empty
    const std::string& file() const { return file_; }    ///< may be empty

    /// The same fault seen from further out: the file is set once, the place grows to the left.
    fault in_file(std::string_view file) && {
        if (file_.empty()) file_ = file;
        return std::move(*this);
    }
    fault at(std::string_view place) && {
        place_ = place_.empty() ? std::string(place) : std::string(place) + (place_.front() == '[' ? "" : ".") + place_;
        return std::move(*this);
    }

    /// "file: place: message", without the parts that are empty.
    std::string line() const {
        std::string out;
        if (!file_.empty()) out += file_ + ": ";
        if (!place_.empty()) out += place_ + ": ";
        return out + message_;
    }

private:
    fault_kind kind_ = fault_kind::internal;
    std::string message_, place_, file_;
};

}  // namespace emmy
