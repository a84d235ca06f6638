package ledger_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/money"
	"causeway/ledger"
)

func TestMovements(t *testing.T) {
	t.Parallel()
	// Each movement has these entries; the amounts are computed by hand.
	var (
		customer = ledger.CustomerAccount(alice)
		wallet   = ledger.Wallet(alice)
		own      = ledger.PlatformAccount(bob)
		rtp      = ledger.Rail("RTP")
		layer2   = ledger.Chain("LAYER2")
		h        = header(1)
	)
	for _, c := range []struct {
		name    string
		posting ledger.Posting
		kind    ledger.Kind
		entries string
	}{
		{"payment by RTP for a quote", ledger.JITReceived(h, rtp, usd(10050)), ledger.KindJITReceived,
			"rails/RTP → funding/jit 10050 USD"},
		{"payment on a chain of an unknown owner", ledger.UnmatchedReceived(h, ledger.Chain("SOLANA"), usdc(25_000_000)),
			ledger.KindUnmatchedReceived,
			"chains/SOLANA → funding/unmatched 25000000 USDC"},
		{"owner of unmatched money found", ledger.UnmatchedAssigned(h, customer, usdc(25_000_000)), ledger.KindUnmatchedAssigned,
			"funding/unmatched → " + customer + " 25000000 USDC"},
		{"deposit by a customer", ledger.Deposit(h, ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: customer, Amount: usd(500)}),
			ledger.KindDeposit,
			"rails/ACH → " + customer + " 500 USD"},
		{"pull from a bank account", ledger.TransferIn(h, ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: own, Amount: usd(500)}),
			ledger.KindTransferIn,
			"rails/ACH → " + own + " 500 USD"},
		{"a transfer out with a fee", ledger.TransferOut(h, ledger.OutgoingFunds{From: customer, Amount: usd(500), Fees: 25}),
			ledger.KindTransferOut,
			customer + " → transit/payouts 500 USD\n" + customer + " → income/fees 25 USD"},
		{"just-in-time funding in the currency of the account", ledger.TransferOut(h, ledger.OutgoingFunds{From: ledger.FundingJIT, To: customer,
			Amount: usd(500), Fees: 25}), ledger.KindTransferOut,
			"funding/jit → " + customer + " 500 USD\nfunding/jit → income/fees 25 USD"},
		{"payment signed by the owner of a wallet", ledger.WalletDebit(h, wallet, money.Amount{Minor: 2_500_000, Currency: "USDB"}),
			ledger.KindWalletDebit,
			wallet + " → funding/jit 2500000 USDB"},
		{"payment to a wallet settled on the chain", ledger.WalletCredit(h, wallet, money.Amount{Minor: 2_500_000, Currency: "USDB"}),
			ledger.KindWalletCredit,
			"transit/payouts → " + wallet + " 2500000 USDB"},
		{"payout delivered", ledger.Delivered(h, layer2, btc(100_000)), ledger.KindDelivered,
			"transit/payouts → chains/LAYER2 100000 BTC"},
		{"payout to another customer delivered", ledger.Delivered(h, ledger.TransitInternal, usd(500)), ledger.KindDelivered,
			"transit/payouts → transit/internal 500 USD"},
		{"deposit by another customer", ledger.Deposit(h, ledger.IncomingFunds{Partner: ledger.TransitInternal, To: customer, Amount: usd(500)}),
			ledger.KindDeposit,
			"transit/internal → " + customer + " 500 USD"},
		{"payout returned", ledger.Returned(h, layer2, btc(100_000)), ledger.KindReturned,
			"chains/LAYER2 → transit/payouts 100000 BTC"},
		{"payment failed before conversion", ledger.RefundOwed(h, ledger.FundingJIT, usd(10050)), ledger.KindRefundOwed,
			"funding/jit → transit/refunds 10050 USD"},
		{"refund paid to the payer", ledger.RefundPaid(h, rtp, usd(10050)), ledger.KindRefundPaid,
			"transit/refunds → rails/RTP 10050 USD"},
		{"crypto refunded to the customer's account", ledger.RefundPaid(h, customer, usdc(9)), ledger.KindRefundPaid,
			"transit/refunds → " + customer + " 9 USDC"},
		{"refund refused by the payer's bank", ledger.RefundFailed(h, usd(10050)), ledger.KindRefundFailed,
			"transit/refunds → funding/unmatched 10050 USD"},
		{"a fee on its own", ledger.FeeCharged(h, customer, usd(99)), ledger.KindFee,
			customer + " → income/fees 99 USD"},
		{"a partner's fee", ledger.FeePaid(h, rtp, usd(4)), ledger.KindFee,
			"expense/rails → rails/RTP 4 USD"},
		{"a partner's fee returned", ledger.FeeReturned(h, rtp, usd(4)), ledger.KindFee,
			"rails/RTP → expense/rails 4 USD"},
		{"fees swept to the company's account", ledger.Sweep(h, rtp, ledger.Own("OPERATING"), usd(900)), ledger.KindSweep,
			"own/OPERATING → rails/RTP 900 USD"},
		{"money moved between banks", ledger.TreasuryTransfer(h, ledger.Own("OPERATING"), rtp, usd(900)), ledger.KindTreasuryTransfer,
			"rails/RTP → own/OPERATING 900 USD"},
		{"bitcoin bought from a liquidity provider, paid later",
			ledger.FXSettled(h, ledger.FXSettlement{Sold: usd(6000), Bought: btc(100_000), PaidFrom: ledger.PartnerPayable("PROVIDER"),
				ReceivedAt: layer2}), ledger.KindFXSettlement,
			"fx/position → partner-payables/PROVIDER 6000 USD\nchains/LAYER2 → fx/position 100000 BTC"},
		{"a collection taken back by the payer's bank", ledger.CollectionReturned(h, rtp, alice, usd(70)), ledger.KindCollectionReturned,
			ledger.CustomerReceivable(alice) + " → rails/RTP 70 USD"},
		{"paid by the customer's balance", ledger.ReceivableCollected(h, customer, alice, usd(20)), ledger.KindReceivableCollected,
			customer + " → " + ledger.CustomerReceivable(alice) + " 20 USD"},
		{"a receivable given up", ledger.ReceivableWrittenOff(h, alice, usd(50)), ledger.KindReceivableWrittenOff,
			"expense/write-offs → " + ledger.CustomerReceivable(alice) + " 50 USD"},
		{"gas for a transfer", ledger.RailFee(h, ledger.Chain("ETHEREUM"), money.Amount{Minor: 130_000, Currency: money.ETH}), ledger.KindRailFee,
			"expense/rails → chains/ETHEREUM 130000 ETH"},
		{"a fee given back", ledger.RailFee(h, rtp, usd(-4)), ledger.KindRailFee,
			"rails/RTP → expense/rails 4 USD"},
		{"unmatched money recalled", ledger.ReceiptReversed(h, ledger.FundingUnmatched, rtp, usd(70)), ledger.KindReceiptReversed,
			"funding/unmatched → rails/RTP 70 USD"},
		{"money recalled after it was sent back", ledger.ReceiptReversed(h, ledger.ExpenseChargebacks, rtp, usd(70)), ledger.KindReceiptReversed,
			"expense/chargebacks → rails/RTP 70 USD"},
		{"correction by hand", ledger.Adjustment(h, []ledger.Entry{{Debit: rtp, Credit: ledger.ExpenseRails, Currency: money.USD, Amount: 4}}),
			ledger.KindAdjustment,
			"rails/RTP → expense/rails 4 USD"},
		{"balances from earlier books", ledger.OpeningBalances(h, money.USD, []ledger.OpeningBalance{{Path: rtp, Minor: 70},
			{Path: customer, Minor: -60}, {Path: ledger.EquityBroughtForward, Minor: -10}}), ledger.KindOpeningBalances,
			"rails/RTP → equity/brought-forward 70 USD\nequity/brought-forward → " + customer + " 60 USD"},
		{"realised exchange result", ledger.RealisedResult(h, ledger.GainsAndLosses{Currency: money.USD, Gains: 70, Losses: 30}),
			ledger.KindRevaluation,
			"fx/valuation → income/exchange-gains 70 USD\nexpense/exchange-losses → fx/valuation 30 USD"},
		{"unrealised exchange gain", ledger.UnrealisedResult(h, ledger.GainsAndLosses{Currency: money.USD, Gains: 70}), ledger.KindRevaluation,
			"fx/valuation → income/unrealised-exchange-gains 70 USD"},
		{"unrealised exchange result taken back", ledger.UnrealisedReversed(h, ledger.GainsAndLosses{Currency: money.USD, Gains: 70, Losses: 30}),
			ledger.KindRevaluation,
			"income/unrealised-exchange-gains → fx/valuation 70 USD\nfx/valuation → expense/unrealised-exchange-losses 30 USD"},
		{"profit of the position before the first revaluation", ledger.PositionOpened(h, usd(70)), ledger.KindRevaluation,
			"fx/valuation → equity/retained-earnings 70 USD"},
		{"loss of the position before the first revaluation", ledger.PositionOpened(h, usd(-30)), ledger.KindRevaluation,
			"equity/retained-earnings → fx/valuation 30 USD"},
		{"allowance", ledger.AllowanceChanged(h, []money.Amount{usd(50), {Minor: -9, Currency: "EUR"}}), ledger.KindAllowance,
			"expense/write-offs → allowance/receivables 50 USD\nallowance/receivables → expense/write-offs 9 EUR"},
		{"fees of payments in transit", ledger.FeesDeferred(h, []money.Amount{usd(50), usdc(9)}), ledger.KindFeeDeferral,
			"income/fees → liability/deferred-fees 50 USD\nincome/fees → liability/deferred-fees 9 USDC"},
		{"fees of payments that were in transit", ledger.FeesRecognised(h, []money.Amount{usd(50)}), ledger.KindFeeDeferral,
			"liability/deferred-fees → income/fees 50 USD"},
		{"dollars to bitcoin without a remainder", ledger.Converted(h, ledger.Conversion{
			From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: usd(10050), Fees: 50, Received: btc(100_000)}), ledger.KindConverted,
			"funding/jit → income/fees 50 USD\nfunding/jit → fx/position 10000 USD\nfx/position → transit/payouts 100000 BTC"},
		{"1.234567 USDC to 1.23 USD from an account, with a remainder", ledger.Converted(h, ledger.Conversion{
			From: customer, To: ledger.TransitPayouts, Sent: usdc(1_234_567), RoundingSent: 4_567, Received: usd(123)}), ledger.KindConverted,
			customer + " → income/rounding 4567 USDC\n" + customer + " → fx/position 1230000 USDC\nfx/position → transit/payouts 123 USD"},
		{"one cent buys 10 satoshi, of which 7 are delivered", ledger.Converted(h, ledger.Conversion{
			From: ledger.FundingJIT, To: own, Sent: usd(1), Received: btc(7), RoundingReceived: 3}), ledger.KindConverted,
			"funding/jit → fx/position 1 USD\nfx/position → " + own + " 7 BTC\nfx/position → income/rounding 3 BTC"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.posting.Validate(); err != nil {
				t.Fatal(err)
			}
			if got := formatEntries(c.posting); got != c.entries || c.posting.Kind != c.kind {
				t.Errorf("got %s\n%s\nwant %s\n%s", c.posting.Kind, got, c.kind, c.entries)
			}
			if p := c.posting; p.ID != h.ID || p.Platform != platform || p.Transaction != transaction || p.Effective != noon || p.Memo != h.Memo {
				t.Errorf("the header is lost: %+v", p)
			}
		})
	}
}

