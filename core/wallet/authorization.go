package wallet

import (
	"crypto/sha256"
	"fmt"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
)

// Authorization is the evidence that the owner of a wallet authorised a payment. Who knows the key of the
// wallet checks it without asking anybody: the key certifies the session, and the key of the session
// signed the payload.
type Authorization struct {
	Platform    ident.Platform
	Transaction ident.Transaction
	Account     ident.InternalAccount
	// Payload is the text that was signed, byte for byte.
	Payload string
	// Signature is the header Service-Wallet-Signature, in either of its forms.
	Signature string
	// Session, SessionKey and Certificate are those of the session that signed. They are zero on sandbox
	// platforms for a test value without a session.
	Session     ident.Session
	SessionKey  SessionKey
	Certificate Certificate
	SignedAt    time.Time
}

// NewAuthorization returns the evidence of a payment whose payload a session signed. It is of the first
// millisecond of the session, which timelines show, if the clock of the process that opened it was ahead.
func NewAuthorization(p ident.Platform, t ident.Transaction, account ident.InternalAccount, payload, signature string, s Session,
	now time.Time) Authorization {
	if first := s.CreatedAt.Add(time.Millisecond - 1).Truncate(time.Millisecond); now.Before(first) {
		now = first
	}
	return Authorization{Platform: p, Transaction: t, Account: account, Payload: payload, Signature: signature,
		Session: s.ID, SessionKey: s.PublicKey, Certificate: s.Certificate, SignedAt: now}
}

// SignatureForm is the form of a signature.
type SignatureForm string

// The forms of a signature.
const (
	FormDER       SignatureForm = "DER"
	FormStamp     SignatureForm = "STAMP"
	FormTestValue SignatureForm = "TEST_VALUE"
)

// Form returns the form of the signature.
func (a Authorization) Form() SignatureForm {
	switch parsed, err := ParseSignature(a.Signature); {
	case err != nil:
		return FormTestValue
	case parsed.Key == (SessionKey{}):
		return FormDER
	default:
		return FormStamp
	}
}

// Verify returns an error unless the key of a wallet proves the payment: it certified the session, the
// session was active at the time of the payment, and its key signed the payload.
func (a Authorization) Verify(key Key) error {
	if a.Certificate.Key != key {
		return fmt.Errorf("the session was certified by the key %x, and not by that of the wallet, %x", a.Certificate.Key, key)
	}
	session, err := a.Certificate.VerifyPayload(a.Payload, a.Signature, a.SignedAt)
	switch {
	case err != nil:
		return err
	case session.PublicKey != a.SessionKey || session.ID != a.Session:
		return fmt.Errorf("the wallet certified %s with the key %x, and not %s with the key %x", session.ID, session.PublicKey,
			a.Session, a.SessionKey)
	case session.Account != a.Account:
		return fmt.Errorf("the session is of the wallet %s, and not of %s", session.Account, a.Account)
	}
	return nil
}

// Transfer is a transfer from a wallet on its chain.
type Transfer struct {
	Transaction ident.Transaction
	Account     ident.InternalAccount
	Amount      money.Amount
	// Network is the chain.
	Network string
	// Payload is what the owner of the wallet signed.
	Payload string
}

// Statement returns what the key of the wallet signs for the chain: canonical JSON, with the fields in a
// fixed order and no spaces. It names the payload by its hash.
func (t Transfer) Statement() string {
	return fmt.Sprintf(
		`{"type":"TRANSFER","version":1,"transactionId":"%s","accountId":"%s","network":"%s","currency":"%s","amount":%d,"payloadSha256":"%x"}`,
		t.Transaction, t.Account, t.Network, t.Amount.Currency, t.Amount.Minor, sha256.Sum256([]byte(t.Payload)))
}
