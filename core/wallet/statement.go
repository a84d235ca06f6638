package wallet

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"causeway/core/ident"
)

// sessionStatement has the fields in a fixed order and no spaces, so that there is one text for a session.
const sessionStatement = `{"type":"SESSION","version":1,"sessionId":"%s","accountId":"%s","credentialId":"%s","credentialType":"%s","publicKey":"%x","createdAt":"%s","expiresAt":"%s"}`

// Statement returns what the key of the wallet signs when it opens the session: that a credential opened
// it, for a public key and for how long.
func (s Session) Statement() string {
	return fmt.Sprintf(sessionStatement, s.ID, s.Account, s.Credential, s.Type, s.PublicKey,
		s.CreatedAt.UTC().Format(time.RFC3339Nano), s.ExpiresAt.UTC().Format(time.RFC3339Nano))
}

// ErrNoStatement is the error for a text that Session.Statement does not return.
var ErrNoStatement = errors.New("not the statement of a session")

// ParseStatement returns the session of a statement: what the statement says of it. Any text that differs
// from the statement of that session in a single byte is refused with ErrNoStatement.
func ParseStatement(text string) (Session, error) {
	var fields struct{ SessionID, AccountID, CredentialID, CredentialType, PublicKey, CreatedAt, ExpiresAt string }
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return Session{}, fmt.Errorf("%w: %w", ErrNoStatement, err)
	}
	var s Session
	var failed [6]error
	var key []byte
	s.ID, failed[0] = ident.ParseSession(fields.SessionID)
	s.Account, failed[1] = ident.ParseInternalAccount(fields.AccountID)
	s.Credential, failed[2] = ident.ParseAuthMethod(fields.CredentialID)
	key, failed[3] = hex.DecodeString(fields.PublicKey)
	s.CreatedAt, failed[4] = time.Parse(time.RFC3339Nano, fields.CreatedAt)
	s.ExpiresAt, failed[5] = time.Parse(time.RFC3339Nano, fields.ExpiresAt)
	if err := errors.Join(failed[:]...); err != nil {
		return Session{}, fmt.Errorf("%w: %w", ErrNoStatement, err)
	}
	copy(s.PublicKey[:], key)
	switch s.Type = CredentialType(fields.CredentialType); {
	case !slices.Contains(CredentialTypes, s.Type):
		return Session{}, fmt.Errorf("%w: unknown type of credential", ErrNoStatement)
	case s.Statement() != text:
		return Session{}, ErrNoStatement
	}
	return s, nil
}