func TestMovements_OnRamp(t *testing.T) {
	t.Parallel()
	// 100.50 USD with a fee of 0.50 become 0.00100000 BTC for the beneficiary: all that
	// was received is accounted for, and nothing is owed.
	balances := ledger.Balances{}
	apply(t, balances,
		ledger.JITReceived(header(1), ledger.Rail("RTP"), usd(10050)),
		ledger.Converted(header(2), ledger.Conversion{
			From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: usd(10050), Fees: 50, Received: btc(100_000)}),
		ledger.Delivered(header(3), ledger.Chain("LAYER2"), btc(100_000)),
	)

	wantBalances(t, balances, map[string]int64{
		"rails/RTP USD":     10050,
		"income/fees USD":   50,
		"fx/position USD":   10000,
		"fx/position BTC":   -100_000,
		"chains/LAYER2 BTC": -100_000,
	})
}

func TestMovements_OnRampReturned(t *testing.T) {
	t.Parallel()
	// After a payout that is returned days later, the payer has everything back, the fee
	// included, and every account is zero.
	converted := ledger.Converted(header(2), ledger.Conversion{
		From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: usd(10050), Fees: 50, Received: btc(100_000)})
	balances := ledger.Balances{}
	apply(t, balances,
		ledger.JITReceived(header(1), ledger.Rail("RTP"), usd(10050)),
		converted,
		ledger.Delivered(header(3), ledger.Chain("LAYER2"), btc(100_000)),
		ledger.Returned(header(4), ledger.Chain("LAYER2"), btc(100_000)),
		ledger.Reverse(converted, postingID(5), noon, "returned"),
		ledger.RefundOwed(header(6), ledger.FundingJIT, usd(10050)),
		ledger.RefundPaid(header(7), ledger.Rail("RTP"), usd(10050)),
	)

	wantBalances(t, balances, nil)
}

