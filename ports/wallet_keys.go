package ports

import (
	"context"
	"crypto/sha256"
	"time"

	"causeway/core/wallet"
)

// WalletKeyStore stores the keys of wallets for an adapter of Custody. It encrypts the entropy, bound to
// its wallet, and refuses to store it otherwise. It is not called inside a unit of work.
type WalletKeyStore interface {
	// WalletKey returns the public key of a wallet; zero if it has none.
	WalletKey(ctx context.Context, w WalletID) (wallet.Key, error)
	// WalletEntropy returns what the key of a wallet was made from, and its public key; nil if it has none.
	// The caller overwrites the entropy after use.
	WalletEntropy(ctx context.Context, w WalletID) (entropy []byte, key wallet.Key, err error)
	// AddWalletKey stores the key of a wallet unless it has one, and returns the public key that it then
	// has. Concurrent calls return the same key. It keeps no reference to the entropy.
	AddWalletKey(ctx context.Context, w WalletID, key wallet.Key, entropy []byte) (wallet.Key, error)
	// FixTransferNonce returns the nonce of the transfer of a payload, which is the given one if it has none yet. It never changes. From
	// the end of its time on, a payload that has none gets wallet.ErrTooLate.
	FixTransferNonce(ctx context.Context, w WalletID, payload [sha256.Size]byte, nonce uint64, end time.Time) (fixed uint64, err error)
}
