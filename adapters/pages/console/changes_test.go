package console

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/app/pricing"
	"causeway/app/rails"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// fakeChanges has one proposed change of a price and of a connection, of another person.
type fakeChanges struct {
	*calls
	proposer ident.Person
	status   proposal.Status
	refusal  error
	// older are how many of each kind are listed beside the one.
	older int
}

// pageOfChanges returns a page of what is proposed, newest first, of which one is the newest: the others have numbers below 200.
func pageOfChanges[T any](f *fakeChanges, filter ports.ProposalFilter, one T, stated func(*T) *proposal.Stated, odd byte) (found []T) {
	for n := range f.older + 1 {
		next, id := one, proposalID.UUID()
		if n > 0 {
			id = uuid.UUID{14: byte(200 - n), 15: odd}
		}
		stated(&next).ID.SetUUID(id)
		if isAfter := filter.After == uuid.Nil || id.String() < filter.After.String(); isAfter && len(found) < filter.Limit {
			found = append(found, next)
		}
	}
	return found
}

func (f *fakeChanges) stated(operation string) proposal.Stated {
	p := proposal.Proposal{ID: proposalID, Operation: operation, By: platform.Author{Actor: "olga@acme.example"}, ByPerson: f.proposer,
		CreatedAt: now, ExpiresAt: now.AddDate(0, 0, 7)}
	s := p.At(now)
	s.Status = proposal.Pending
	if f.status != "" {
		s.Status = f.status
	}
	return s
}

func (f *fakeChanges) read(ctx context.Context, name string, args ...any) error {
	if scope, _ := ports.ScopeOf(ctx); !scope.AllPlatforms {
		f.t.Errorf("%s is called with the scope %+v", name, scope)
	}
	return f.call(name, args...)
}

type fakePrices struct{ *fakeChanges }

func (f fakePrices) price() pricing.Proposal {
	return pricing.Proposal{Stated: f.stated("corridors set"), Key: ports.CorridorKey{From: "USD", To: "BTC"}, Reason: "as agreed",
		Before: corridor.OverrideInput{Fixed: "50", Lock: "5m"}, After: corridor.OverrideInput{Fixed: "3000", Lock: "5m"}}
}

func (f fakePrices) Proposal(ctx context.Context, id ident.Proposal) (pricing.Proposal, error) {
	if id != proposalID {
		return pricing.Proposal{}, proposal.PriceNotFound(id)
	}
	return f.price(), f.read(ctx, "price")
}

func (f fakePrices) Proposals(ctx context.Context, filter ports.ProposalFilter) ([]pricing.Proposal, error) {
	return pageOfChanges(f.fakeChanges, filter, f.price(), func(p *pricing.Proposal) *proposal.Stated { return &p.Stated }, 0),
		f.read(ctx, "prices")
}

func (f fakePrices) Approve(ctx context.Context, by platform.Author, id ident.Proposal) (pricing.ChangeResult, error) {
	f.acted(by.Person.UUID())
	err := f.read(ctx, "approve price %s by %s %s", id, by.Actor, by.Person)
	if f.refusal != nil {
		err = f.refusal
	}
	return pricing.ChangeResult{}, err
}

func (f fakePrices) Reject(ctx context.Context, by platform.Author, id ident.Proposal, note string) (proposal.Stated, error) {
	f.acted(by.Person.UUID())
	return proposal.Stated{}, f.read(ctx, "reject price %s by %s %s: %s", id, by.Actor, by.Person, note)
}

type fakeConnections struct{ *fakeChanges }

func (f fakeConnections) connection() rails.Proposal {
	return rails.Proposal{Stated: f.stated("rails set"), Connection: "bank-eur", Reason: "new bank",
		Before: []byte(`{"adapter": "bank", "rails": ["SEPA"], "settings": {"iban": "DE1"}}`),
		After:  []byte(`{"adapter": "bank", "rails": ["SEPA", "SEPA_INSTANT"], "settings": {"iban": "DE2"}}`)}
}

