// Package platform defines the platforms that use the service: their settings, their API tokens, and who acts for them.
package platform

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/sca"
)

// Platform is a business that uses the service, with its settings.
type Platform struct {
	ID              ident.Platform
	Name            string
	Environment     Environment
	Regulated       bool
	UMADomain       string
	UMASubdomain    string
	WebhookEndpoint string
	// InvitationURL is the page for invitations, without a slash at the end: the code of an invitation
	// follows it. It may be empty.
	InvitationURL string
	// LightningAddresses: wallets that say nothing about their owners may pay the customers, by Lightning address.
	LightningAddresses bool
	WebhookSignatures  WebhookSignatures
	Currencies         []Currency
	// KYCRedirectOrigins are the origins to which customers may return from the pages of their
	// verification; if there are none, they do not return.
	KYCRedirectOrigins []string
	// Wallets is nil if the platform has set nothing for embedded wallets; see WalletSettings.
	Wallets *Wallets
	// SCARegions are the regions whose customers need strong customer authentication, as the operator has set them; nil for those of the
	// law, see RequiresSCA.
	SCARegions []string
	// SCAPaymentsSince is since when the payments of these customers need a proof of their payer; zero if they do not.
	SCAPaymentsSince time.Time
	// SCAExemptions are those that the platform uses.
	SCAExemptions sca.Exemptions
	// Fees are what the platform charges; at most one for each type and currency.
	Fees      []FeeConfig
	CreatedAt time.Time
	UpdatedAt time.Time
	// ClosedAt and Successor are set when the platform was reset; see Reset.
	ClosedAt  time.Time
	Successor ident.Platform
	// ListenerUntil is until when a listener answers for the endpoint; see HasListener.
	ListenerUntil time.Time
}

// Currency is a currency that a platform uses, with its settings. Amounts are in minor units.
type Currency struct {
	Code      money.Currency
	MinAmount int64
	MaxAmount int64
	// RequiredCounterpartyFields are required of the counterparty of a payment.
	RequiredCounterpartyFields []CounterpartyField
	// Directions are OUTGOING, INCOMING or both.
	Directions []string
}

// CounterpartyField is a field of information about a counterparty.
type CounterpartyField struct {
	Name      string
	Mandatory bool
}

// CounterpartyFieldNames lists the fields that can be required of a counterparty.
var CounterpartyFieldNames = []string{
	"FULL_NAME", "BIRTH_DATE", "NATIONALITY", "PHONE_NUMBER", "EMAIL", "POSTAL_ADDRESS", "TAX_ID",
	"REGISTRATION_NUMBER", "USER_TYPE", "COUNTRY_OF_RESIDENCE", "ACCOUNT_IDENTIFIER",
	"FI_LEGAL_ENTITY_NAME", "FI_ADDRESS", "PURPOSE_OF_PAYMENT", "ULTIMATE_INSTITUTION_COUNTRY",
	"IDENTIFIER", "BUSINESS_TYPE", "COMPANY_LEGAL_NAME", "ID_TYPE", "ID_NUMBER",
}

// DefaultCurrencies returns the currencies of a new platform.
func DefaultCurrencies() []Currency {
	both := []string{"OUTGOING", "INCOMING"}
	return []Currency{
		{Code: "USD", MinAmount: 100, MaxAmount: 1_000_000_000, Directions: both},
		{Code: "USDC", MinAmount: 1_000_000, MaxAmount: 10_000_000_000_000, Directions: both},
		{Code: "BTC", MinAmount: 1_000, MaxAmount: 10_000_000_000, Directions: both},
		{Code: "USDB", MinAmount: 1_000_000, MaxAmount: 10_000_000_000_000, Directions: both},
	}
}

