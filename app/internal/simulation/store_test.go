package simulation_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/books"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/recurring"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ledger"
	"causeway/ports"
)

// memory is the data of the service. Units of work run one after the other, so none sees what
// another has not committed; what the simulation varies is what happens between them.
type memory struct {
	platforms    map[ident.Platform]platform.Platform
	customers    map[ident.Customer]customer.Customer
	internal     map[ident.InternalAccount]account.Internal
	external     map[ident.ExternalAccount]account.External
	lookups      map[ident.Lookup]quote.Lookup
	quotes       map[ident.Quote]quote.Quote
	transactions map[ident.Transaction]transaction.Transaction
	byReference  map[ports.ReferenceKey]ident.Transaction
	receipts     map[ident.Receipt]transaction.Receipt
	byPartner    map[string]ident.Receipt
	postings     map[uuid.UUID]ledger.Posting
	kinds        map[ident.Transaction][]ledger.Kind
	balances     map[ledger.Account]int64
	jobs         map[uuid.UUID]ports.Job
	responses    map[ports.IdempotencyKey]ports.StoredResponse
	events       map[uuid.UUID][]event.Event          // by subject
	unmatched    map[ident.Receipt][]uuid.UUID        // postings to funding/unmatched, by receipt
	assignments  map[uuid.UUID]transaction.Assignment // by posting
	calendars    map[ident.Platform]period.Calendar
	closings     map[closedMonth]map[ledger.Account]int64 // the balances of closed months

	agentTables
	limitTables
	scaTables
	railTables

	sessions       map[ident.Session]wallet.Session
	authorizations map[ident.Transaction]wallet.Authorization

	undo []func() // of the unit of work that runs
}

func newMemory() *memory {
	return &memory{
		platforms: map[ident.Platform]platform.Platform{},
		customers: map[ident.Customer]customer.Customer{}, internal: map[ident.InternalAccount]account.Internal{},
		external: map[ident.ExternalAccount]account.External{}, lookups: map[ident.Lookup]quote.Lookup{}, quotes: map[ident.Quote]quote.Quote{},
		transactions: map[ident.Transaction]transaction.Transaction{}, byReference: map[ports.ReferenceKey]ident.Transaction{},
		receipts: map[ident.Receipt]transaction.Receipt{}, byPartner: map[string]ident.Receipt{},
		postings: map[uuid.UUID]ledger.Posting{}, kinds: map[ident.Transaction][]ledger.Kind{}, balances: map[ledger.Account]int64{},
		jobs: map[uuid.UUID]ports.Job{}, responses: map[ports.IdempotencyKey]ports.StoredResponse{}, events: map[uuid.UUID][]event.Event{},
		unmatched: map[ident.Receipt][]uuid.UUID{}, assignments: map[uuid.UUID]transaction.Assignment{},
		calendars: map[ident.Platform]period.Calendar{}, closings: map[closedMonth]map[ledger.Account]int64{},
		agentTables: newAgentTables(), railTables: newRailTables(), limitTables: limitTables{limitCounts: map[limitKey]limit.Count{}},
		scaTables: newSCATables(),
		sessions:  map[ident.Session]wallet.Session{}, authorizations: map[ident.Transaction]wallet.Authorization{},
	}
}

// put changes an entry of a table so that a rollback restores it.
func put[K comparable, V any](m *memory, table map[K]V, key K, value V) {
	before, existed := table[key]
	m.undo = append(m.undo, func() {
		if existed {
			table[key] = before
		} else {
			delete(table, key)
		}
	})
	table[key] = value
}

func (m *memory) rollback() {
	for _, undo := range slices.Backward(m.undo) {
		undo()
	}
	m.undo = nil
}

// store is the store of one process. What no simulated use case calls is not implemented and
// panics, which ends the simulation.
type store struct {
	*postgres.DB
	*process
}

// DoUnit implements ports.UnitsOfWork.
func (s store) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	return s.Do(ctx, func(ctx context.Context, u *tx) error { return fn(ctx, u) })
}

