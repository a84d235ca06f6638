package console

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/accounting"
	"causeway/app/accounts"
	"causeway/app/jobs"
	"causeway/app/payments"
	"causeway/app/people"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// calls are the use cases that were called. err is what the next ones return.
type calls struct {
	t       *testing.T
	err     error
	logging sync.Mutex // parts of a page are read at the same time
	log     []string
	actors  []uuid.UUID // who has acted: persons, or their tokens, which have the same numbers
}

// acted notes who has acted, as the use case stores it.
func (c *calls) acted(who uuid.UUID) { c.actors = append(c.actors, who) }

func (c *calls) call(name string, args ...any) error {
	c.logging.Lock()
	defer c.logging.Unlock()
	c.log = append(c.log, fmt.Sprintf(name, args...))
	return c.err
}

// read is call for what is on a platform: the context is limited to it.
func (c *calls) read(ctx context.Context, p ident.Platform, name string, args ...any) error {
	c.t.Helper()
	if scope, ok := ports.ScopeOf(ctx); !ok || scope != (ports.Scope{Platform: p}) {
		c.t.Errorf("%s of %s is called with the scope %+v", name, p, scope)
	}
	return c.call(name, args...)
}

// fakePeople has sessions by their secrets, and links by their tokens.
type fakePeople struct {
	*calls
	sessions map[string]people.SignedIn
	links    map[string]person.Person
	everyone []person.Person
	// recordErr is what RecordViewed returns, and recorded what was recorded.
	recordErr error
	recorded  []string
	setup     people.Setup
	// confirmed: the provider has confirmed the form of the page of action, which is also the last that was confirmed.
	confirmed bool
	action    string
	// byLink: the session is that of a link that signs in.
	byLink bool
	// withoutPasskeys and withoutProvider: the service has none.
	withoutPasskeys, withoutProvider bool
	// withoutPassword: nobody has a password. device is what the last browser has said of itself.
	withoutPassword bool
	device          string
}

func (f *fakePeople) Linked(_ context.Context, token string) (person.Person, error) {
	p, ok := f.links[token]
	if !ok {
		return p, person.ErrLink
	}
	return p, nil
}

func (f *fakePeople) OpenLink(ctx context.Context, token string) (people.SignedIn, error) {
	p, err := f.Linked(ctx, token)
	if err != nil {
		return people.SignedIn{}, err
	}
	delete(f.links, token)
	return f.begin(p, "linked"), f.call("open link")
}

// begin begins a session with a secret.
func (f *fakePeople) begin(p person.Person, secret string) people.SignedIn {
	in := people.SignedIn{Session: person.Session{Person: p.ID, ExpiresAt: now.Add(time.Hour)}, Person: p}
	f.sessions[secret] = in
	in.Secret = secret
	return in
}

func (f *fakePeople) NewTOTPSecret() string { return "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP" }

func (f *fakePeople) SetUp(_ context.Context, secret string, r people.Setup) (people.SignedIn, []string, error) {
	if err := f.call("set up"); err != nil {
		return people.SignedIn{}, nil, err
	}
	f.setup = r
	p := f.sessions[secret].Person
	delete(f.sessions, secret)
	return f.begin(p, "set-up"), []string{"ABCDEFGHJKLMNPQR", "STUVWXYZ23456789"}, nil
}

func (f *fakePeople) SignIn(_ context.Context, email, password, code string) (people.SignedIn, error) {
	if err := f.call("sign in %s", email); err != nil {
		return people.SignedIn{}, err
	}
	if password != "right" || code != "123456" {
		return people.SignedIn{}, person.ErrSignIn
	}
	return f.begin(newPerson(person.Grant{Role: person.Viewer}), "signed-in"), nil
}

func (f *fakePeople) SignOut(_ context.Context, secret string) error {
	if err := f.call("sign out"); err != nil {
		return err
	}
	delete(f.sessions, secret)
	return nil
}

func (f *fakePeople) Session(_ context.Context, secret string) (people.SignedIn, error) {
	in, ok := f.sessions[secret]
	if !ok {
		return in, person.ErrNoSession
	}
	return in, nil
}

func (f *fakePeople) Accounts(context.Context) ([]person.Account, error) {
	all := make([]person.Account, len(f.everyone))
	for i, p := range f.everyone {
		all[i] = person.Account{Person: p, HasPassword: true, HasProvider: true, RecoveryCodes: 1, Passkeys: 2, LastSignIn: now,
			Sessions: make([]person.Session, 3)}
	}
	return all, f.call("people")
}

