package api

import (
	"context"
	"encoding/base64"

	httpapi "causeway/adapters/http"
	"causeway/app/wallets"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

// WalletCredentials holds the use cases of the credentials of embedded wallets. A method that returns a
// request to sign has changed nothing.
type WalletCredentials interface {
	CreateCredential(ctx context.Context, principal platform.Principal, call wallet.Call, idempotent *ports.IdempotentRequest,
		r wallets.NewCredential) (wallets.Challenged, *wallet.SignedRequest, error)
	ListCredentials(ctx context.Context, platformID ident.Platform, account ident.InternalAccount) ([]wallet.Credential, error)
	RevokeCredential(ctx context.Context, principal platform.Principal, call wallet.Call, id ident.AuthMethod) (*wallet.SignedRequest, error)
	Challenge(ctx context.Context, principal platform.Principal, idempotent *ports.IdempotentRequest, id ident.AuthMethod,
		client *wallet.ClientKey) (wallets.Challenged, error)
	Verify(ctx context.Context, principal platform.Principal, call wallet.Call, idempotent *ports.IdempotentRequest, id ident.AuthMethod,
		v wallets.Verification) (wallets.OpenedSession, *wallet.SignedRequest, error)
}

// AuthMethod is a credential. It is exported, as all that is embedded in bodies and inputs must be.
type AuthMethod struct {
	ID           httpapi.ID[ident.AuthMethod]      `json:"id" doc:"Id of the credential."`
	AccountID    httpapi.ID[ident.InternalAccount] `json:"accountId" doc:"Id of the embedded wallet, an internal account."`
	Type         string                            `json:"type" enum:"EMAIL_OTP,SMS_OTP,PASSKEY,OAUTH" doc:"Type of the credential." example:"PASSKEY"`
	CredentialID string                            `json:"credentialId,omitempty" doc:"PASSKEY only: id that the authenticator chose, in base64url." example:"b3BhcXVl"`
	Nickname     string                            `json:"nickname" doc:"E-mail address of an EMAIL_OTP credential, phone number of an SMS_OTP credential, e-mail address in the ID token of an OAUTH credential, or the name that was chosen for a passkey." example:"Ana's phone"`
	CreatedAt    httpapi.Time                      `json:"createdAt" doc:"Time the credential was added."`
	UpdatedAt    httpapi.Time                      `json:"updatedAt" doc:"Time of the last change."`
}

func renderCredential(c wallet.Credential) AuthMethod {
	body := AuthMethod{
		ID: httpapi.NewID(c.ID), AccountID: httpapi.NewID(c.Account), Type: string(c.Type), Nickname: c.Nickname,
		CreatedAt: httpapi.NewTime(c.CreatedAt), UpdatedAt: httpapi.NewTime(c.UpdatedAt),
	}
	if c.Passkey != nil {
		body.CredentialID = base64.RawURLEncoding.EncodeToString(c.Passkey.CredentialID)
	}
	return body
}

type authCredentialListResponse struct {
	Data []AuthMethod `json:"data" doc:"Active credentials, oldest first."`
}

// AuthMethodResponse is a credential and, if it has codes, the key to encrypt one to.
type AuthMethodResponse struct {
	AuthMethod
	OTPTarget string `json:"otpEncryptionTargetBundle,omitempty" doc:"EMAIL_OTP and SMS_OTP only: key to which the client encrypts a code for encryptedOtpBundle, a JSON text that the key of the wallet has signed, as the section on wallets describes." example:"{\"version\":\"v1.0.0\",\"data\":\"7b22\",\"dataSignature\":\"3045\",\"enclaveQuorumPublic\":\"04\"}"`
}

func renderChallenged(c wallets.Challenged) AuthMethodResponse {
	return AuthMethodResponse{renderCredential(c.Credential), c.OTPTarget}
}

// authChallengeBody is a credential and what its verification needs: for a passkey, what its authenticator has to sign.
type authChallengeBody struct {
	AuthMethodResponse
	Challenge string       `json:"challenge,omitempty" doc:"PASSKEY only: challenge for navigator.credentials.get(), in base64url: 32 random bytes, and the SHA-256 of these and of the digits of clientPublicKey in lower case. A client that checks it cannot open a session for the key of somebody else." example:"UNhY4JhezH9gQYqvDMWrWH9CwlcKiECVqejMrND2VFyJMcO_cGp_U-4_KcIYiMohfLB0buLlpTKG_GquSXwxXw"`
	RequestID string       `json:"requestId,omitempty" doc:"PASSKEY only: value of the header Request-Id when you verify the assertion. It can be used once." example:"Request:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"`
	ExpiresAt httpapi.Time `json:"expiresAt,omitzero" doc:"PASSKEY only: time after which the challenge is refused."`
}

func renderChallenge(c wallets.Challenged) authChallengeBody {
	body := authChallengeBody{AuthMethodResponse: renderChallenged(c)}
	if p := c.Challenge; p != nil {
		body.Challenge, body.RequestID, body.ExpiresAt = base64.RawURLEncoding.EncodeToString(p.Challenge), p.ID.String(),
			httpapi.NewTime(p.ExpiresAt)
	}
	return body
}

func registerWalletCredentials(a *httpapi.API, service WalletCredentials) {
	httpapi.Post(a, httpapi.Operation{
		ID: "createAuthCredential", Path: "/auth/credentials", Tag: tagWallets, Summary: "Add a credential", Permission: platform.Transact,
		Status: 201, SignedRetry: true,
		Description: "Adds a credential to an embedded wallet. The first one of a wallet is added at once: 201. Every further one has to be " +
			"signed by a session of the wallet: 202, then 201.\n\n" +
			"A wallet has at most one EMAIL_OTP, one SMS_OTP and one PASSKEY credential, and an OAUTH credential for each person at a " +
			"provider. A new wallet " +
			"of a customer with an e-mail address has an EMAIL_OTP credential.",
		Errors: []fault.Code{fault.InternalAccountNotFound, fault.EmailOTPCredentialAlreadyExists, fault.SMSOTPCredentialAlreadyExists,
			fault.PasskeyCredentialAlreadyExists,
			fault.CustomerDeleted, fault.Conflict, fault.NotImplemented},
	}, httpapi.Signed(func(ctx context.Context, call httpapi.Call,
		in *createCredentialInput) (wallets.Challenged, *wallet.SignedRequest, error) {
		return service.CreateCredential(ctx, call.Principal, call.Signed, call.IdempotentRequest, newCredential(in.Body))
	}), renderChallenged)

	httpapi.Get(a, httpapi.Operation{
		ID: "listAuthCredentials", Path: "/auth/credentials", Tag: tagWallets, Summary: "List credentials", Permission: platform.View,
		Description: "Returns the active credentials of an embedded wallet, oldest first. Not paginated. An account that does not exist " +
			"has none.",
	}, func(ctx context.Context, call httpapi.Call, in *walletFilter) ([]wallet.Credential, error) {
		return service.ListCredentials(ctx, call.Principal.Platform, in.AccountID.Value)
	}, func(credentials []wallet.Credential) authCredentialListResponse {
		return authCredentialListResponse{renderList(credentials, renderCredential)}
	})

	httpapi.Delete(a, httpapi.Operation{
		ID: "revokeAuthCredential", Path: "/auth/credentials/{id}", Tag: tagWallets, Summary: "Revoke a credential",
		Permission: platform.Transact, SignedRetry: true,
		Description: "Revokes a credential and its sessions. A session of another credential of the wallet has to sign the " +
			"request: 202, then " +
			"204. The last credential of a wallet cannot be revoked.",
		Errors: []fault.Code{fault.CredentialNotFound, fault.CustomerDeleted},
	}, httpapi.Signed(func(ctx context.Context, call httpapi.Call, in *CredentialPath) (struct{}, *wallet.SignedRequest, error) {
		request, err := service.RevokeCredential(ctx, call.Principal, call.Signed, in.ID.Value)
		return struct{}{}, request, err
	}), func(struct{}) httpapi.NoBody { return httpapi.NoBody{} })

	type challengeRequest struct {
		ClientPublicKey string `json:"clientPublicKey,omitempty" pattern:"^(0[23][0-9a-fA-F]{64}|04[0-9a-fA-F]{128})$" patternDescription:"a P-256 public key in hexadecimal digits: 04 and the two coordinates (130 digits), or compressed (66 digits)" doc:"PASSKEY only, and required for it: public key of a new key pair of the client, to which the key of the session is sealed." example:"046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"`
	}
	type challengeInput struct {
		CredentialPath
		Body *challengeRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "challengeAuthCredential", Path: "/auth/credentials/{id}/challenge", Tag: tagWallets, Summary: "Challenge a credential",
		Permission: platform.Transact,
		Description: "Begins the verification of a credential.\n\n" +
			"- EMAIL_OTP and SMS_OTP: sends a new code to the customer's e-mail address or phone number. Only the latest code is " +
			"valid, for 5 minutes and 5 tries, unless " +
			"`embeddedWalletConfig` says otherwise. Up to 5 codes can be sent at once, then one in 15 seconds, and 10 in an hour: 429. None is " +
			"sent while wrong codes delay the next one, see Verify a credential.\n" +
			"- PASSKEY: returns a challenge for navigator.credentials.get(), and the `requestId` of its answer. Each is valid for 5 minutes and " +
			"accepted once.\n" +
			"- OAUTH: has no challenge: 400. Request an ID token from the provider.",
		Errors: []fault.Code{fault.CredentialNotFound, fault.NotImplemented, fault.CustomerDeleted, fault.UserNotReady},
	}, func(ctx context.Context, call httpapi.Call, in *challengeInput) (wallets.Challenged, error) {
		var client *wallet.ClientKey
		if in.Body != nil && in.Body.ClientPublicKey != "" {
			key, err := wallet.ParseClientKey(in.Body.ClientPublicKey)
			if err != nil {
				return wallets.Challenged{}, err
			}
			client = &key
		}
		return service.Challenge(ctx, call.Principal, call.IdempotentRequest, in.ID.Value, client)
	}, renderChallenge)

	httpapi.Post(a, httpapi.Operation{
		ID: "verifyAuthCredential", Path: "/auth/credentials/{id}/verify", Tag: tagWallets, Summary: "Verify a credential",
		Permission: platform.Transact, SignedRetry: true,
		Description: "Opens a session of 15 minutes. `encryptedSessionSigningKey` is the private key of the session, which only " +
			"the client can " +
			"open. With `encryptedOtpBundle` the client has that key already, and signs with it: 202, then 200; the code has to be " +
			"right in both " +
			"requests, and is used up by the second. For a passkey `Request-Id` is the `requestId` of the " +
			"challenge, and nothing is signed. A wallet " +
			"has at most 20 active sessions: one more ends the oldest.\n\n" +
			"A proof that is not valid is 401 with the reason " + codeList(wallet.ReasonCode, wallet.ReasonPasskey, wallet.ReasonIdentity) +
			". For a passkey " +
			codeList(wallet.ReasonNoRequestID, wallet.ReasonRequestID, wallet.ReasonRequestUsed, wallet.ReasonRequestExpired) +
			" are possible too.\n\n" +
			"Wrong codes are counted over all codes that were sent. After the fifth since the last right one, the next can be tried " +
			"in a minute, " +
			"and the delay doubles with each further one, up to a day. Until then every code is 429, and `Retry-After` and the message say when.",
		Errors: []fault.Code{fault.CredentialNotFound, fault.CustomerDeleted, fault.UserNotReady},
	}, httpapi.Signed(func(ctx context.Context, call httpapi.Call, in *verifyInput) (wallets.OpenedSession, *wallet.SignedRequest, error) {
		verification, err := in.verification()
		if err != nil {
			return wallets.OpenedSession{}, nil, err
		}
		verification.RequestID = call.Signed.RequestID
		return service.Verify(ctx, call.Principal, call.Signed, call.IdempotentRequest, in.ID.Value, verification)
	}), renderOpenedSession)
}
