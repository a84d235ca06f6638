package corridor_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/money"
)

func TestTerms_CheckAmount(t *testing.T) {
	// Amounts at the limits are allowed. One minor unit beyond is refused with both limits, and the
	// reason says whether the platform or the corridor set the exceeded one.
	t.Parallel()
	plain := corridor.Terms{MinSending: 100, MaxSending: 10_000}
	narrowed := plain.WithLimits(corridor.Limits{Min: 200, Max: 5_000})
	for _, tt := range []struct {
		terms  corridor.Terms
		minor  int64
		reason string // empty: allowed
	}{
		{plain, -1, "Below the minimum of the corridor"}, {plain, 0, "Below the minimum of the corridor"},
		{plain, 99, "Below the minimum of the corridor"}, {plain, 100, ""}, {plain, 10_000, ""},
		{plain, 10_001, "Above the maximum of the corridor"},
		{narrowed, 199, "Below the minimum of the platform"}, {narrowed, 200, ""}, {narrowed, 5_000, ""},
		{narrowed, 5_001, "Above the maximum of the platform"},
		{plain.WithLimits(corridor.Limits{Min: 200, Max: 20_000}), 10_001, "Above the maximum of the corridor"},
		{plain.WithLimits(corridor.Limits{Max: 50}), 60, "No amount can be sent"},
	} {
		err := tt.terms.CheckAmount(money.Amount{Minor: tt.minor, Currency: "USD"})
		if tt.reason == "" {
			if err != nil {
				t.Errorf("%d: %v", tt.minor, err)
			}
			continue
		}
		refusal, ok := fault.As(err)
		if !ok || refusal.Code != fault.AmountOutOfRange || refusal.Reason != tt.reason ||
			refusal.Details["minAmount"] != tt.terms.MinSending || refusal.Details["maxAmount"] != tt.terms.MaxSending {
			t.Errorf("%d: %#v, want %s", tt.minor, err, tt.reason)
			continue
		}
		if own := strings.Contains(refusal.Message, "PATCH /config"); own != !strings.HasSuffix(tt.reason, "of the corridor") {
			t.Errorf("%d: the message names the wrong setting: %s", tt.minor, refusal.Message)
		}
	}
}

func TestTerms_WithLimitsOnlyNarrows(t *testing.T) {
	// For any settings, a platform may send exactly the amounts that both the corridor and its own
	// limits allow.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Int64Range(0, 1_000)
		terms := corridor.Terms{MinSending: number.Draw(t, "least"), MaxSending: number.Draw(t, "most")}
		own := corridor.Limits{Min: number.Draw(t, "own least"), Max: number.Draw(t, "own most")}
		amount := money.Amount{Minor: number.Draw(t, "amount"), Currency: "USD"}

		err := terms.WithLimits(own).CheckAmount(amount)

		want := terms.CheckAmount(amount) == nil && own.Min <= amount.Minor && amount.Minor <= own.Max
		if want != (err == nil) {
			t.Fatalf("%+v within %+v: %d: %v", terms, own, amount.Minor, err)
		}
	})
}
