// Prints the addresses of wallets whose key is KEY, made with the libraries that people use; or, with MESSAGES by the name of the wallet,
// their signatures.
import { createHash } from "node:crypto";
import { base58, base58check, bech32 } from "@scure/base";
import bitcoin from "bitcoinjs-message";
import { Wallet } from "ethers";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import nacl from "tweetnacl";

const key = Buffer.from(process.env.KEY, "hex");
const evm = new Wallet("0x" + process.env.KEY);
const hash160 = (data) => createHash("ripemd160").update(createHash("sha256").update(data).digest()).digest();
const owner = hash160(Buffer.from(secp256k1.getPublicKey(key, true)));
const encode = base58check((data) => createHash("sha256").update(data).digest());
const older = (version, hash) => encode.encode(Uint8Array.from([version, ...hash]));
const solana = nacl.sign.keyPair.fromSeed(key);

const base64 = (message, options) => bitcoin.sign(message, key, true, options).toString("base64");
const segwit = bech32.encode("bc", [0, ...bech32.toWords(owner)]);
const nested = older(5, hash160(Buffer.from([0, 20, ...owner])));
const wallets = {
  evm: { address: evm.address, sign: (message) => evm.signMessage(message) },
  p2pkh: { address: older(0, owner), sign: (message) => base64(message) },
  p2shP2wpkh: { address: nested, sign: (message) => base64(message, { segwitType: "p2sh(p2wpkh)" }) },
  p2wpkh: { address: segwit, sign: (message) => base64(message, { segwitType: "p2wpkh" }) },
  // Electrum signs for every address as for the oldest kind.
  electrum: { address: segwit, sign: (message) => base64(message) },
  electrumP2sh: { address: nested, sign: (message) => base64(message) },
  solana: {
    address: base58.encode(solana.publicKey),
    sign: (message) => base58.encode(nacl.sign.detached(new TextEncoder().encode(message), solana.secretKey)),
  },
};

const messages = process.env.MESSAGES && JSON.parse(process.env.MESSAGES);
const answer = {};
for (const [name, wallet] of Object.entries(wallets)) answer[name] = messages ? await wallet.sign(messages[name]) : wallet.address;
console.log(JSON.stringify(answer));
