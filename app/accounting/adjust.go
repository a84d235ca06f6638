package accounting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/quote"
	"causeway/ledger"
	"causeway/ports"
)

// PostedAdjustment is an adjustment as it was posted.
type PostedAdjustment struct {
	Posting ledger.Posting
	// RequestedEffective is when it was to be effective; another moment than the posting's when its
	// month is closed.
	RequestedEffective time.Time
	Corrects           ident.Posting
	Authorisation      period.Authorisation
}

// Adjust posts an adjustment on the caller's platform: into the month it is for, also
// when that is held, or into the first that is not closed. Errors: INVALID_INPUT with
// everything that is wrong, INTERNAL_ACCOUNT_NOT_FOUND, NOT_FOUND for a posting to correct
// that is not there, INSUFFICIENT_BALANCE.
func (s *Periods) Adjust(ctx context.Context, p ident.Platform, by ident.Token, claim *ports.IdempotentRequest, a period.Adjustment) (done PostedAdjustment, err error) {
	now := s.Clock.Now().Truncate(time.Microsecond)
	a.Platform = p
	if bad := a.Check(now); len(bad) > 0 {
		return PostedAdjustment{}, fault.Invalid(bad...)
	}
	if err := s.checkOwnedAccounts(ctx, a); err != nil {
		return PostedAdjustment{}, err
	}
	if err := s.checkCorrectedPosting(ctx, a); err != nil {
		return PostedAdjustment{}, err
	}
	asked, authorisation := a.Posting(s.IDs.New(now), by, now)
	err = s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		calendar, err := tx.LockPeriodsShared(ctx, p)
		if err != nil {
			return err
		}
		posting := calendar.Redate(asked, true)
		work := uow.NewWork(now, s.IDs, 0)
		if err := checkBalances(ctx, tx, work, posting); err != nil {
			return err
		}
		work.Post(posting)
		if err := tx.Authorise(ctx, []period.Authorisation{authorisation}); err != nil {
			return err
		}
		done = PostedAdjustment{Posting: posting, RequestedEffective: asked.Effective, Corrects: a.Corrects, Authorisation: authorisation}
		if err := tx.SaveResponse(ctx, claim, done, nil); err != nil {
			return err
		}
		return work.Write(ctx, tx)
	})
	if err == nil && s.Committed != nil {
		s.Committed()
	}
	return done, err
}

// checkBalances holds the guarded accounts of a posting, and refuses it when they cannot bear it.
func checkBalances(ctx context.Context, tx ports.Tx, work *uow.Work, posting ledger.Posting) error {
	strains, err := ledger.BalanceDeltas([]ledger.Posting{posting})
	if err != nil {
		return postingFault(err)
	}
	var guarded []ledger.Account
	for _, strain := range strains {
		guarded = append(guarded, strain.Account)
	}
	balances, err := work.LockBalances(ctx, tx, guarded)
	if err != nil {
		return err
	}
	return postingFault(balances.Apply(posting))
}

// postingFault turns what the ledger refuses into what the caller is told.
func postingFault(err error) error {
	var short *ledger.InsufficientBalanceError
	switch {
	case errors.As(err, &short):
		return &fault.Error{Code: fault.InsufficientBalance, Message: "An account would go below zero: " + short.Shortfalls[0].Account.Path + ". Adjust less, or put money in first.",
			Details: map[string]any{"account": short.Shortfalls[0].Account.Path, "currency": string(short.Shortfalls[0].Account.Currency), "balance": short.Shortfalls[0].Balance}}
	case errors.Is(err, ledger.ErrOverflow):
		return fault.New(fault.InvalidAmount, "The entries add up to more than an account can hold. Post them one by one.")
	}
	return err
}

// checkCorrectedPosting sees to it that the posting which is put right is in the platform's books.
func (s *Periods) checkCorrectedPosting(ctx context.Context, a period.Adjustment) error {
	if a.Corrects.IsZero() {
		return nil
	}
	_, there, err := s.Ledger.Posting(ctx, a.Platform, a.Corrects.UUID())
	if err == nil && !there {
		err = fault.New(fault.NotFound, "There is no posting %s to correct.", a.Corrects)
	}
	return err
}

// checkOwnedAccounts sees to it that accounts which belong to somebody are there: the path names an
// internal account of the platform, of the entry's currency, where it is kept.
func (s *Periods) checkOwnedAccounts(ctx context.Context, a period.Adjustment) error {
	var bad []fault.Field
	for i, e := range a.Entries {
		for _, side := range []struct{ name, path string }{{"debit", e.Debit}, {"credit", e.Credit}} {
			id, ok := ledger.Account{Path: side.path}.InternalAccount()
			if !ok {
				continue
			}
			wrong, err := s.checkOwnedAccount(ctx, a.Platform, id, side.path, e)
			if err != nil {
				return err
			}
			if wrong != "" {
				bad = append(bad, fault.Field{Field: fmt.Sprintf("entries[%d].%s", i, side.name), Message: wrong})
			}
		}
	}
	if len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

func (s *Periods) checkOwnedAccount(ctx context.Context, p ident.Platform, id ident.InternalAccount, path string, e ledger.Entry) (string, error) {
	account, err := s.Store.InternalAccount(ctx, p, id)
	if err != nil {
		return "", err
	}
	switch at := quote.AccountPath(account); {
	case at != path:
		return "is kept at " + at, nil
	case account.Currency != e.Currency:
		return "holds " + string(account.Currency), nil
	}
	return "", nil
}
