// A UMA provider made of the SDK of the protocol: a receiver of payments of another provider, and, when the test asks it to, a sender
// to it. It refuses every message that the SDK does not accept.
import http from "node:http";
import { randomBytes, randomUUID } from "node:crypto";
import { decrypt } from "eciesjs";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import * as uma from "@uma-sdk/core";

const domain = process.env.DOMAIN;
const peer = process.env.PEER; // the domain of the other provider
const peerURL = process.env.PEER_URL; // where it is
const node = process.env.NODE_URL; // makes invoices
const signing = randomBytes(32), encryption = randomBytes(32);
const publicKey = (key) => Buffer.from(secp256k1.getPublicKey(key, false)).toString("hex");
const nonces = new uma.InMemoryNonceValidator(Date.now() - 60_000);
const multiplier = 15_151.25, fee = 2_000; // thousandths of a satoshi for a cent
const metadata = JSON.stringify([["text/plain", `Pay to $nina@${domain}`], ["text/identifier", `$nina@${domain}`]]);
const seen = { travelRule: null, callbacks: [], invoices: [] };

// call sends a request to the other provider, whose domain is not in any DNS.
function call(method, url, body, base = peerURL) {
  const from = new URL(url);
  const to = new URL(from.pathname + from.search, base);
  return new Promise((resolve, reject) => {
    const request = http.request(to, { method, headers: { Host: from.host, "Content-Type": "application/json" } }, (response) => {
      let text = "";
      response.on("data", (part) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode, text }));
    });
    request.on("error", reject);
    request.end(body);
  });
}

async function ask(method, url, body) {
  const answer = await call(method, url, body);
  if (answer.status !== 200) throw new Error(`${method} ${url}: ${answer.status} ${answer.text}`);
  return answer.text;
}

const peerKeys = async () => uma.PubKeyResponse.fromJson(await ask("GET", `https://${peer}/.well-known/lnurlpubkey`));

function must(holds, what) {
  if (!holds) throw new Error(what);
}

// readInvoice reads a signed invoice of the other provider. The SDK verifies the invoice as it writes it again, and forgets the order of
// the fields of the currency.
async function readInvoice(text) {
  const invoice = uma.InvoiceSerializer.fromBech32(text);
  const { code, name, symbol, decimals } = invoice.receivingCurrency;
  invoice.receivingCurrency = { code, name, symbol, decimals };
  must(await uma.verifyUmaInvoiceSignature(invoice, (await peerKeys()).getSigningPubKey()), "the signature of the invoice");
  return invoice;
}

const invoiceCreator = {
  createUmaInvoice: async (amountMsats, text) => {
    const answer = await call("POST", "http://node/invoice", JSON.stringify({ amountMsats, metadata: text }), node);
    return answer.text;
  },
};

