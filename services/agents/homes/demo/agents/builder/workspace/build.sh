# Stands in for an image build: steps, progress bars that redraw their line, one cache miss. Ends with status 0.

blue=$(printf '\033[34m') cyan=$(printf '\033[36m') green=$(printf '\033[32m') dim=$(printf '\033[2m')
yellow=$(printf '\033[33m') plain=$(printf '\033[0m')
stop() { printf '\n%scanceled%s\n' "$yellow" "$plain"; exit 130; }
trap stop INT TERM

pause() { sleep "${DEMO_PAUSE:-$1}"; }

step() { printf '%s=> [%s]%s %s\n' "$blue" "$1" "$plain" "$2"; pause 0.4; }

bar() { # what, megabytes, megabytes a tick
    have=0
    while [ "$have" -lt "$2" ]; do
        have=$((have + $3))
        [ "$have" -gt "$2" ] && have=$2
        filled=$((have * 30 / $2))
        line=$(printf '%*s' "$filled" '' | tr ' ' '#')$(printf '%*s' $((30 - filled)) '' | tr ' ' '.')
        printf '\r   %-16s %s[%s]%s %3d/%d MB' "$1" "$cyan" "$line" "$plain" "$have" "$2"
        pause 0.12
    done
    printf '\r   %-16s %s[%s]%s %3d/%d MB  %sdone%s\n' "$1" "$cyan" "$line" "$plain" "$2" "$2" "$green" "$plain"
}

printf 'building %sshop/api:2.14.0%s for linux/amd64\n' "$cyan" "$plain"
step 'internal' 'load build definition from Containerfile'
step 'internal' 'load .containerignore'
step '1/7' 'FROM debian:bookworm-slim'
bar 'base layer' 29 2
step '2/7' 'RUN apt-get update && apt-get install --yes git ca-certificates'
for package in libcurl3-gnutls libnghttp2-14 librtmp1 git-man git ca-certificates; do
    printf '%s   Unpacking %s ...%s\n' "$dim" "$package" "$plain"
    pause 0.2
done
step '3/7' 'COPY requirements.txt /app/'
printf '   %scache miss%s: requirements.txt changed since the last build\n' "$yellow" "$plain" >&2
step '4/7' 'RUN pip install --requirement requirements.txt'
bar 'cryptography' 4 1
bar 'pydantic-core' 2 1
bar 'numpy' 18 1
printf '   installed 41 packages\n'
step '5/7' 'COPY src/ /app/src/'
step '6/7' 'RUN python3 -m compileall -q /app/src'
step '7/7' 'USER 1000:1000'
step 'export' 'exporting layers'
bar 'layers' 212 9
printf '   sha256:6f1c8a54b1d09e5f2b71d3c4a07be6d0f4f24b0c9a6c3a8e9d7f1b2a3c4d5e6f\n'
printf '%sfinished%s: shop/api:2.14.0, 212 MB, 9 layers, 5 from cache\n' "$green" "$plain"
