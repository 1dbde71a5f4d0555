# SPDX-License-Identifier: Apache-2.0
# Turns files into C strings: cmake -D OUTPUT=file.c -P embed.cmake SYMBOL FILE [SYMBOL FILE]...
# SYMBOL is NUL-terminated text, or any bytes, SYMBOL_size of them without the NUL.
set(text "#include <stddef.h>\n\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n")
string(REPEAT ".x[0-9a-f][0-9a-f]" 16 line)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(at RANGE 5 ${last} 2) # behind cmake -D OUTPUT=... -P embed.cmake
  math(EXPR next "${at} + 1")
  set(symbol ${CMAKE_ARGV${at}})
  set(file ${CMAKE_ARGV${next}})
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
  string(REGEX REPLACE "(${line})" "\\1\"\n\"" bytes "${bytes}")
  string(APPEND text "\n/* Made from ${file}. */\n"
                     "extern const char ${symbol}[];\nextern const size_t ${symbol}_size;\n"
                     "const char ${symbol}[] = \"${bytes}\";\nconst size_t ${symbol}_size = sizeof ${symbol} - 1;\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
