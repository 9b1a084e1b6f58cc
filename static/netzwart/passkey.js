// Passkeys (Web Authentication): the only part of signing in that needs a script. It uses requests.js.
// <form data-passkey="create|get" data-options="id of the JSON" or data-options-from="URL of the JSON">
"use strict";

const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
const base64url = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

async function optionsOf(form) {
  const found = form.dataset.optionsFrom
    ? await (await fetch(form.dataset.optionsFrom, { headers: { Accept: "application/json" } })).json()
    : JSON.parse(document.getElementById(form.dataset.options).textContent);
  const options = (found.creation_options ?? found.request_options).publicKey;
  options.challenge = bytes(options.challenge);
  if (options.user) options.user.id = bytes(options.user.id);
  for (const each of [...(options.excludeCredentials ?? []), ...(options.allowCredentials ?? [])]) each.id = bytes(each.id);
  return options;
}

async function credential(form) {
  const publicKey = await optionsOf(form);
  if (form.dataset.passkey === "get") return navigator.credentials.get({ publicKey });
  publicKey.authenticatorSelection = { ...publicKey.authenticatorSelection, residentKey: "required", requireResidentKey: true, userVerification: "required" };
  return navigator.credentials.create({ publicKey });
}

function told(given) {
  const response = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"])
    if (given.response[name]) response[name] = base64url(given.response[name]);
  return JSON.stringify({
    id: given.id, rawId: base64url(given.rawId), type: given.type, response,
    clientExtensionResults: given.getClientExtensionResults(), authenticatorAttachment: given.authenticatorAttachment,
  });
}

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-passkey]");
  if (!form) return;
  event.preventDefault();
  const failed = form.querySelector(".nw-error[hidden], .nw-error[role=alert]") ?? document.getElementById("passkey-failed");
  begin(form, buttonsOf(form));
  try {
    form.elements.credential.value = told(await credential(form));
    markSent(form);
    form.submit();
  } catch {
    end(form);
    failed.hidden = false;
  }
});
