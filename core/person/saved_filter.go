package person

import (
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"causeway/core/fault"
	"causeway/core/ident"
)

// SavedFilter is the filter of a list that a person has saved under a name.
type SavedFilter struct {
	Platform ident.Platform
	Person   ident.Person
	// List is that which it filters, such as payments.
	List string
	Name string
	// Query is the filter as the address of the list has it.
	Query   string
	SavedAt time.Time
}

// The limits of saved filters.
const (
	maxFilterName  = 60   // characters
	maxFilterQuery = 1000 // bytes
	// MaxSavedFilters is how many a person can have for a list.
	MaxSavedFilters = 50
)

// identifying are the parts of a filter that name one customer. They are not kept, and so is the place in the list.
var identifying = []string{"account", "customer", "reference", "after"}

// NewSavedFilter returns a filter as it is stored: without empty parts, and without those that name one customer. Fault: INVALID_INPUT
// with every invalid field.
func NewSavedFilter(f SavedFilter) (SavedFilter, error) {
	var bad []fault.Field
	f.Name = strings.TrimSpace(f.Name)
	if n := utf8.RuneCountInString(f.Name); n == 0 || n > maxFilterName || strings.ContainsFunc(f.Name, unicode.IsControl) {
		bad = append(bad, fault.Field{Field: "name", Message: fmt.Sprintf("must have 1 to %d characters", maxFilterName)})
	}
	query, err := url.ParseQuery(f.Query)
	for name, values := range query {
		if values[0] == "" {
			query.Del(name)
		}
	}
	for _, name := range identifying {
		query.Del(name)
	}
	switch f.Query = query.Encode(); {
	case err != nil || len(f.Query) > maxFilterQuery:
		bad = append(bad, fault.Field{Field: "query", Message: fmt.Sprintf("must be the query of an address, of at most %d bytes",
			maxFilterQuery)})
	case f.Query == "":
		bad = append(bad, fault.Field{Field: "query", Message: "has nothing to save: what names one customer, such as a reference, is not kept"})
	}
	if len(bad) > 0 {
		return f, fault.Invalid(bad...)
	}
	return f, nil
}

// TooManyFilters returns CONFLICT.
func TooManyFilters() error {
	return fault.New(fault.Conflict, "You have %d saved filters of this list. Delete one first.", MaxSavedFilters)
}
