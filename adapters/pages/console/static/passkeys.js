// The pages work without this script, with a password and a code. It lets a passkey sign in, confirm a form, or be added.
"use strict";

const decode = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
const encode = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

if (window.PublicKeyCredential) {
  for (const box of document.querySelectorAll("[data-passkey]")) {
    const button = box.querySelector("button");
    box.hidden = false;
    button.addEventListener("click", async () => {
      const status = box.querySelector("[role=status]");
      button.disabled = true;
      status.textContent = "Your browser asks you.";
      try {
        status.textContent = await run(box.dataset.passkey, box.dataset.ask, box.closest("form"));
      } catch (problem) {
        status.textContent = problem.name === "NotAllowedError" ? "Nothing was done: it was cancelled, or took too long." : problem.message;
      }
      button.disabled = false;
    });
  }
  for (const note of document.querySelectorAll("[data-without-passkeys]")) note.hidden = true;
}

// run lets a passkey answer for a form, and returns what there is to say.
async function run(purpose, address, form) {
  const options = await ask(address, form);
  if (purpose === "create") {
    form.elements.answer.value = JSON.stringify(await create(options));
    form.submit();
    return "";
  }
  form.elements.passkey.value = JSON.stringify(await sign(options));
  for (const code of form.querySelectorAll("[autocomplete=one-time-code]")) {
    code.required = false;
    code.disabled = true;
  }
  const buttons = form.querySelectorAll("button:not([type=button])");
  if (buttons.length === 1) {
    form.requestSubmit(buttons[0]);
    return "";
  }
  if (purpose === "sign-in") form.submit();
  return "Confirmed with your passkey. Go on.";
}

// ask returns what the browser is asked for.
async function ask(address, form) {
  const fields = new URLSearchParams(new FormData(form));
  fields.set("for", location.pathname);
  const response = await fetch(address, { method: "POST", body: fields, signal: AbortSignal.timeout?.(20_000) });
  if (!response.headers.get("Content-Type")?.startsWith("application/json")) throw new Error("Load the page again, and try once more.");
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message);
  answer.challenge = decode(answer.challenge);
  for (const key of [...(answer.allowCredentials ?? []), ...(answer.excludeCredentials ?? [])]) key.id = decode(key.id);
  return answer;
}

async function create(publicKey) {
  publicKey.user.id = decode(publicKey.user.id);
  const key = await navigator.credentials.create({ publicKey });
  return answerOf(key, {
    attestationObject: encode(key.response.attestationObject),
    transports: key.response.getTransports?.() ?? [],
  });
}

async function sign(publicKey) {
  const key = await navigator.credentials.get({ publicKey });
  return answerOf(key, {
    authenticatorData: encode(key.response.authenticatorData),
    signature: encode(key.response.signature),
    userHandle: key.response.userHandle ? encode(key.response.userHandle) : undefined,
  });
}

function answerOf(key, response) {
  response.clientDataJSON = encode(key.response.clientDataJSON);
  return { id: key.id, rawId: encode(key.rawId), type: key.type, response, clientExtensionResults: {} };
}
