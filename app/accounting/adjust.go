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
	"causeway/core/platform"
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

// Adjust posts an adjustment on a platform, authorised by a token. It is effective when
// requested if that month is open or soft-closed, and otherwise at the start of the first month
// that is not closed. Faults: INVALID_INPUT with everything that is wrong;
// INTERNAL_ACCOUNT_NOT_FOUND; NOT_FOUND for an unknown posting to correct;
// INSUFFICIENT_BALANCE; INVALID_AMOUNT.
func (s *Periods) Adjust(ctx context.Context, p ident.Platform, by ident.Token, request *ports.IdempotentRequest, a period.Adjustment) (done PostedAdjustment, err error) {
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
	requested, authorisation := a.Posting(s.IDs.New(now), platform.Author{Token: by}, now)
	err = s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		calendar, err := tx.LockPeriodsShared(ctx, p)
		if err != nil {
			return err
		}
		posting := calendar.Redate(requested, true)
		work := uow.NewWork(now, s.IDs, 0)
		if err := checkBalances(ctx, tx, work, posting); err != nil {
			return err
		}
		work.Post(posting)
		if err := tx.Authorise(ctx, []period.Authorisation{authorisation}); err != nil {
			return err
		}
		done = PostedAdjustment{Posting: posting, RequestedEffective: requested.Effective, Corrects: a.Corrects, Authorisation: authorisation}
		if err := tx.SaveResponse(ctx, request, done, nil); err != nil {
			return err
		}
		return work.Write(ctx, tx)
	})
	return done, err
}

// checkBalances locks the accounts of a posting that may not be overdrawn, and returns
// INSUFFICIENT_BALANCE if the posting would overdraw one.
func checkBalances(ctx context.Context, tx ports.Tx, work *uow.Work, posting ledger.Posting) error {
	deltas, err := ledger.BalanceDeltas([]ledger.Posting{posting})
	if err != nil {
		return postingFault(err)
	}
	var accounts []ledger.Account
	for _, delta := range deltas {
		accounts = append(accounts, delta.Account)
	}
	balances, err := work.LockBalances(ctx, tx, accounts)
	if err != nil {
		return err
	}
	return postingFault(balances.Apply(posting))
}

// postingFault turns an error of the ledger into a fault.
func postingFault(err error) error {
	var insufficient *ledger.InsufficientBalanceError
	switch {
	case errors.As(err, &insufficient):
		return &fault.Error{Code: fault.InsufficientBalance, Message: "The balance of " + insufficient.Shortfalls[0].Account.Path + " would be negative. Adjust by less, or fund the account first.",
			Details: map[string]any{"account": insufficient.Shortfalls[0].Account.Path, "currency": string(insufficient.Shortfalls[0].Account.Currency), "balance": insufficient.Shortfalls[0].Balance}}
	case errors.Is(err, ledger.ErrOverflow):
		return fault.New(fault.InvalidAmount, "The entries add up to more than the maximum balance of an account. Post them one by one.")
	}
	return err
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

func (s *Periods) checkOwnedAccount(ctx context.Context, p ident.Platform, id ident.InternalAccount, path string, e ledger.Entry) (string, error) {
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
