package console

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"causeway/app/search"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/person"
	core "causeway/core/search"
	"causeway/core/transaction"
)

// fakeSearch finds one thing for every text.
type fakeSearch struct {
	*calls
	found search.Found
	// personal is whether the last search was one for personal data.
	personal bool
}

func (f *fakeSearch) Find(ctx context.Context, p ident.Platform, text string, personal bool) (search.Found, error) {
	f.personal = personal
	found := f.found
	found.Query = core.Parse(text)
	return found, f.read(ctx, p, "search %s", text)
}

func TestSearch_OpensTheOnlyThing(t *testing.T) {
	t.Parallel()
	// What is the only thing that was found is opened, on the page of its kind. Nothing is said to be found, and the text is still in the
	// field. An empty field leads to the list of payments.
	iban := account.External{ID: numbered(ident.ExternalAccount{}, 17)}
	id := paymentID.UUID()
	hit := func(kind string) search.Found { return search.Found{Hits: []string{kind + ":" + id.String()}} }
	for to, found := range map[string]search.Found{
		"/payments/" + id.String():                                         hit("Transaction"),
		"/customers/" + id.String():                                        hit("Customer"),
		"/webhooks/" + id.String():                                         hit("Webhook"),
		"/postings/" + id.String():                                         hit("Posting"),
		"/reviews/" + id.String():                                          hit("Verification"),
		"/agent-approvals/" + id.String():                                  hit("AgentAction"),
		"/receivables/" + id.String():                                      hit("Receivable"),
		"/proposals/" + id.String():                                        hit("Proposal"),
		"/breaks/" + id.String():                                           hit("Break"),
		"/reconciliations/" + id.String():                                  hit("Reconciliation"),
		"/unmatched/" + id.String():                                        hit("Receipt"),
		"/requests/" + id.String():                                         hit("RequestLog"),
		"/tokens?id=" + id.String():                                        hit("Token"),
		"/payments?account=" + escapeQuery("ExternalAccount:"+id.String()): hit("ExternalAccount"),
		"/payments?account=" + escapeQuery("InternalAccount:"+id.String()): hit("InternalAccount"),
		"/payments?account=" + escapeQuery(iban.ID.String()):               {Accounts: []account.External{iban}},
		"/customers/" + customerID.UUID().String(): {Customers: []search.Customers{{By: search.ByName,
			Items: []customer.Customer{{ID: customerID}}}}},
		"/payments/" + numbered(ident.Transaction{}, 20).UUID().String(): {Payments: []search.Payments{{By: search.ByAmount,
			Items: []transaction.Transaction{newIncoming()}}}},
	} {
		s := newSite(t).fill().as(person.Grant{Role: person.Support})
		s.search.found = found
		if got := s.get(base + "/search?q=x"); got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != base+to {
			t.Errorf("%d to %s, want %s", got.StatusCode, got.Header.Get("Location"), to)
		}
	}
	s := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	if got := s.get(base + "/search?q=rails%2FACH"); got.Header.Get("Location") != base+"/entries?path=rails%2FACH&currency=USD" {
		t.Errorf("an account of the ledger: %d to %s", got.StatusCode, got.Header.Get("Location"))
	}
	for _, text := range []string{"nobody", "<b>", "a:b:c"} {
		got := s.get(base + "/search?q=" + escapeQuery(text))
		if got.StatusCode != http.StatusNotFound || !strings.Contains(got.body, "Nothing found") || strings.Contains(got.body, notSearched) ||
			!slices.ContainsFunc(got.elements("input"), isSearchFor(text)) {
			t.Errorf("%q: %d %s", text, got.StatusCode, got.body)
		}
	}
	if got := s.get(base + "/search?q=+"); got.Header.Get("Location") != base+"/payments" {
		t.Errorf("an empty text leads to %s", got.Header.Get("Location"))
	}
}

func TestSearch_SeveralThingsAreListed(t *testing.T) {
	t.Parallel()
	// Several things are listed by their kind, names masked, with a link to all where there are more. A person who may not see personal
	// data is not searched for by it, which the page says, also where only one thing was found.
	found := search.Found{Hits: []string{webhookID.String()},
		Payments: []search.Payments{
			{By: search.ByReference, Items: []transaction.Transaction{newPayment()}, More: true},
			{By: search.ByPartnerID, Items: []transaction.Transaction{newPayment()}},
			{By: search.ByAmount, Items: []transaction.Transaction{newPayment()}, More: true}},
		Customers: []search.Customers{{By: search.ByName, Items: []customer.Customer{{ID: customerID, FullName: "Quetzal Balam"}}, More: true}},
		Accounts: []account.External{{ID: numbered(ident.ExternalAccount{}, 17), Customer: customerID, Type: "EUR_ACCOUNT",
			Currency: money.Currency("EUR"), Fields: map[string]string{"iban": "DE89370400440532013000"}, DeletedAt: now}}, MoreAccounts: true}
	s := newSite(t).fill().as(person.Grant{Role: person.Support})
	s.search.found = found
	got := s.get(base + "/search?q=12.50+EUR")
	s.checkStructure("search", got)
	for _, want := range []string{"/webhooks/" + webhookID.UUID().String(), "By id", "Payments by reference", "reference=12.50&#43;EUR",
		"Payments by the id of a partner", "currency=EUR&amp;min=12.50&amp;max=12.50", "Q••• B•••", "****3000", "deleted", "Enter more words",
		"Enter the whole number"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %q in %s", want, got.body)
		}
	}
	if strings.Contains(got.body, "Quetzal") || strings.Contains(got.body, "DE8937") || !s.search.personal {
		t.Errorf("personal %t: %s", s.search.personal, got.body)
	}
	s = newSite(t).fill().as(person.Grant{Role: person.Viewer})
	s.search.found = search.Found{NotSearched: true}
	if got := s.get(base + "/search?q=x"); got.StatusCode != http.StatusNotFound || !strings.Contains(got.body, notSearched) ||
		s.search.personal {
		t.Errorf("nothing: %d %s", got.StatusCode, got.body)
	}
	s.search.found.Hits = found.Hits
	if got := s.get(base + "/search?q=x"); got.StatusCode != http.StatusOK || !strings.Contains(got.body, notSearched) {
		t.Errorf("one thing: %d %s", got.StatusCode, got.body)
	}
}
