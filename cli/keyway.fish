# SPDX-License-Identifier: Apache-2.0
# fish completion for keyway: what `keyway __complete` offers.

function __keyway_offer
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l offers ($words[1] __complete $words[2..] (commandline --current-token --cut-at-cursor) 2>/dev/null)
    if set -q offers[1]
        printf '%s\n' $offers
    else
        __fish_complete_path (commandline --current-token --cut-at-cursor)
    end
end

complete --command keyway --no-files --arguments '(__keyway_offer)'
