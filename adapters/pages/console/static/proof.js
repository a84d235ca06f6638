// Checks that the posting of the page is in the log, from the bytes of its leaf up to the signature of the checkpoint; or that the checkpoint of
// the page is signed and continues the one before. Nothing that the server says about it is taken over: what the page shows is compared with the
// leaf, and the rest is computed. Without this script the page shows the proof, and the commands that check it.
"use strict";

const text = new TextDecoder("utf-8", { fatal: true });
const utf8 = new TextEncoder();
const decode = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
const encode = (bytes) => btoa(String.fromCharCode(...bytes));
const join = (...parts) => Uint8Array.from(parts.flatMap((p) => [...p]));
const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", join(...parts)));
const hex = (bytes) => [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");

// read returns the fields of a leaf, as ledger.Leaf.Encode of the service writes them.
function read(leaf) {
  const view = new DataView(leaf.buffer, leaf.byteOffset, leaf.byteLength);
  let at = 0;
  const take = (n) => {
    if (at + n > leaf.length) throw new Error("The leaf ends too early.");
    at += n;
    return leaf.subarray(at - n, at);
  };
  const number = () => view.getBigInt64(take(8).byteOffset - leaf.byteOffset);
  const count = () => view.getUint32(take(4).byteOffset - leaf.byteOffset);
  const string = () => text.decode(take(count()));
  const id = () => hex(take(16)).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  const version = "causeway leaf 1\n";
  if (text.decode(take(version.length)) !== version) throw new Error("The leaf has another version.");
  const found = { platform: id(), seq: number(), id: id(), kind: string(), transaction: id(), reverses: id(), effective: number(),
    recorded: number(), memo: string(), entries: [] };
  for (let n = count(), i = 1; i <= n; i++) {
    if (count() !== i) throw new Error("The entries of the leaf are not in order.");
    found.entries.push({ debit: string(), credit: string(), currency: string(), amount: number() });
  }
  if (at !== leaf.length) throw new Error("The leaf is too long.");
  return found;
}

// shown returns what the page says of the posting, in the form of read.
function shown(page) {
  const time = (name) => BigInt(Date.parse(page.querySelector(`[data-is=${name}] time`).dateTime));
  const of = (name) => page.querySelector(`[data-is=${name}]`)?.textContent.trim();
  const uuid = (value) => value?.slice(-36) ?? "00000000-0000-0000-0000-000000000000";
  return { platform: location.pathname.split("/")[3], seq: BigInt(of("seq")), id: uuid(of("id")), kind: of("kind").replaceAll(" ", "_"),
    transaction: uuid(of("transaction")), reverses: uuid(of("reverses")), effective: time("effective"), recorded: time("recorded"),
    memo: of("memo") ?? "", entries: [...page.querySelectorAll("table tbody tr")].map((row) => {
      const cell = [...row.cells].map((c) => c.textContent.trim());
      return { debit: cell[0], credit: cell[1], currency: cell[3], amount: BigInt(cell[2].replace(".", "")) };
    }) };
}

// differences returns which fields differ. Pages show times in milliseconds, and spaces of a memo as one.
function differences(leaf, page) {
  const plain = (value, key) => {
    if (key === "effective" || key === "recorded") return String(value / 1000n);
    if (key === "memo") return value.replaceAll(/\s+/g, " ").trim();
    return key === "entries" ? JSON.stringify(value, (_, v) => (typeof v === "bigint" ? String(v) : v)) : String(value);
  };
  return Object.keys(leaf).filter((key) => plain(leaf[key], key) !==
    (key === "effective" || key === "recorded" ? String(page[key]) : plain(page[key], key)));
}

// rootOf returns the root that the hash of a leaf leads to (RFC 6962, 2.1.1, as RFC 9162, 2.1.3.2, checks it).
async function rootOf(hashOfLeaf, index, size, path) {
  let [place, last] = [index, size - 1];
  let root = hashOfLeaf;
  for (const hash of path) {
    if (last === 0) throw new Error("The proof is too long.");
    if (place % 2 === 1 || place === last) {
      root = await sha256([1], hash, root);
      while (place % 2 === 0 && place !== 0) [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
    } else {
      root = await sha256([1], root, hash);
    }
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  if (last !== 0) throw new Error("The proof is too short.");
  return root;
}

// keyOf returns a verifier key: name, hash and key.
async function keyOf(verifier) {
  const [name, hash, ...rest] = verifier.trim().split("+");
  const base64 = rest.join("+"); // which may have that character too
  const bytes = decode(base64);
  if (bytes.length !== 33 || bytes[0] !== 1) throw new Error("The key is not one of Ed25519.");
  if (hex((await sha256(utf8.encode(name + "\n"), bytes)).subarray(0, 4)) !== hash) throw new Error("The hash of the key is another one.");
  return { name, hash, bytes: bytes.subarray(1) };
}

// areConsistent reports whether the hashes of a proof lead to the roots of an earlier and a later tree (RFC 9162, 2.1.4.2).
async function areConsistent(earlier, later, path) {
  let [place, last] = [earlier.size - 1, later.size - 1];
  while (place % 2 === 1) [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  // The root of a whole tree is not in the proof.
  const hashes = place === 0 ? [decode(earlier.root), ...path] : path;
  if (earlier.size >= later.size || hashes.length === 0) return false;
  let [first, second] = [hashes[0], hashes[0]];
  for (const hash of hashes.slice(1)) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      [first, second] = [await sha256([1], hash, first), await sha256([1], hash, second)];
      while (place % 2 === 0 && place !== 0) [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
    } else {
      second = await sha256([1], second, hash);
    }
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  return last === 0 && encode(first) === earlier.root && encode(second) === later.root;
}

// isSigned reports whether a checkpoint has a valid signature of one of some keys.
async function isSigned(note, verifiers) {
  let problem;
  for (const verifier of verifiers.trim().split(/\s+/)) {
    try {
      if (await isSignedBy(note, verifier)) return true;
    } catch (error) {
      problem = error;
    }
  }
  if (problem) throw problem;
  return false;
}

async function isSignedBy(note, verifier) {
  const key = await keyOf(verifier);
  const end = note.indexOf("\n\n");
  const imported = await crypto.subtle.importKey("raw", key.bytes, "Ed25519", false, ["verify"]);
  for (const line of note.slice(end + 2).split("\n")) {
    const [dash, name, base64] = line.split(" ");
    if (dash !== "—" || name !== key.name) continue;
    const signature = decode(base64);
    if (hex(signature.subarray(0, 4)) === key.hash &&
      await crypto.subtle.verify("Ed25519", imported, signature.subarray(4), utf8.encode(note.slice(0, end + 1)))) return true;
  }
  return false;
}

async function saySigned(say, what, note, verifiers) {
  let signed = false, problem = "";
  try {
    signed = await isSigned(note, verifiers);
  } catch (error) {
    problem = error.name === "NotSupportedError" ? " This browser cannot check Ed25519; the commands below can." : " " + error.message;
  }
  say(signed, `${what} is ${signed ? "" : "not "}signed by the key ${verifiers}.${problem}`);
}

// checkConsistency returns the same about a checkpoint and the one before, which the first one has not. The page is of the size in its address.
async function checkConsistency(page, proof, verifiers) {
  const steps = [];
  const say = (holds, words) => steps.push({ holds, words });
  const parse = (note) => {
    const [origin, size, root] = note.split("\n");
    return { origin, size: Number(size), root };
  };
  const later = parse(proof.note), [platform, , size] = location.pathname.split("/").slice(3);
  const root = [...page.querySelectorAll("dl.facts dt")].find((name) => name.textContent === "Root").nextElementSibling.textContent.trim();
  say(later.origin === "causeway.ledger/" + platform, `The checkpoint is of the log ${later.origin}, and this page of the platform ${platform}.`);
  say(later.size === Number(size), `The checkpoint is of ${later.size} postings, and this page of ${size}.`);
  say(later.root === root, `The checkpoint has the root ${later.root}, and this page ${root}.`);
  await saySigned(say, "The checkpoint", proof.note, verifiers);
  if (!proof.before) return steps;
  const earlier = parse(proof.before);
  say(earlier.origin === later.origin, `The checkpoint before is of the log ${earlier.origin}.`);
  await saySigned(say, "The checkpoint before", proof.before, verifiers);
  const holds = await areConsistent(earlier, later, proof.path.split(" ").filter(Boolean).map(decode));
  say(holds, `Computed from the hashes of the proof: the log of ${later.size} postings ${holds ? "continues" : "does not continue"} that of ${earlier.size}.`);
  return steps;
}

// checkPosting returns what was computed and compared, each with whether it holds.
async function checkPosting(page, proof, verifier) {
  const steps = [];
  const say = (holds, words) => steps.push({ holds, words });
  let hash = decode(proof.hash);
  if (proof.leaf) {
    const leaf = decode(proof.leaf);
    hash = await sha256([0], leaf);
    const different = differences(read(leaf), shown(page));
    say(different.length === 0, different.length === 0 ? "The leaf has the number, times, memo and entries that this page shows."
      : `The leaf and this page differ in: ${different.join(", ")}.`);
  } else {
    say(true, "only the hash of the leaf, as the server says it, is in the log. The leaf is not on this page, so what the page shows was not compared.");
  }
  const [origin, size, root] = proof.note.split("\n");
  const index = Number(shown(page).seq) - 1;
  say(origin === "causeway.ledger/" + shown(page).platform, `The checkpoint is of the log ${origin}, and this page of the platform ${shown(page).platform}.`);
  const computed = encode(await rootOf(hash, index, Number(size), proof.path.split(" ").filter(Boolean).map(decode)));
  say(computed === root, `Computed from the leaf at index ${index} and the hashes of the proof: root ${computed}. ` +
    `The checkpoint of ${size} postings has the root ${root}.`);
  await saySigned(say, "The checkpoint", proof.note, verifier);
  return steps;
}

const box = document.querySelector("[data-proof], [data-consistency]");
if (box && window.crypto?.subtle) {
  const form = box.querySelector("form");
  form.hidden = false;
  const is = (name) => box.querySelector(`[data-is=${name}]`)?.textContent.replace(/^\n/, "");
  const isPosting = box.matches("[data-proof]");
  const what = isPosting ? "this posting is in the signed log." : is("before") ? "this checkpoint is signed and continues the one before."
    : "this checkpoint is signed.";
  const run = async () => {
    const status = box.querySelector("[role=status]");
    const list = box.querySelector("ol");
    status.textContent = "Checking.";
    let steps = [];
    try {
      const proof = { leaf: is("leaf")?.trim(), hash: is("hash")?.trim(), path: is("path")?.trim().replaceAll(/\s+/g, " "), note: is("note"),
        before: is("before") };
      const keys = form.elements.key.value, page = document.querySelector("main");
      steps = isPosting ? await checkPosting(page, proof, keys) : await checkConsistency(page, proof, keys);
    } catch (error) {
      steps.push({ holds: false, words: error.message });
    }
    list.replaceChildren(...steps.map((step) => {
      const item = document.createElement("li");
      item.textContent = (step.holds ? "Holds: " : "Does not hold: ") + step.words;
      return item;
    }));
    const holds = steps.every((step) => step.holds);
    status.textContent = "Your browser has checked: " + (holds ? what : "the proof does not hold.");
    status.className = holds ? "" : "problem";
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  run();
}
