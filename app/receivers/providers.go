package receivers

import (
	"context"
	"slices"
	"strings"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/platform"
	"causeway/ports"
)

// ProviderFilter narrows the list of providers. After is the domain of the last one of
// the page before.
type ProviderFilter struct {
	Limit     int
	After     string
	Ascending bool
	Country   string
	Currency  money.Currency
	// AllowedOnly leaves those out that are blocked.
	AllowedOnly bool
}

// Providers lists the providers at whom people can be paid, by their domains. Faults:
// INVALID_INPUT, NOT_IMPLEMENTED.
func (e *Service) Providers(ctx context.Context, who platform.Principal, wanted ProviderFilter) (ports.Page[ports.Provider], error) {
	var page ports.Page[ports.Provider]
	if err := who.CheckPermission(platform.View); err != nil {
		return page, err
	}
	var bad []fault.Field
	if wanted.Country != "" && !party.KnownCountry(wanted.Country) {
		bad = append(bad, fault.Field{Field: "countryCode", Message: "must be a country code of two upper-case letters, such as US"})
	}
	if wanted.Currency != "" && !wanted.Currency.Known() {
		bad = append(bad, fault.Field{Field: "currencyCode", Message: "must be a known currency code in upper case, such as USD"})
	}
	if len(bad) > 0 {
		return page, fault.Invalid(bad...)
	}
	others, err := e.counterpartiesFor(who.Environment)
	if err != nil {
		return page, err
	}
	all, err := others.Providers(ctx)
	if err != nil {
		return page, err
	}
	slices.SortFunc(all, func(a, b ports.Provider) int {
		if wanted.Ascending {
			return strings.Compare(a.Domain, b.Domain)
		}
		return strings.Compare(b.Domain, a.Domain)
	})
	for _, p := range all {
		if !wanted.matches(p) {
			continue
		}
		page.Total++
		switch {
		case wanted.After != "" && (p.Domain == wanted.After || (p.Domain < wanted.After) == wanted.Ascending):
		case len(page.Items) == wanted.Limit:
			page.More = true
		default:
			page.Items = append(page.Items, p)
		}
	}
	return page, nil
}

func (w ProviderFilter) matches(p ports.Provider) bool {
	return (p.Allowed || !w.AllowedOnly) && (w.Country == "" || slices.Contains(p.Regions, w.Country)) &&
		(w.Currency == "" || slices.Contains(p.Currencies, w.Currency))
}
