package customer

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/platform"
	"causeway/core/uma"
)

// Request asks for a customer to be created. Only Type is always needed, and for a
// business BusinessInfo with its legal name. What belongs to the other type is ignored.
type Request struct {
	PlatformCustomerID string
	Type               string
	Region             string
	Currencies         []string
	Email              string
	UMAAddress         string
	FullName           string
	BirthDate          string
	Nationality        string
	Address            *party.Address
	Business           *BusinessInfo
}

// Create returns the customer of a request on a platform, or an INVALID_INPUT fault
// that lists every bad field by its path ("businessInfo.legalName"). The generated
// UUID becomes the platformCustomerId where the request gives none.
func Create(r Request, on platform.Platform, id ident.Customer, generated uuid.UUID, now time.Time) (Customer, error) {
	if id.IsZero() || on.ID.IsZero() || (r.PlatformCustomerID == "" && generated == uuid.Nil) {
		return Customer{}, errors.New("a customer needs an id, a platform and a platformCustomerId")
	}
	var bad party.Problems
	c := Customer{
		ID: id, Platform: on.ID, PlatformCustomerID: r.PlatformCustomerID, Type: Type(r.Type),
		Region: r.Region, Email: r.Email, Address: r.Address, CreatedAt: now, UpdatedAt: now,
	}
	bad.Text("platformCustomerId", r.PlatformCustomerID, party.Optional, 255)
	bad.OneOf("customerType", r.Type, party.Required, []string{string(Individual), string(Business)})
	bad.Country("region", r.Region, party.Optional)
	bad.Email("email", r.Email, party.Optional)
	if r.Address != nil {
		c.Address = new(*r.Address)
		bad.Fields = append(bad.Fields, r.Address.Check("address")...)
	}
	c.Currencies = parseCurrencies(r, &bad)
	c.UMAAddress = resolveUMAAddress(r.UMAAddress, on.UMADomain, id, &bad)
	switch c.Type {
	case Individual:
		c.FullName, c.BirthDate, c.Nationality = r.FullName, r.BirthDate, r.Nationality
		bad.PersonName("fullName", r.FullName, party.Optional)
		bad.PastDate("birthDate", r.BirthDate, party.Optional, minBirthYear, now)
		bad.Country("nationality", r.Nationality, party.Optional)
	case Business:
		c.Business = r.Business.validate(&bad, now)
	}
	if err := bad.Err(); err != nil {
		return Customer{}, err
	}
	if c.PlatformCustomerID == "" {
		c.PlatformCustomerID = generated.String()
	}
	c.Status = initialStatus(c.Type, on)
	return c, nil
}

// minBirthYear is the first year of birth taken for true.
const minBirthYear = 1900

// parseCurrencies returns those of the request or, when it names none, the one of its region.
func parseCurrencies(r Request, bad *party.Problems) []money.Currency {
	if len(r.Currencies) == 0 {
		if own, ok := corridor.LocalCurrency(r.Region); ok {
			return []money.Currency{own}
		}
		return nil
	}
	list := make([]money.Currency, 0, len(r.Currencies))
	seen := make(map[string]bool, len(r.Currencies))
	for i, code := range r.Currencies {
		currency, err := money.ParseCurrency(code)
		path := fmt.Sprintf("currencies[%d]", i)
		switch {
		case err != nil:
			bad.Add(path, "must be the code of a currency we know, in capital letters, such as USD or BTC")
		case seen[code]:
			bad.Add(path, "is listed twice; list each currency once")
		}
		seen[code] = true
		list = append(list, currency)
	}
	return list
}

// resolveUMAAddress returns the address of the request in small letters, or one made of the
// customer's id under the platform's domain.
func resolveUMAAddress(wanted, domain string, id ident.Customer, bad *party.Problems) string {
	if wanted == "" {
		u := id.UUID()
		return fmt.Sprintf("$%x@%s", u[:], domain)
	}
	address, ok := uma.Parse(wanted)
	if !ok {
		bad.AddRule("umaAddress", uma.Rule, "pattern", uma.Pattern)
	}
	return address
}
