package customer

import (
	"net/netip"
	"net/url"
	"slices"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/platform"
)

// EndUserTerms are a version of the terms of the operator of the service, which customers of platforms that are not regulated
// themselves have to accept.
type EndUserTerms struct {
	Version string // such as "2026-03"
	URL     string // of the text, https
	SetAt   time.Time
	Actor   string
	Person  ident.Person // who has signed in; zero if nobody has
}

const (
	maxTermsVersion = 64 // characters
	maxTermsURL     = 2000
)

// NewEndUserTerms returns a version of the terms, or INVALID_INPUT.
func NewEndUserTerms(version, link string, by platform.Author, now time.Time) (EndUserTerms, error) {
	var bad party.Problems
	bad.Text("version", version, party.Required, maxTermsVersion)
	if u, err := url.Parse(link); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(link) > maxTermsURL {
		bad.Add("url", "must be an https address of at most 2000 bytes, where the text of the terms is")
	}
	by, err := by.Parsed()
	if failed, is := fault.As(err); is {
		bad.Fields = append(bad.Fields, failed.Fields...)
	}
	return EndUserTerms{Version: version, URL: link, SetAt: now.Truncate(time.Microsecond), Actor: by.Actor, Person: by.Person}, bad.Err()
}

// Consent is how a customer has accepted the terms, as the platform says.
type Consent struct {
	Version    string
	Method     string // one of AcceptanceMethods
	IPAddress  string
	AcceptedAt time.Time
}

// AcceptanceMethods are the ways to accept terms.
var AcceptanceMethods = []string{"CHECKBOX", "CLICK_TO_ACCEPT"}

// clockSkew is how far the clock of a platform may be ahead.
const clockSkew = 5 * time.Minute

// check adds the invalid fields of a consent.
func (c *Consent) check(bad *party.Problems, now time.Time) {
	if c == nil {
		return
	}
	const path = "endUserTermsConsent."
	bad.Text(path+"termsVersion", c.Version, party.Required, maxTermsVersion)
	bad.OneOf(path+"acceptanceMethod", c.Method, party.Required, AcceptanceMethods)
	if address, err := netip.ParseAddr(c.IPAddress); err != nil || address.Zone() != "" {
		bad.Add(path+"ipAddress", "must be the IPv4 or IPv6 address of the customer, such as 203.0.113.7")
	}
	switch {
	case c.AcceptedAt.IsZero():
		bad.Add(path+"acceptedAt", "is required: the time at which the customer has accepted the terms")
	case c.AcceptedAt.After(now.Add(clockSkew)):
		bad.Add(path+"acceptedAt", "must not be in the future")
	}
}

// CheckKnown returns END_USER_TERMS_VERSION_NOT_FOUND if the consent is to none of the versions.
func (c *Consent) CheckKnown(versions []EndUserTerms) error {
	if c == nil || slices.ContainsFunc(versions, func(t EndUserTerms) bool { return t.Version == c.Version }) {
		return nil
	}
	return fault.New(fault.EndUserTermsVersionNotFound, "There are no terms of the version %.64q. GET /customers/end-user-terms returns the "+
		"present ones.", c.Version)
}

// CheckConsent returns END_USER_TERMS_NOT_ACCEPTED if the customer has accepted no version of the terms.
func (c Customer) CheckConsent() error {
	if c.Consent != nil {
		return nil
	}
	return fault.New(fault.EndUserTermsNotAccepted, "The customer %s has not accepted the terms. Show it those of GET "+
		"/customers/end-user-terms, and send endUserTermsConsent with PATCH /customers/%s.", c.ID, c.ID)
}
