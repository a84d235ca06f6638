// Package accounting is the ledger as finance teams use it: accounts and their balances
// at any time, entries and postings, trial balances, income, the foreign exchange
// position, unmatched (suspense) funds, the timeline of a payment, accounting periods,
// and adjustments by hand.
//
// It reads the ledger, assigns unmatched funds and posts adjustments. It never changes
// what is posted; package audit checks the ledger.
package accounting

import (
	"context"
	"time"

	"github.com/google/uuid"

	runs "causeway/app/internal/monthend"
	"causeway/app/internal/report"
	"causeway/core/account"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/financials"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store  Store
	Ledger Finance
	// WebhookLog reads the webhook deliveries that a timeline shows.
	WebhookLog WebhookLog
	Market     ports.Rates
	// KeptRates stores the market rates at which positions are valued.
	KeptRates KeptRates
	// OwnershipLimits returns those of wallets whose owners have not proven that they are theirs. If it is nil, all need a proof.
	OwnershipLimits func(context.Context) (account.OwnershipLimits, error)
	Clock           ports.Clock
	IDs             ports.IDs
}

// Service holds the use cases on reports, unmatched funds and timelines.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// LedgerAccount is an account with its balance and its account of the general ledger.
type LedgerAccount struct {
	ports.LedgerAccount
	GL books.GLAccount
}

// LedgerAccountPage is a page of accounts.
type LedgerAccountPage struct {
	Accounts []LedgerAccount
	More     bool
}

// Accounts lists the accounts of a platform that have postings.
func (s *Service) Accounts(ctx context.Context, p ident.Platform, filter ports.LedgerAccountFilter) (LedgerAccountPage, error) {
	page, err := s.Ledger.LedgerAccounts(ctx, p, filter)
	if err != nil {
		return LedgerAccountPage{}, report.TooSlow(err, "Request fewer accounts with limit, or use the parameters prefix and currency.")
	}
	accounts, err := s.withGLAccounts(ctx, p, page.Accounts)
	return LedgerAccountPage{accounts, page.More}, err
}

// withGLAccounts adds the accounts of the general ledger, by the present mapping.
func (s *Service) withGLAccounts(ctx context.Context, p ident.Platform, accounts []ports.LedgerAccount) ([]LedgerAccount, error) {
	mapping, err := s.Store.GLMapping(ctx, p, time.Time{})
	if err != nil {
		return nil, err
	}
	mapped := make([]LedgerAccount, len(accounts))
	for i, a := range accounts {
		mapped[i] = LedgerAccount{a, mapping.Resolve(a.Account.Path, a.Account.Currency)}
	}
	return mapped, nil
}

// Account returns the balances at a path at the end of a cutoff's millisecond, or now if its
// moment is zero. Faults: NOT_FOUND; INVALID_INPUT for a time in the future.
func (s *Service) Account(ctx context.Context, p ident.Platform, path string, currency money.Currency,
	at ports.Cutoff) ([]LedgerAccount, error) {
	if _, err := ledger.FindChartLine(path); err != nil {
		return nil, accountNotFound(path, currency)
	}
	if err := s.checkNotFuture("at", at.Moment); err != nil {
		return nil, err
	}
	at.Moment = endOfMillisecond(at.Moment)
	accounts, err := s.Ledger.AccountsAtCutoff(ctx, p, path, currency, at)
	if err == nil && len(accounts) == 0 {
		err = accountNotFound(path, currency)
	}
	if err != nil {
		return nil, err
	}
	return s.withGLAccounts(ctx, p, accounts)
}

// Entries returns one page of the entries of an account, with its balance after each.
// Faults: NOT_FOUND; INVALID_INPUT for an interval that is empty or in the future.
func (s *Service) Entries(ctx context.Context, filter ports.AccountEntryFilter) (ports.AccountEntryPage, error) {
	if _, err := ledger.FindChartLine(filter.Account.Path); err != nil {
		return ports.AccountEntryPage{}, accountNotFound(filter.Account.Path, filter.Account.Currency)
	}
	if err := s.checkInterval(filter.Interval); err != nil {
		return ports.AccountEntryPage{}, err
	}
	if filter.Part == financials.Earned || filter.Part == financials.YearEnd {
		var err error
		if filter.YearPostings, err = runs.YearPostings(ctx, filter.Account.Platform, s.Store, s.Ledger); err != nil {
			return ports.AccountEntryPage{}, err
		}
	}
	page, found, err := s.Ledger.AccountEntries(ctx, filter)
	if err == nil && !found {
		err = accountNotFound(filter.Account.Path, filter.Account.Currency)
	}
	return page, report.TooSlow(err, "Choose a shorter period with from and to.")
}

// EntriesSum returns the sum of all entries that Entries lists, above zero for what increased the balance of the account; of those with
// cash, for what increased cash; and always of debits alone, and of credits. An account that was never posted to has zero. Faults: as
// Entries.
func (s *Service) EntriesSum(ctx context.Context, f ports.AccountEntryFilter) (money.Total, error) {
	line, err := ledger.FindChartLine(f.Account.Path)
	if err != nil {
		return money.Total{}, accountNotFound(f.Account.Path, f.Account.Currency)
	}
	if err := s.checkInterval(f.Interval); err != nil {
		return money.Total{}, err
	}
	sum, err := s.entriesSum(ctx, line.Class, f)
	return sum, report.TooSlow(err, "Choose a shorter period with from and to.")
}

