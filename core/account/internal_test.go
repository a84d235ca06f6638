package account_test

import (
	"testing"

	"causeway/core/account"
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
	// An account of nobody, or of a currency that does not exist, is not made.
	t.Parallel()
	if _, err := account.NewInternal(ident.InternalAccount{}, platformID, customerID, "USD", now); err == nil {
		t.Error("made without an id")
	}
	if _, err := account.NewInternal(internalID, ident.Platform{}, customerID, "USD", now); err == nil {
		t.Error("made without a platform")
	}
	if _, err := account.NewInternal(internalID, platformID, customerID, "XYZ", now); err == nil {
		t.Error("made in a currency that does not exist")
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
