package wallet

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"causeway/core/ident"
)

// RequestLifetime is how long a request can be signed.
const RequestLifetime = 5 * time.Minute

// Operation is what the owner of a wallet authorises by signing a request.
type Operation string

// The operations.
const (
	AddCredential       Operation = "ADD_CREDENTIAL"
	RevokeCredential    Operation = "REVOKE_CREDENTIAL"
	RevokeSession       Operation = "REVOKE_SESSION"
	RefreshSession      Operation = "REFRESH_SESSION"
	ExportWallet        Operation = "EXPORT_WALLET"
	UpdateAccount       Operation = "UPDATE_INTERNAL_ACCOUNT"
	UpdateCustomerEmail Operation = "UPDATE_CUSTOMER_EMAIL"
	UpdateCustomerPhone Operation = "UPDATE_CUSTOMER_PHONE"
	VerifyCredential    Operation = "VERIFY_CREDENTIAL"
)

// Operations lists every operation.
var Operations = []Operation{AddCredential, VerifyCredential, RevokeCredential, RefreshSession, RevokeSession, ExportWallet, UpdateAccount,
	UpdateCustomerEmail, UpdateCustomerPhone}

// SignedRequest is a request that was received without a signature (the first leg), and is carried out when
// the same request comes back with one (the second leg).
type SignedRequest struct {
	ID        ident.SignedRequest
	Platform  ident.Platform
	Account   ident.InternalAccount
	Operation Operation
	// Credential is the type of the credential that the request is about; empty if it is about none.
	Credential CredentialType
	// Fingerprint is that of the request: see Call.
	Fingerprint [sha256.Size]byte
	// Basis is a hash of what the operation was decided on, if it must be the same on both legs; else zero.
	Basis [sha256.Size]byte
	// Payload is the text to sign, byte for byte.
	Payload   string
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    time.Time // zero until used
}

// Call is the part of an HTTP request that a signature covers, and the signature.
type Call struct {
	Method string
	// Path is the path with its query, as it was sent.
	Path string
	// BodyHash is the SHA-256 of the body, byte for byte.
	BodyHash [sha256.Size]byte
	// Signature and RequestID are the headers Service-Wallet-Signature and Request-Id; both are empty on
	// the first leg.
	Signature string
	RequestID string
}

// Fingerprint returns a hash of the method, the path with its query, and the body. Both legs of a request
// have the same.
func (c Call) Fingerprint() [sha256.Size]byte {
	all := make([]byte, 0, 256)
	for _, part := range []string{c.Method, c.Path} {
		all = append(binary.BigEndian.AppendUint64(all, uint64(len(part))), part...)
	}
	return sha256.Sum256(append(all, c.BodyHash[:]...))
}
