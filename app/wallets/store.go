package wallets

import (
	"context"
	"time"

	"causeway/app/internal/mails"
	"causeway/app/internal/signedrequests"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ledger"
	"causeway/ports"
)

// Store reads embedded wallets.
type Store interface {
	signedrequests.Store
	Customer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	InternalAccount(ctx context.Context, p ident.Platform, id ident.InternalAccount) (account.Internal, error)
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	// StoredResponses returns the stored responses, one per key; nil if there is none.
	StoredResponses(ctx context.Context, keys []ports.IdempotencyKey) ([]*ports.StoredResponse, error)
	// Wallet returns the stored credentials of a wallet and the sessions that are active at a time; an empty
	// wallet for an account of another platform or without either.
	Wallet(ctx context.Context, w ports.WalletID, now time.Time) (wallet.Wallet, error)
	// WalletKey returns the public key of a wallet, which is zero until it is first needed.
	WalletKey(ctx context.Context, w ports.WalletID) (wallet.Key, error)
	// WalletExports returns when the words of a wallet were exported, oldest first.
	WalletExports(ctx context.Context, w ports.WalletID) ([]wallet.Export, error)
	// WalletCredential returns a credential, also a revoked one, or CREDENTIAL_NOT_FOUND: the default
	// credential of a wallet may not be stored.
	WalletCredential(ctx context.Context, p ident.Platform, id ident.AuthMethod) (wallet.Credential, error)
	// WalletSession returns a session without its nickname, also one that has ended, or SESSION_NOT_FOUND.
	WalletSession(ctx context.Context, p ident.Platform, id ident.Session) (wallet.Session, error)
	// WalletCodeHash returns the keyed hash of a code of a credential. The stored hash does not tell the code
	// to who has the database alone.
	WalletCodeHash(ctx context.Context, p ident.Platform, id ident.AuthMethod, code string) (wallet.CodeHash, error)
	// PasskeyChallenge and SignedRequest return UNAUTHORIZED with the reason "Invalid Request-Id" if there is
	// none.
	PasskeyChallenge(ctx context.Context, p ident.Platform, id ident.SignedRequest) (wallet.PasskeyChallenge, error)
	// WasUsed reports whether UseOnce was called for a hash.
	WasUsed(ctx context.Context, p ident.Platform, hash [32]byte) (bool, error)
}

// Tx changes embedded wallets.
type Tx interface {
	mails.Tx
	signedrequests.Tx
	LockCustomer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	LockWallet(ctx context.Context, w ports.WalletID, now time.Time) (wallet.Wallet, error)
	SaveWallet(ctx context.Context, c wallet.Change) error
	LockWalletCode(ctx context.Context, p ident.Platform, id ident.AuthMethod) (wallet.Code, error)
	SaveWalletCode(ctx context.Context, c wallet.Code) error
	CreatePasskeyChallenge(ctx context.Context, c wallet.PasskeyChallenge) error
	// LockPasskeyChallenge returns a challenge, or UNAUTHORIZED with the reason "Invalid Request-Id".
	LockPasskeyChallenge(ctx context.Context, p ident.Platform, id ident.SignedRequest) (wallet.PasskeyChallenge, error)
	// UsePasskeyChallenge writes when a locked challenge was used.
	UsePasskeyChallenge(ctx context.Context, c wallet.PasskeyChallenge) error
	// UseOnce reports whether a challenge or token, by its hash, is used for the first time, and remembers it
	// at least until a time.
	UseOnce(ctx context.Context, p ident.Platform, hash [32]byte, until time.Time) (bool, error)
	// RecordExport stores for ever that the words of a wallet were given to the customer.
	RecordExport(ctx context.Context, e wallet.Export) error
	// UpdateInternalAccount writes the settings of an account that can change.
	UpdateInternalAccount(ctx context.Context, a account.Internal) error
}

// LedgerReader reads committed postings and balances.
type LedgerReader interface {
	// Balances returns the present balance of each account, in minor units with the sign
	// of its class; zero for an account never posted to.
	Balances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]int64, error)
}
