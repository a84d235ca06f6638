// Package platformfees pays a platform the fees that it has charged and earned.
package platformfees

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
)

// Ledger reads balances.
type Ledger interface {
	// CurrentBalances returns the accounts whose paths begin with one of the prefixes, in one currency or, if it is empty, in all.
	CurrentBalances(ctx context.Context, p ident.Platform, prefixes []string, currency money.Currency) ([]ports.LedgerAccount, error)
}

// Tx pays fees.
type Tx interface {
	uow.Tx
	// LockPlatform locks a platform until the unit of work ends, so that its fees are paid once.
	LockPlatform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	// Balances returns the balances of accounts.
	Balances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]int64, error)
}

// Config is what the use cases need.
type Config struct {
	Store  ports.UnitsOfWork
	Ledger Ledger
	Clock  ports.Clock
	IDs    ports.IDs
}

// Service holds the use cases.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// Balance is what a platform has charged in a currency and not been paid, in minor units. Pending is of payments that are not
// delivered yet. Earned can be paid; it is below zero if payments were returned after their fees had been paid.
type Balance struct {
	Currency        money.Currency
	Pending, Earned money.Total
}

// Balances returns what a platform has in each currency in which it has ever charged a fee, in the order of the currencies.
func (s *Service) Balances(ctx context.Context, p ident.Platform) ([]Balance, error) {
	accounts, err := s.Ledger.CurrentBalances(ctx, p, []string{ledger.PlatformFees}, "")
	if err != nil {
		return nil, err
	}
	return balancesOf(accounts), nil
}

func balancesOf(accounts []ports.LedgerAccount) []Balance {
	found := map[money.Currency]Balance{}
	for _, a := range accounts {
		b := found[a.Account.Currency]
		b.Currency = a.Account.Currency
		if a.Account.Path == ledger.PlatformFees {
			b.Earned = a.Balance
		} else {
			b.Pending = a.Balance
		}
		found[b.Currency] = b
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Balance) int { return cmp.Compare(a.Currency, b.Currency) })
}

// PayOut is a request to pay earned fees to the platform's own balance. An amount of zero stands for all.
type PayOut struct {
	Currency money.Currency
	Amount   int64
}

// Paid is a payment of fees.
type Paid struct {
	Posting uuid.UUID
	Amount  money.Amount
	Account ident.InternalAccount
	At      time.Time
}

// PayOut moves earned fees to the platform's internal account in the currency, from which it can pay them to its bank. The account
// is opened if there is none. Faults: INVALID_INPUT; INSUFFICIENT_BALANCE if less is earned, or nothing.
func (s *Service) PayOut(ctx context.Context, p ident.Platform, c PayOut, request *ports.IdempotentRequest) (paid Paid, err error) {
	if _, err := money.ParsePayable(string(c.Currency)); err != nil {
		return paid, fault.Invalid(fault.Field{Field: "currency", Message: "must be a known currency code in upper case, such as USD"})
	}
	now := s.Clock.Now().Truncate(time.Microsecond)
	// The id is chosen once: a second attempt at the unit of work writes the same posting.
	header := ledger.Header{ID: s.IDs.New(now), Platform: p, Effective: now, Memo: "Fees of the platform"}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if _, err := tx.LockPlatform(ctx, p); err != nil {
			return err
		}
		earned := ledger.Account{Platform: p, Path: ledger.PlatformFees, Currency: c.Currency}
		balances, err := tx.Balances(ctx, []ledger.Account{earned})
		if err != nil {
			return err
		}
		amount, err := payable(c, balances[earned])
		if err != nil {
			return err
		}
		own, err := account.NewInternal(ident.NewInternalAccount(s.IDs.New, now), p, ident.Customer{}, c.Currency, now)
		if err != nil {
			return err
		}
		if own, err = uow.EnsureAccount(ctx, tx, own); err != nil {
			return err
		}
		work := uow.NewWork(now, s.IDs, 0)
		work.Post(ledger.PlatformFeesPaid(header, own.ID, amount))
		paid = Paid{Posting: header.ID, Amount: amount, Account: own.ID, At: now}
		if err := tx.SaveResponse(ctx, request, paid, nil); err != nil {
			return err
		}
		return work.Write(ctx, tx)
	})
	return paid, err
}

// payable returns the amount to pay of what is earned.
func payable(c PayOut, earned int64) (money.Amount, error) {
	amount := money.Amount{Minor: c.Amount, Currency: c.Currency}
	if c.Amount == 0 {
		amount.Minor = max(earned, 0)
	}
	if amount.Minor > 0 && amount.Minor <= earned {
		return amount, nil
	}
	return amount, &fault.Error{Code: fault.InsufficientBalance,
		Message: "Your platform has earned " + money.Amount{Minor: earned, Currency: c.Currency}.String() + " of fees that were not paid yet. " +
			"Fees are earned when their payment is completed; GET /platform/fees shows those that are pending.",
		Details: map[string]any{"currency": string(c.Currency), "earned": earned}}
}
