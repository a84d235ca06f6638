package customer

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"causeway/core/diff"
	"causeway/core/ident"
)

// shownChanges are the fields that say nothing about a person.
var shownChanges = map[string]bool{"status": true, "currencies": true, "endUserTermsConsent.version": true}

// Changed returns the fields of which two versions of a customer differ, by their names in the API. Those that identify or describe a
// person have no values: the record outlives the data of the customer, which can be erased.
func Changed(before, after Customer) []diff.Field {
	return diff.Hide(diff.Between(before.values(), after.values()), func(name string) bool { return shownChanges[name] })
}

// ChangedOwner is Changed of two versions of a beneficial owner; one that is zero does not exist.
func ChangedOwner(before, after BeneficialOwner) []diff.Field {
	return diff.Hide(diff.Between(before.values(), after.values()), func(name string) bool { return shownChanges[name] })
}

// values are those that a platform or the business changes, and the status that may follow.
func (o BeneficialOwner) values() diff.Values {
	o.ID, o.Platform, o.Customer = ident.BeneficialOwner{}, ident.Platform{}, ident.Customer{}
	o.Check, o.CreatedAt, o.UpdatedAt = Check{}, time.Time{}, time.Time{}
	document, err := json.Marshal(o)
	if err != nil {
		return nil // impossible: it has only texts, times and lists
	}
	return apiValues(document)
}

// values are those that a platform or the customer changes, and the status that may follow.
func (c Customer) values() diff.Values {
	c.Owners, c.Contacts, c.NeedsSCA = nil, Contacts{}, false
	c.UpdatedAt, c.IdentityChangedAt, c.HeldAt, c.OnHoldSince = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	document, err := json.Marshal(c)
	if err != nil {
		return nil // impossible: it has only texts, times and lists
	}
	return apiValues(document)
}

func apiValues(document []byte) diff.Values {
	values := diff.Values{}
	for path, value := range diff.Of(document) {
		values[apiName(path)] = value
	}
	return values
}

var apiObjects = strings.NewReplacer("business.", "businessInfo.", "diligence.", "", "consent.", "endUserTermsConsent.",
	"person.", "personalInfo.")

// apiName returns the name in the API of a field, such as businessInfo.taxId for Business.TaxID.
func apiName(path string) string {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		capitals := len(part) - len(strings.TrimLeftFunc(part, unicode.IsUpper))
		if capitals > 1 && capitals < len(part) {
			capitals-- // the last one begins the next word
		}
		parts[i] = strings.ToLower(part[:capitals]) + part[capitals:]
		if name, isID := strings.CutSuffix(parts[i], "ID"); isID {
			parts[i] = name + "Id"
		}
	}
	return apiObjects.Replace(strings.Join(parts, "."))
}
