package platform

import "time"

// Wallets are the settings of a platform for the embedded wallets of its customers.
type Wallets struct {
	// AppName is the name of the platform's app in e-mails; empty for the name of the platform.
	AppName string
	// CodeLength is the number of characters of a one-time code. AlphanumericCodes have capital letters too.
	CodeLength        int
	AlphanumericCodes bool
	CodeLifetime      time.Duration
	// FromAddress and FromName are the sender of e-mails; an empty address is that of the service. ReplyTo
	// may be empty.
	FromAddress string
	FromName    string
	ReplyTo     string
	// LogoURL is a PNG image for e-mails; it may be empty.
	LogoURL string
	// PasskeyRPID is the relying party id of passkeys: the domain of the platform's app, such as
	// "example.com" (WebAuthn level 3). PasskeyOrigins are the pages and apps that may use them, such as
	// "https://app.example.com".
	PasskeyRPID    string
	PasskeyOrigins []string
	// OAuthClientIDs are the ids of the platform's app at the providers: the audiences of ID tokens that
	// are accepted.
	OAuthClientIDs []string
}

// DefaultWallets returns the settings of a platform that has set none.
func DefaultWallets() Wallets {
	return Wallets{CodeLength: 6, CodeLifetime: 5 * time.Minute, FromName: "Notifications"}
}