func (f *fakePeople) NameDevice(_ context.Context, _ people.SignedIn, device string) error {
	f.device = device
	return f.err
}

// otherSession is the hash of the other session of everybody.
var otherSession = person.SecretHash{7}

func (f *fakePeople) Account(_ context.Context, in people.SignedIn) (person.Account, error) {
	a := person.Account{Person: in.Person, HasPassword: !f.withoutPassword, RecoveryCodes: 8, Sessions: []person.Session{in.Session,
		{TokenHash: otherSession, CommandLine: true, Device: "ana@<desk>", CreatedAt: now, LastUsedAt: now}}}
	return a, f.err
}

func (f *fakePeople) EndSession(_ context.Context, in people.SignedIn, token person.SecretHash) error {
	return f.call("end %x of %s", token[:1], in.Person.Email)
}

func (f *fakePeople) EndOtherSessions(_ context.Context, in people.SignedIn) error {
	return f.call("end the others of %s", in.Person.Email)
}

func (f *fakePeople) ChangePassword(_ context.Context, in people.SignedIn, current, password string) error {
	if current == "wrong" {
		return fault.Invalid(fault.Field{Field: "current", Message: "is not your password"})
	}
	return f.call("change the password of %s from %s to %s", in.Person.Email, current, password)
}

func (f *fakePeople) ReplaceAuthenticator(_ context.Context, in people.SignedIn, secret, code string) error {
	if code == "000000" {
		return fault.Invalid(fault.Field{Field: "new-code", Message: "must be the code that your application shows now"})
	}
	return f.call("replace the key of %s by %s with %s", in.Person.Email, secret, code)
}

func (f *fakePeople) RenewRecoveryCodes(_ context.Context, in people.SignedIn) ([]string, error) {
	return []string{"ABCDEFGHJKLMNPQR", "STUVWXYZ23456789"}, f.call("renew the codes of %s", in.Person.Email)
}

func (f *fakePeople) RecordAction(_ context.Context, p person.Person, a platform.OperatorAction) (platform.OperatorAction, error) {
	f.acted(p.ID.UUID())
	if f.recordErr != nil {
		return a, f.recordErr
	}
	a.ID = uuid.UUID{15: 1}
	return a, f.call("%s: %s %s (%s) of %s", p.Email, a.Kind, a.Name, a.Subject, a.Platform)
}

func (f *fakePeople) RecordRefused(_ context.Context, p person.Person, a platform.OperatorAction, reason string) error {
	return f.call("%s: %s %s refused, recorded before %t: %s", p.Email, a.Kind, a.Name, a.ID != uuid.Nil, reason)
}

func (f *fakePeople) RecordViewed(_ context.Context, p person.Person, of ident.Platform, subject uuid.UUID, what string) error {
	f.acted(p.ID.UUID())
	if f.recordErr != nil {
		return f.recordErr
	}
	f.recorded = append(f.recorded, fmt.Sprintf("%s sees %s (%s) of %s", p.Email, what, subject, of))
	return f.call("record")
}

// askingCode is the code of the only sign-in of the command line that waits.
const askingCode = "BCDFGHJK"

func (f *fakePeople) SignInRequest(_ context.Context, text string) (person.SignInRequest, error) {
	code, err := person.ParseSignInCode(text)
	if failed := f.call("asked"); failed != nil {
		return person.SignInRequest{}, failed
	}
	if err == nil && code != askingCode {
		err = person.ErrSignInRequest
	}
	return person.NewSignInRequest(code, person.SecretHash{}, "ana@<laptop>", now), err
}

func (f *fakePeople) ApproveSignIn(_ context.Context, in people.SignedIn, code string) error {
	return f.call("approve %s as %s", code, in.Person.Email)
}

func (f *fakePeople) RefuseSignIn(_ context.Context, code string) error {
	return f.call("refuse %s", code)
}

// Confirm accepts one code, and one answer of a passkey.
func (f *fakePeople) Confirm(_ context.Context, in people.SignedIn, by people.Confirmation) error {
	if by.Code != "123456" && string(by.Passkey) != "right" && !f.confirmed {
		return person.ErrCode
	}
	f.action = by.Action
	return f.call("confirm %s", in.Person.Email)
}

