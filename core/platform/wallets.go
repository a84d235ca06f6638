package platform

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"causeway/core/fault"
	"causeway/core/party"
)

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
	// "https://app.example.com", as browsers write them. Without both, no passkey can be used.
	PasskeyRPID    string
	PasskeyOrigins []string
	// OAuthClientIDs are the ids of the platform's app at the providers: the audiences of ID tokens that
	// are accepted.
	OAuthClientIDs []string
}

// DefaultWallets returns the settings of a platform that has set none.
func DefaultWallets() Wallets {
	return Wallets{CodeLength: defaultCodeLength, CodeLifetime: defaultCodeLifetime, FromName: defaultFromName}
}

const (
	defaultCodeLength   = 6
	defaultCodeLifetime = 5 * time.Minute
	defaultFromName     = "Notifications"

	// MinCodeLength and MaxCodeLength bound the characters of a one-time code.
	MinCodeLength, MaxCodeLength = 4, 12
	// minProductionCodeLength is the shortest code of customers: a shorter one can be guessed.
	minProductionCodeLength = 6
	// MaxCodeLifetime is the longest validity of a one-time code.
	MaxCodeLifetime = 24 * time.Hour

	maxWalletName      = 255 // characters
	maxLogoURL         = 512
	maxPasskeyOrigins  = 20
	maxOAuthClientIDs  = 20
	maxOAuthClientID   = 255 // bytes
	androidOrigin      = "android:apk-key-hash:"
	localRelyingParty  = "localhost"
	embeddedWalletPath = "embeddedWalletConfig."
)

// WalletSettings returns the settings for embedded wallets that hold for the platform: those of Wallets,
// or the defaults. AppName is never empty.
func (p Platform) WalletSettings() Wallets {
	w := DefaultWallets()
	if p.Wallets != nil {
		w = *p.Wallets
	}
	if w.AppName == "" {
		w.AppName = p.Name
	}
	w.CodeLength = max(w.CodeLength, minCodeLength(p.Environment)) // an earlier version of this program has allowed shorter ones
	return w
}

// minCodeLength returns the fewest characters of a one-time code.
func minCodeLength(e Environment) int {
	if e == Production {
		return minProductionCodeLength
	}
	return MinCodeLength
}

// WalletsChange is a partial update of Wallets; nil does not change a setting, and a zero value sets its
// default.
type WalletsChange struct {
	AppName           *string
	CodeLength        *int
	AlphanumericCodes *bool
	CodeLifetime      *time.Duration
	FromAddress       *string
	FromName          *string
	ReplyTo           *string
	LogoURL           *string
	PasskeyRPID       *string
	PasskeyOrigins    *[]string
	OAuthClientIDs    *[]string
}

// applyWallets returns the settings after a change, and every invalid field.
func (p Platform) applyWallets(c WalletsChange) (*Wallets, []fault.Field) {
	w := DefaultWallets()
	if p.Wallets != nil {
		w = *p.Wallets
	}
	set(&w.AppName, c.AppName)
	set(&w.CodeLength, c.CodeLength)
	set(&w.AlphanumericCodes, c.AlphanumericCodes)
	set(&w.CodeLifetime, c.CodeLifetime)
	set(&w.FromAddress, c.FromAddress)
	set(&w.FromName, c.FromName)
	set(&w.ReplyTo, c.ReplyTo)
	set(&w.LogoURL, c.LogoURL)
	set(&w.PasskeyRPID, c.PasskeyRPID)
	if c.PasskeyOrigins != nil {
		w.PasskeyOrigins = slices.Clone(*c.PasskeyOrigins)
	}
	if c.OAuthClientIDs != nil {
		w.OAuthClientIDs = slices.Clone(*c.OAuthClientIDs)
	}
	w.setDefaults()
	bad := w.checkMails()
	if lowest := minCodeLength(p.Environment); c.CodeLength != nil && (w.CodeLength < lowest || w.CodeLength > MaxCodeLength) {
		bad = append(bad, fault.Field{Field: embeddedWalletPath + "otpLength", Message: fmt.Sprintf("must be between %d and %d",
			lowest, MaxCodeLength),
			Constraint: map[string]any{"minimum": lowest, "maximum": MaxCodeLength}})
	}
	if c.PasskeyRPID != nil || c.PasskeyOrigins != nil {
		bad = append(bad, w.checkPasskeys(p.Environment)...)
	}
	return &w, append(bad, w.checkOAuthClientIDs()...)
}

func set[T any](setting, value *T) {
	if value != nil {
		*setting = *value
	}
}

// setDefaults replaces zero values by the defaults.
func (w *Wallets) setDefaults() {
	if w.CodeLength == 0 {
		w.CodeLength = defaultCodeLength
	}
	if w.CodeLifetime == 0 {
		w.CodeLifetime = defaultCodeLifetime
	}
	if w.FromName == "" {
		w.FromName = defaultFromName
	}
}