// New returns a platform with the default currencies.
func New(id ident.Platform, name string, env Environment, regulated bool, now time.Time) (Platform, error) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 200 {
		return Platform{}, fault.Invalid(fault.Field{Field: "name", Message: "must have 1 to 200 characters"})
	}
	if env != Sandbox && env != Production {
		return Platform{}, fault.Invalid(fault.Field{Field: "environment", Message: "must be SANDBOX or PRODUCTION"})
	}
	return Platform{
		ID: id, Name: name, Environment: env, Regulated: regulated,
		UMADomain: "uma." + slug(name) + ".test", WebhookSignatures: DefaultWebhookSignatures, Currencies: DefaultCurrencies(),
		SCAPaymentsSince: now, CreatedAt: now, UpdatedAt: now,
	}, nil
}

// UMADomainInUse is the reason of a CONFLICT: another production platform has the domain.
const UMADomainInUse = "umaDomain in use"

var nonSlugRegexp = regexp.MustCompile(`[^a-z0-9]+`)

func slug(name string) string {
	s := strings.Trim(nonSlugRegexp.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if s == "" {
		return "platform"
	}
	return s[:min(len(s), 40)]
}

// Change is a partial update; nil does not change a setting.
type Change struct {
	UMADomain       *string
	WebhookEndpoint *string
	// AllowPrivateWebhooks is whether WebhookEndpoint of a sandbox platform may have a private address.
	AllowPrivateWebhooks bool
	InvitationURL        *string
	LightningAddresses   *bool
	// WebhookSignatures are names of signatures.
	WebhookSignatures *[]string
	Currencies        *[]Currency
	// KYCRedirectOrigins replace the previous ones.
	KYCRedirectOrigins *[]string
	// Wallets changes only what it names.
	Wallets *WalletsChange
	// Fees replace those of the same type and currency; one of zero ends it.
	Fees *[]FeeConfig
}

// Apply returns the platform after a change, and whether it has a new webhook endpoint; or
// INVALID_INPUT with every invalid field.
func (p Platform) Apply(c Change, now time.Time) (Platform, bool, error) {
	var bad []fault.Field
	next, newEndpoint := p, false
	if c.UMADomain != nil {
		if !domainRegexp.MatchString(*c.UMADomain) {
			bad = append(bad, fault.Field{Field: "umaDomain", Message: "must be a host name such as uma.example.com"})
		}
		next.UMADomain = *c.UMADomain
	}
	if c.WebhookEndpoint != nil {
		if err := p.checkEndpoint(*c.WebhookEndpoint, c.AllowPrivateWebhooks); err != "" {
			bad = append(bad, fault.Field{Field: "webhookEndpoint", Message: err})
		}
		newEndpoint = *c.WebhookEndpoint != "" && *c.WebhookEndpoint != p.WebhookEndpoint
		next.WebhookEndpoint = *c.WebhookEndpoint
	}
	if c.LightningAddresses != nil {
		next.LightningAddresses = *c.LightningAddresses
	}
	if c.InvitationURL != nil {
		next.InvitationURL = strings.TrimSuffix(*c.InvitationURL, "/")
		if err := p.checkInvitationURL(next.InvitationURL); err != "" {
			bad = append(bad, fault.Field{Field: "invitationUrl", Message: err})
		}
	}
	if c.WebhookSignatures != nil {
		signatures, err := ParseWebhookSignatures(*c.WebhookSignatures)
		if err != "" {
			bad = append(bad, fault.Field{Field: "webhookSignatures", Message: err})
		}
		next.WebhookSignatures = signatures
	}
	if c.Currencies != nil {
		bad = append(bad, checkCurrencies(*c.Currencies)...)
		next.Currencies = *c.Currencies
	}
	if c.KYCRedirectOrigins != nil {
		bad = append(bad, checkRedirectOrigins(*c.KYCRedirectOrigins)...)
		next.KYCRedirectOrigins = *c.KYCRedirectOrigins
	}
	if c.Wallets != nil {
		wallets, invalid := p.applyWallets(*c.Wallets)
		bad = append(bad, invalid...)
		next.Wallets = wallets
	}
	if c.Fees != nil {
		bad = append(bad, checkFees(*c.Fees)...)
		next.Fees = changedFees(p.Fees, *c.Fees)
	}
	if len(bad) > 0 {
		return p, false, fault.Invalid(bad...)
	}
	next.UpdatedAt = now
	return next, newEndpoint, nil
}

var domainRegexp = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// checkEndpoint returns what is wrong with an endpoint, or the empty string. The addresses that a
// name has are checked at every delivery.
func (p Platform) checkEndpoint(endpoint string, allowPrivate bool) string {
	if endpoint == "" {
		return ""
	}
	if wrong := p.checkURL(endpoint, "https://example.com/webhooks"); wrong != "" {
		return wrong
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return err.Error()
	}
	address, err := netip.ParseAddr(u.Hostname())
	switch {
	case err != nil || AllowsWebhooksTo(allowPrivate && p.Environment == Sandbox, address):
		return "" // a name, or an address that is allowed
	case p.Environment == Sandbox && AllowsWebhooksTo(true, address):
		return "must not have a private or loopback address, unless the service runs with --allow-private-webhooks; use a public address"
	default:
		return "must have a public address: webhooks are not sent to " + address.String()
	}
}

// checkInvitationURL returns what is wrong with the page for invitations, or the empty string.
func (p Platform) checkInvitationURL(page string) string {
	if strings.ContainsAny(page, "?#") {
		return "must have no query and no fragment: the code of an invitation follows it, as in https://example.com/invitations/CODE"
	}
	if page == "" {
		return ""
	}
	return p.checkURL(page, "https://example.com/invitations")
}

// checkURL returns what is wrong with a URL, or the empty string.
func (p Platform) checkURL(text, example string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || len(text) > 2000:
		return "must be a full URL such as " + example
	case u.User != nil:
		return "must not contain a user name or password"
	case u.Scheme == "https", u.Scheme == "http" && p.Environment == Sandbox:
		return ""
	case p.Environment == Sandbox:
		return "must start with https:// or http://"
	default:
		return "must start with https://"
	}
}

