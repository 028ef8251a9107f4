#!/bin/sh
# Copies one event from standard input into memtui's spool. Prints nothing, exits 0.
# An agent whose events do not name themselves: memtui-hook.sh AGENT EVENT
[ -t 0 ] && exit 0
exec >/dev/null 2>&1
umask 077
spool=${MEMTUI_SPOOL:-${MEMTUI_HOME:+$MEMTUI_HOME/spool}}
spool=${spool:-${XDG_DATA_HOME:-${HOME:-/dev/null}/.local/share}/memtui/spool}
[ -d "$spool/tmp" ] && [ -d "$spool/new" ] || mkdir -p "$spool/tmp" "$spool/new"
draft=$(mktemp "$spool/tmp/$(date +%s).$$.XXXXXXXXXX") &&
    cat >"$draft" && [ -s "$draft" ] &&
    mv "$draft" "$spool/new/${draft##*/}${1:+.$1.$2}.json" ||
    { rm -f "$draft"; cat; }
exit 0
