package accounting

import (
	"context"
	"fmt"
	"time"

	"causeway/app/internal/foureyes"
	"causeway/app/internal/uow"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ledger"
	"causeway/ports"
)

// PostedAdjustment is an adjustment after posting.
type PostedAdjustment struct {
	Posting ledger.Posting
	// RequestedEffective is the effective time that was requested. The posting has a later one
	// if that month is closed.
	RequestedEffective time.Time
	Corrects           ident.Posting
	Authorisation      period.Authorisation
}

// Adjust posts an adjustment on a platform, authorised by a person, or makes a proposal of it. It is
// effective when requested if that month is open or soft-closed, and otherwise at the start of the first
// month that is not closed. Faults: INVALID_INPUT with everything that is wrong;
// INTERNAL_ACCOUNT_NOT_FOUND; NOT_FOUND for an unknown posting to correct;
// CONFLICT for a balance left on transit/internal; INSUFFICIENT_BALANCE; INVALID_AMOUNT; those of foureyes.Run.
func (s *Periods) Adjust(ctx context.Context, p ident.Platform, by platform.Author, request *ports.IdempotentRequest,
	a period.Adjustment) (proposal.Outcome[PostedAdjustment], error) {
	return foureyes.Run(ctx, s.foureyes(), s.adjustment(), p, by, request, newAdjustmentRequest(a))
}

func (s *Periods) adjustment() foureyes.Operation[Tx, adjustmentRequest, PostedAdjustment] {
	return foureyes.Operation[Tx, adjustmentRequest, PostedAdjustment]{ID: "createLedgerAdjustment", Action: books.ActionAdjustment,
		Check: s.checkAdjustment, Execute: s.adjust,
		TwoPersons: func(r adjustmentRequest) bool { return r.adjustment(ident.Platform{}).MovesHeldMoney() }}
}

// adjustmentRequest is the stored form of an adjustment.
type adjustmentRequest struct {
	Entries       []adjustmentEntry `json:"entries"`
	Note          string            `json:"note"`
	Effective     time.Time         `json:"effectiveAt,omitzero"`
	Corrects      ident.Posting     `json:"corrects,omitzero"`
	OwnedAccounts bool              `json:"ownedAccounts,omitempty"`
}

type adjustmentEntry struct {
	Debit    string         `json:"debit"`
	Credit   string         `json:"credit"`
	Currency money.Currency `json:"currency"`
	Amount   int64          `json:"amount"`
}

func newAdjustmentRequest(a period.Adjustment) adjustmentRequest {
	return adjustmentRequest{newAdjustmentEntries(a.Entries), a.Note, a.Effective, a.Corrects, a.OwnedAccounts}
}

func newAdjustmentEntries(entries []ledger.Entry) (stored []adjustmentEntry) {
	for _, e := range entries {
		stored = append(stored, adjustmentEntry{e.Debit, e.Credit, e.Currency, e.Amount})
	}
	return stored
}

func ledgerEntries(stored []adjustmentEntry) (entries []ledger.Entry) {
	for _, e := range stored {
		entries = append(entries, ledger.Entry{Debit: e.Debit, Credit: e.Credit, Currency: e.Currency, Amount: e.Amount})
	}
	return entries
}

func (r adjustmentRequest) adjustment(p ident.Platform) period.Adjustment {
	return period.Adjustment{Platform: p, Entries: ledgerEntries(r.Entries), Note: r.Note, Effective: r.Effective, Corrects: r.Corrects,
		OwnedAccounts: r.OwnedAccounts}
}

func (s *Periods) checkAdjustment(ctx context.Context, p ident.Platform, r adjustmentRequest) error {
	a := r.adjustment(p)
	if bad := a.Check(s.Clock.Now()); len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	if err := s.checkOwnedAccounts(ctx, a); err != nil {
		return err
	}
	if err := s.checkInternalTransit(ctx, a); err != nil {
		return err
	}
	return s.checkCorrectedPosting(ctx, a)
}

