package person_test

import (
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/person"
)

func TestNewSavedFilter_NamesNoCustomer(t *testing.T) {
	t.Parallel()
	// A filter is kept without what is empty, without the place in the list, and without what names one customer.
	f, err := person.NewSavedFilter(person.SavedFilter{Name: " Failed in USD ",
		Query: "status=FAILED&currency=USD&min=&account=%24ana%40b.example" +
			"&customer=c7&reference=R1&after=x"})
	if err != nil || f.Name != "Failed in USD" || f.Query != "currency=USD&status=FAILED" {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestNewSavedFilter_Refuses(t *testing.T) {
	t.Parallel()
	// Every field that is wrong is named.
	for name, f := range map[string]person.SavedFilter{
		"name":       {Query: "status=FAILED"},
		"name ":      {Name: strings.Repeat("x", 61), Query: "status=FAILED"},
		"name  ":     {Name: "a\nb", Query: "status=FAILED"},
		"query":      {Name: "x", Query: "reference=R1"},
		"query ":     {Name: "x", Query: "status=%zz"},
		"query  ":    {Name: "x", Query: "status=" + strings.Repeat("x", 1000)},
		"name query": {},
	} {
		_, err := person.NewSavedFilter(f)
		wantFields(t, name, err, strings.Fields(name)...)
		if !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
