package console

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"causeway/app/accounts"
	"causeway/app/agents"
	"causeway/app/exports"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/person"
	"causeway/core/screening"
	"causeway/ports"
)

func (f *fakeCustomers) Notes(ctx context.Context, p ident.Platform, of ident.Customer) ([]customer.Note, error) {
	return []customer.Note{{Author: "Sam Ito", Content: "Quetzal called", CreatedAt: now}}, f.read(ctx, p, "notes of %s", of)
}

func (f *fakeCustomers) Add(ctx context.Context, p ident.Platform, of ident.Customer, by person.Person, content string) error {
	f.acted(by.ID.UUID())
	if content == "" {
		return fault.Invalid(fault.Field{Field: "content", Message: "is required"})
	}
	return f.read(ctx, p, "note of %s by %s: %s", of, by.Name, content)
}

// fakeAgents are the agents of customers, which have a method with the name of another one.
type fakeAgents struct{ *calls }

func (f fakeAgents) List(ctx context.Context, p ident.Platform, filter ports.AgentFilter) (ports.Page[agent.WithUsage], error) {
	return ports.Page[agent.WithUsage]{Items: []agent.WithUsage{{Agent: agent.Agent{ID: numbered(ident.Agent{}, 15), Name: "Balam bot",
		Paused: true}}}}, f.read(ctx, p, "agents of %s", filter.Customer)
}

func (f fakeAgents) Activity(ctx context.Context, p ident.Platform, id ident.Agent) (agents.Activity, error) {
	limits := agent.SpendingLimits{Currency: "USD", PerTransaction: 5000_00, Daily: 9000_00}
	return agents.Activity{Agent: agent.Agent{ID: id, Name: "Balam bot", Policy: agent.Policy{Limits: limits,
		Threshold: agent.ApprovalThreshold{Currency: "USD", Amount: new(int64(2000_00))}}}}, f.read(ctx, p, "activity of %s", id)
}

func (f fakeAgents) ReasonsOf(ctx context.Context, p ident.Platform, actions []ident.AgentAction) (map[ident.AgentAction][]agent.Reason,
	error) {
	return map[ident.AgentAction][]agent.Reason{agentActionID: {{Code: agent.AboveThreshold, Message: "It asks above 2000.00 USD."}}},
		f.read(ctx, p, "reasons of %d", len(actions))
}

// fakeLimits has a limit of each customer.
type fakeLimits struct{ *calls }

func (f fakeLimits) Headroom(ctx context.Context, p ident.Platform, of ident.Customer) ([]limit.Headroom, error) {
	return []limit.Headroom{{Rule: limit.Rule{Key: limit.Key{Currency: "USD", Customer: limit.EachCustomer}, Daily: 4321_00},
		Sent: limit.Count{Transactions: 1, Sent: 1000_00}, Left: 3321_00}}, f.read(ctx, p, "limits of %s", of)
}

// fakeAccounts are the accounts of customers and of the platform.
type fakeAccounts struct{ *fakeCustomers }

func (f fakeAccounts) List(ctx context.Context, p ident.Platform, owner accounts.Owner,
	filter ports.ExternalAccountFilter) (ports.Page[account.External], error) {
	return ports.Page[account.External]{Items: []account.External{{ID: numbered(ident.ExternalAccount{}, 17), Type: "EUR_ACCOUNT",
			Status: account.Active, Fields: map[string]string{"iban": "DE89370400440532013000"}}}}, f.read(ctx, p, "external accounts of %s, %t",
			filter.Customer, owner)
}

func (f *fakeReviews) HitsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]screening.Hit, error) {
	return f.hits, f.read(ctx, p, "hits of %s", c)
}

func (f *fakeFinance) Statement(ctx context.Context, p ident.Platform, r exports.StatementRequest) (exports.Document, error) {
	if r.Format != exports.PDF && r.Format != "" {
		return exports.Document{}, fault.Invalid(fault.Field{Field: "format", Message: "must be PDF"})
	}
	return exports.Document{Name: "statement.pdf", ContentType: "application/pdf", Write: func(ctx context.Context, out io.Writer) error {
		_, err := io.WriteString(out, "Quetzal")
		return err
	}}, f.read(ctx, p, "statement of %s, %s, from %s", r.Customer, r.Account, r.From.Format("2006-01-02"))
}

