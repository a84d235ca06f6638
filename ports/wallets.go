package ports

import (
	"context"
	"crypto/sha256"
	"time"

	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/wallet"
)

// WalletWriter changes embedded wallets.
type WalletWriter interface {
	// LockWallet returns the stored credentials of a wallet and the sessions that are active at a time. Nobody
	// else changes them until the unit of work ends. For an unknown account it returns
	// INTERNAL_ACCOUNT_NOT_FOUND.
	LockWallet(ctx context.Context, w WalletID, now time.Time) (wallet.Wallet, error)
	// SaveWallet stores the credentials and sessions of a change of a locked wallet.
	SaveWallet(ctx context.Context, c wallet.Change) error
	// LockWalletSessions returns those of the sessions that exist, and keeps them from being ended until the
	// unit of work ends.
	LockWalletSessions(ctx context.Context, p ident.Platform, ids []ident.Session) (map[ident.Session]wallet.Session, error)
	// LockWalletCode returns the latest code of a credential, or a code without a hash.
	LockWalletCode(ctx context.Context, p ident.Platform, id ident.AuthMethod) (wallet.Code, error)
	// SaveWalletCode stores the latest code of a credential.
	SaveWalletCode(ctx context.Context, c wallet.Code) error
	CreatePasskeyChallenge(ctx context.Context, c wallet.PasskeyChallenge) error
	// LockPasskeyChallenge returns a challenge, or UNAUTHORIZED with the reason "Invalid Request-Id".
	LockPasskeyChallenge(ctx context.Context, p ident.Platform, id ident.SignedRequest) (wallet.PasskeyChallenge, error)
	// UsePasskeyChallenge writes when a locked challenge was used.
	UsePasskeyChallenge(ctx context.Context, c wallet.PasskeyChallenge) error
	// UseOnce reports whether a challenge or token, by its hash, is used for the first time, and remembers it
	// at least until a time.
	UseOnce(ctx context.Context, p ident.Platform, hash [sha256.Size]byte, until time.Time) (bool, error)
	CreateSignedRequest(ctx context.Context, r wallet.SignedRequest) error
	// LockSignedRequest returns a request, or UNAUTHORIZED with the reason "Invalid Request-Id".
	LockSignedRequest(ctx context.Context, p ident.Platform, id ident.SignedRequest) (wallet.SignedRequest, error)
	// UseSignedRequest writes when a locked request was used.
	UseSignedRequest(ctx context.Context, r wallet.SignedRequest) error
	// RecordExport stores for ever that the words of a wallet were given to the customer.
	RecordExport(ctx context.Context, e wallet.Export) error
	// UpdateInternalAccount writes the settings of an account that can change.
	UpdateInternalAccount(ctx context.Context, a account.Internal) error
}

// WalletReader reads embedded wallets.
type WalletReader interface {
	// Wallet returns the stored credentials of a wallet and the sessions that are active at a time; an empty
	// wallet for an account of another platform or without either.
	Wallet(ctx context.Context, w WalletID, now time.Time) (wallet.Wallet, error)
	// WalletCredential returns a credential, also a revoked one, or CREDENTIAL_NOT_FOUND: the default
	// credential of a wallet may not be stored.
	WalletCredential(ctx context.Context, p ident.Platform, id ident.AuthMethod) (wallet.Credential, error)
	// WalletSession returns a session without its nickname, also one that has ended, or SESSION_NOT_FOUND.
	WalletSession(ctx context.Context, p ident.Platform, id ident.Session) (wallet.Session, error)
	// ActiveWalletSessions returns the sessions of a wallet that are active at a time, oldest first, without
	// their nicknames.
	ActiveWalletSessions(ctx context.Context, w WalletID, now time.Time) ([]wallet.Session, error)
	// OtherWalletWithEmail reports whether codes for another wallet of the platform are sent to an address.
	// Default credentials that are not stored are not searched.
	OtherWalletWithEmail(ctx context.Context, w WalletID, email string) (bool, error)
	// WalletCodeHash returns the keyed hash of a code of a credential. The stored hash does not tell the code
	// to who has the database alone.
	WalletCodeHash(ctx context.Context, p ident.Platform, id ident.AuthMethod, code string) (wallet.CodeHash, error)
	// PasskeyChallenge and SignedRequest return UNAUTHORIZED with the reason "Invalid Request-Id" if there is
	// none.
	PasskeyChallenge(ctx context.Context, p ident.Platform, id ident.SignedRequest) (wallet.PasskeyChallenge, error)
	SignedRequest(ctx context.Context, p ident.Platform, id ident.SignedRequest) (wallet.SignedRequest, error)
	// WasUsed reports whether UseOnce was called for a hash.
	WasUsed(ctx context.Context, p ident.Platform, hash [sha256.Size]byte) (bool, error)
	// WalletExports returns the exports of a wallet, oldest first.
	WalletExports(ctx context.Context, w WalletID) ([]wallet.Export, error)
}
