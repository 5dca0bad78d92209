#pragma once
// What every bench measures with: CPU time of the process, medians, and Python's json.load as the yardstick of the same run.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace emmy::bench {

inline double cpu_us() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}
inline double cpu_ms() { return cpu_us() * 1e-3; }

/// The upper one of an even number; `v` holds at least one.
inline double median(std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
}

/// CPU ms that Python's json.load takes for the files, opening left out; 0 where there is no Python.
inline double json_load_ms(const std::vector<std::string>& files) {
    std::string command = "python3 -c \"import json,sys,time\nt=0\nfor name in sys.argv[1:]:\n  f=open(name); s=time.process_time(); json.load(f); t+=time.process_time()-s\nprint(t*1e3)\"";
    for (const std::string& file : files) command += " '" + file + "'";
    FILE* out = ::popen(command.c_str(), "r");
    double ms = 0;
    const int got = out ? std::fscanf(out, "%lf", &ms) : 0;
    if (out) ::pclose(out);
    return got == 1 ? ms : 0;
}

}  // namespace emmy::bench