const receive = {
  "/.well-known/lnurlpubkey": async () =>
    new uma.PubKeyResponse(undefined, undefined, publicKey(signing), publicKey(encryption), Math.floor(Date.now() / 1000) + 600)
      .toJsonString(),
  "/.well-known/uma-configuration": async () => ({ uma_major_versions: [0, 1], uma_request_endpoint: `https://${domain}/requests` }),
  // requests takes an invoice that nina is asked to pay.
  "/requests": async (_, body) => {
    const invoice = await readInvoice(JSON.parse(body).invoice);
    must(invoice.senderUma === `$nina@${domain}`, "the sender of the invoice");
    seen.invoices.push(invoice);
    return {};
  },
  "/.well-known/lnurlp/": async (request) => {
    const query = uma.parseLnurlpRequest(new URL(request.url, `https://${request.headers.host}`));
    must(uma.isLnurlpRequestForUma(query), "not a request of UMA");
    must(await uma.verifyUmaLnurlpQuerySignature(query, await peerKeys(), nonces), "the signature of the lookup");
    const response = await uma.getLnurlpResponse({
      request: query, callback: `https://${domain}/pay`, encodedMetadata: metadata, minSendableSats: 10, maxSendableSats: 10_000_000,
      privateKeyBytes: signing, requiresTravelRuleInfo: true, receiverKycStatus: uma.KycStatus.Verified,
      payerDataOptions: { identifier: { mandatory: true }, name: { mandatory: true }, compliance: { mandatory: true } },
      currencyOptions: [new uma.Currency("USD", "US Dollars", "$", multiplier, 1, 1_000_000, 2)],
    });
    return response.toJsonSchemaObject();
  },
  "/pay": async (_, body) => {
    const request = uma.PayRequest.fromJson(body);
    must(request.isUma(), "not a pay request of UMA");
    must(await uma.verifyPayReqSignature(request, await peerKeys(), nonces), "the signature of the pay request");
    seen.travelRule = decrypt(encryption, Buffer.from(request.payerData.compliance.encryptedTravelRuleInfo, "hex")).toString();
    seen.name = request.payerData.name;
    const response = await uma.getPayReqResponse({
      request, conversionRate: multiplier, receivingCurrencyCode: "USD", receivingCurrencyDecimals: 2, invoiceCreator, metadata,
      receiverChannelUtxos: ["aa11:0"], receiverFeesMillisats: fee, utxoCallback: `https://${domain}/utxos`,
      receivingVaspPrivateKey: signing, payeeIdentifier: `$nina@${domain}`,
      payeeData: { identifier: `$nina@${domain}`, name: "Nina Node" },
    });
    return response.toJsonSchemaObject();
  },
  "/utxos": async (_, body) => {
    const callback = uma.parsePostTransactionCallback(body);
    must(await uma.verifyPostTransactionCallbackSignature(callback, await peerKeys(), nonces), "the signature of the callback");
    seen.callbacks.push(callback);
    return {};
  },
  "/seen": async () => seen,
  // send asks for an invoice as the provider of a payer, who is in the query with the receiver and the amount.
  "/send": async (request) => {
    const { receiver, amount, currency, locked } = Object.fromEntries(new URL(request.url, "http://x").searchParams);
    const keys = await peerKeys();
    const configuration = JSON.parse(await ask("GET", `https://${peer}/.well-known/uma-configuration`));
    must(configuration.uma_major_versions.includes(1), "the versions");
    const lookup = await uma.getSignedLnurlpRequestUrl({
      isSubjectToTravelRule: true, receiverAddress: receiver, senderVaspDomain: domain, signingPrivateKey: signing,
    });
    const found = uma.LnurlpResponse.fromJson(await ask("GET", lookup.toString()));
    must(found.isUma(), "the lookup is not of UMA");
    must(await uma.verifyUmaLnurlpResponseSignature(found, keys, nonces), "the signature of the answer to the lookup");
    must(found.currencies.some((c) => c.code === currency), "the currency");
    const pay = await uma.getPayRequest({
      receiverEncryptionPubKey: keys.getEncryptionPubKey(), sendingVaspPrivateKey: signing, receivingCurrencyCode: currency,
      isAmountInReceivingCurrency: locked === "RECEIVING", amount: Number(amount), payerIdentifier: `$nina@${domain}`,
      payerName: "Nina Node", trInfo: JSON.stringify({ originator: "Nina Node" }), payerKycStatus: uma.KycStatus.Verified,
      payerUtxos: ["bb22:1"], utxoCallback: `https://${domain}/utxos`, umaMajorVersion: 1,
      requestedPayeeData: { name: { mandatory: false }, identifier: { mandatory: true }, compliance: { mandatory: true } },
    });
    const response = uma.PayReqResponse.fromJson(await ask("POST", found.callback, JSON.stringify(pay.toJsonSchemaObject())));
    must(response.isUma(), "the answer to the pay request is not of UMA");
    must(await uma.verifyPayReqResponseSignature(response, `$nina@${domain}`, receiver, keys, nonces), "the signature of the answer");
    const callback = await uma.getPostTransactionCallback({
      utxos: [{ utxo: "bb22:1", amountMsats: 1000 }], vaspDomain: domain, signingPrivateKey: signing,
    });
    return {
      invoice: response.pr, converted: response.converted, payee: response.payeeData, disposable: response.disposable,
      metadata: found.metadata + JSON.stringify(pay.payerData), callback,
    };
  },
  // ask makes an invoice of 3.00 dollars for nina, which it sends to the provider of the sender.
  "/ask": async (request) => {
    const { sender } = Object.fromEntries(new URL(request.url, "http://x").searchParams);
    const invoice = await uma.createUmaInvoice({
      receiverUma: `$nina@${domain}`, invoiceUUID: randomUUID(), amount: 300, expiration: Math.floor(Date.now() / 1000) + 3600,
      receivingCurrency: { code: "USD", name: "US Dollars", symbol: "$", decimals: 2 }, isSubjectToTravelRule: true, senderUma: sender,
      requiredPayerData: { identifier: { mandatory: true }, name: { mandatory: true }, compliance: { mandatory: true } },
      commentCharsAllowed: undefined, invoiceLimit: 1, kycStatus: uma.KycStatus.Verified, callback: `https://${domain}/pay`,
    }, signing);
    const text = uma.InvoiceSerializer.toBech32(invoice);
    const configuration = JSON.parse(await ask("GET", `https://${peer}/.well-known/uma-configuration`));
    await ask("POST", configuration.uma_request_endpoint, JSON.stringify({ invoice: text }));
    return { invoice: text, id: invoice.invoiceUUID };
  },
  // accept asks for the Lightning invoice that pays the last invoice that nina is asked to pay.
  "/accept": async () => {
    const keys = await peerKeys();
    const invoice = seen.invoices.at(-1);
    const pay = await uma.getPayRequest({
      receiverEncryptionPubKey: keys.getEncryptionPubKey(), sendingVaspPrivateKey: signing, isAmountInReceivingCurrency: true,
      receivingCurrencyCode: invoice.receivingCurrency.code, amount: invoice.amount, payerIdentifier: `$nina@${domain}`,
      payerName: "Nina Node", trInfo: JSON.stringify({ originator: "Nina Node" }), payerKycStatus: uma.KycStatus.Verified, payerUtxos: [],
      utxoCallback: `https://${domain}/utxos`, umaMajorVersion: 1, invoiceUUID: invoice.invoiceUUID,
      requestedPayeeData: { identifier: { mandatory: true }, compliance: { mandatory: true } },
    });
    const answer = await call("POST", invoice.callback, JSON.stringify(pay.toJsonSchemaObject()));
    if (answer.status !== 200) return { status: answer.status, refused: JSON.parse(answer.text) };
    const response = uma.PayReqResponse.fromJson(answer.text);
    must(await uma.verifyPayReqResponseSignature(response, `$nina@${domain}`, invoice.receiverUma, keys, nonces), "the signature");
    return { status: 200, invoice: response.pr, converted: response.converted };
  },
  // report sends what /send has made for the callback of the receiver.
  "/report": async (request, body) => {
    const { url, callback } = JSON.parse(body);
    return call("POST", url, JSON.stringify(callback));
  },
};

const server = http.createServer((request, response) => {
  let body = "";
  request.on("data", (part) => (body += part));
  request.on("end", async () => {
    const path = request.url.split("?")[0];
    const handler = receive[path] ?? receive["/.well-known/lnurlp/"];
    try {
      response.setHeader("Content-Type", "application/json");
      const answer = await handler(request, body);
      response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
    } catch (failure) {
      response.statusCode = 400;
      response.end(JSON.stringify({ status: "ERROR", reason: String(failure?.stack ?? failure) }));
    }
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
