package apptest

import (
	"context"
	ecdsap256 "crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"causeway/adapters/postgres"
	"causeway/adapters/rails/chain"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/wallet"
	"causeway/ports"
)

// Chain is the simulated chain for every platform. A call that a test sets is made instead.
type Chain struct {
	OnDebit  func(context.Context, []ports.WalletTransfer) []ports.Outcome
	OnCredit func(context.Context, []ports.WalletCredit) []ports.Outcome
	// Missing: no chain is connected.
	Missing error
	// Via is how payments move; nil for the simulated chain.
	Via *wallet.Settlement
}

var (
	_ ports.WalletChain  = (*Chain)(nil)
	_ ports.WalletChains = (*Chain)(nil)
	_ ports.Custody      = Custody{}
)

// ChainFor returns the chain itself, unless it is missing.
func (c *Chain) ChainFor(ident.Platform) (ports.WalletChain, error) {
	if c.Missing != nil {
		return nil, c.Missing
	}
	return c, nil
}

// Settlement returns how payments move.
func (c *Chain) Settlement(context.Context) (*wallet.Settlement, error) { return c.Via, nil }

// Debit calls OnDebit, or the simulated chain.
func (c *Chain) Debit(ctx context.Context, transfers []ports.WalletTransfer) []ports.Outcome {
	return call(ctx, c.OnDebit, chain.Chain{}.Debit, transfers)
}

// Credit calls OnCredit, or the simulated chain.
func (c *Chain) Credit(ctx context.Context, credits []ports.WalletCredit) []ports.Outcome {
	return call(ctx, c.OnCredit, chain.Chain{}.Credit, credits)
}

// Custody signs with a key that follows from the id of the account. It opens no sessions, and exports
// nothing.
type Custody struct{ ports.Custody }

// WalletKey returns the public key of a wallet.
func (Custody) WalletKey(_ context.Context, w ports.WalletID) (wallet.Key, error) {
	return wallet.Key(walletKey(w).PubKey().SerializeCompressed()), nil
}

// Sign signs a statement with the key of a wallet.
func (c Custody) Sign(ctx context.Context, w ports.WalletID, statement string) (wallet.Certificate, error) {
	key, err := c.WalletKey(ctx, w)
	digest := sha256.Sum256([]byte(statement))
	return wallet.Certificate{Statement: statement, Key: key, Signature: ecdsa.Sign(walletKey(w), digest[:]).Serialize()}, err
}

func walletKey(w ports.WalletID) *secp256k1.PrivateKey {
	digest := sha256.Sum256([]byte(w.Platform.String() + w.Account.String()))
	return secp256k1.PrivKeyFromBytes(digest[:])
}

// WalletSession is an active session of a wallet with its private key.
type WalletSession struct {
	wallet.Session
	private *ecdsap256.PrivateKey
}

// NewWalletSession opens a session of a wallet, which the wallet certifies.
func (e *Env) NewWalletSession(a account.Internal) WalletSession {
	e.t.Helper()
	private, err := ecdsap256.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		e.t.Fatal(err)
	}
	now := e.Clock.Now()
	s := WalletSession{private: private, Session: wallet.Session{ID: ident.NewSession(e.IDs.New, now), Platform: a.Platform, Account: a.ID,
		Credential: ident.NewAuthMethod(e.IDs.New, now),
		Type:       wallet.EmailOTP, PublicKey: wallet.SessionKey(elliptic.MarshalCompressed(elliptic.P256(), private.X, private.Y)),
		CreatedAt: now, UpdatedAt: now, ExpiresAt: now.Add(wallet.SessionLifetime)}}
	if s.Certificate, err = e.Custody.Sign(e.t.Context(), ports.WalletID{Platform: a.Platform, Account: a.ID}, s.Statement()); err != nil {
		e.t.Fatal(err)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.SaveWallet(ctx, wallet.Change{Sessions: []wallet.Session{s.Session}})
	})
	return s
}

// Sign returns the header Service-Wallet-Signature over a payload: the base64 text of the signature in DER.
func (s WalletSession) Sign(t testing.TB, payload string) string {
	t.Helper()
	digest := sha256.Sum256([]byte(payload))
	der, err := ecdsap256.SignASN1(rand.Reader, s.private, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(der)
}

// Revoke ends a session.
func (e *Env) Revoke(s WalletSession) {
	e.t.Helper()
	s.RevokedAt, s.UpdatedAt = e.Clock.Now(), e.Clock.Now()
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.SaveWallet(ctx, wallet.Change{Sessions: []wallet.Session{s.Session}})
	})
}

// Signatures are the proofs of customers, of which only signatures are checked, as in production.
type Signatures struct {
	ports.WalletProofs
	// TestValue is accepted as a signature without a session; empty for none.
	TestValue string
}

// CheckSignature returns the session that made a signature.
func (s Signatures) CheckSignature(payload, signature string, sessions []wallet.Session) (wallet.Session, error) {
	if s.TestValue != "" && signature == s.TestValue {
		return wallet.Session{}, nil
	}
	return wallet.Signer(payload, signature, sessions)
}
