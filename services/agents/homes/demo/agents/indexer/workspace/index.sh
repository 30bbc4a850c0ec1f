# Stands in for an indexer that reports every document: about 300 lines a second, until it is told to stop.

stop() { printf 'index: stopped after %d documents\n' "$document"; exit 0; }
trap stop INT TERM

document=0
echo 'index: opened segment 0'
while :; do
    awk -v document="$document" 'BEGIN {
        split("articles invoices manuals minutes tickets", folder, " ")
        for (i = 1; i <= 30; i++) {
            document++
            terms = document * 7919 % 1400 + 60
            printf "index: %s/%06d.txt  %4d terms  %5.1f kB\n", folder[document % 5 + 1], document, terms, terms * 7.3 / 1024
            if (document % 501 == 0) printf "\033[33mindex: %s/%06d.txt  skipped: looks binary\033[0m\n", folder[document % 5 + 1], document
            if (document % 3000 == 0) printf "\033[32mindex: segment %d sealed, 3000 documents\033[0m\n", document / 3000 - 1
        }
    }'
    document=$((document + 30))
    sleep "${DEMO_PAUSE:-0.1}"
done
