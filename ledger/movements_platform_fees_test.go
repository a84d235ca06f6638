package ledger_test

import (
	"testing"

	"causeway/ledger"
)

func TestPlatformFees(t *testing.T) {
	t.Parallel()
	// The fees of a platform are pending until the payment is delivered, or are earned at once, and are lost with its return. A
	// payment without such fees has no entry of them.
	own := ledger.PlatformAccount(alice)
	conversion := func(feesTo string) ledger.Conversion {
		return ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: usd(10_050), Fees: 30, PlatformFees: 20,
			PlatformFeesTo: feesTo, Received: btc(100_000)}
	}
	for name, c := range map[string]struct {
		posting ledger.Posting
		want    string
	}{
		"converted": {ledger.Converted(header(1), conversion(ledger.PlatformFeesPending)), "funding/jit → income/fees 30 USD\n" +
			"funding/jit → platform/fees-pending 20 USD\nfunding/jit → fx/position 10000 USD\nfx/position → transit/payouts 100000 BTC"},
		"transferred between accounts": {ledger.TransferOut(header(1), ledger.OutgoingFunds{From: ledger.FundingJIT, To: own,
			Amount: usd(500), PlatformFees: 20, PlatformFeesTo: ledger.PlatformFees}),
			"funding/jit → " + own + " 500 USD\nfunding/jit → platform/fees 20 USD"},
		"delivered": {ledger.Delivered(header(1), ledger.Rail("RTP"), usd(500)).EarningPlatformFees(usd(20)),
			"transit/payouts → rails/RTP 500 USD\nplatform/fees-pending → platform/fees 20 USD"},
		"returned": {ledger.Returned(header(1), ledger.Rail("RTP"), usd(500)).LosingPlatformFees(usd(20)),
			"rails/RTP → transit/payouts 500 USD\nplatform/fees → platform/fees-pending 20 USD"},
		"without fees": {ledger.Delivered(header(1), ledger.Rail("RTP"), usd(500)).EarningPlatformFees(usd(0)),
			"transit/payouts → rails/RTP 500 USD"},
		"paid": {ledger.PlatformFeesPaid(header(1), alice, usd(20)), "platform/fees → " + own + " 20 USD"},
	} {
		if got := formatEntries(c.posting); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
		if err := c.posting.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := ledger.Converted(header(1), conversion("")).Validate(); err == nil {
		t.Error("fees without an account are accepted")
	}
}