// passkeyID is the id of the passkey of everybody.
var passkeyID = []byte{250, 251, 252}

func (f *fakePeople) NeedsNoCode(context.Context, people.SignedIn) (bool, error) {
	return f.byLink, nil
}

func (f *fakePeople) HasPasskeys() bool { return !f.withoutPasskeys }

func (f *fakePeople) SetTimeZone(_ context.Context, _ people.SignedIn, name string) error {
	return f.call("set the time zone %s", name)
}

func (f *fakePeople) PasskeysOf(_ context.Context, p person.Person) ([]person.Passkey, error) {
	return []person.Passkey{{ID: passkeyID, Person: p.ID, Name: "work <laptop>", CreatedAt: now}}, f.err
}

func (f *fakePeople) AskForSignIn(context.Context) ([]byte, error) {
	return []byte(`{"challenge":"c2lnbiBpbg"}`), f.call("ask for a sign-in")
}

func (f *fakePeople) AskForConfirmation(_ context.Context, in people.SignedIn, action string) ([]byte, error) {
	return []byte(`{"challenge":"Y29uZmlybQ"}`), f.call("ask %s to confirm %s", in.Person.Email, action)
}

func (f *fakePeople) AskForPasskey(ctx context.Context, in people.SignedIn, by people.Confirmation) ([]byte, error) {
	return []byte(`{"challenge":"Y3JlYXRl"}`), cmp.Or(f.Confirm(ctx, in, by), f.call("ask for a passkey"))
}

func (f *fakePeople) AddPasskey(_ context.Context, in people.SignedIn, name string, answer []byte) (person.Passkey, error) {
	if string(answer) != "right" {
		return person.Passkey{}, fault.Invalid(fault.Field{Field: "passkey", Message: "was not accepted"})
	}
	return person.Passkey{}, f.call("add %s of %s", name, in.Person.Email)
}

func (f *fakePeople) RemovePasskey(_ context.Context, in people.SignedIn, id []byte) error {
	return f.call("remove %v of %s", id, in.Person.Email)
}

func (f *fakePeople) SignInWithPasskey(_ context.Context, answer []byte) (people.SignedIn, error) {
	if err := f.call("sign in with a passkey"); err != nil {
		return people.SignedIn{}, err
	}
	if string(answer) != "right" {
		return people.SignedIn{}, person.ErrPasskey
	}
	return f.begin(newPerson(person.Grant{Role: person.Viewer}), "signed-in"), nil
}

func (f *fakePeople) HasSingleSignOn() bool { return !f.withoutProvider }

func (f *fakePeople) NewBrowserSecret() string { return "secret-of-the-browser" }

func (f *fakePeople) BeginSingleSignOn(_ context.Context, browser, next string) (string, error) {
	return "https://provider.test/?state=s", f.call("begin with %s for %s", browser, next)
}

func (f *fakePeople) BeginProviderConfirmation(_ context.Context, _ people.SignedIn, browser, action string) (string, error) {
	return "https://provider.test/?state=c", f.call("confirm with %s for %s", browser, action)
}

func (f *fakePeople) ReturnFromProvider(_ context.Context, _ people.SignedIn, browser, state, code string) (people.Returned, error) {
	err := f.call("return of %s with %s and %s", browser, state, code)
	switch {
	case err != nil:
	case state == "c":
		return people.Returned{To: f.action}, nil
	case state == "s":
		in := f.begin(newPerson(person.Grant{Role: person.Viewer}), "signed-in")
		return people.Returned{SignedIn: &in, To: base}, nil
	default:
		err = person.ErrChallenge
	}
	return people.Returned{}, err
}

func (f *fakePeople) IsConfirmed(_ people.SignedIn, action string) bool {
	return f.confirmed && action == f.action
}

type fakePlatforms struct {
	*calls
	all []platform.Platform
}

