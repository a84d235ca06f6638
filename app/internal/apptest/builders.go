package apptest

import (
	"context"
	"crypto/sha256"
	"fmt"

	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/books"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
	"causeway/ports/portstest"
)

// Do runs a unit of work that must succeed.
func (e *Env) Do(fn func(context.Context, *postgres.Unit) error) {
	e.t.Helper()
	portstest.MustDo(e.t, e.Store, fn)
}

// RequireFourEyes makes the settings of a platform list actions.
func (e *Env) RequireFourEyes(p platform.Platform, actions ...books.Action) {
	e.t.Helper()
	present, err := e.Store.BooksSettings(e.t.Context(), p.ID)
	if err != nil {
		e.t.Fatal(err)
	}
	next := books.SettingsVersion{Settings: present.Settings, Version: present.Version + 1, At: e.Clock.Now(),
		By: platform.Author{Actor: "ops"}}
	next.FourEyes = actions
	e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.SaveBooksSettings(ctx, p.ID, next) })
}

// NewPlatform stores another platform: regulated and in the sandbox, unless edited.
func (e *Env) NewPlatform(edits ...func(*platform.Platform)) platform.Platform {
	e.t.Helper()
	p := portstest.SandboxPlatform(e.t, e.IDs, e.Clock.Now())
	for _, edit := range edits {
		edit(&p)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePlatform(ctx, p) })
	return p
}

// NewPrincipal stores a token of a platform with every permission and returns its holder.
func (e *Env) NewPrincipal(p platform.Platform) platform.Principal {
	e.t.Helper()
	now := e.Clock.Now()
	clientID := e.IDs.New(now)
	token, _, err := platform.NewToken(ident.NewToken(e.IDs.New, now), p.ID, "test", platform.Permissions, clientID,
		sha256.Sum256(clientID[:]), now)
	if err != nil {
		e.t.Fatal(err)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateToken(ctx, token) })
	return platform.Principal{Platform: p.ID, Environment: p.Environment, Token: token.ID, Permissions: token.Permissions}
}

// GiveToken makes a token that of a person; until then it is that of a service.
func (e *Env) GiveToken(token ident.Token, owner person.Person) {
	e.t.Helper()
	if err := e.Exec(fmt.Sprintf("UPDATE tokens SET person_id = '%s' WHERE id = '%s'", owner.ID.UUID(), token.UUID())); err != nil {
		e.t.Fatal(err)
	}
}

// NewPerson stores an active person with a role on all platforms, and a name and an address of its own, unless edited.
func (e *Env) NewPerson(role person.Role, edits ...func(*person.Person)) person.Person {
	e.t.Helper()
	now := e.Clock.Now()
	id := ident.NewPerson(e.IDs.New, now)
	name := ident.ShortCode(id.UUID())
	p, err := person.New(id, name+"@people.test", "Person "+name, []person.Grant{{Role: role}}, now)
	if err != nil {
		e.t.Fatal(err)
	}
	p.Status = person.Active
	for _, edit := range edits {
		edit(&p)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePerson(ctx, p) })
	return p
}

// NewCustomer stores another customer of Platform: an approved individual without accounts,
// with the UMA address $name@uma.test, unless edited.
func (e *Env) NewCustomer(name string, edits ...func(*customer.Customer)) customer.Customer {
	e.t.Helper()
	c := portstest.ApprovedCustomer(e.IDs, e.Clock.Now(), e.Platform.ID, name)
	for _, edit := range edits {
		edit(&c)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateCustomer(ctx, c) })
	return c
}

// NewInternalAccount opens an account of a customer (zero: the platform) on Platform, and
// deposits minor units of its currency over ACH if there are any.
func (e *Env) NewInternalAccount(owner ident.Customer, currency money.Currency, minor int64) account.Internal {
	e.t.Helper()
	return e.NewInternalAccountOn(e.Platform.ID, owner, currency, minor)
}

