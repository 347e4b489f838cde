# Reads what tools/setup.mjs found: PERUSE_SOURCE_<NAME> for each third-party source folder, and PERUSE_EMSCRIPTEN.
if(DEFINED ENV{PERUSE_CACHE})
  set(peruse_cache "$ENV{PERUSE_CACHE}")
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(peruse_cache "$ENV{XDG_CACHE_HOME}/peruse")
else()
  set(peruse_cache "$ENV{HOME}/.cache/peruse")
endif()

if(NOT EXISTS "${peruse_cache}/env.json")
  message(FATAL_ERROR "${peruse_cache}/env.json is missing: run `node tools/setup.mjs` first")
endif()
file(READ "${peruse_cache}/env.json" peruse_environment)

string(JSON PERUSE_EMSCRIPTEN GET "${peruse_environment}" emscripten)
foreach(name IN ITEMS xnnpack pthreadpool fp16 fxdiv utf8proc highway rapidjson googletest)
  string(TOUPPER ${name} upper)
  string(JSON PERUSE_SOURCE_${upper} GET "${peruse_environment}" sources ${name})
endforeach()