func (f *fakePlatforms) All(context.Context) iter.Seq2[platform.Platform, error] {
	return func(yield func(platform.Platform, error) bool) {
		if err := f.call("platforms"); err != nil {
			yield(platform.Platform{}, err)
			return
		}
		for _, p := range f.all {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func (f *fakePlatforms) Settings(ctx context.Context, id ident.Platform) (platform.Platform, error) {
	err := f.read(ctx, id, "settings")
	for _, p := range f.all {
		if p.ID == id {
			return p, err
		}
	}
	return platform.Platform{}, fault.New(fault.NotFound, "No platform has the id %s.", id)
}

// UpdateSettings does what core does with a platform of production.
func (f *fakePlatforms) UpdateSettings(ctx context.Context, id ident.Platform, by platform.Author, change platform.Change) (
	platform.Platform, error) {
	after, _, err := platform.Platform{}.Apply(change, now)
	if err != nil {
		return after, err
	}
	f.acted(by.Person.UUID())
	return after, f.read(ctx, id, "set the endpoint %s by %s %s", after.WebhookEndpoint, by.Actor, by.Person)
}

// TokenOf returns the token of a person, which has the number of the person.
func (f *fakePlatforms) NameTokens(ctx context.Context, p ident.Platform, texts ...*string) error {
	found := false
	for _, text := range texts {
		found = found || strings.Contains(*text, "Token:")
		*text = strings.ReplaceAll(*text, "Token:", "service Backend, Token:")
	}
	if !found {
		return nil
	}
	return f.read(ctx, p, "names of tokens")
}

func (f *fakePlatforms) TokenOf(ctx context.Context, p ident.Platform, of person.Person) (id ident.Token, err error) {
	id.SetUUID(of.ID.UUID())
	return id, f.read(ctx, p, "token of %s", of.Email)
}

type fakeProposals struct {
	*calls
	all []proposal.Stated
	// refusal is what decisions return.
	refusal error
}

func (f *fakeProposals) Proposal(ctx context.Context, p ident.Platform, id ident.Proposal) (proposal.Stated, error) {
	err := f.read(ctx, p, "proposal %s", id)
	for _, item := range f.all {
		if item.ID == id {
			return item, err
		}
	}
	return proposal.Stated{}, proposal.NotFound(id)
}

func (f *fakeProposals) Proposals(ctx context.Context, p ident.Platform, filter ports.ProposalFilter) (ports.Page[proposal.Stated], error) {
	if err := f.read(ctx, p, "proposals"); err != nil {
		return ports.Page[proposal.Stated]{}, err
	}
	return listed(f.all, filter.Paging, func(item proposal.Stated) (uuid.UUID, bool) {
		return item.ID.UUID(), filter.Status == "" || item.Status == filter.Status
	}), nil
}

func (f *fakeProposals) Approve(ctx context.Context, p ident.Platform, by platform.Author, _ *ports.IdempotentRequest,
	id ident.Proposal) (proposal.Stated, error) {
	f.acted(by.Person.UUID())
	return proposal.Stated{}, cmp.Or(f.read(ctx, p, "approve %s by %s", id, by), f.refusal)
}

func (f *fakeProposals) Reject(ctx context.Context, p ident.Platform, by platform.Author, _ *ports.IdempotentRequest, id ident.Proposal,
	note string) (proposal.Stated, error) {
	f.acted(by.Person.UUID())
	return proposal.Stated{}, f.read(ctx, p, "reject %s by %s: %s", id, by, note)
}

type fakePayments struct {
	*calls
	all []transaction.Transaction
	// filters are those of the lists that were read.
	filters []ports.TransactionFilter
}

func (f *fakePayments) ListTransactions(ctx context.Context, p ident.Platform,
	filter ports.TransactionFilter) (ports.Page[transaction.Transaction], error) {
	f.filters = append(f.filters, filter)
	if err := f.read(ctx, p, "payments"); err != nil {
		return ports.Page[transaction.Transaction]{}, err
	}
	return listed(f.all, filter.Paging, func(t transaction.Transaction) (uuid.UUID, bool) {
		return t.ID.UUID(), filter.Reference == "" || t.Reference == filter.Reference
	}), nil
}

func (f *fakePayments) CountTransactions(ctx context.Context, p ident.Platform, since time.Time) (map[transaction.Status]int64, error) {
	counts := map[transaction.Status]int64{}
	for _, t := range f.all {
		if !t.CreatedAt.Before(since) {
			counts[t.State.Status]++
		}
	}
	return counts, f.read(ctx, p, "counts")
}

func (f *fakePayments) CountTransactionsByStatus(ctx context.Context, p ident.Platform, filter ports.TransactionFilter) (ports.StatusCounts,
	error) {
	counts := ports.StatusCounts{Counts: map[transaction.Status]int64{}, AreMinimum: filter.Amounts.Currency != ""}
	for _, t := range f.all {
		counts.Counts[t.State.Status]++
	}
	return counts, f.read(ctx, p, "counts by status")
}

func (f *fakePayments) CountTransactionsByHour(ctx context.Context, p ident.Platform, hours int) ([]payments.TimeCount, error) {
	counts := make([]payments.TimeCount, hours)
	for n := range counts {
		counts[n].From = now.Truncate(time.Hour).Add(time.Duration(n-hours+1) * time.Hour)
	}
	counts[hours-1].Counts = map[transaction.Status]int64{transaction.Completed: int64(len(f.all))}
	return counts, f.read(ctx, p, "hours")
}

func (f *fakePayments) CountTransactionsByDay(ctx context.Context, p ident.Platform, days int) (counts []payments.TimeCount, err error) {
	for n := range days {
		day := payments.TimeCount{From: now.Truncate(24*time.Hour).AddDate(0, 0, n-days+1), Counts: map[transaction.Status]int64{}}
		for _, t := range f.all {
			if !t.CreatedAt.Before(day.From) && t.CreatedAt.Before(day.From.AddDate(0, 0, 1)) {
				day.Counts[t.State.Status]++
			}
		}
		counts = append(counts, day)
	}
	return counts, f.read(ctx, p, "days")
}

// listed returns the page of a list whose items match.
func listed[T any](all []T, paging ports.Paging, of func(T) (id uuid.UUID, matches bool)) (page ports.Page[T]) {
	begun := paging.After == uuid.UUID{}
	for _, item := range all {
		id, matches := of(item)
		if matches {
			page.Total++
		}
		switch {
		case !begun:
			begun = id == paging.After
		case matches && len(page.Items) == paging.Limit:
			page.More = true
		case matches:
			page.Items = append(page.Items, item)
		}
	}
	return page
}

type fakeCustomers struct {
	*calls
	accounts []account.WithBalance
	all      []customer.Customer
}

func (f *fakeCustomers) Get(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error) {
	err := f.read(ctx, p, "customer %s", id)
	for _, c := range f.all {
		if c.ID == id {
			return c, err
		}
	}
	return customer.Customer{}, fault.New(fault.NotFound, "No customer has the id %s.", id)
}

func (f *fakeCustomers) List(ctx context.Context, p ident.Platform, filter ports.CustomerFilter) (ports.Page[customer.Customer], error) {
	if err := f.read(ctx, p, "customers"); err != nil {
		return ports.Page[customer.Customer]{}, err
	}
	return listed(f.all, filter.Paging, func(c customer.Customer) (uuid.UUID, bool) {
		return c.ID.UUID(), filter.PlatformCustomerID == "" || c.PlatformCustomerID == filter.PlatformCustomerID
	}), nil
}

func (f *fakeCustomers) ListInternal(ctx context.Context, p ident.Platform, owner accounts.Owner,
	filter ports.InternalAccountFilter) (ports.Page[account.WithBalance], error) {
	return ports.Page[account.WithBalance]{Items: f.accounts}, f.read(ctx, p, "accounts of the platform %t, of %s", owner, filter.Customer)
}

type fakeAccounting struct {
	*calls
	timeline accounting.Timeline
	// waitingFunds are how many unmatched funds wait.
	waitingFunds int
	balance      accounting.TrialBalance
	query        accounting.TrialBalanceQuery
	entries      ports.AccountEntryPage
	filter       ports.AccountEntryFilter
	unknown      error // of an account without entries
	noSum        error // of EntriesSum
	posting      accounting.Posting
	postings     ports.PostingFilter
	// broken makes no checkpoint continue the one before.
	broken bool
	// archived: the month of the postings was.
	archived bool
	position accounting.FXPosition
	// unmatched are by receipt.
	unmatched []accounting.UnmatchedDetails
}

func (f *fakeAccounting) Timeline(ctx context.Context, p ident.Platform, id ident.Transaction) (accounting.Timeline, error) {
	if err := f.read(ctx, p, "timeline"); err != nil {
		return accounting.Timeline{}, err
	}
	if id != f.timeline.Transaction.ID {
		return accounting.Timeline{}, fault.New(fault.TransactionNotFound, "No transaction has the id %s.", id)
	}
	return f.timeline, nil
}

func (f *fakeAccounting) TrialBalance(ctx context.Context, p ident.Platform, q accounting.TrialBalanceQuery) (accounting.TrialBalance,
	error) {
	f.query = q
	return f.balance, f.read(ctx, p, "trial balance")
}

func (f *fakeAccounting) Entries(ctx context.Context, filter ports.AccountEntryFilter) (ports.AccountEntryPage, error) {
	f.filter = filter
	return f.entries, cmp.Or(f.read(ctx, filter.Account.Platform, "entries"), f.unknown)
}

func (f *fakeAccounting) EntriesSum(ctx context.Context, filter ports.AccountEntryFilter) (money.Total, error) {
	return money.TotalOf(12_34), cmp.Or(f.read(ctx, filter.Account.Platform, "sum of entries"), f.noSum)
}

func (f *fakeAccounting) Account(ctx context.Context, p ident.Platform, path string, _ money.Currency,
	_ ports.Cutoff) ([]accounting.LedgerAccount,
	error) {
	if err := f.read(ctx, p, "account"); err != nil {
		return nil, err
	}
	if f.posting.Seq == 0 {
		return nil, fault.New(fault.NotFound, "There is no account %s.", path)
	}
	return []accounting.LedgerAccount{{LedgerAccount: ports.LedgerAccount{Account: ledger.Account{Platform: p, Path: path, Currency: "USD"},
		Balance: money.TotalOf(-2_50)}}}, nil
}

func (f *fakeAccounting) Posting(ctx context.Context, p ident.Platform, id uuid.UUID) (accounting.Posting, error) {
	if err := f.read(ctx, p, "posting"); err != nil {
		return accounting.Posting{}, err
	}
	if id != f.posting.ID {
		return accounting.Posting{}, fault.New(fault.NotFound, "No posting has the id %s.", id)
	}
	return f.posting, nil
}

type fakeWebhooks struct {
	*calls
	all    []ports.Delivery
	filter ports.DeliveryFilter
}

func (f *fakeWebhooks) Deliveries(ctx context.Context, p ident.Platform, filter ports.DeliveryFilter) (ports.DeliveryPage, error) {
	f.filter = filter
	page := listed(f.all, ports.Paging{Limit: filter.Limit, After: filter.After.UUID()}, func(d ports.Delivery) (uuid.UUID, bool) {
		return d.ID.UUID(), filter.Status == "" || d.Status == filter.Status
	})
	return ports.DeliveryPage{Items: page.Items, More: page.More}, f.read(ctx, p, "webhooks")
}

func (f *fakeWebhooks) Delivery(ctx context.Context, p ident.Platform, id ident.Webhook) (ports.Delivery, error) {
	if err := f.read(ctx, p, "webhook"); err != nil {
		return ports.Delivery{}, err
	}
	if i := slices.IndexFunc(f.all, func(d ports.Delivery) bool { return d.ID == id }); i >= 0 {
		return f.all[i], nil
	}
	return ports.Delivery{}, fault.New(fault.NotFound, "No webhook has the id %s.", id)
}

type fakeJobs struct {
	*calls
	all    []ports.ListedJob
	filter ports.JobFilter
	// neverSampled: nobody has counted queues.
	neverSampled bool
}

func (f *fakeJobs) List(ctx context.Context, filter ports.JobFilter) ([]ports.ListedJob, error) {
	f.filter = filter
	found := slices.DeleteFunc(slices.Clone(f.all), func(j ports.ListedJob) bool {
		return filter.ID != uuid.Nil && j.ID != filter.ID || filter.Subject != uuid.Nil && !slices.Contains(j.Subjects, filter.Subject)
	})
	return found[:min(len(found), filter.Limit)], f.read(ctx, filter.Platform, "jobs")
}

func (f *fakeJobs) Retry(_ context.Context, ids []uuid.UUID, by jobs.By) ([]ports.ListedJob, error) {
	f.acted(by.Person.UUID())
	return nil, f.call("retry %s by %s: %s", ids, by.Actor, by.Reason)
}

func (f *fakeJobs) Discard(_ context.Context, ids []uuid.UUID, by jobs.By) ([]ports.ListedJob, error) {
	f.acted(by.Person.UUID())
	return nil, f.call("discard %s by %s: %s", ids, by.Actor, by.Reason)
}
