package sandbox

import "causeway/core/account"

// The test values of embedded wallets. Each stands for a valid proof; any other value is invalid.
const (
	// WalletCode is every one-time code.
	WalletCode = "000000"
	// SCACode is every code of strong customer authentication.
	SCACode = "123456"
	// WalletPasskeySignature is the signature of an assertion, in place of the base64url text.
	WalletPasskeySignature = "sandbox-valid-passkey-signature"
	// WalletIDToken is an ID token when a credential is verified.
	WalletIDToken = "sandbox-valid-oidc-token"
	// WalletSignature is the header Service-Wallet-Signature, and the signature that proves who owns an external wallet.
	WalletSignature = "sandbox-valid-signature"
)

// LivenessLink is the beginning of the links of liveness checks, which nobody has to open.
const LivenessLink = "https://sandbox.example.com/liveness/"

// failedLivenessSuffix is the suffix of addresses of wallets whose owners fail a liveness check.
const failedLivenessSuffix = "008"

// LivenessOutcome returns the verdict about the owner of a wallet with the address.
func LivenessOutcome(address string) account.LivenessVerdict {
	if suffix(address) == failedLivenessSuffix {
		return account.LivenessFailed
	}
	return account.LivenessPassed
}