func TestMovements_PrefundedRefund(t *testing.T) {
	t.Parallel()
	// A failed payment from an account refunds all that it paid, fee included, and the
	// account never shows more than its owner has.
	account := ledger.CustomerAccount(alice)
	converted := ledger.Converted(header(2), ledger.Conversion{
		From: account, To: ledger.TransitPayouts, Sent: usdc(5_000_000), Fees: 20_000, RoundingSent: 1, Received: usd(497)})
	balances := ledger.Balances{}
	apply(t, balances,
		ledger.Deposit(header(1), ledger.IncomingFunds{Partner: ledger.Chain("SOLANA"), To: account, Amount: usdc(5_000_000)}),
		converted,
		ledger.Reverse(converted, postingID(3), noon, "payout refused"),
		ledger.RefundOwed(header(4), account, usdc(5_000_000)),
	)
	wantBalances(t, balances, map[string]int64{"chains/SOLANA USDC": 5_000_000, "transit/refunds USDC": 5_000_000})

	apply(t, balances, ledger.RefundPaid(header(5), account, usdc(5_000_000)))
	wantBalances(t, balances, map[string]int64{"chains/SOLANA USDC": 5_000_000, account + " USDC": 5_000_000})
}

func TestMovements_RefundFailed(t *testing.T) {
	t.Parallel()
	// A refund that cannot be sent is held as unmatched until it is assigned by hand.
	balances := ledger.Balances{}
	apply(t, balances,
		ledger.JITReceived(header(1), ledger.Rail("RTP"), usd(300)),
		ledger.RefundOwed(header(2), ledger.FundingJIT, usd(300)),
		ledger.RefundFailed(header(3), usd(300)),
	)
	wantBalances(t, balances, map[string]int64{"rails/RTP USD": 300, "funding/unmatched USD": 300})

	apply(t, balances,
		ledger.UnmatchedAssigned(header(4), ledger.TransitRefunds, usd(300)),
		ledger.RefundPaid(header(5), ledger.Rail("ACH"), usd(300)),
	)
	wantBalances(t, balances, map[string]int64{"rails/RTP USD": 300, "rails/ACH USD": -300})
}