func (f fakeConnections) Proposal(ctx context.Context, id ident.Proposal) (rails.Proposal, error) {
	if id != proposalID {
		return rails.Proposal{}, proposal.ConnectionNotFound(id)
	}
	return f.connection(), f.read(ctx, "connection")
}

func (f fakeConnections) Proposals(ctx context.Context, filter ports.ProposalFilter) ([]rails.Proposal, error) {
	return pageOfChanges(f.fakeChanges, filter, f.connection(), func(p *rails.Proposal) *proposal.Stated { return &p.Stated }, 1),
		f.read(ctx, "connections")
}

func (f fakeConnections) Approve(ctx context.Context, by platform.Author, id ident.Proposal) (proposal.Stated, []string, error) {
	f.acted(by.Person.UUID())
	return proposal.Stated{}, nil, f.read(ctx, "approve connection %s by %s %s", id, by.Actor, by.Person)
}

func (f fakeConnections) Reject(ctx context.Context, by platform.Author, id ident.Proposal, note string) (proposal.Stated, error) {
	f.acted(by.Person.UUID())
	return proposal.Stated{}, f.read(ctx, "reject connection %s by %s %s: %s", id, by.Actor, by.Person, note)
}

func TestChanges_RefusedApprovalIsRecordedAsRefused(t *testing.T) {
	t.Parallel()
	// An approval that is refused is in the audit as refused, and one that is made is recorded with the change alone.
	path := root + "/changes/prices/" + proposalID.UUID().String() + "/approve"
	code := url.Values{"code": {"123456"}}
	s := newSite(t).fill().as(person.Grant{Role: person.Finance})
	if s.post(path, code); strings.Contains(strings.Join(s.calls.log, " "), "SET_CORRIDOR") {
		t.Errorf("approved: %q", s.calls.log)
	}
	s.changes.refusal = fault.New(fault.Conflict, "The terms have changed.")
	got := s.post(path, code)
	want := newPerson().Email + ": SET_CORRIDOR USD to BTC refused, recorded before false: CONFLICT: The terms have changed."
	if got.StatusCode != http.StatusConflict || !slices.Contains(s.calls.log, want) {
		t.Errorf("%d, %q without %q", got.StatusCode, s.calls.log, want)
	}
}

func TestChanges_DecidedBySecondPersonWithACode(t *testing.T) {
	t.Parallel()
	// A change of a price or a connection is shown as it is and as it would be. The second person decides it with a code, as a person and
	// with no token; without the code nothing is decided. The one who has proposed it can withdraw it and not approve.
	by := newPerson()
	for kind, shows := range map[string][]string{"price": {"0.50 USD", "30.00 USD", "as agreed", "all platforms"},
		"connection": {"settings.iban", "DE1", "DE2", "SEPA, SEPA_INSTANT", "new bank"}} {
		path := root + "/changes/" + kind + "s/" + proposalID.UUID().String()
		s := newSite(t).fill().as(person.Grant{Role: person.Finance})
		got := s.get(path)
		for _, want := range append(shows, path+"/approve", path+"/reject") {
			if !strings.Contains(got.body, want) {
				t.Errorf("%s: no %q in %s", kind, want, got.body)
			}
		}
		if strings.Contains(got.body, "adapter") || strings.Contains(got.body, "5m") {
			t.Errorf("%s: what does not change is shown: %s", kind, got.body)
		}
		of := " " + kind + " " + proposalID.String() + " by " + by.Email + " " + by.ID.String()
		for decision, want := range map[string]string{"approve": "approve" + of, "reject": "reject" + of + ": Too low"} {
			if got := s.post(path+"/"+decision, url.Values{"note": {"Too low"}}); got.StatusCode < 400 || slices.Contains(s.calls.log, want) {
				t.Errorf("%s without a code: %d", want, got.StatusCode)
			}
			got := s.post(path+"/"+decision, url.Values{"note": {"Too low"}, "code": {"123456"}})
			if got.Header.Get("Location") != path || !slices.Contains(s.calls.log, want) {
				t.Errorf("%s: %d, %q", want, got.StatusCode, s.calls.log)
			}
		}
		s.changes.proposer = by.ID
		if got := s.get(path); strings.Contains(got.body, "/approve") || !strings.Contains(got.body, "Withdraw") {
			t.Errorf("%s, its own: %s", kind, got.body)
		}
		s.changes.status = proposal.Executed
		if got := s.get(path); strings.Contains(got.body, "/reject") {
			t.Errorf("%s, decided: %s", kind, got.body)
		}
		if got := s.get(root + "/changes/" + kind + "s/" + ownPlatform.UUID().String()); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s, unknown: %d", kind, got.StatusCode)
		}
	}
}