// tx is a unit of work on the memory.
type tx struct {
	*postgres.Unit
	*memory
	world    *world
	platform ident.Platform // whose rows it may write
	now      time.Time
	requests int
	changed  []change
}

// writes fails the run if a unit of work writes for another platform than it is for.
func (u *tx) writes(p ident.Platform) {
	if p != u.platform && !u.platform.IsZero() {
		u.world.fail("a unit of work of the platform %s writes for %s", u.platform, p)
	}
}

// change is an update of a transaction.
type change struct{ before, after transaction.Transaction }

// errRolledBack is the error of a commit that did not happen, and of a lost connection: after it,
// only a look at the database shows which.
var errRolledBack = fault.New(fault.ServiceUnavailable, "The database is not available.")

// errRepeatedKeys is the error for a batch in which an idempotency key is used again.
var errRepeatedKeys = errors.New("injected: a key has a response")

// Do runs a unit of work with the faults that the simulation chooses.
func (s store) Do(ctx context.Context, fn func(context.Context, *tx) error) error {
	fate := s.pause(ctx, "do", doFates)
	if fate == failBefore {
		return errRolledBack
	}
	if fate == runTwice {
		_ = s.try(ctx, fn, true)
	}
	if err := s.try(ctx, fn, fate == failCommit); err != nil {
		return err
	}
	if fate == answerLater {
		s.pause(ctx, "committed", nil)
	}
	if fate == loseAnswer {
		return errRolledBack
	}
	return nil
}

func (s store) try(ctx context.Context, fn func(context.Context, *tx) error, rollBack bool) error {
	scope, _ := ports.ScopeOf(ctx)
	u := &tx{memory: s.world.memory, world: s.world, platform: scope.Platform, now: s.Now()}
	err := fn(ctx, u)
	if err == nil && rollBack {
		err = errRolledBack
	}
	if err != nil {
		u.rollback()
		return err
	}
	u.undo = nil
	s.world.checkCommit(u)
	return nil
}

func (s store) read(ctx context.Context, name string) error {
	if s.pause(ctx, name, readFates) == failBefore {
		return errRolledBack
	}
	return nil
}

func (u *tx) Parties(_ context.Context, keys []ports.PartyKey) ([]quote.Parties, error) {
	found := make([]quote.Parties, len(keys))
	for i, k := range keys {
		p := &found[i]
		p.FromInternal, p.ToInternal = lookUp(u.internal, k.FromInternal), lookUp(u.internal, k.ToInternal)
		p.FromExternal, p.ToExternal = u.undeleted(k.FromExternal), u.undeleted(k.ToExternal)
		payer, owner := k.Customer, ownerOf(p.ToInternal, p.ToExternal)
		if payer.IsZero() {
			payer = ownerOf(p.FromInternal, p.FromExternal)
		}
		if payer.IsZero() {
			payer = owner
		}
		p.Customer = lookUp(u.customers, payer)
		on := u.platforms[k.Platform]
		p.Protected, p.Exemptions = p.Customer != nil && on.ProtectsPayments(p.Customer.Region), on.SCAExemptions
		if owner != payer {
			p.Owner = lookUp(u.customers, owner)
		}
	}
	return found, nil
}

func lookUp[K comparable, V any](table map[K]V, key K) *V {
	if value, ok := table[key]; ok {
		return &value
	}
	return nil
}

func (m *memory) undeleted(id ident.ExternalAccount) *account.External {
	if a := lookUp(m.external, id); a != nil && !a.Deleted() {
		return a
	}
	return nil
}

func ownerOf(in *account.Internal, ex *account.External) ident.Customer {
	switch {
	case in != nil:
		return in.Customer
	case ex != nil:
		return ex.Customer
	}
	return ident.Customer{}
}

