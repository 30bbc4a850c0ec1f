# Stands in for a migration that meets a row it did not expect. Ends with status 3.

trap 'echo "interrupted; the open batch was rolled back" >&2; exit 130' INT TERM

pause() { sleep "${DEMO_PAUSE:-$1}"; }

echo 'ledger: schema 11 -> 12, 40,000 rows in batches of 2,000'
echo 'ledger: backup written to backups/ledger-11.sql.zst (18.4 MB)'
pause 1
batch=1
while [ "$batch" -le 13 ]; do
    printf 'batch %2d of 20: rows %6d to %6d converted\n' "$batch" $(((batch - 1) * 2000 + 1)) $((batch * 2000))
    [ "$batch" -eq 6 ] && echo 'batch  6 of 20: 17 rows had no currency, EUR assumed' >&2
    batch=$((batch + 1))
    pause 0.45
done
pause 0.8
cat >&2 <<'TRACEBACK'
Traceback (most recent call last):
  File "/workspace/migrate.py", line 118, in <module>
    main()
  File "/workspace/migrate.py", line 104, in main
    convert_batch(connection, first, last)
  File "/workspace/migrate.py", line 71, in convert_batch
    row.amount = Money.parse(row.amount_text)
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/workspace/ledger/money.py", line 33, in parse
    raise InvalidAmount(f"{text!r} is no amount (row {row})")
ledger.money.InvalidAmount: '1.204,50-' is no amount (row 26381)
TRACEBACK
echo 'ledger: batch 14 rolled back; 26,000 of 40,000 rows are in schema 12, the rest in schema 11' >&2
exit 3
