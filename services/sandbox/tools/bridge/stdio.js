// Carries MCP between standard input and output and the socket in the working directory; runs in a sandbox.
const server = require("net").connect("stdio.sock");
server.write(require("fs").readFileSync(process.argv[2], "utf8").trim() + "\n");
process.stdin.pipe(server);
server.pipe(process.stdout);
server.on("error", (error) => {
  console.error(`tools-stdio: Pinfold's tool server cannot be reached: ${error.message}`);
  process.exitCode = 1;
});
server.on("close", () => process.stdin.destroy());
