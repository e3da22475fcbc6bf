# Precompiled headers: the standard library, fmt and, for tests, GoogleTest. They contain none of Sindri's headers, so that editing one recompiles only the
# files that include it. SINDRI_PCH=OFF compiles without them, which reveals missing includes.
option(SINDRI_PCH "Precompile the headers of the standard library, fmt and GoogleTest" ON)

set(sindri_pch_headers <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fstream> <functional> <map> <memory> <mutex> <numeric>
  <optional> <set> <span> <sstream> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)

# sindri_precompile(TARGET [HEADER...]): the common headers and these.
function(sindri_precompile target)
  if(SINDRI_PCH)
    target_precompile_headers(${target} PRIVATE ${sindri_pch_headers} ${ARGN})
  endif()
endfunction()
