# SPDX-License-Identifier: MIT
# Writes OUTPUT: the text of each of INPUTS, by its name without the extension.
set(text "// Made from bench/data by embed.cmake.\n#include \"bench/suites/published.hpp\"\n\nnamespace penstock::bench {\n\n")
string(APPEND text "const std::vector<embedded_file>& embedded_files() {\n  static const std::vector<embedded_file> files{\n")
foreach(input ${INPUTS})
  get_filename_component(name ${input} NAME_WE)
  file(READ ${input} content)
  string(APPEND text "      {\"${name}\", R\"published(${content})published\"},\n")
endforeach()
string(APPEND text "  };\n  return files;\n}\n\n}  // namespace penstock::bench\n")
file(WRITE ${OUTPUT} "${text}")