func TestConverted_Balances(t *testing.T) {
	t.Parallel()
	// For any amounts, the payer pays exactly what the others receive, in both currencies;
	// amounts that do not add up, or overflow, give no valid posting.
	rapid.Check(t, func(t *rapid.T) {
		any := rapid.OneOf(rapid.Int64Range(-3, 300), rapid.Int64())
		c := ledger.Conversion{
			From: ledger.FundingJIT, To: ledger.TransitPayouts,
			Sent: usd(any.Draw(t, "sent")), Fees: any.Draw(t, "fees"), RoundingSent: any.Draw(t, "rounding"),
			Received: btc(any.Draw(t, "received")), RoundingReceived: any.Draw(t, "rounding received"),
		}
		balances := ledger.Balances{}
		if err := balances.Apply(ledger.Converted(header(1), c)); err != nil {
			if !errors.Is(err, ledger.ErrInvalid) {
				t.Fatalf("got %v, want ErrInvalid", err)
			}
			return
		}

		balance := func(path string, currency money.Currency) int64 { return balances[account(path, currency)] }
		if balance(ledger.FundingJIT, money.USD) != -c.Sent.Minor || balance(ledger.TransitPayouts, money.BTC) != c.Received.Minor {
			t.Fatalf("%+v gave %v", c, balances)
		}
		if balance(ledger.IncomeFees, money.USD)+balance(ledger.IncomeRounding, money.USD)+balance(ledger.FXPosition, money.USD) != c.Sent.Minor {
			t.Fatalf("%+v: the sent amounts do not add up: %v", c, balances)
		}
		if c.Fees < 0 || c.RoundingSent < 0 || c.RoundingReceived < 0 || c.Fees+c.RoundingSent >= c.Sent.Minor {
			t.Fatalf("%+v was accepted", c)
		}
	})
}

func TestConverted_Invalid(t *testing.T) {
	t.Parallel()
	// Without a sent or a received amount, or within one currency, there is no exchange.
	for name, c := range map[string]ledger.Conversion{
		"fees equal amount": {Sent: usd(10), Fees: 10, Received: btc(1)},
		"fees above amount": {Sent: usd(10), Fees: 11, Received: btc(1)},
		"nothing received":  {Sent: usd(10), Received: btc(0)},
		"same currency":     {Sent: usd(10), Received: usd(9)},
	} {
		c.From, c.To = ledger.FundingJIT, ledger.TransitPayouts
		if err := ledger.Converted(header(1), c).Validate(); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
}
