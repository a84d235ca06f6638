package ports

import (
	"context"

	"causeway/core/ethereum"
	"causeway/core/ident"
	"causeway/core/wallet"
)

// Custody keeps the keys of embedded wallets. A private key leaves it only sealed to a key of the
// customer's client, so no other part of the service can sign for a wallet or read its words. It may take
// milliseconds or ask another service, so it is not called inside a unit of work. portstest.Custody tests
// an adapter.
type Custody interface {
	// WalletKey returns the public key of a wallet, and makes its key pair at the first call. Concurrent
	// calls return the same key.
	WalletKey(ctx context.Context, w WalletID) (wallet.Key, error)
	// Sign signs a statement with the key of a wallet, made at the first call.
	Sign(ctx context.Context, w WalletID, statement string) (wallet.Certificate, error)
	// Address returns the address of a wallet on chains like Ethereum, made at the first call. It follows from the words at
	// m/44'/60'/0'/0/0, as in other wallets.
	Address(ctx context.Context, w WalletID) (ethereum.Address, error)
	// SignTransfer signs, with the key of the address of a wallet, the transfer that the payload of an authorisation says. It returns
	// an error, and signs nothing, unless the key of the wallet proves that its owner has signed that payload. The same payload
	// is the same transfer, which a chain takes once: permits and transactions are numbered, and a payload that was signed with one
	// number is never signed with another, and first before the end of its time (wallet.ErrTooLate). The terms that were signed are
	// returned.
	SignTransfer(ctx context.Context, w WalletID, a wallet.Authorization, terms wallet.Terms) (wallet.SignedTransfer, error)
	// NewSessionKey makes a key pair for a session. The private key is sealed to the client's key and kept
	// nowhere.
	NewSessionKey(ctx context.Context, client wallet.ClientKey) (SealedSessionKey, error)
	// OTPTarget returns the key, one for each wallet, to which clients encrypt one-time codes: the JSON text of an envelope as that of
	// an export, which the key of the wallet signs. It is otpEncryptionTargetBundle.
	OTPTarget(ctx context.Context, w WalletID) (string, error)
	// OpenOTP decrypts what a client has encrypted to OTPTarget; or returns INVALID_INPUT.
	OpenOTP(ctx context.Context, w WalletID, sealed wallet.SealedOTP) (wallet.OTPAttempt, error)
	// Export returns the words (BIP-39) of a wallet, sealed to the client's key: the JSON text of the
	// export envelope.
	Export(ctx context.Context, w WalletID, client wallet.ClientKey) (string, error)
}

// WalletID identifies a wallet.
type WalletID struct {
	Platform ident.Platform
	Account  ident.InternalAccount
}

// SealedSessionKey is the key pair of a session.
type SealedSessionKey struct {
	Public wallet.SessionKey
	// Encrypted is the private key (32 bytes) sealed to the client's key by HPKE (RFC 9180) in base mode,
	// with DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM, without info and associated data; in
	// base58check, the encapsulated key compressed (33 bytes) and the ciphertext after it.
	Encrypted string
}
