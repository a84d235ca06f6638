package account_test

import (
	"math"
	"testing"

	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

func TestWithBalance_Events(t *testing.T) {
	t.Parallel()
	// An event is about the account, in the order of its account, and carries all of it.
	a, err := account.NewInternal(internalID, platformID, customerID, "USD", now)
	if err != nil {
		t.Fatal(err)
	}
	held := account.WithBalance{Internal: a, Balance: 10050}
	id, _ := ident.ParseWebhook("Webhook:019542f5-b3e7-7d02-8000-000000000005")

	for name, e := range map[string]event.Event{
		"INTERNAL_ACCOUNT.BALANCE_UPDATED": held.BalanceUpdatedEvent(id, now), "INTERNAL_ACCOUNT.STATUS_UPDATED": held.StatusUpdatedEvent(id, now),
	} {
		is, isHolding := e.Resource.(account.WithBalance)
		kind, known := event.TypeOf(e.Name)
		if e.Name != name || !known || e.Type != kind || e.Platform != platformID || e.Subject != internalID.UUID() || e.ID != id || !isHolding || is.Balance != 10050 {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestInternal_CheckChangeAllowsPrivacyOnlyForEmbeddedWallets(t *testing.T) {
	t.Parallel()
	// The setting is refused for every other type by name, whichever way it is set; a
	// change that leaves it out is none.
	for _, private := range []bool{true, false} {
		for kind, good := range map[account.InternalType]bool{account.EmbeddedWallet: true, account.InternalFiat: false, account.InternalCrypto: false} {
			err := account.Internal{Type: kind}.CheckChange(account.InternalChange{PrivateEnabled: &private})
			if (err == nil) != good || err != nil && !fault.Is(err, fault.InvalidInput) {
				t.Errorf("%s: %v", kind, err)
			}
		}
	}
	if err := (account.Internal{Type: account.InternalFiat}).CheckChange(account.InternalChange{}); err != nil {
		t.Errorf("no change: %v", err)
	}
}

func TestCheckCapacity(t *testing.T) {
	t.Parallel()
	// Money fits in up to the most that an account holds, to the unit; one that holds more,
	// for what was promised before it was full, takes nothing.
	const full = account.MaxBalance
	for _, c := range []struct {
		balance, in int64
		fits        bool
		left        int64
	}{
		{0, 1, true, 0}, {0, full, true, 0}, {full - 1, 1, true, 0},
		{1, full, false, full - 1}, {full, 1, false, 0}, {full + 5, 1, false, 0}, {math.MaxInt64, full, false, 0},
	} {
		err := account.CheckCapacity(c.balance, money.Amount{Minor: c.in, Currency: "USD"})
		refused, is := fault.As(err)
		if is == c.fits || is && (refused.Code != fault.AmountOutOfRange || refused.Details["maxAmount"] != c.left) {
			t.Errorf("%d to %d: %v", c.in, c.balance, err)
		}
	}
}
