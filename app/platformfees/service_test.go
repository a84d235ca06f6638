package platformfees_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/apptest"
	"causeway/app/platformfees"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/ledger"
)

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: money.USD} }

// earn posts a payment of which the platform has earned some fees.
func earn(e *apptest.Env, fees int64) {
	header := func() ledger.Header {
		return ledger.Header{ID: uuid.Must(uuid.NewV7()), Platform: e.Platform.ID, Effective: e.Clock.Now().Truncate(time.Microsecond)}
	}
	e.Post(ledger.JITReceived(header(), ledger.Rail("RTP"), usd(1_000+fees)),
		ledger.TransferOut(header(), ledger.OutgoingFunds{From: ledger.FundingJIT, Amount: usd(1_000), PlatformFees: fees,
			PlatformFeesTo: ledger.PlatformFeesPending}),
		ledger.Delivered(header(), ledger.Rail("RTP"), usd(1_000)).EarningPlatformFees(usd(fees)))
}

func TestPayOut_OnceAtTheSameTime(t *testing.T) {
	t.Parallel()
	// What is earned is paid once, however often it is asked for at the same time; less is paid in parts, and never more than there is.
	e := apptest.New(t)
	s := platformfees.New(platformfees.Config{Store: e.Store, Ledger: e.Store.Finance(), Clock: e.Clock, IDs: e.IDs})
	earn(e, 300)
	var running sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		running.Go(func() {
			_, errs[i] = s.PayOut(t.Context(), e.Platform.ID, platformfees.PayOut{Currency: money.USD}, nil)
		})
	}
	running.Wait()
	paid := 0
	for _, err := range errs {
		if err == nil {
			paid++
		} else if !fault.Is(err, fault.InsufficientBalance) {
			t.Error(err)
		}
	}
	if paid != 1 {
		t.Errorf("%d requests were paid, want 1", paid)
	}

	earn(e, 50)
	part, err := s.PayOut(t.Context(), e.Platform.ID, platformfees.PayOut{Currency: money.USD, Amount: 20}, nil)
	if err != nil || part.Amount != usd(20) {
		t.Errorf("a part: %+v, %v", part, err)
	}
	if _, err := s.PayOut(t.Context(), e.Platform.ID, platformfees.PayOut{Currency: money.USD, Amount: 31}, nil); !fault.Is(err,
		fault.InsufficientBalance) {
		t.Errorf("more than is earned: %v", err)
	}
	if _, err := s.PayOut(t.Context(), e.Platform.ID, platformfees.PayOut{Currency: "usd"}, nil); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("an unknown currency: %v", err)
	}

	left, err := s.Balances(t.Context(), e.Platform.ID)
	if err != nil || len(left) != 1 || left[0].Earned.String() != "30" || left[0].Pending.String() != "0" {
		t.Errorf("left %+v, %v", left, err)
	}
	account := ledger.Account{Platform: e.Platform.ID, Path: ledger.PlatformAccount(part.Account), Currency: money.USD}
	if balances, err := e.Store.LedgerReader().Balances(t.Context(), []ledger.Account{account}); err != nil || balances[account] != 320 {
		t.Errorf("the platform's balance: %v, %v", balances, err)
	}
}
