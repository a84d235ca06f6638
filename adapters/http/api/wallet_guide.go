package api

import (
	"strings"

	"causeway/core/wallet"
)

// operationList lists what is signed, in Markdown.
func operationList() string {
	var names []string
	for _, o := range wallet.Operations {
		names = append(names, "`"+string(o)+"`")
	}
	return strings.Join(names, ", ")
}

// walletGuide describes all that a client of embedded wallets has to compute.
var walletGuide = strings.NewReplacer(
	"|", "`",
	"{noSignature}", wallet.ReasonNoSignature, "{noRequestId}", wallet.ReasonNoRequestID, "{unknownRequestId}", wallet.ReasonRequestID,
	"{used}", wallet.ReasonRequestUsed, "{expired}", wallet.ReasonRequestExpired, "{differs}", wallet.ReasonRequestDiffers,
	"{signature}", wallet.ReasonSignature, "{revoked}", wallet.ReasonRevokedCredential,
	"{operations}", operationList(),
	"{code}", wallet.ReasonCode, "{passkey}", wallet.ReasonPasskey, "{identity}", wallet.ReasonIdentity,
).Replace(
	`An embedded wallet holds the stablecoin of a customer under the customer's own key. It is an internal account of the type |EMBEDDED_WALLET|, which appears when the platform supports the currency USDB. Your servers call these operations; the customer's client (an app or a page) makes the signatures, so an API token alone cannot spend from the wallet.

**Life of a session.** The customer proves who they are with a credential (a code by e-mail or text message, a passkey, or an account at Google or Apple). That opens a session of 15 minutes, whose private key only the client can read. With it the client signs requests and payments.

**Client key.** For each verification, refresh and export the client makes a new key pair on P-256 and keeps the private key. |clientPublicKey| is the public key (SEC 1) in hexadecimal digits: uncompressed, |04| and both coordinates, or compressed.

**Sealed secrets.** A secret is encrypted to |clientPublicKey| with HPKE (RFC 9180), single-shot, base mode: DHKEM(P-256, HKDF-SHA256) 0x0010, HKDF-SHA256 0x0001, AES-256-GCM 0x0002, with empty |info| and empty associated data. There are two forms:

- |encryptedSessionSigningKey| is base58check text. Decode base58 (Bitcoin's alphabet) to 85 bytes. The last 4 are a checksum: the first 4 bytes of SHA-256(SHA-256(the other 81)). There is no version byte. Bytes 0 to 32 are the encapsulated key, a compressed point: decompress it to 65 bytes for HPKE. Bytes 33 to 80 are the ciphertext with its 16-byte tag. The plain text is the private key of the session: a P-256 scalar of 32 bytes, big-endian.
- |encryptedWalletCredentials| is the text of a JSON object with |version| (|v1.0.0|), |data|, |dataSignature| and |enclaveQuorumPublic|, the last three in hexadecimal digits. |data| decodes to a JSON object with |encappedPublic| (the encapsulated key, uncompressed) and |ciphertext| (with its tag), both in hexadecimal digits, and |organizationId| (your platform). The plain text is 24 English words (BIP-39). |dataSignature| is a DER signature, ECDSA with SHA-256 on secp256k1, over the decoded bytes of |data|, by the key of the wallet; |enclaveQuorumPublic| is its public key, uncompressed. The key of the wallet is derived from the words, without a passphrase, by BIP-32 at m/8797555'/0'/0'.

**Sealed codes.** In place of |otp| and |clientPublicKey| the client can send |encryptedOtpBundle|: then your servers do not see the code, and the private key of the session never leaves the client. |otpEncryptionTargetBundle| of a challenge, or of a new credential, has the form of |encryptedWalletCredentials|; |data| decodes to a JSON object with |targetPublic| (the key to encrypt to, uncompressed, in hexadecimal digits), |organizationId| (your platform) and |accountId| (the wallet). A client that knows the key of the wallet checks the signature. It encrypts the JSON object {"otp_code": the code; "public_key": its own public key, in hexadecimal digits} to |targetPublic| with HPKE as above, and sends the text of the JSON object {"encappedPublic": the encapsulated key, uncompressed; "ciphertext"}, both in hexadecimal digits. The response to a right code is 202 with |payloadToSign|, which the client signs with the private key of |public_key|, as below. The second request opens the session, whose key that is; there is no |encryptedSessionSigningKey|. A wrong code counts in both requests.

**Signing a request.** Operations that change a wallet need two requests. The first has no signature; the response is 202 with |payloadToSign|, |requestId| and |expiresAt|. The client signs the UTF-8 bytes of |payloadToSign| exactly as received (do not parse it and serialize it again) with the private key of a session: ECDSA on P-256 with SHA-256, with either of the two values of |s|. Send the same request again within 5 minutes, with the same method, path, query and body byte for byte, and two headers: |Request-Id|, the |requestId| with or without |Request:| before the UUID, and |Service-Wallet-Signature| in one of two forms:

- base64 (standard alphabet, with padding) of the DER signature;
- base64url without padding of the JSON object {"publicKey": the session's public key, compressed, in hexadecimal digits; "scheme": "SIGNATURE_SCHEME_TK_API_P256"; "signature": the DER signature in hexadecimal digits}.

A |requestId| is used up by the request that succeeds with it. A second request needs an |Idempotency-Key| of its own. A payment from a wallet is signed in the same way, except that the payload is in the quote and there is no |Request-Id|: see Execute a quote.

**What the payload says.** |payloadToSign| is a JSON object with |type| (|REQUEST|), |version| (1), |operation| ({operations}), |requestId|, |platformId|, |accountId| (the wallet), |method|, |path| (with the version in front, |/2025-10-13/…|, and the query), |bodySha256| (of the body's bytes, or of none, in hexadecimal digits), and |expiresAt|. A client checks that these are the request that it expects before it signs, above all that the body has its own |clientPublicKey|, and shows the customer what is being signed.

**What a payment says.** |payloadToSign| of a quote is a JSON object with |type| (|PAYMENT|), |version| (1, or 2 with |settlement|), |quoteId|, |transactionId|, |platformId|, |accountId| (the wallet), |totalSendingAmount|, |sendingCurrency|, |feesIncluded|, |totalReceivingAmount|, |receivingCurrency|, |exchangeRate|, |destination| (|accountId|, with the |address| of a wallet on a chain; or |umaAddress|), |settlement| (only where wallets are on a chain: |network|, |chainId|, |contract|, |tokenName|, |tokenVersion|, |to|, |method| for some tokens, and |validBefore| of the transfer there) and |expiresAt|. Amounts are in the smallest unit of their currency. A client compares the amounts and the destination with what the customer has entered, not with the quote alone.

**Evidence.** The timeline of the transaction keeps the signature, and the certificate of the session: a statement in JSON that the key of the wallet has signed, with |type| (|SESSION|), |version| (1), |sessionId|, |accountId|, |credentialId|, |credentialType|, |publicKey| (of the session, compressed), |createdAt| and |expiresAt|. So anybody who has the public key of the wallet can verify the payment, without this service.

**Refusals.** A second request is refused with 401 and one of these reasons, checked in this order. |details.code| is the code in parentheses:

- |{noSignature}| (|WALLET_SIGNATURE_MISSING|): there is a |Request-Id| without a signature.
- |{noRequestId}| (|REQUEST_ID_MISSING|): there is a signature without a |Request-Id|.
- |{unknownRequestId}|: your platform has no such request.
- |{used}|: send the first request again for a new one.
- |{expired}|: likewise.
- |{differs}| (|WALLET_SIGNATURE_BODY_MISMATCH|): another method, path, query or body than in the first request.
- |{signature}| (|WALLET_SIGNATURE_INVALID|, or |WALLET_SIGNATURE_MALFORMED| for a text that is no signature): no active session of the wallet signed the payload; a refresh is signed by the session itself, and a verification by |public_key|. Revoking a credential: |{revoked}| if only a session of that credential did.

**Passkeys.** Create them with navigator.credentials.create() for the domain in |embeddedWalletConfig.passkeyRpId|, with a random challenge of at least 16 bytes that your server makes; pass that challenge and the results on. To verify one, challenge it, pass |challenge| to navigator.credentials.get(), and send the result with the |requestId| as the header |Request-Id|. The challenge is 32 random bytes, and the SHA-256 of these and of the hexadecimal digits of |clientPublicKey| as they were sent, as text in lower case: a client that checks it cannot open a session for the key of somebody else. Binary values are base64url without padding.

**Google and Apple.** An ID token must be for one of |embeddedWalletConfig.oauthClientIds| and less than 60 seconds old when it is first sent. To verify a credential, request it with the nonce hex(SHA-256(clientPublicKey)): the SHA-256 of its hexadecimal digits as they are sent, as text in lower case, in lower-case hexadecimal digits.

**Sandbox.** On sandbox platforms these values are valid proofs, and any other is 401 with the reason in parentheses. Sealed secrets and signatures are real, so that the client of production is tested as it is.

- |otp|, also in |encryptedOtpBundle|: |000000| (|{code}|). A code need not be requested. No mail or text message is sent. If one was requested, wrong values are counted, and after five any other than |000000| is 429 for a while.
- |assertion.signature|: |sandbox-valid-passkey-signature| (|{passkey}|), with the |Request-Id| of a challenge. To add a passkey, |challenge| must be that of |clientDataJson|; the attestation object is not checked.
- |oidcToken| when verifying: |sandbox-valid-oidc-token| (|{identity}|), or the ID token of a known provider, which is checked as in production, but may be used again, if |oauthClientIds| are set. To add a credential, it must be a JWT with the issuer of a known provider; its signature is not checked.
- |Service-Wallet-Signature|: |sandbox-valid-signature| (|{signature}|), or a signature by the key of an active session, which is checked as in production. The test value needs no session, counts as the signature of a session that may sign the request, and proves nothing: a payment that was executed with it has |signatureForm| |TEST_VALUE| in its timeline.`)
