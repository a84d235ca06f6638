package wallet

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
)

// The reasons of UNAUTHORIZED of the second leg, in the order in which they are checked; the last is
// ReasonSignature.
const (
	ReasonNoSignature       = "Missing Service-Wallet-Signature"
	ReasonNoRequestID       = "Missing Request-Id"
	ReasonRequestID         = "Invalid Request-Id"
	ReasonRequestUsed       = "Request-Id already used"
	ReasonRequestExpired    = "Request-Id expired"
	ReasonRequestDiffers    = "Request does not match Request-Id"
	ReasonRevokedCredential = "Signed by the revoked credential"
)

// Action is what the owner of a wallet authorises.
type Action struct {
	Platform  ident.Platform
	Account   ident.InternalAccount
	Operation Operation
	// Credential is the type of the credential that it is about; empty if it is about none.
	Credential CredentialType
}

// Unsigned reports whether a call is the first leg.
func (c Call) Unsigned() bool { return c.Signature == "" && c.RequestID == "" }

// ParseRequestID returns the id of the request that a second leg names, with its type before it or without.
// Faults: UNAUTHORIZED with its reason.
func (c Call) ParseRequestID() (ident.SignedRequest, error) {
	switch {
	case c.Signature == "":
		return ident.SignedRequest{}, MissingSignature("Send the signature over payloadToSign in the header " +
			"Service-Wallet-Signature, together with Request-Id.")
	case c.RequestID == "":
		return ident.SignedRequest{}, unauthorized(ReasonNoRequestID, "Send the requestId of the first response in the header Request-Id, "+
			"together with Service-Wallet-Signature.")
	}
	return ParseRequestID(c.RequestID)
}

// ParseRequestID parses `Request:<uuid>` or the UUID alone, or returns UNAUTHORIZED with the reason "Invalid
// Request-Id".
func ParseRequestID(text string) (id ident.SignedRequest, err error) {
	if !strings.Contains(text, ":") {
		text = id.Prefix() + ":" + text
	}
	if id, err = id.Parse(text); err != nil {
		return id, InvalidRequestID()
	}
	return id, nil
}

// MissingRequestID returns the fault of a call without the header Request-Id that a passkey needs.
func MissingRequestID() *fault.Error {
	return unauthorized(ReasonNoRequestID, "Send the requestId of the challenge in the header Request-Id.")
}

// InvalidRequestID returns the fault of an id of no request of the platform.
func InvalidRequestID() *fault.Error {
	return unauthorized(ReasonRequestID, "There is no request with this Request-Id. Send the request without both headers to get a new one.")
}

// payloadText has the fields in a fixed order and no spaces, so that there is one text for a request.
const payloadText = `{"type":"REQUEST","version":1,"operation":"%s","requestId":"%s","platformId":"%s","accountId":"%s","method":"%s","path":%s,"bodySha256":"%x","expiresAt":"%s"}`

// NewSignedRequest returns the request to sign of a first leg. Its expiry has milliseconds, like the times
// of the response, so that a client can compare both.
func NewSignedRequest(id ident.SignedRequest, a Action, c Call, now time.Time) SignedRequest {
	r := SignedRequest{
		ID: id, Platform: a.Platform, Account: a.Account, Operation: a.Operation, Credential: a.Credential, Fingerprint: c.Fingerprint(),
		CreatedAt: now, ExpiresAt: now.Add(RequestLifetime).Truncate(time.Millisecond),
	}
	r.Payload = fmt.Sprintf(payloadText, r.Operation, r.ID, r.Platform, r.Account, c.Method, quoteJSON(c.Path), c.BodyHash,
		r.ExpiresAt.UTC().Format(time.RFC3339Nano))
	return r
}

// quoteJSON returns a text as a string of JSON.
func quoteJSON(text string) string {
	quoted, _ := json.Marshal(text) // a string never fails
	return string(quoted)
}

// Check returns why the second leg of a call is refused before its signature is checked: UNAUTHORIZED with
// its reason.
func (r SignedRequest) Check(a Action, c Call, now time.Time) error {
	if err := checkRequestID(r.UsedAt, r.ExpiresAt, now); err != nil {
		return err
	}
	if r.Platform != a.Platform || r.Account != a.Account || r.Operation != a.Operation || r.Fingerprint != c.Fingerprint() {
		return unauthorized(ReasonRequestDiffers, "The method, path, query or body is not that of the first request. Send the same request "+
			"again, byte for byte, and add both headers.")
	}
	return nil
}

func checkRequestID(usedAt, expiresAt, now time.Time) error {
	if !usedAt.IsZero() {
		return unauthorized(ReasonRequestUsed, "The Request-Id was used before. Send the request without it to get a new one.")
	}
	if !now.Before(expiresAt) {
		return unauthorized(ReasonRequestExpired, "The Request-Id has expired. Send the request without it to get a new one.")
	}
	return nil
}

// Signers returns the sessions that may sign a request, of which only one may if that is given; and those
// whose signature is refused because they belong to the credential that the request revokes, if any.
func (w Wallet) Signers(revoked ident.AuthMethod, only ident.Session) (suitable, refused []Session) {
	for _, s := range w.Sessions {
		switch {
		case s.Credential == revoked:
			refused = append(refused, s)
		case only.IsZero() || s.ID == only:
			suitable = append(suitable, s)
		}
	}
	return suitable, refused
}

// SignedByRevoked returns the fault of a request to revoke a credential that this credential signed.
func SignedByRevoked() *fault.Error {
	return unauthorized(ReasonRevokedCredential, "A session of the credential to be revoked signed the request. Sign it with a session of "+
		"another credential of the wallet.")
}