func (m *memory) parties(t transaction.Transaction) transaction.Parties {
	p := transaction.Parties{Customer: lookUp(m.customers, t.Customer),
		FromInternal: lookUp(m.internal, t.Source.InternalAccount), ToInternal: lookUp(m.internal, t.Destination.InternalAccount),
		FromExternal: m.undeleted(t.Source.ExternalAccount), ToExternal: m.undeleted(t.Destination.ExternalAccount)}
	if owner := ownerOf(p.ToInternal, p.ToExternal); owner != t.Customer {
		p.Owner = lookUp(m.customers, owner)
	}
	return p
}

func (u *tx) CreateQuotes(ctx context.Context, quotes []quote.Quote, transactions []transaction.Transaction) error {
	for _, q := range quotes {
		if _, exists := u.quotes[q.ID]; !exists {
			put(u.memory, u.quotes, q.ID, q)
			if q.Reference != "" {
				put(u.memory, u.byReference, ports.ReferenceKey{Platform: q.Platform, Reference: q.Reference}, q.Transaction)
			}
		}
	}
	return u.CreateTransactions(ctx, transactions)
}

func (u *tx) CreateTransactions(_ context.Context, transactions []transaction.Transaction) error {
	for _, t := range transactions {
		u.writes(t.Platform)
		if _, exists := u.transactions[t.ID]; !exists {
			put(u.memory, u.transactions, t.ID, t)
			u.changed = append(u.changed, change{after: t})
		}
	}
	return nil
}

func (u *tx) UpdateTransactions(_ context.Context, transactions []transaction.Transaction) error {
	for _, t := range transactions {
		u.writes(t.Platform)
		if _, authorized := u.authorizations[t.ID]; ledger.IsWallet(t.SourceAccount) && t.State.Status == transaction.Processing && !authorized {
			u.world.fail("%s is paid by a wallet before its evidence is stored", t.ID)
		}
		t.StopsCounting = false // is not stored
		u.changed = append(u.changed, change{u.transactions[t.ID], t})
		put(u.memory, u.transactions, t.ID, t)
	}
	return nil
}

func (u *tx) SaveReceipts(_ context.Context, receipts []transaction.Receipt) ([]ports.SavedReceipt, error) {
	saved := make([]ports.SavedReceipt, len(receipts))
	for i, r := range receipts {
		u.writes(r.Platform)
		key := r.Platform.String() + string(r.Rail) + "/" + r.PartnerID
		id, exists := u.byPartner[key]
		if !exists {
			id = r.ID
			put(u.memory, u.receipts, id, r)
			put(u.memory, u.byPartner, key, id)
		}
		saved[i] = ports.SavedReceipt{ID: id, IsNew: !exists}
		if paid, known := u.byReference[ports.ReferenceKey{Platform: r.Platform, Reference: r.Reference}]; known {
			t := u.transactions[paid]
			saved[i].Transaction, saved[i].Parties = &t, u.parties(t)
		}
	}
	return saved, nil
}

// SaveReceiptPayers stores nothing: receipts are simulated without a payer.
func (u *tx) SaveReceiptPayers(_ context.Context, payers []ports.ReceiptPayer) error {
	if len(payers) > 0 {
		u.world.fail("payers %v were not simulated", payers)
	}
	return nil
}

func (u *tx) ConfirmReceipt(_ context.Context, t transaction.Transaction) error {
	u.world.fail("the receipt of %s was not simulated", t.ID)
	return nil
}

func (u *tx) ExpireQuoteEarly(_ context.Context, p ident.Platform, id ident.Quote, at time.Time) error {
	u.writes(p)
	q := u.quotes[id]
	q.ExpiresAt, q.ExpiredEarlyAt = at, at
	put(u.memory, u.quotes, id, q)
	t := u.transactions[q.Transaction]
	t.ExpiresAt = at
	put(u.memory, u.transactions, t.ID, t)
	return nil
}

