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

func TestNewInternal(t *testing.T) {
	// The type of an internal account follows from its currency and owner, and it is usable at once.
	t.Parallel()
	tests := []struct {
		customer ident.Customer
		currency money.Currency
		want     account.InternalType
	}{
		{customerID, "USD", account.InternalFiat},
		{customerID, "BTC", account.InternalCrypto},
		{customerID, "USDB", account.EmbeddedWallet},
		{ident.Customer{}, "USDB", account.InternalCrypto},
		{ident.Customer{}, "EUR", account.InternalFiat},
	}
	for _, tt := range tests {
		got, err := account.NewInternal(internalID, platformID, tt.customer, tt.currency, now)
		if err != nil || got.Type != tt.want || !got.Usable() || got.Customer != tt.customer || !got.CreatedAt.Equal(now) {
			t.Errorf("%s: %+v, %v", tt.currency, got, err)
		}
	}
}

func TestNewInternal_RejectsInvalidArguments(t *testing.T) {
	// Without an id, a platform or a known currency there is no account.
	t.Parallel()
	if _, err := account.NewInternal(ident.InternalAccount{}, platformID, customerID, "USD", now); err == nil {
		t.Error("created without an id")
	}
	if _, err := account.NewInternal(internalID, ident.Platform{}, customerID, "USD", now); err == nil {
		t.Error("created without a platform")
	}
	if _, err := account.NewInternal(internalID, platformID, customerID, money.ETH, now); err == nil {
		t.Error("an account in a currency of fees")
	}
	if _, err := account.NewInternal(internalID, platformID, customerID, "XYZ", now); err == nil {
		t.Error("created in an unknown currency")
	}
}

func TestInternal_UsableOnlyWhenActive(t *testing.T) {
	// Pending, closed and frozen accounts neither send nor receive.
	t.Parallel()
	for _, status := range []account.InternalStatus{account.InternalPending, account.InternalClosed, account.InternalFrozen} {
		if (account.Internal{Status: status}).Usable() {
			t.Errorf("%s is usable", status)
		}
	}
}

func TestWithBalance_Events(t *testing.T) {
	t.Parallel()
	// An event has the account as its subject and resource.
	a, err := account.NewInternal(internalID, platformID, customerID, "USD", now)
	if err != nil {
		t.Fatal(err)
	}
	withBalance := account.WithBalance{Internal: a, Balance: 10050}
	id, _ := ident.ParseWebhook("Webhook:019542f5-b3e7-7d02-8000-000000000005")

	for name, e := range map[string]event.Event{
		"INTERNAL_ACCOUNT.BALANCE_UPDATED": withBalance.BalanceUpdatedEvent(id, now),
		"INTERNAL_ACCOUNT.STATUS_UPDATED":  withBalance.StatusUpdatedEvent(id, now),
	} {
		resource, ok := e.Resource.(account.WithBalance)
		if e.Name != name || e.Type != event.InternalAccountStatus || e.Platform != platformID || e.Subject != internalID.UUID() ||
			e.ID != id || !ok || resource.Balance != 10050 {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestInternal_CheckChangeAllowsPrivacyOnlyForEmbeddedWallets(t *testing.T) {
	t.Parallel()
	// The setting is refused for every other type of account, whatever its value; a change
	// without it is accepted.
	for _, private := range []bool{true, false} {
		for kind, good := range map[account.InternalType]bool{account.EmbeddedWallet: true, account.InternalFiat: false,
			account.InternalCrypto: false} {
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
	// An account can receive up to the maximum balance exactly; an account above it can
	// receive nothing.
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
		refused, isFault := fault.As(err)
		if isFault == c.fits || isFault && (refused.Code != fault.AmountOutOfRange || refused.Details["maxAmount"] != c.left) {
			t.Errorf("%d to %d: %v", c.in, c.balance, err)
		}
	}
}
