package platform_test

import (
	"testing"

	"causeway/core/fault"
	"causeway/core/platform"
)

func TestCurrency_Checks(t *testing.T) {
	t.Parallel()
	// A direction is enabled if it is listed, and an amount is allowed from the minimum to the maximum,
	// both included. The fault names the limits.
	c := platform.Currency{Code: "USD", MinAmount: 100, MaxAmount: 200, Directions: []string{"INCOMING"}}
	if err := c.CheckDirection("INCOMING"); err != nil {
		t.Error(err)
	}
	if err := c.CheckDirection("OUTGOING"); !fault.Is(err, fault.InvalidCurrency) {
		t.Errorf("outgoing: %v", err)
	}
	for minor, reason := range map[int64]string{99: "Below the minimum of the platform", 100: "", 200: "", 201: "Above the maximum of the " +
		"platform"} {
		refused, _ := fault.As(c.CheckAmount(minor))
		if (refused != nil) != (reason != "") || refused != nil && (refused.Code != fault.AmountOutOfRange || refused.Reason != reason ||
			refused.Details["minAmount"] != int64(100)) {
			t.Errorf("%d: %+v, want %q", minor, refused, reason)
		}
	}
}