// turnover returns the debits, or the credits, of an account. Those of a busy one are too many to be added up one by one, so they are read
// as those of a trial balance.
func (s *Service) turnover(ctx context.Context, f ports.AccountEntryFilter) (sum money.Total, err error) {
	cuts := []ports.Cutoff{{By: f.By, Moment: f.Interval.Last()}}
	if !f.Interval.From.IsZero() {
		cuts = append(cuts, ports.Cutoff{By: f.By, Moment: f.Interval.BeforeFrom()})
	}
	turnovers, err := s.Ledger.AccountTurnovers(ctx, f.Account, cuts)
	for i, t := range turnovers {
		amount := t.Debits
		if f.Part == financials.Credits {
			amount = t.Credits
		}
		if i > 0 { // until the interval begins
			amount = amount.Neg()
		}
		sum = sum.Add(amount)
	}
	return sum, err
}

func (s *Service) entriesSum(ctx context.Context, class ledger.Class, f ports.AccountEntryFilter) (sum money.Total, err error) {
	if f.Part == financials.Debits || f.Part == financials.Credits {
		return s.turnover(ctx, f)
	}
	if f.Part.IsCash() {
		sum, err = s.Ledger.AccountEntriesSum(ctx, f)
		return sum.Neg(), err // cash is on the other side
	}
	after, upto := ports.Cutoff{By: f.By, Moment: f.Interval.BeforeFrom()}, ports.Cutoff{By: f.By, Moment: f.Interval.Last()}
	var closed money.Total
	if f.Part != financials.AllEntries {
		closings, err := runs.YearPostings(ctx, f.Account.Platform, s.Store, s.Ledger)
		if err != nil {
			return sum, err
		}
		until := upto
		if until.Moment.IsZero() {
			until.Moment = s.Clock.Now()
		}
		closed = class.Balance(closedOf(closings, f.Account, after, until), money.Total{})
		if f.Part == financials.YearEnd {
			return closed, nil
		}
	}
	balance := func(at ports.Cutoff) (balance money.Total, err error) {
		accounts, err := s.Ledger.AccountsAtCutoff(ctx, f.Account.Platform, f.Account.Path, f.Account.Currency, at)
		if len(accounts) > 0 {
			balance = accounts[0].Balance
		}
		return balance, err
	}
	if sum, err = balance(upto); err != nil || f.Interval.From.IsZero() {
		return sum.Sub(closed), err
	}
	before, err := balance(after)
	return sum.Sub(before).Sub(closed), err
}

// Postings returns one page of postings. Fault: INVALID_INPUT for an interval that is empty
// or in the future.
func (s *Service) Postings(ctx context.Context, filter ports.PostingFilter) (ports.PostingPage, error) {
	if err := s.checkInterval(filter.Interval); err != nil {
		return ports.PostingPage{}, err
	}
	page, err := s.Ledger.Postings(ctx, filter)
	return page, report.TooSlow(err, "Choose a shorter period with from and to, or one payment with transactionId.")
}

// Posting is a posting with its authorisation, which is nil if no token authorised it.
type Posting struct {
	ports.RecordedPosting
	Authorisation *period.Authorisation
}

// Posting returns one posting. Fault: NOT_FOUND.
func (s *Service) Posting(ctx context.Context, p ident.Platform, id uuid.UUID) (Posting, error) {
	posting, found, err := s.Ledger.RecordedPosting(ctx, p, id)
	if err == nil && !found {
		err = fault.New(fault.NotFound, "No posting has the id %s.", postingID(id))
	}
	if err != nil {
		return Posting{}, err
	}
	result := Posting{RecordedPosting: posting}
	authorisation, found, err := s.Store.Authorisation(ctx, p, id)
	if found {
		result.Authorisation = &authorisation
	}
	return result, err
}

func accountNotFound(path string, currency money.Currency) error {
	if _, err := ledger.FindChartLine(path); err != nil {
		return fault.New(fault.NotFound, "There is no ledger account %.80q. List the accounts with GET /ledger/accounts.", path)
	}
	if currency == "" {
		return fault.New(fault.NotFound, "The ledger account %s has no postings.", path)
	}
	return fault.New(fault.NotFound, "The ledger account %s has no postings in %s.", path, currency)
}

// checkNotFuture returns INVALID_INPUT for a time in the future.
func (s *Service) checkNotFuture(field string, moment time.Time) error {
	if moment.IsZero() || !moment.After(s.Clock.Now()) {
		return nil
	}
	return fault.Invalid(fault.Field{Field: field, Message: "must not be in the future"})
}

// checkInterval returns INVALID_INPUT with everything that is wrong with an interval: it is
// empty, or not all of it has passed. One that ends with the present millisecond has.
func (s *Service) checkInterval(i period.Interval) error {
	now := s.Clock.Now()
	var bad []fault.Field
	if i.From.After(now) {
		bad = append(bad, fault.Field{Field: "from", Message: "must not be in the future"})
	}
	switch {
	case i.To.After(now.Add(time.Millisecond)):
		bad = append(bad, fault.Field{Field: "to", Message: "must not be in the future"})
	case i.IsEmpty():
		bad = append(bad, fault.Field{Field: "to", Message: "must be after from"})
	}
	if len(bad) == 0 {
		return nil
	}
	return fault.Invalid(bad...)
}

// endOfMillisecond returns the last stored time in the millisecond of t: clients write times
// in milliseconds, so a balance at a time includes its whole millisecond.
func endOfMillisecond(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Truncate(time.Millisecond).Add(time.Millisecond - time.Microsecond)
}

func postingID(posting uuid.UUID) ident.Posting {
	var id ident.Posting
	id.SetUUID(posting)
	return id
}
