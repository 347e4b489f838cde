# Embeds core/backend/webgpu/*.wgsl as a .cc that defines webgpu::ShaderText. Replaces lines `#include "x.wgsl"` by the file; removes
# comments and indentation. CMakeLists.txt includes this file, and the build runs it as a script.
if(CMAKE_SCRIPT_MODE_FILE)
  function(read_shader path result)
    file(READ "${path}" text)
    get_filename_component(folder "${path}" DIRECTORY)
    while(text MATCHES "#include \"([a-z_]+\\.wgsl)\"")
      read_shader("${folder}/${CMAKE_MATCH_1}" included)
      string(REPLACE "#include \"${CMAKE_MATCH_1}\"" "${included}" text "${text}")
    endwhile()
    string(REGEX REPLACE "[ \t]*//[^\n]*" "" text "${text}")
    string(REGEX REPLACE "\n[ \t\n]+" "\n" text "${text}")
    set(${result} "${text}" PARENT_SCOPE)
  endfunction()

  file(GLOB shaders "${PERUSE_SHADERS}/*.wgsl")
  set(code "// Made by cmake/shaders.cmake from core/backend/webgpu/*.wgsl.\n#include \"core/backend/webgpu/recorder.h\"\n\n")
  string(APPEND code "namespace peruse::webgpu {\n\nstd::string_view ShaderText(std::string_view name) {\n")
  foreach(shader IN LISTS shaders)
    get_filename_component(name "${shader}" NAME_WE)
    read_shader("${shader}" text)
    if(NOT text MATCHES "@compute")
      continue()  # only included by other shaders
    endif()
    string(APPEND code "  if (name == \"${name}\") {\n    return R\"wgsl(${text})wgsl\";\n  }\n")
  endforeach()
  string(APPEND code "  return {};\n}\n\n}  // namespace peruse::webgpu\n")
  file(WRITE "${PERUSE_OUTPUT}" "${code}")
  return()
endif()

file(GLOB peruse_shaders CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/backend/webgpu/*.wgsl")
set(peruse_shaders_file "${PROJECT_BINARY_DIR}/webgpu_shaders.cc")
add_custom_command(
  OUTPUT "${peruse_shaders_file}"
  COMMAND "${CMAKE_COMMAND}" "-DPERUSE_SHADERS=${PROJECT_SOURCE_DIR}/core/backend/webgpu"
          "-DPERUSE_OUTPUT=${peruse_shaders_file}" -P "${PROJECT_SOURCE_DIR}/cmake/shaders.cmake"
  DEPENDS ${peruse_shaders} "${PROJECT_SOURCE_DIR}/cmake/shaders.cmake"
  COMMENT "Embedding the WGSL")
target_sources(peruse_webgpu_backend PRIVATE "${peruse_shaders_file}")
