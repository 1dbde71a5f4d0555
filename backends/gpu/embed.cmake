# SPDX-License-Identifier: Apache-2.0
# Turns a text file into a C array: cmake -D INPUT=file -D OUTPUT=file.c -D SYMBOL=name -P embed.cmake
# SYMBOL is NUL-terminated text, or any bytes, SYMBOL_size of them without the NUL. A string literal would do, were it
# not for -Woverlength-strings.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
string(REPEAT "'.x[0-9a-f][0-9a-f]'," 8 line)
string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "/* Made from ${INPUT}. */\n#include <stddef.h>\n\n"
                     "extern const char ${SYMBOL}[];\nextern const size_t ${SYMBOL}_size;\n"
                     "const char ${SYMBOL}[] = {\n${bytes}0};\nconst size_t ${SYMBOL}_size = sizeof ${SYMBOL} - 1;\n")