func (u *tx) LockQuotes(_ context.Context, keys []ports.QuoteKey) (map[ports.QuoteKey]ports.QuoteState, error) {
	found := map[ports.QuoteKey]ports.QuoteState{}
	for _, k := range keys {
		if q, ok := u.quotes[k.ID]; ok {
			t := u.transactions[q.Transaction]
			found[k] = ports.QuoteState{Quote: q, Transaction: t, Parties: u.parties(t)}
		}
	}
	return found, nil
}

func (u *tx) LockTransactions(_ context.Context, keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error) {
	return u.transactionsByKey(keys), nil
}

func (m *memory) transactionsByKey(keys []ports.TransactionKey) map[ports.TransactionKey]transaction.Transaction {
	found := map[ports.TransactionKey]transaction.Transaction{}
	for _, k := range keys {
		if t, ok := m.transactions[k.ID]; ok {
			found[k] = t
		}
	}
	return found
}

func (u *tx) IncomingPaymentParties(_ context.Context, keys []ports.IncomingPaymentKey) ([]transaction.IncomingParties, error) {
	found := make([]transaction.IncomingParties, len(keys))
	for i, k := range keys {
		found[i] = transaction.IncomingParties{To: lookUp(u.internal, k.To), From: u.undeleted(k.From)}
		if found[i].To != nil {
			found[i].Owner = lookUp(u.customers, found[i].To.Customer)
		}
	}
	return found, nil
}

func (u *tx) OpenInternalAccounts(_ context.Context, accounts []account.Internal) error {
	for _, a := range accounts {
		if _, exists := u.accountOf(ports.InternalAccountKey{Platform: a.Platform, Owner: a.Customer, Currency: a.Currency,
			Type: a.Type}); !exists {
			put(u.memory, u.internal, a.ID, a)
		}
	}
	return nil
}

func (u *tx) InternalAccount(_ context.Context, key ports.InternalAccountKey) (account.Internal, bool, error) {
	found, exists := u.accountOf(key)
	return found, exists, nil
}

func (m *memory) accountOf(key ports.InternalAccountKey) (account.Internal, bool) {
	for _, a := range m.internal {
		if a.Platform == key.Platform && a.Customer == key.Owner && a.Currency == key.Currency && a.Type == key.Type {
			return a, true
		}
	}
	return account.Internal{}, false
}

func (u *tx) Post(_ context.Context, postings []ledger.Posting) error {
	var fresh []ledger.Posting
	for _, p := range postings {
		u.writes(p.Platform)
		if err := p.Validate(); err != nil {
			return err
		}
		if written, exists := u.postings[p.ID]; exists {
			if !p.IsRepeatOf(written) {
				return fmt.Errorf("%w: %s", ledger.ErrConflict, p.ID)
			}
			continue
		}
		p = u.calendars[p.Platform].Redate(p, false)
		fresh = append(fresh, p)
		put(u.memory, u.postings, p.ID, p)
		if !p.Transaction.IsZero() {
			put(u.memory, u.kinds, p.Transaction, append(slices.Clone(u.kinds[p.Transaction]), p.Kind))
		}
	}
	deltas, err := ledger.BalanceDeltas(fresh)
	if err != nil {
		return err
	}
	for _, d := range deltas {
		if err := d.Check(u.balances[d.Account]); err != nil {
			return err
		}
	}
	changes, err := ledger.NetChanges(fresh...)
	for _, c := range changes {
		put(u.memory, u.balances, c.Account, u.balances[c.Account]+c.Amount)
	}
	return err
}

func (u *tx) LockBalances(_ context.Context, accounts []ledger.Account) (map[ledger.Account]account.WithBalance, error) {
	found := map[ledger.Account]account.WithBalance{}
	for _, a := range accounts {
		id, _ := a.InternalAccount()
		found[a] = account.WithBalance{Internal: u.internal[id], Balance: u.balances[a]}
	}
	return found, nil
}

func (u *tx) Balances(_ context.Context, accounts []ledger.Account) (map[ledger.Account]int64, error) {
	found := map[ledger.Account]int64{}
	for _, a := range accounts {
		found[a] = u.balances[a]
	}
	return found, nil
}

