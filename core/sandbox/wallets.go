package sandbox

// The test values of embedded wallets. Each stands for a valid proof; any other value is invalid.
const (
	// WalletCode is every one-time code.
	WalletCode = "000000"
	// WalletPasskeySignature is the signature of an assertion, in place of the base64url text.
	WalletPasskeySignature = "sandbox-valid-passkey-signature"
	// WalletIDToken is an ID token when a credential is verified.
	WalletIDToken = "sandbox-valid-oidc-token"
	// WalletSignature is the header Service-Wallet-Signature.
	WalletSignature = "sandbox-valid-signature"
)
