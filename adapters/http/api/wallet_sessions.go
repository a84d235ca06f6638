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

// WalletSessions holds the use cases of the sessions of embedded wallets.
type WalletSessions interface {
	ListSessions(ctx context.Context, platformID ident.Platform, account ident.InternalAccount) ([]wallet.Session, error)
	RevokeSession(ctx context.Context, principal platform.Principal, call wallet.Call, id ident.Session) (*wallet.SignedRequest, error)
	RefreshSession(ctx context.Context, principal platform.Principal, call wallet.Call, idempotent *ports.IdempotentRequest, id ident.Session,
		client wallet.ClientKey) (wallets.OpenedSession, *wallet.SignedRequest, error)
}

// authSessionBody is a session.
type authSessionBody struct {
	ID           httpapi.ID[ident.Session]         `json:"id" doc:"Id of the session."`
	AccountID    httpapi.ID[ident.InternalAccount] `json:"accountId" doc:"Id of the embedded wallet, an internal account."`
	Type         string                            `json:"type" enum:"EMAIL_OTP,SMS_OTP,PASSKEY,OAUTH" doc:"Type of the credential that opened the session." example:"EMAIL_OTP"`
	CredentialID string                            `json:"credentialId,omitempty" doc:"PASSKEY only: id that the authenticator chose, in base64url." example:"b3BhcXVl"`
	Nickname     string                            `json:"nickname" doc:"Nickname of the credential that opened the session." example:"ana@example.com"`
	SigningKey   string                            `json:"encryptedSessionSigningKey,omitempty" doc:"Only when a session is opened: its private key, sealed to clientPublicKey. Omitted if the client has it: public_key of encryptedOtpBundle is the key of the session." example:"w99a5xV6A75TfoAUkZn869fVyDYvgVsKrawMALZXmrauZd8hEv66EkPU1Z42CUaHESQjcA5bqd8dynTGBMLWB9ewtXWPEVbZvocB4Tw2K1vQVp7uwjf"`
	CreatedAt    httpapi.Time                      `json:"createdAt" doc:"Time the session was opened."`
	UpdatedAt    httpapi.Time                      `json:"updatedAt" doc:"Time of the last change."`
	ExpiresAt    httpapi.Time                      `json:"expiresAt" doc:"Time the session ends."`
}

func renderSession(s wallet.Session) authSessionBody {
	return authSessionBody{
		ID: httpapi.NewID(s.ID), AccountID: httpapi.NewID(s.Account), Type: string(s.Type),
		CredentialID: base64.RawURLEncoding.EncodeToString(s.PasskeyID), Nickname: s.Nickname,
		CreatedAt: httpapi.NewTime(s.CreatedAt), UpdatedAt: httpapi.NewTime(s.UpdatedAt), ExpiresAt: httpapi.NewTime(s.ExpiresAt),
	}
}

func renderOpenedSession(s wallets.OpenedSession) authSessionBody {
	body := renderSession(s.Session)
	body.SigningKey = s.EncryptedKey
	return body
}

type sessionListResponse struct {
	Data []authSessionBody `json:"data" doc:"Active sessions, oldest first."`
}

// SessionPath has the id of a session.
type SessionPath struct {
	ID httpapi.ID[ident.Session] `path:"id" doc:"Id of the session."`
}

// clientKeyRequest is the body of operations that seal a secret to a key of the client.
type clientKeyRequest struct {
	ClientPublicKey string `json:"clientPublicKey" pattern:"^(0[23][0-9a-fA-F]{64}|04[0-9a-fA-F]{128})$" patternDescription:"a P-256 public key in hexadecimal digits: 04 and the two coordinates (130 digits), or compressed (66 digits)" doc:"Public key of a new key pair of the client, to which the secret is sealed. The same in both requests." example:"046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"`
}

func registerWalletSessions(a *httpapi.API, service WalletSessions) {
	httpapi.Get(a, httpapi.Operation{
		ID: "listAuthSessions", Path: "/auth/sessions", Tag: tagWallets, Summary: "List sessions", Permission: platform.View,
		Description: "Returns the active sessions of an embedded wallet, oldest first. Not paginated. An account that does not exist has none.",
	}, func(ctx context.Context, call httpapi.Call, in *walletFilter) ([]wallet.Session, error) {
		return service.ListSessions(ctx, call.Principal.Platform, in.AccountID.Value)
	}, func(sessions []wallet.Session) sessionListResponse {
		return sessionListResponse{renderList(sessions, renderSession)}
	})

	httpapi.Delete(a, httpapi.Operation{
		ID: "revokeAuthSession", Path: "/auth/sessions/{id}", Tag: tagWallets, Summary: "Revoke a session", Permission: platform.Transact,
		SignedRetry: true,
		Description: "Ends a session. Any active session of the wallet may sign the request, also this one: 202, then 204.",
		Errors:      []fault.Code{fault.SessionNotFound, fault.CustomerDeleted},
	}, httpapi.Signed(func(ctx context.Context, call httpapi.Call, in *SessionPath) (struct{}, *wallet.SignedRequest, error) {
		request, err := service.RevokeSession(ctx, call.Principal, call.Signed, in.ID.Value)
		return struct{}{}, request, err
	}), func(struct{}) httpapi.NoBody { return httpapi.NoBody{} })

	type refreshInput struct {
		SessionPath
		Body clientKeyRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "refreshAuthSession", Path: "/auth/sessions/{id}/refresh", Tag: tagWallets, Summary: "Refresh a session",
		Permission: platform.Transact, Status: 201, SignedRetry: true,
		Description: "Opens another session of the same credential, with a new key, for 15 minutes: 202, then 201. The session in the path has " +
			"to be active at both requests, has to sign, and remains active until it expires.",
		Errors: []fault.Code{fault.SessionNotFound, fault.CustomerDeleted, fault.UserNotReady},
	}, httpapi.Signed(func(ctx context.Context, call httpapi.Call, in *refreshInput) (wallets.OpenedSession, *wallet.SignedRequest, error) {
		client, err := wallet.ParseClientKey(in.Body.ClientPublicKey)
		if err != nil {
			return wallets.OpenedSession{}, nil, err
		}
		return service.RefreshSession(ctx, call.Principal, call.Signed, call.IdempotentRequest, in.ID.Value, client)
	}), renderOpenedSession)
}