func (u *tx) AddJobs(_ context.Context, jobs []ports.Job) error {
	for _, j := range jobs {
		u.writes(j.Platform)
		if _, exists := u.jobs[j.ID]; exists {
			return fmt.Errorf("job %s exists", j.ID)
		}
		j.Lease = max(j.Lease, j.Attempts)
		put(u.memory, u.jobs, j.ID, j)
	}
	return nil
}

func (u *tx) FinishJobs(_ context.Context, jobs []ports.Job) error {
	for _, j := range jobs {
		u.writes(j.Platform)
		if !u.holds(j) {
			return ports.ErrLeaseLost
		}
		before := u.jobs[j.ID]
		u.undo = append(u.undo, func() { u.jobs[j.ID] = before })
		delete(u.jobs, j.ID)
	}
	return nil
}

func (u *tx) HastenJobs(_ context.Context, p ident.Platform, step transaction.Step, subjects []uuid.UUID, due time.Time) error {
	u.writes(p)
	for id, j := range u.jobs { // in any order: each changes alone
		if j.Platform == p && j.Step == step && !j.Dead && j.Due.After(due) &&
			slices.ContainsFunc(j.Subjects, func(s uuid.UUID) bool { return slices.Contains(subjects, s) }) {
			j.Due, j.Lease = due, j.Lease+1
			put(u.memory, u.jobs, id, j)
		}
	}
	return nil
}

func (m *memory) holds(j ports.Job) bool {
	stored, exists := m.jobs[j.ID]
	return exists && stored.Lease == j.Lease
}

func (u *tx) Emit(_ context.Context, events []event.Event) error {
	for _, e := range events {
		u.writes(e.Platform)
		put(u.memory, u.events, e.Subject, append(slices.Clone(u.events[e.Subject]), e))
	}
	return nil
}

func (u *tx) SaveResponse(_ context.Context, request *ports.IdempotentRequest, result any, err error) error {
	if request == nil {
		return nil
	}
	status, body := request.Render(result, err)
	if status > 499 {
		return nil
	}
	u.requests++
	if stored, exists := u.responses[request.IdempotencyKey()]; exists {
		if u.requests > 1 {
			return errRepeatedKeys // the batch is run again in halves
		}
		return &ports.Replay{Status: stored.Status, Body: stored.Body}
	}
	put(u.memory, u.responses, request.IdempotencyKey(), ports.StoredResponse{Fingerprint: request.Fingerprint, Status: status, Body: body})
	return nil
}

// closedMonth is a month of a platform.
type closedMonth struct {
	platform ident.Platform
	month    period.Month
}

func (u *tx) LockPeriods(_ context.Context, p ident.Platform) (period.Calendar, error) {
	return u.calendars[p], nil
}

// RecurringAdjustments implements accounting.RecurringStore: there are none.
func (u *tx) RecurringAdjustments(context.Context, ident.Platform) ([]recurring.Adjustment, error) {
	return nil, nil
}

// BooksSettings returns the defaults: no month needs a month-end run to be closed.
func (u *tx) BooksSettings(context.Context, ident.Platform) (books.SettingsVersion, error) {
	return books.SettingsVersion{Settings: books.DefaultSettings()}, nil
}

// LockBooksSettingsShared returns the defaults: nothing needs four eyes.
func (u *tx) LockBooksSettingsShared(ctx context.Context, p ident.Platform) (books.SettingsVersion, error) {
	return u.BooksSettings(ctx, p)
}

// RecordClosing stores the balances at the end of a month.
func (u *tx) RecordClosing(_ context.Context, change period.Change, _ period.Calendar) (period.Closing, error) {
	u.writes(change.Platform)
	put(u.memory, u.closings, closedMonth{change.Platform, change.Month}, u.balancesAt(change.Platform, change.Month.End()))
	return period.Closing{Platform: change.Platform, Month: change.Month, At: change.At}, nil
}

