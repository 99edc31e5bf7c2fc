#!/usr/bin/env bash
# Saturation of the diameter-two networks, minimal and Valiant.
# seconds: 12
. docs/figures/diameter2.bash
head_of "" "minimal, uniform" "Valiant, uniform" "minimal, worst case" "Valiant, worst case"
row "paper, q=13 p=9; p=10; h=15; k=12" "96 to 98; 87" half "5, 6.6, 8.3" half
while IFS=: read -r spec least; do
    row "\`$spec\`" "$(at_full_load "$spec" minimal uniform)" "$(at_full_load "$spec" valiant uniform)" \
        "$(at_full_load "$spec" minimal worst-case) ($least)" "$(at_full_load "$spec" valiant worst-case)"
done <<<$'slim-fly q=5 p=3:16.7\nslim-fly q=5 p=4:12.5\nmlfm h=6:16.7\noft k=5:20.0'