// NewInternalAccountOn is NewInternalAccount for another platform.
func (e *Env) NewInternalAccountOn(p ident.Platform, owner ident.Customer, currency money.Currency, minor int64) account.Internal {
	e.t.Helper()
	now := e.Clock.Now()
	opened, err := account.NewInternal(ident.NewInternalAccount(e.IDs.New, now), p, owner, currency, now)
	if err != nil {
		e.t.Fatal(err)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.OpenInternalAccounts(ctx, []account.Internal{opened})
	})
	if minor > 0 {
		e.Post(ledger.Deposit(ledger.Header{ID: e.IDs.New(now), Platform: p, Effective: now}, ledger.IncomingFunds{
			Partner: ledger.Rail("ACH"), To: opened.LedgerPath(), Amount: money.Amount{Minor: minor, Currency: currency}}))
	}
	return opened
}

// NewWallet stores a Bitcoin wallet of Customer; its address selects the sandbox's outcome.
func (e *Env) NewWallet(address string) account.External {
	e.t.Helper()
	return e.NewExternalAccount(account.External{Customer: e.Customer.ID, Currency: "BTC", Type: account.Layer2Wallet,
		Fields: map[string]string{"address": address}, Rails: []corridor.Rail{corridor.Layer2}})
}

// NewBankAccount stores a US bank account of Customer; its number selects the sandbox's outcome.
func (e *Env) NewBankAccount(number string) account.External {
	e.t.Helper()
	return e.NewExternalAccount(account.External{Customer: e.Customer.ID, Currency: "USD", Type: account.USAccount,
		Fields: map[string]string{"accountNumber": number, "routingNumber": "021000021"}, Rails: []corridor.Rail{corridor.RTP, corridor.ACH}})
}

// NewExternalAccount stores an external account on Platform. What the test leaves out of id,
// status and times is filled in.
func (e *Env) NewExternalAccount(a account.External) account.External {
	e.t.Helper()
	now := e.Clock.Now()
	a.ID, a.Platform, a.CreatedAt, a.UpdatedAt = ident.NewExternalAccount(e.IDs.New, now), e.Platform.ID, now, now
	if a.Status == "" {
		a.Status = account.Active
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateExternalAccount(ctx, a) })
	return a
}

// QuoteRequest asks to send minor units of a currency from Customer, funded just in time, to
// an external account.
func (e *Env) QuoteRequest(from money.Currency, minor int64, to account.External) quote.Request {
	network := ""
	if from.IsStablecoin() {
		network = string(corridor.Chains(from)[0])
	}
	return quote.Request{Platform: e.Platform.ID, Source: quote.Source{Customer: e.Customer.ID, Currency: from, Network: network},
		Destination: quote.Destination{External: to.ID}, Side: quote.Sending, Amount: minor}
}

// NewReceipt is a payment into Platform over a rail, not stored yet. Each has a partner
// reference of its own.
func (e *Env) NewReceipt(rail corridor.Rail, reference string, amount money.Amount) transaction.Receipt {
	partnerID, now := fmt.Sprint("partner-", e.receipts.Add(1)), e.Clock.Now()
	return transaction.Receipt{ID: ident.NewReceipt(e.IDs.New, now), PartnerID: partnerID, Platform: e.Platform.ID,
		Rail: rail, Reference: reference, Amount: amount, At: now}
}

// IdempotentRequest is a request of a principal under an idempotency key. render writes the
// body of a successful response; a nil render leaves it empty. A failed request is answered
// with status 400 and the message of the error.
func IdempotentRequest(p platform.Principal, key string, render func(result any) string) *ports.IdempotentRequest {
	return &ports.IdempotentRequest{
		Platform: p.Platform, Token: p.Token, Key: key, Fingerprint: sha256.Sum256([]byte(key)),
		Render: func(result any, err error) (int, []byte) {
			switch {
			case err != nil:
				return 400, []byte(err.Error())
			case render == nil:
				return 201, nil
			default:
				return 201, []byte(render(result))
			}
		},
	}
}

// Post writes postings, thousands at a time.
func (e *Env) Post(postings ...ledger.Posting) {
	e.t.Helper()
	for len(postings) > 0 {
		n := min(len(postings), 2000)
		e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.Post(ctx, postings[:n]) })
		postings = postings[n:]
	}
}
