# Stands in for an agent that reads and takes notes; a prompt replaces its question. Ends with status 0.

bold=$(printf '\033[1m') cyan=$(printf '\033[36m') yellow=$(printf '\033[33m') green=$(printf '\033[32m')
dim=$(printf '\033[2m') plain=$(printf '\033[0m')
stop() { printf '\n%sstopped; notes so far are kept%s\n' "$yellow" "$plain"; exit 130; }
trap stop INT TERM

pause() { sleep "${DEMO_PAUSE:-$1}"; }
say() { printf '%s\n' "$1"; pause 0.7; }
act() { printf '%s▸ %-6s%s %s\n' "$cyan" "$1" "$plain" "$2"; pause 1.1; }
warn() { printf '%swarning:%s %s\n' "$yellow" "$plain" "$1" >&2; pause 0.5; }

printf '%sQuestion:%s %s\n\n' "$bold" "$plain" "${PINFOLD_PROMPT:-Does group commit help when there is only one writer?}"
pause 1
say 'I will look for measurements first, then for explanations, and keep the two apart.'
act search 'group commit latency single writer'
say '14 results, 5 of them with numbers.'
act read 'papers/2019-log-structured-commit.txt'
warn '2 of 31 pages could not be read: the scan has no text'
say '  - batching pays from about 4 concurrent writers; below that the wait costs more than it saves (table 3)'
act read 'papers/2021-durable-queues.txt'
say '  - one writer, one fsync per commit: 210 per second on a disk, 9,800 on flash'
say '  - the same writer, batches of 16: 3,300 and 61,000'
act read 'papers/2016-wal-in-practice.txt'
warn 'cites a benchmark that is no longer online; I count it as hearsay'
act grep 'fsync|sync_file_range  notes/*.md'
printf '%snotes/checkpoints.md:12:  a checkpoint may hold up the next commit for 30-80 ms%s\n' "$dim" "$plain"
printf '%snotes/journals.md:40:  fsync of a file in a fresh directory needs the directory synced too%s\n' "$dim" "$plain"
pause 1
say ''
say 'The sources agree more than I expected. They differ in one thing: whether the caller may wait.'
act check 'table 3 against the text of section 5'
warn 'section 5 says 3 writers, table 3 says 4; the figures support 4'
act write 'notes/group-commit.md'
printf '%s+ ## One writer%s\n' "$green" "$plain"
printf '%s+ Group commit helps a single writer only if it can go on before the commit is durable.%s\n' "$green" "$plain"
printf '%s+ Otherwise there is nothing to group: it waits for itself.%s\n' "$green" "$plain"
pause 1.5
printf '\n%sAnswer:%s only when the writer does not wait for each commit. 3 sources, 1 set aside, 2 warnings.\n' "$bold" "$plain"
