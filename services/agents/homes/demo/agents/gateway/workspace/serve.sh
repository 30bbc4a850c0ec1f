# Stands in for a service that logs: levels, JSON lines, now and then something that goes wrong. Runs until it is told
# to stop, and then drains its connections first.

green=$(printf '\033[32m') yellow=$(printf '\033[33m') red=$(printf '\033[31m') dim=$(printf '\033[2m')
plain=$(printf '\033[0m')
stop() {
    printf '%sINFO %s gateway: asked to stop, draining 3 connections\n' "$green" "$plain"
    for left in 2 1 0; do
        pause 0.2
        printf '%sINFO %s gateway: %d connections left\n' "$green" "$plain" "$left"
    done
    printf '%sINFO %s gateway: bye\n' "$green" "$plain"
    exit 0
}
trap stop INT TERM

pause() { sleep "${DEMO_PAUSE:-$1}"; }

seed=20240229
random() { # below $1; the same row of numbers in every run
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    number=$((seed / 65536 % $1))
}

printf '%sINFO %s gateway: reading config from /etc/gateway.toml\n' "$green" "$plain"
printf '%sINFO %s gateway: %d routes, region %s, level %s\n' "$green" "$plain" 27 "${REGION:-local}" "${LOG_LEVEL:-info}"
printf '%sWARN %s gateway: tls.min_version is not set, taking 1.2\n' "$yellow" "$plain" >&2
printf '%sINFO %s gateway: listening on 127.0.0.1:8443\n' "$green" "$plain"

request=48211
while :; do
    request=$((request + 1))
    random 9
    case $number in
        0) path=/v1/basket method=POST ;;
        1) path=/v1/basket/items method=PUT ;;
        2) path=/v1/invoices method=GET ;;
        3) path=/v1/invoices/7c1e/pdf method=GET ;;
        4) path=/v1/session method=POST ;;
        5) path=/v1/search?q=lamp method=GET ;;
        6) path=/healthz method=GET ;;
        *) path=/v1/products method=GET ;;
    esac
    random 180
    took=$((number + 4))
    random 100
    if [ "$number" -lt 3 ]; then
        printf '%sERROR%s upstream: invoices did not answer within 2000 ms (request %d, attempt 1 of 3)\n' "$red" "$plain" "$request" >&2
        printf '{"level":"error","request":%d,"method":"%s","path":"%s","status":504,"ms":2003,"upstream":"invoices"}\n' \
            "$request" "$method" "$path"
    elif [ "$number" -lt 9 ]; then
        printf '%sWARN %s limiter: 203.0.113.%d used %d%% of its budget\n' "$yellow" "$plain" "$number" $((number * 10 + 9)) >&2
        printf '{"level":"warn","request":%d,"method":"%s","path":"%s","status":429,"ms":%d}\n' "$request" "$method" "$path" "$took"
    else
        [ "$number" -lt 30 ] && printf '%sDEBUG pool: %d of 32 connections in use%s\n' "$dim" $((number % 32)) "$plain"
        printf '{"level":"info","request":%d,"method":"%s","path":"%s","status":200,"ms":%d}\n' "$request" "$method" "$path" "$took"
    fi
    random 5
    pause "0.$((number + 1))"
done