// balancesAt adds up the postings of a platform that are effective before a time.
func (m *memory) balancesAt(p ident.Platform, end time.Time) map[ledger.Account]int64 {
	balances := map[ledger.Account]int64{}
	for _, posting := range m.postings {
		if posting.Platform != p || !posting.Effective.Before(end) {
			continue
		}
		changes, err := ledger.NetChanges(posting)
		if err != nil {
			panic(err)
		}
		for _, c := range changes {
			balances[c.Account] += c.Amount
		}
	}
	return balances
}

func (u *tx) ChangePeriods(_ context.Context, change period.Change, next period.Calendar) error {
	u.writes(change.Platform)
	put(u.memory, u.calendars, change.Platform, next)
	return nil
}

func (u *tx) SaveRailReplies(context.Context, []ports.RailReply) error { return nil }

func (s store) RailPartnerIDs(ctx context.Context, _ []ports.TransactionKey, _ ports.RailCall) (map[ports.TransactionKey]string, error) {
	return nil, s.read(ctx, "partner's ids") // the rails of the simulation have none
}

func (u *tx) SaveUnmatched(_ context.Context, funds []ports.UnmatchedFunds) error {
	for _, f := range funds {
		u.writes(f.Platform)
		if known := u.unmatched[f.Receipt]; !slices.Contains(known, f.Posting) {
			put(u.memory, u.unmatched, f.Receipt, append(slices.Clone(known), f.Posting))
		}
	}
	return nil
}

// LockUnmatched finds the funds of a receipt, the later ones if they were unmatched twice, or those of
// a transaction whose refund failed.
func (u *tx) LockUnmatched(_ context.Context, _ ident.Platform, id ident.Receipt) (transaction.Unmatched, bool, error) {
	found, known := u.unmatchedOf(id)
	return found, known, nil
}

func (s store) UnmatchedOf(ctx context.Context, _ ident.Platform, id ident.Receipt) (transaction.Unmatched, bool, error) {
	err := s.read(ctx, "unmatched funds")
	found, known := s.world.unmatchedOf(id)
	return found, known, err
}

func (m *memory) unmatchedOf(id ident.Receipt) (found transaction.Unmatched, known bool) {
	var refunded ident.Transaction
	refunded.SetUUID(id.UUID())
	posting := ledger.DerivedID(id.UUID(), ledger.KindRefundFailed, 0)
	if postings := m.unmatched[id]; len(postings) > 0 {
		found.Receipt = m.receipts[id]
		found.SourceAccount = found.Receipt.Rail.LedgerPath()
		posting = postings[len(postings)-1]
	} else if t, exists := m.transactions[refunded]; exists {
		found.RefundOf, found.FundedBy, found.SourceAccount = t.ID, t.Receipt, t.SourceAccount
		found.Receipt = transaction.Receipt{ID: id, Platform: t.Platform, Rail: t.SourceRail, Reference: t.Reference, Amount: t.Refundable(),
			At: t.UpdatedAt}
	}
	written, exists := m.postings[posting]
	found.Posting, found.Kind = posting, written.Kind
	if a, assigned := m.assignments[posting]; assigned {
		found.Assignment = &a
	}
	return found, exists
}

func (u *tx) AssignUnmatched(_ context.Context, of transaction.Unmatched, a transaction.Assignment) error {
	if _, exists := u.assignments[of.Posting]; exists {
		return fault.New(fault.Conflict, "Another request has just assigned this payment.")
	}
	put(u.memory, u.assignments, of.Posting, a)
	return nil
}

func (u *tx) TransactionParties(_ context.Context, key ports.TransactionKey) (transaction.Parties, error) {
	return u.parties(u.transactions[key.ID]), nil
}

func (s store) CorridorOverrides(context.Context) ([]ports.CorridorOverride, error) { return nil, nil }

func (s store) PriceSettings(context.Context) ([]platform.Platform, error) {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	return slices.Collect(maps.Values(s.world.platforms)), nil
}