func TestCustomer_ShowsWhatItHas(t *testing.T) {
	t.Parallel()
	// A customer is shown with its accounts, agents, hits and notes; names, numbers and what was written are masked until they are asked
	// for. Who may see personal data writes notes.
	path := base + "/customers/" + customerID.UUID().String()
	s := newSite(t).fill().as(person.Grant{Role: person.Support})
	s.customers.accounts = []account.WithBalance{{Internal: account.Internal{ID: numbered(ident.InternalAccount{}, 16),
		Currency: "USD", Customer: customerID,
		Status: account.InternalActive}, Balance: 12_34}}
	got := s.get(path)
	s.checkStructure("customer", got)
	for text, shown := range map[string]bool{"12.34": true, "/entries?path=customers%2FInternalAccount%3A": true,
		"3321.00": true, "B••• b•••": true, "Balam bot": false,
		"Sam Ito": true, "Q••• c•••": true,
		"Quetzal called": false, "3000": false, "paused": true, "Hits of the screening": true, path + "/note": true,
		base + "/reviews/" + verificationID.UUID().String(): true} {
		if strings.Contains(got.body, text) != shown {
			t.Errorf("%q is shown: %t", text, !shown)
		}
	}
	got = s.post(path, nil)
	for _, text := range []string{"Balam bot", "Quetzal called", "****3000"} {
		if !strings.Contains(got.body, text) {
			t.Errorf("%q is not shown when it is asked for", text)
		}
	}
	if got := newSite(t).fill().as(person.Grant{Role: person.Viewer}).get(path); strings.Contains(got.body, path+"/note") {
		t.Error("a viewer may write")
	}
	if got := s.post(path+"/note", url.Values{"content": {"Called back"}}); got.Header.Get("Location") != path ||
		!slices.Contains(s.calls.log, "note of "+customerID.String()+" by Ada Lovelace: Called back") {
		t.Errorf("%d %q", got.StatusCode, s.calls.log)
	}
	if got := s.post(path+"/note", nil); got.StatusCode != fault.InvalidInput.Status() || !strings.Contains(got.body, "content is required") {
		t.Errorf("an empty note: %d", got.StatusCode)
	}
}

func TestCustomer_StatementIsRecorded(t *testing.T) {
	t.Parallel()
	// A statement is sent after it was recorded that the person has it. What is wrong with the request is said, and not recorded.
	path := base + "/customers/" + customerID.UUID().String() + "/statement"
	s := newSite(t).fill().as(person.Grant{Role: person.Support})
	of := numbered(ident.InternalAccount{}, 16).String()
	for form, want := range map[string]int{"account=x": 422, "account=" + of + "&day-from=yesterday": 422,
		"account=" + of + "&format=x": 400} {
		values, _ := url.ParseQuery(form)
		if got := s.post(path, values); got.StatusCode != want && got.StatusCode != fault.InvalidInput.Status() || len(s.people.recorded) > 0 {
			t.Errorf("%s: %d, recorded %q", form, got.StatusCode, s.people.recorded)
		}
	}
	got := s.post(path, url.Values{"account": {of}, "day-from": {"2026-02-01"}, "format": {"pdf"}})
	if got.StatusCode != http.StatusOK || got.body != "Quetzal" || !strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment") ||
		len(s.people.recorded) != 1 || !slices.Contains(s.calls.log, "statement of "+customerID.String()+", "+of+", from 2026-02-01") {
		t.Errorf("%d %s, recorded %q, %q", got.StatusCode, got.body, s.people.recorded, s.calls.log)
	}
	s.people.recordErr = fault.New(fault.ServiceUnavailable, "Busy.")
	if got := s.post(path, url.Values{"account": {of}}); got.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("not recorded: %d %s", got.StatusCode, got.body)
	}
}
