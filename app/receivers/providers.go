package receivers

import (
	"context"
	"slices"
	"strings"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/platform"
	"causeway/ports"
)

// ProviderFilter selects a page of providers. After is the domain of the last provider of the
// previous page.
type ProviderFilter struct {
	Limit     int
	After     string
	Ascending bool
	Country   string
	Currency  money.Currency
	// AllowedOnly leaves out blocked providers.
	AllowedOnly bool
}

// Providers returns the providers of UMA addresses that a platform can pay to,
// ordered by domain. Faults: INVALID_INPUT, NOT_IMPLEMENTED.
func (s *Service) Providers(ctx context.Context, p ident.Platform, environment platform.Environment,
	filter ProviderFilter) (ports.Page[ports.Provider], error) {
	var page ports.Page[ports.Provider]
	var bad []fault.Field
	if filter.Country != "" && !party.KnownCountry(filter.Country) {
		bad = append(bad, fault.Field{Field: "countryCode", Message: "must be a country code of two upper-case letters, such as US"})
	}
	if filter.Currency != "" && !filter.Currency.Payable() {
		bad = append(bad, fault.Field{Field: "currencyCode", Message: "must be a known currency code in upper case, such as USD"})
	}
	if len(bad) > 0 {
		return page, fault.Invalid(bad...)
	}
	directory, err := s.counterparties(environment)
	if err != nil {
		return page, err
	}
	all, err := directory.Providers(ctx, p)
	if err != nil {
		return page, err
	}
	slices.SortFunc(all, func(a, b ports.Provider) int {
		if filter.Ascending {
			return strings.Compare(a.Domain, b.Domain)
		}
		return strings.Compare(b.Domain, a.Domain)
	})
	for _, provider := range all {
		if !filter.matches(provider) {
			continue
		}
		page.Total++
		switch {
		case filter.After != "" && (provider.Domain == filter.After || (provider.Domain < filter.After) == filter.Ascending):
		case len(page.Items) == filter.Limit:
			page.More = true
		default:
			page.Items = append(page.Items, provider)
		}
	}
	return page, nil
}

func (f ProviderFilter) matches(p ports.Provider) bool {
	return (p.Allowed || !f.AllowedOnly) && (f.Country == "" || slices.Contains(p.Regions, f.Country)) &&
		(f.Currency == "" || slices.Contains(p.Currencies, f.Currency))
}
