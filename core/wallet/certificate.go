package wallet

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

// The errors of a certificate and of what a session signed.
var (
	ErrNotSignedByWallet  = errors.New("the key of the wallet did not sign the statement")
	ErrNotSignedBySession = errors.New("the key of the session did not sign the text")
	ErrSessionNotActive   = errors.New("the session was not active at that time")
)

// Verify returns an error unless the key of the wallet signed the statement, whatever that says.
func (c Certificate) Verify() error {
	key, err := secp256k1.ParsePubKey(c.Key[:])
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSignedByWallet, err)
	}
	signature, err := ecdsa.ParseDERSignature(c.Signature)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSignedByWallet, err)
	}
	if hash := sha256.Sum256([]byte(c.Statement)); !signature.Verify(hash[:], key) {
		return ErrNotSignedByWallet
	}
	return nil
}

// Session returns the session for which the wallet made the certificate: what the statement says of it. The
// error is ErrNotSignedByWallet or ErrNoStatement.
func (c Certificate) Session() (Session, error) {
	if err := c.Verify(); err != nil {
		return Session{}, err
	}
	return ParseStatement(c.Statement)
}

// VerifyPayload returns the session that signed a payload at a time, as the key of the wallet alone proves:
// it signed the certificate of the session, and the key of the session signed the payload. signature is the
// text of the header Service-Wallet-Signature.
func (c Certificate) VerifyPayload(payload, signature string, at time.Time) (Session, error) {
	session, err := c.Session()
	if err != nil {
		return Session{}, err
	}
	parsed, err := ParseSignature(signature)
	switch {
	case err != nil:
		return Session{}, fmt.Errorf("%w: %w", ErrNotSignedBySession, err)
	case !parsed.VerifiedBy(session.PublicKey, payload):
		return Session{}, ErrNotSignedBySession
	case at.Before(session.CreatedAt) || !at.Before(session.ExpiresAt):
		return Session{}, fmt.Errorf("%w: it lasted from %s to %s", ErrSessionNotActive, session.CreatedAt.Format(time.RFC3339),
			session.ExpiresAt.Format(time.RFC3339))
	}
	return session, nil
}
