# SPDX-License-Identifier: Apache-2.0
# Turns a text file into a C array: cmake -D INPUT=file -D OUTPUT=file.c -D SYMBOL=name -P embed.cmake
# SYMBOL is NUL-terminated text. A string literal would do, were it not for -Woverlength-strings.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REPEAT "0x[0-9a-f][0-9a-f]," 8 line)
string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "/* Made from ${INPUT}. */\nextern const char ${SYMBOL}[];\n"
                     "const char ${SYMBOL}[] = {\n${bytes}0};\n")
