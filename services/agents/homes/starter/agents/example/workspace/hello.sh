# What the example agent runs: `pinfold run example` shows its output.

echo "Hello from a sandbox. I run as $(id -u):$(id -g) in $PWD and see:"
ls -la
for left in 3 2 1; do
    echo "$left …"
    sleep 1
done
echo "Done. Edit agents/example/agent.toml to make this agent yours."
