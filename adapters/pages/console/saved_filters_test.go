package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
)

// fakeFilters has the filters of a person.
type fakeFilters struct {
	*calls
	all     []person.SavedFilter
	refusal error
}

func (f *fakeFilters) SavedFilters(ctx context.Context, p ident.Platform, of ident.Person, list string) ([]person.SavedFilter, error) {
	return f.all, f.read(ctx, p, "filters of %s for %s", list, of)
}

func (f *fakeFilters) Save(ctx context.Context, filter person.SavedFilter) error {
	if err := f.read(ctx, filter.Platform, "save %s as %s for %s", filter.Query, filter.Name, filter.Person); err != nil {
		return err
	}
	return f.refusal
}

func (f *fakeFilters) DeleteFilter(ctx context.Context, p ident.Platform, of ident.Person, list, name string) error {
	return f.read(ctx, p, "delete %s of %s for %s", name, list, of)
}

func TestFilters_SavedByThePerson(t *testing.T) {
	t.Parallel()
	// The list of payments has the filters that the person has saved, and a form that saves the present one, which leads back to the
	// list. What cannot be saved says why.
	s := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	got := s.get(base + "/payments?status=FAILED&currency=USD")
	for _, want := range []string{base + "/payments?status=PENDING", "Waiting", `value="currency=USD&amp;status=FAILED"`} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %q in %s", want, got.body)
		}
	}
	form := url.Values{"name": {"Failed"}, "query": {"currency=USD&status=FAILED"}}
	if got := s.post(base+"/filters", form); got.Header.Get("Location") != base+"/payments?currency=USD&status=FAILED" || !slices.Contains(
		s.calls.log, "save currency=USD&status=FAILED as Failed for "+newPerson().ID.String()) {
		t.Errorf("saved: %d, %q", got.StatusCode, s.calls.log)
	}
	if s.post(base+"/filters", url.Values{"delete": {"Waiting"}}); !slices.Contains(s.calls.log,
		"delete Waiting of payments for "+newPerson().ID.String()) {
		t.Errorf("deleted: %q", s.calls.log)
	}
	s.filters.refusal = fault.Invalid(fault.Field{Field: "name", Message: "must have 1 to 60 characters"})
	if got := s.post(base+"/filters", form); got.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(got.body,
		"The name must have 1 to 60 characters.") {
		t.Errorf("refused: %d %s", got.StatusCode, got.body)
	}
	s.filters.refusal = person.TooManyFilters()
	if got := s.post(base+"/filters", form); got.StatusCode != http.StatusConflict || !strings.Contains(got.body, "Delete one first") {
		t.Errorf("too many: %d %s", got.StatusCode, got.body)
	}
}