func (s store) Platform(ctx context.Context, p ident.Platform) (platform.Platform, error) {
	return s.world.platforms[p], s.read(ctx, "platform")
}

func (s store) Customer(ctx context.Context, _ ident.Platform, id ident.Customer) (customer.Customer, error) {
	if err := s.read(ctx, "customer"); err != nil {
		return customer.Customer{}, err
	}
	return s.world.customers[id], nil
}

// Customers finds the customer with a UMA address.
func (s store) Customers(ctx context.Context, p ident.Platform, f ports.CustomerFilter) (ports.Page[customer.Customer], error) {
	var found ports.Page[customer.Customer]
	if err := s.read(ctx, "customers"); err != nil {
		return found, err
	}
	for _, c := range s.world.customers {
		if c.Platform == p && c.UMAAddress == f.UMAAddress {
			found.Items = append(found.Items, c)
		}
	}
	return found, nil
}

// UMAForwardingAccount returns the bank accounts of those named ana; those named ben have chosen none.
func (s store) UMAForwardingAccount(ctx context.Context, _ ident.Platform, id ident.Customer) (account.External, bool, error) {
	if err := s.read(ctx, "forwarding account"); err != nil || s.world.customers[id].PlatformCustomerID != "ana" {
		return account.External{}, false, err
	}
	for _, key := range sortedKeys(s.world.external) {
		if a := s.world.external[key]; a.Customer == id && a.Type == account.USAccount {
			return a, true, nil
		}
	}
	return account.External{}, false, nil
}

func (s store) Lookup(ctx context.Context, _ ident.Platform, id ident.Lookup) (quote.Lookup, error) {
	return s.world.lookups[id], s.read(ctx, "lookup")
}

func (s store) Transaction(ctx context.Context, _ ident.Platform, id ident.Transaction) (transaction.Transaction, error) {
	if err := s.read(ctx, "transaction"); err != nil {
		return transaction.Transaction{}, err
	}
	t, exists := s.world.transactions[id]
	if !exists {
		return t, fault.New(fault.TransactionNotFound, "There is no transaction %s.", id)
	}
	return t, nil
}

func (s store) Quote(ctx context.Context, _ ident.Platform, id ident.Quote) (quote.Quote, transaction.Transaction, error) {
	if err := s.read(ctx, "quote"); err != nil {
		return quote.Quote{}, transaction.Transaction{}, err
	}
	q := s.world.quotes[id]
	return q, s.world.transactions[q.Transaction], nil
}

func (s store) TransactionsByKey(ctx context.Context,
	keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error) {
	if err := s.read(ctx, "transactions"); err != nil {
		return nil, err
	}
	return s.world.transactionsByKey(keys), nil
}

func (s store) TransactionsByReference(ctx context.Context,
	keys []ports.ReferenceKey) (map[ports.ReferenceKey]transaction.Transaction, error) {
	if err := s.read(ctx, "references"); err != nil {
		return nil, err
	}
	return s.world.transactionsByReference(keys), nil
}

func (u *tx) TransactionsByReference(_ context.Context,
	keys []ports.ReferenceKey) (map[ports.ReferenceKey]transaction.Transaction, error) {
	return u.world.transactionsByReference(keys), nil
}

func (w *world) transactionsByReference(keys []ports.ReferenceKey) map[ports.ReferenceKey]transaction.Transaction {
	found := map[ports.ReferenceKey]transaction.Transaction{}
	for _, k := range keys {
		if id, known := w.byReference[k]; known {
			found[k] = w.transactions[id]
		}
	}
	return found
}

// QueuePayouts leaves the payouts to be read when they are due.
func (u *tx) QueuePayouts(context.Context, []ports.TransactionKey, *[]ports.Payout) error { return nil }