func TestChanges_SettingsOfConnectionsAreShownToThoseWhoMaySeeThem(t *testing.T) {
	t.Parallel()
	// Everybody sees that a connection is to be changed; its settings are for those who may see connections or approve the change.
	for role, shows := range map[person.Role]bool{person.Viewer: false, person.Support: false, person.Operator: true, person.Finance: true} {
		got := newSite(t).fill().as(person.Grant{Role: role}).get(root + "/changes/connections/" + proposalID.UUID().String())
		if got.StatusCode != http.StatusOK || !strings.Contains(got.body, "bank-eur") || strings.Contains(got.body, "DE2") != shows {
			t.Errorf("%s: %d: %s", role, got.StatusCode, got.body)
		}
	}
}

func TestChanges_PagesOfBothKinds(t *testing.T) {
	t.Parallel()
	// Changes of both kinds are one list, newest first, whose pages have each of them once; the filter stays on each page.
	s := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	s.changes.older = 60
	changeLink := regexp.MustCompile(`href="(/console/changes/[a-z]+/[0-9a-f-]{36})"`)
	var ids []string
	pages := 0
	for path := root + "/changes?status=PENDING"; path != ""; pages++ {
		got := s.get(path)
		for _, link := range changeLink.FindAllStringSubmatch(got.body, -1) {
			ids = append(ids, link[1])
		}
		path = ""
		if next := regexp.MustCompile(`id="older" href="([^"]+)"`).FindStringSubmatch(got.body); next != nil {
			if path = html.UnescapeString(next[1]); !strings.Contains(path, "status=PENDING") {
				t.Errorf("the next page is %s", path)
			}
		}
	}
	if pages != 3 || len(ids) != 122 {
		t.Errorf("%d pages of %d changes, want 3 of 122", pages, len(ids))
	}
	byAge := slices.Clone(ids)
	slices.SortStableFunc(byAge, func(a, b string) int {
		return strings.Compare(b[strings.LastIndex(b, "/"):], a[strings.LastIndex(a, "/"):])
	})
	if !slices.Equal(ids, byAge) || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != len(ids) {
		t.Errorf("not newest first, or not once: %q", ids)
	}
}

func TestChanges_WaitForThosePersonsWhoMayApprove(t *testing.T) {
	t.Parallel()
	// The home page counts them for who may approve, but not its own. A refused approval says why.
	const waits = "change of a price waits"
	finance := newSite(t).fill().as(person.Grant{Role: person.Finance})
	if got := finance.get(base); !strings.Contains(got.body, waits) {
		t.Errorf("finance: %s", got.body)
	}
	finance.changes.proposer = newPerson().ID
	if got := finance.get(base); strings.Contains(got.body, waits) {
		t.Errorf("its own: %s", got.body)
	}
	for _, grant := range []person.Grant{{Role: person.Operator}, {Role: person.Finance, Platform: ownPlatform}} {
		if got := newSite(t).fill().as(grant).get(base); strings.Contains(got.body, waits) {
			t.Errorf("%v: %s", grant, got.body)
		}
	}
	s := newSite(t).fill().as(person.Grant{Role: person.Finance})
	s.changes.refusal = fault.New(fault.Conflict, "The price was changed since.")
	got := s.post(root+"/changes/prices/"+proposalID.UUID().String()+"/approve", url.Values{"code": {"123456"}})
	if got.StatusCode != http.StatusConflict || !strings.Contains(got.body, "The price was changed since.") {
		t.Errorf("refused: %d %s", got.StatusCode, got.body)
	}
}
