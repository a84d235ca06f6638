package exchange_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"causeway/core/exchange"
	"causeway/core/money"
	"causeway/ledger"
)

func TestNewTrade_NetByCurrency(t *testing.T) {
	t.Parallel()
	// Entries of one currency are added up, and currencies that add up to zero are no part of the trade.
	got := must[exchange.Trade](t)(
		exchange.NewTrade(exchange.Conversion, []exchange.Leg{{"USD", 10_000}, {"EUR", -9_000}, {"MXN", -5}, {"EUR", -1}, {"MXN", 5}}, nil))
	want := []exchange.Leg{{"EUR", -9_001}, {"USD", 10_000}}
	if got.Origin != exchange.Conversion || !slices.Equal(got.Legs, want) {
		t.Errorf("%+v, want %v", got, want)
	}
}

func TestNewTrade_Overflow(t *testing.T) {
	t.Parallel()
	// Entries that add up to more than an amount are refused.
	e := exchange.Leg{"USD", math.MaxInt64}
	if _, err := exchange.NewTrade(exchange.Adjustment, []exchange.Leg{e, e}, nil); !errors.Is(err, money.ErrOverflow) {
		t.Error(err)
	}
}

func TestOriginOf(t *testing.T) {
	t.Parallel()
	// Conversions, reversals, settlements and opening balances are named, and everything else is an adjustment. A
	// reversal of opening balances takes back what these brought.
	for kinds, want := range map[[2]ledger.Kind]exchange.Origin{
		{ledger.KindConverted}: exchange.Conversion, {ledger.KindReversal, ledger.KindConverted}: exchange.Reversal,
		{ledger.KindFXSettlement}: exchange.Settlement, {ledger.KindAdjustment}: exchange.Adjustment, {ledger.KindDeposit}: exchange.Adjustment,
		{ledger.KindOpeningBalances}: exchange.Opening, {ledger.KindReversal, ledger.KindOpeningBalances}: exchange.Opening,
		{ledger.KindReversal, ledger.KindAdjustment}: exchange.Reversal,
	} {
		if got := exchange.OriginOf(kinds[0], kinds[1]); got != want {
			t.Errorf("%s: %s, want %s", kinds, got, want)
		}
	}
}
