// Uses the words of an exported wallet as another wallet does: prints its address and, if TO is set, sends tokens from it.
// In the environment: WORDS, and to send tokens NODE (a URL), TOKEN, TO and AMOUNT.
import { createRequire } from "node:module";
import { mnemonicToSeedSync } from "@scure/bip39";
import { HDKey } from "../../clients/typescript/node_modules/@scure/bip32/index.js";

const require = createRequire(new URL("../../adapters/rails/evm/node/package.json", import.meta.url));
const { computeAddress, serialize } = require("@ethersproject/transactions");
const { SigningKey } = require("@ethersproject/signing-key");
const { keccak256 } = require("@ethersproject/keccak256");
const { defaultAbiCoder } = require("@ethersproject/abi");

const { WORDS, NODE, TOKEN, TO, AMOUNT } = process.env;
const { privateKey } = HDKey.fromMasterSeed(mnemonicToSeedSync(WORDS)).derive("m/44'/60'/0'/0/0");
const address = computeAddress(privateKey);
console.log(address);

async function call(method, ...params) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const reply = await (await fetch(NODE, { method: "POST", headers: { "content-type": "application/json" }, body })).json();
  if (reply.error) throw new Error(reply.error.message);
  return reply.result;
}

if (TO) {
  const transfer = "0xa9059cbb" + defaultAbiCoder.encode(["address", "uint256"], [TO, AMOUNT]).slice(2);
  const transaction = { type: 2, chainId: 31337, nonce: Number(await call("eth_getTransactionCount", address, "latest")), to: TOKEN, value: 0,
    data: transfer, gasLimit: 100_000, maxFeePerGas: 10_000_000_000, maxPriorityFeePerGas: 1_000_000_000 };
  const signature = new SigningKey(privateKey).signDigest(keccak256(serialize(transaction)));
  console.log(await call("eth_sendRawTransaction", serialize(transaction, signature)));
}