func (s store) Payouts(ctx context.Context, keys []ports.TransactionKey) ([]ports.Payout, error) {
	if err := s.read(ctx, "payouts"); err != nil {
		return nil, err
	}
	var found []ports.Payout
	for _, k := range keys {
		t := s.world.transactions[k.ID]
		found = append(found, ports.Payout{Transaction: t, Account: s.world.external[t.Destination.ExternalAccount]})
	}
	return found, nil
}

func (s store) Collections(ctx context.Context, keys []ports.TransactionKey) ([]ports.Collection, error) {
	if err := s.read(ctx, "collections"); err != nil {
		return nil, err
	}
	var found []ports.Collection
	for _, k := range keys {
		t := s.world.transactions[k.ID]
		found = append(found, ports.Collection{Transaction: t, Account: s.world.external[t.Source.ExternalAccount]})
	}
	return found, nil
}

func (s store) Receipts(ctx context.Context, _ ident.Platform, ids []ident.Receipt) ([]transaction.Receipt, error) {
	if err := s.read(ctx, "receipts"); err != nil {
		return nil, err
	}
	var found []transaction.Receipt
	for _, id := range ids {
		if r, ok := s.world.receipts[id]; ok {
			found = append(found, r)
		}
	}
	return found, nil
}

func (s store) ReceiptPayers(ctx context.Context, _ ident.Platform, _ []ident.Receipt) (map[ident.Receipt]account.External, error) {
	return nil, s.read(ctx, "receipt payers")
}

// assignment is the jobs that one run of a worker takes: at most limit of a step.
type assignment struct {
	step  transaction.Step
	limit int
	taken bool
}

type assignmentKey struct{}

// DueSteps is not called: the simulation says when a worker looks for jobs.
func (s store) DueSteps(context.Context, []transaction.Step, time.Time) ([]transaction.Step, error) {
	return nil, errors.New("the simulation runs no workers")
}

// TakeJobs leases the jobs of the worker's assignment.
func (s store) TakeJobs(ctx context.Context, step transaction.Step, now time.Time, lease time.Duration, _ int) ([]ports.Job, error) {
	a := ctx.Value(assignmentKey{}).(*assignment)
	if a.taken || a.step != step {
		return nil, nil
	}
	a.taken = true
	due := s.world.dueJobs(step, now)
	due = due[:min(len(due), a.limit)]
	for i := range due {
		due[i].Attempts++
		due[i].Lease++
		due[i].Due = now.Add(lease)
		s.world.jobs[due[i].ID] = due[i]
	}
	return due, nil
}

// dueJobs returns the due jobs of a step, oldest first.
func (m *memory) dueJobs(step transaction.Step, now time.Time) []ports.Job {
	var due []ports.Job
	for _, j := range m.jobs {
		if j.Step == step && !j.Dead && !now.Before(j.Due) {
			due = append(due, j)
		}
	}
	slices.SortFunc(due, func(a, b ports.Job) int {
		if c := a.Due.Compare(b.Due); c != 0 {
			return c
		}
		return bytes.Compare(a.ID[:], b.ID[:])
	})
	return due
}

func (s store) TakeJobsInTurn(context.Context, transaction.Step, time.Time, time.Duration, ports.Turn) ([]ports.Job, error) {
	return nil, errors.New("the simulation takes jobs with TakeJobs")
}

func (s store) RenewLeases(context.Context, []ports.Job, time.Time, time.Duration) error { return nil }

// FailJobs ends leases.
func (s store) FailJobs(ctx context.Context, jobs []ports.Job, _ time.Time) error {
	if err := s.read(ctx, "fail jobs"); err != nil {
		return err
	}
	for _, j := range jobs {
		s.world.checkJobError(j)
		if s.world.holds(j) {
			s.world.jobs[j.ID] = j
		}
	}
	return nil
}

// sortedKeys returns the keys of a table of ids in their order.
func sortedKeys[K ident.Kind, V any](table map[ident.ID[K]]V) []ident.ID[K] {
	return slices.SortedFunc(maps.Keys(table), func(a, b ident.ID[K]) int { return a.Compare(b) })
}
