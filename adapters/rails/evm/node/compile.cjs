// Prints the bytecode of the contracts as JSON.
const fs = require("fs");
const path = require("path");
const solc = require("solc");

const contracts = ["TestToken", "TestTether", "TestAuthorizedToken", "TestPermitToken", "TestOddPermitToken"];
const read = (name) => ({ content: fs.readFileSync(path.join(__dirname, name), "utf8") });
const input = {
  language: "Solidity",
  sources: Object.fromEntries(contracts.map((c) => [`${c}.sol`, read(`${c}.sol`)])),
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
const bytecode = (c) => output.contracts[`${c}.sol`][c].evm.bytecode.object;
console.log(JSON.stringify(Object.fromEntries(contracts.map((c) => [c, bytecode(c)]))));