// CurrencyCodes returns the currencies the platform uses.
func (p Platform) CurrencyCodes() []money.Currency {
	codes := make([]money.Currency, len(p.Currencies))
	for i, c := range p.Currencies {
		codes[i] = c.Code
	}
	return codes
}

// CurrencySettings returns the platform's settings for a currency.
func (p Platform) CurrencySettings(code money.Currency) (Currency, bool) {
	i := slices.IndexFunc(p.Currencies, func(c Currency) bool { return c.Code == code })
	if i < 0 {
		return Currency{}, false
	}
	return p.Currencies[i], true
}

// checkCurrencies returns the errors in a platform's currency settings.
func checkCurrencies(currencies []Currency) []fault.Field {
	var bad []fault.Field
	seen := map[money.Currency]bool{}
	for i, c := range currencies {
		refuse := func(field, message string) {
			bad = append(bad, fault.Field{Field: fmt.Sprintf("supportedCurrencies[%d].%s", i, field), Message: message})
		}
		if _, err := money.ParsePayable(string(c.Code)); err != nil {
			refuse("currencyCode", "must be a known currency code in upper case, such as USD, EUR or BTC")
		}
		if seen[c.Code] {
			refuse("currencyCode", "is listed twice; list each currency once")
		}
		seen[c.Code] = true
		if c.MinAmount < 0 {
			refuse("minAmount", "must be 0 or more, in the smallest unit of the currency")
		}
		if c.MaxAmount < c.MinAmount || c.MaxAmount > money.MaxMinor {
			refuse("maxAmount", fmt.Sprintf("must be between minAmount and %d", money.MaxMinor))
		}
		for j, f := range c.RequiredCounterpartyFields {
			if !slices.Contains(CounterpartyFieldNames, f.Name) {
				refuse(fmt.Sprintf("requiredCounterpartyFields[%d].name", j), "is not a known field name")
			}
		}
		if len(c.Directions) == 0 {
			refuse("enabledTransactionTypes", "must list OUTGOING, INCOMING or both")
		}
		for j, d := range c.Directions {
			if d != "OUTGOING" && d != "INCOMING" {
				refuse(fmt.Sprintf("enabledTransactionTypes[%d]", j), "must be OUTGOING or INCOMING")
			}
		}
	}
	return bad
}
