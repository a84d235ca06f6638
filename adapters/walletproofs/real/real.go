// Package real checks the proofs of customers of production platforms: signatures, passkeys (WebAuthn level
// 3) and ID tokens (OpenID Connect Core 1.0). Its only requests are for the keys of the providers of ID
// tokens.
//
// Everything that it checks is in what the client presents and in the arguments. That a code, a challenge or
// a token is used once is for its callers to check.
package real

import (
	"crypto/rand"
	"math/big"
	"net/http"
	"slices"
	"time"

	"causeway/core/fault"
	"causeway/core/wallet"
	"causeway/ports"
)

// Options are the settings of Proofs.
type Options struct {
	// Issuers are the providers whose ID tokens are accepted; each is valid for CheckIssuer.
	Issuers []string
	// Transport sends the requests to providers. Nil means a transport of its own.
	Transport http.RoundTripper
	// Timeout is the maximum duration of reading the keys of a provider. Zero means 5 seconds.
	Timeout time.Duration
}

// Proofs implements ports.WalletProofs.
type Proofs struct{ issuers map[string]*issuer }

var _ ports.WalletProofs = (*Proofs)(nil)

// New returns the proofs of production.
func New(o Options) *Proofs {
	if o.Transport == nil {
		o.Transport = newTransport()
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Second
	}
	p := &Proofs{issuers: map[string]*issuer{}}
	for _, url := range o.Issuers {
		p.issuers[url] = &issuer{url: url, transport: o.Transport, timeout: o.Timeout, fetching: make(chan struct{}, 1)}
	}
	return p
}

// The characters of codes. Letters and digits that look alike are left out of the second.
const (
	digits       = "0123456789"
	alphanumeric = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
)

// NewCode returns a code in which every character is as likely as every other.
func (*Proofs) NewCode(length int, withLetters bool) (string, error) {
	characters := digits
	if withLetters {
		characters = alphanumeric
	}
	code := make([]byte, length)
	for i := range code {
		index, err := rand.Int(rand.Reader, big.NewInt(int64(len(characters))))
		if err != nil {
			return "", err
		}
		code[i] = characters[index.Int64()]
	}
	return string(code), nil
}

// AcceptsTestCode returns false.
func (*Proofs) AcceptsTestCode(string) bool { return false }

// AcceptsTestSignature returns false.
func (*Proofs) AcceptsTestSignature(string) bool { return false }

// NewSCACode returns a code of digits.
func (p *Proofs) NewSCACode(length int) (string, error) { return p.NewCode(length, false) }

// AcceptsSCATestCode returns false.
func (*Proofs) AcceptsSCATestCode(string) bool { return false }

// CheckSignature returns the session whose key signed the payload.
func (*Proofs) CheckSignature(payload, signature string, sessions []wallet.Session) (wallet.Session, error) {
	return wallet.Signer(payload, signature, sessions)
}

// notConfigured returns the fault of a proof for which a setting of the platform is missing.
func notConfigured(setting, what string) error {
	return fault.New(fault.InvalidInput, "The platform accepts no %s yet: set embeddedWalletConfig.%s with PATCH /config.", what, setting)
}

// sortedIssuers returns the issuers for messages.
func (p *Proofs) sortedIssuers() []string {
	issuers := make([]string, 0, len(p.issuers))
	for url := range p.issuers {
		issuers = append(issuers, url)
	}
	slices.Sort(issuers)
	return issuers
}
