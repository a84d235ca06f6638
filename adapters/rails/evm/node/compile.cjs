// Prints the bytecode of TestToken.sol.
const fs = require("fs");
const path = require("path");
const solc = require("solc");

const input = {
  language: "Solidity",
  sources: { "TestToken.sol": { content: fs.readFileSync(path.join(__dirname, "TestToken.sol"), "utf8") } },
  settings: { evmVersion: "paris", optimizer: { enabled: true }, outputSelection: { "*": { "*": ["evm.bytecode.object"] } } },
};
const output = JSON.parse(
  solc.compile(JSON.stringify(input), {
    import: (name) => ({ contents: fs.readFileSync(path.join(__dirname, "node_modules", name), "utf8") }),
  })
);
const errors = (output.errors || []).filter((e) => e.severity === "error");
if (errors.length > 0) {
  console.error(errors.map((e) => e.formattedMessage).join("\n"));
  process.exit(1);
}
console.log(output.contracts["TestToken.sol"].TestToken.evm.bytecode.object);