// checkInternalTransit returns CONFLICT if an adjustment would leave a balance on transit/internal, which is zero after
// every commit. So only a balance that an earlier one has left there can be adjusted.
func (s *Periods) checkInternalTransit(ctx context.Context, a period.Adjustment) error {
	changes, err := ledger.NetChanges(ledger.Posting{Platform: a.Platform, Entries: a.Entries})
	if err != nil {
		return fault.New(fault.InvalidAmount, "The entries add up to more than the maximum balance of an account. Post them one by one.")
	}
	for _, change := range changes {
		if change.Account.Path != ledger.TransitInternal {
			continue
		}
		balances, err := s.Ledger.Balances(ctx, []ledger.Account{change.Account})
		if err != nil {
			return err
		}
		if after := money.TotalOf(balances[change.Account]).Add(money.TotalOf(change.Amount)); after.Sign() != 0 {
			f := fault.New(fault.Conflict, "%s is zero after every posting, and would have %s %s. Use another account, such as %s.",
				ledger.TransitInternal, after.Major(change.Account.Currency), change.Account.Currency, ledger.FundingUnmatched)
			f.Reason = "Account is always zero"
			return f
		}
	}
	return nil
}

func (s *Periods) adjust(ctx context.Context, tx Tx, c foureyes.Change,
	r adjustmentRequest) (done PostedAdjustment, made string, err error) {
	calendar, err := tx.LockPeriodsShared(ctx, c.Platform)
	if err != nil {
		return done, "", err
	}
	a := r.adjustment(c.Platform)
	if err := checkAddedAccounts(ctx, tx, a); err != nil {
		return done, "", err
	}
	requested, authorisation := a.Posting(c.ID, c.By, c.At)
	authorisation.Approval = c.Approval
	posting := calendar.Redate(requested, true)
	work := uow.NewWork(c.At, s.IDs, 0)
	if err := work.CheckBalances(ctx, tx, posting); err != nil {
		return done, "", err
	}
	work.Post(posting)
	if err := tx.Authorise(ctx, []period.Authorisation{authorisation}); err != nil {
		return done, "", err
	}
	done = PostedAdjustment{Posting: posting, RequestedEffective: requested.Effective, Corrects: r.Corrects, Authorisation: authorisation}
	return done, postingID(posting.ID).String(), work.Write(ctx, tx)
}

// checkAddedAccounts returns INVALID_INPUT for entries on accounts that finance adds and has not added, or has
// retired.
func checkAddedAccounts(ctx context.Context, tx Tx, a period.Adjustment) error {
	paths := books.AddedPaths(a.Entries)
	if len(paths) == 0 {
		return nil
	}
	added, err := tx.AddedAccounts(ctx, a.Platform, paths)
	if err != nil {
		return err
	}
	if bad := added.CheckEntries(a.Entries); len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

// checkCorrectedPosting returns NOT_FOUND if the posting to correct is not the platform's.
func (s *Periods) checkCorrectedPosting(ctx context.Context, a period.Adjustment) error {
	if a.Corrects.IsZero() {
		return nil
	}
	_, found, err := s.Ledger.Posting(ctx, a.Platform, a.Corrects.UUID())
	if err == nil && !found {
		err = fault.New(fault.NotFound, "No posting has the id %s. Check corrects.", a.Corrects)
	}
	return err
}

// checkOwnedAccounts returns INVALID_INPUT for entries on an account of a customer, the
// platform or a wallet whose path or currency is not that of the internal account it names.
func (s *Periods) checkOwnedAccounts(ctx context.Context, a period.Adjustment) error {
	var bad []fault.Field
	for i, e := range a.Entries {
		for _, side := range []struct{ name, path string }{{"debit", e.Debit}, {"credit", e.Credit}} {
			id, ok := ledger.Account{Path: side.path}.InternalAccount()
			if !ok {
				continue
			}
			problem, err := s.checkOwnedAccount(ctx, a.Platform, id, side.path, e)
			if err != nil {
				return err
			}
			if problem != "" {
				bad = append(bad, fault.Field{Field: fmt.Sprintf("entries[%d].%s", i, side.name), Message: problem})
			}
		}
	}
	if len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

func (s *Periods) checkOwnedAccount(ctx context.Context, p ident.Platform, id ident.InternalAccount, path string,
	e ledger.Entry) (string, error) {
	account, err := s.Store.InternalAccount(ctx, p, id)
	if err != nil {
		return "", err
	}
	switch own := account.LedgerPath(); {
	case own != path:
		return "must be " + own + ", the path of that account", nil
	case account.Currency != e.Currency:
		return "is an account in " + string(account.Currency), nil
	}
	return "", nil
}