// checkMails returns the invalid fields of codes and e-mails.
func (w *Wallets) checkMails() (bad []fault.Field) {
	refuse := func(field, message string) {
		bad = append(bad, fault.Field{Field: embeddedWalletPath + field, Message: message})
	}
	if w.CodeLifetime < time.Second || w.CodeLifetime > MaxCodeLifetime {
		refuse("expirationSeconds", fmt.Sprintf("must be between 1 and %d", MaxCodeLifetime/time.Second))
	}
	for field, name := range map[string]string{"appName": w.AppName, "sendFromEmailSenderName": w.FromName} {
		if name != "" && !isWalletName(name) {
			refuse(field, fmt.Sprintf("must be one line of at most %d characters with no control characters", maxWalletName))
		}
	}
	for field, address := range map[string]string{"sendFromEmailAddress": w.FromAddress, "replyToEmailAddress": w.ReplyTo} {
		if address != "" && !party.IsEmail(address) {
			refuse(field, "must be an e-mail address such as notifications@example.com")
		}
	}
	if w.LogoURL != "" && !isLogoURL(w.LogoURL) {
		refuse("logoUrl", fmt.Sprintf("must be the https URL of a PNG image, of at most %d characters, such as https://example.com/logo.png",
			maxLogoURL))
	}
	slices.SortFunc(bad, func(a, b fault.Field) int { return strings.Compare(a.Field, b.Field) })
	return bad
}

// isWalletName reports whether a name can be shown in the header and the text of an e-mail.
func isWalletName(name string) bool {
	// Other format characters could show a name in another order than it is written.
	hidden := func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
	}
	return utf8.ValidString(name) && utf8.RuneCountInString(name) <= maxWalletName && strings.TrimSpace(name) == name &&
		!strings.ContainsFunc(name, hidden)
}

func isLogoURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && len(text) <= maxLogoURL
}

// checkPasskeys returns the invalid fields of passkeys, and writes the origins as browsers do.
func (w *Wallets) checkPasskeys(environment Environment) (bad []fault.Field) {
	refuse := func(field, message string) {
		bad = append(bad, fault.Field{Field: embeddedWalletPath + field, Message: message})
	}
	knownRPID := w.PasskeyRPID != "" && isRelyingParty(w.PasskeyRPID, environment)
	if w.PasskeyRPID != "" && !knownRPID {
		refuse("passkeyRpId", "must be a domain in lower case, such as example.com, without a scheme and a port; sandbox platforms may also "+
			"use localhost")
	}
	if len(w.PasskeyOrigins) > maxPasskeyOrigins {
		refuse("passkeyOrigins", fmt.Sprintf("must have at most %d origins", maxPasskeyOrigins))
	}
	for i, text := range w.PasskeyOrigins {
		origin, problem := checkPasskeyOrigin(text, w.PasskeyRPID, knownRPID, environment)
		if problem == "" && slices.Contains(w.PasskeyOrigins[:i], origin) {
			problem = "is listed twice; list each origin once"
		}
		if problem != "" {
			refuse(fmt.Sprintf("passkeyOrigins[%d]", i), problem)
			continue
		}
		w.PasskeyOrigins[i] = origin
	}
	return bad
}

// isRelyingParty reports whether a text can be the id of a relying party (WebAuthn level 3, 5.1.2): a
// domain, and no address. Browsers refuse one that is a public suffix, such as a top-level domain.
func isRelyingParty(id string, environment Environment) bool {
	if id == localRelyingParty {
		return environment == Sandbox
	}
	last := id[strings.LastIndexByte(id, '.')+1:]
	return len(id) <= 253 && last != id && domainRegexp.MatchString(id) && strings.ContainsFunc(last, unicode.IsLower)
}

var apkKeyHashRegexp = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// checkPasskeyOrigin returns an origin as browsers and apps write it, or what is wrong with it.
func checkPasskeyOrigin(text, rpID string, knownRPID bool, environment Environment) (origin, problem string) {
	if hash, ok := strings.CutPrefix(text, androidOrigin); ok {
		if !apkKeyHashRegexp.MatchString(hash) {
			return "", "must end with the SHA-256 hash of the app's signing certificate, in base64url without padding (43 characters)"
		}
		return text, ""
	}
	origin, ok := originOf(text)
	u, err := url.Parse(text)
	switch {
	case !ok || err != nil || u.Path != "" || strings.ContainsAny(text, "?#"):
		return "", "must be an origin such as https://app.example.com without a path, or android:apk-key-hash: and a hash"
	case u.Scheme == "http" && environment != Sandbox:
		return "", "must start with https://"
	}
	if host := strings.ToLower(u.Hostname()); knownRPID && host != rpID && !strings.HasSuffix(host, "."+rpID) {
		return "", "must have the host " + rpID + " (passkeyRpId) or one below it"
	}
	return origin, ""
}

func (w *Wallets) checkOAuthClientIDs() (bad []fault.Field) {
	refuse := func(field, message string) {
		bad = append(bad, fault.Field{Field: embeddedWalletPath + field, Message: message})
	}
	if len(w.OAuthClientIDs) > maxOAuthClientIDs {
		refuse("oauthClientIds", fmt.Sprintf("must have at most %d ids", maxOAuthClientIDs))
	}
	for i, id := range w.OAuthClientIDs {
		field := fmt.Sprintf("oauthClientIds[%d]", i)
		switch {
		case id == "" || len(id) > maxOAuthClientID || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }):
			refuse(field, fmt.Sprintf("must have 1 to %d printable ASCII characters without spaces", maxOAuthClientID))
		case slices.Contains(w.OAuthClientIDs[:i], id):
			refuse(field, "is listed twice; list each id once")
		}
	}
	return bad
}
