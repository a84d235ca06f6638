// A provider of ID tokens (OpenID Connect) for tests. It prints its URL; POST /token with the claims returns a token.
import { generateKeyPairSync, sign } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

function token(claims) {
  const iat = Math.floor(Date.now() / 1000);
  const content = encode({ alg: "ES256", kid: "1" }) + "." + encode({ iss: issuer, iat, exp: iat + 600, ...claims });
  return content + "." + sign("sha256", Buffer.from(content), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url");
}

const server = createServer(async (request, response) => {
  response.setHeader("content-type", "application/json");
  switch (request.url) {
    case "/.well-known/openid-configuration":
      return response.end(JSON.stringify({ issuer, jwks_uri: issuer + "/keys", id_token_signing_alg_values_supported: ["ES256"] }));
    case "/keys":
      return response.end(JSON.stringify({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "1", alg: "ES256", use: "sig" }] }));
    case "/token":
      return response.end(JSON.stringify(token(JSON.parse(await text(request)))));
  }
  response.writeHead(404).end();
});
let issuer;
server.listen(0, "127.0.0.1", () => {
  issuer = `http://127.0.0.1:${server.address().port}`;
  console.log(issuer);
});
