package ledger_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/money"
	"causeway/ledger"
)

// What each movement writes, entry by entry, with amounts worked out by hand.
func TestMovements(t *testing.T) {
	t.Parallel()
	var (
		customer = ledger.CustomerAccount(alice)
		wallet   = ledger.Wallet(bob)
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
		{"100.50 USD arrives by RTP for a quote", ledger.JITReceived(h, rtp, usd(10050)), ledger.KindJITReceived,
			"rails/RTP → funding/jit 10050 USD"},
		{"25 USDC arrives on a chain for nobody", ledger.UnmatchedReceived(h, ledger.Chain("SOLANA"), usdc(25_000_000)), ledger.KindUnmatchedReceived,
			"chains/SOLANA → funding/unmatched 25000000 USDC"},
		{"its owner is found", ledger.UnmatchedAssigned(h, customer, usdc(25_000_000)), ledger.KindUnmatchedAssigned,
			"funding/unmatched → " + customer + " 25000000 USDC"},
		{"a customer pays in", ledger.Deposit(h, ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: customer, Amount: usd(500)}), ledger.KindDeposit,
			"rails/ACH → " + customer + " 500 USD"},
		{"we pull from their bank", ledger.TransferIn(h, ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: own, Amount: usd(500)}), ledger.KindTransferIn,
			"rails/ACH → " + own + " 500 USD"},
		{"a transfer out with a fee", ledger.TransferOut(h, ledger.OutgoingFunds{From: customer, Amount: usd(500), Fees: 25}), ledger.KindTransferOut,
			customer + " → transit/payouts 500 USD\n" + customer + " → income/fees 25 USD"},
		{"a withdrawal without one", ledger.Withdrawal(h, layer2, ledger.OutgoingFunds{From: own, Amount: btc(700)}), ledger.KindWithdrawal,
			own + " → chains/LAYER2 700 BTC"},
		{"a payout arrives", ledger.Delivered(h, layer2, btc(100_000)), ledger.KindDelivered,
			"transit/payouts → chains/LAYER2 100000 BTC"},
		{"and comes back", ledger.Returned(h, layer2, btc(100_000)), ledger.KindReturned,
			"chains/LAYER2 → transit/payouts 100000 BTC"},
		{"a payment failed before conversion", ledger.RefundOwed(h, ledger.FundingJIT, usd(10050)), ledger.KindRefundOwed,
			"funding/jit → transit/refunds 10050 USD"},
		{"the payer has it back", ledger.RefundPaid(h, rtp, usd(10050)), ledger.KindRefundPaid,
			"transit/refunds → rails/RTP 10050 USD"},
		{"crypto goes to the customer's account", ledger.RefundPaid(h, customer, usdc(9)), ledger.KindRefundPaid,
			"transit/refunds → " + customer + " 9 USDC"},
		{"the payer's bank refuses it", ledger.RefundFailed(h, usd(10050)), ledger.KindRefundFailed,
			"transit/refunds → funding/unmatched 10050 USD"},
		{"a fee on its own", ledger.FeeCharged(h, customer, usd(99)), ledger.KindFee,
			customer + " → income/fees 99 USD"},
		{"a partner's fee", ledger.FeePaid(h, rtp, usd(4)), ledger.KindFee,
			"expense/rails → rails/RTP 4 USD"},
		{"a partner gives a fee back", ledger.FeeReturned(h, rtp, usd(4)), ledger.KindFee,
			"rails/RTP → expense/rails 4 USD"},
		{"finance corrects a fee by hand", ledger.Adjustment(h, []ledger.Entry{{Debit: rtp, Credit: ledger.ExpenseRails, Currency: money.USD, Amount: 4}}), ledger.KindAdjustment,
			"rails/RTP → expense/rails 4 USD"},
		{"a wallet receives", ledger.WalletCredit(h, ledger.WalletTransfer{Wallet: wallet, CounterAccount: layer2, Amount: btc(1)}), ledger.KindWalletCredit,
			"chains/LAYER2 → " + wallet + " 1 BTC"},
		{"a wallet pays", ledger.WalletDebit(h, ledger.WalletTransfer{Wallet: wallet, CounterAccount: ledger.TransitPayouts, Amount: btc(1)}), ledger.KindWalletDebit,
			wallet + " → transit/payouts 1 BTC"},
		{"dollars to bitcoin, nothing left over", ledger.Converted(h, ledger.Conversion{
			From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: usd(10050), Fees: 50, Received: btc(100_000)}), ledger.KindConverted,
			"funding/jit → income/fees 50 USD\nfunding/jit → fx/position 10000 USD\nfx/position → transit/payouts 100000 BTC"},
		{"1.234567 USDC to 1.23 USD from an account, with a remainder", ledger.Converted(h, ledger.Conversion{
			From: customer, To: ledger.TransitPayouts, Sent: usdc(1_234_567), RoundingSent: 4_567, Received: usd(123)}), ledger.KindConverted,
			customer + " → income/rounding 4567 USDC\n" + customer + " → fx/position 1230000 USDC\nfx/position → transit/payouts 123 USD"},
		{"one cent buys 10 satoshi of which 7 were wanted", ledger.Converted(h, ledger.Conversion{
			From: ledger.FundingJIT, To: own, Sent: usd(1), Received: btc(7), RoundingReceived: 3}), ledger.KindConverted,
			"funding/jit → fx/position 1 USD\nfx/position → " + own + " 7 BTC\nfx/position → income/rounding 3 BTC"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.posting.Validate(); err != nil {
				t.Fatal(err)
			}
			if got := formatEntries(c.posting); got != c.entries || c.posting.Kind != c.kind {
				t.Errorf("%s writes\n%s\nwant %s\n%s", c.posting.Kind, got, c.kind, c.entries)
			}
			if p := c.posting; p.ID != h.ID || p.Platform != platform || p.Transaction != transaction || p.Effective != noon || p.Memo != h.Memo {
				t.Errorf("the header was not kept: %+v", p)
			}
		})
	}
}

func TestMovements_OnRamp(t *testing.T) {
	t.Parallel()
	// 100.50 USD with a fee of 0.50 become 0.00100000 BTC at the beneficiary: what was
	// received is all accounted for, and nothing is owed to anybody any more.
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
	// A payout that comes back days later ends with the payer whole: the fee too is
	// given back, and every account of the platform stands at zero.
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
	// A payment from an account that fails gives the account all it paid, fee included,
	// and never shows the owner more than they have on the way.
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
	// Money that cannot be sent back waits in unmatched until people assign it.
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
	// For any price, what leaves the payer is all that others get, on both sides; and a
	// price that does not add up, or overflows, makes no valid posting.
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

		at := func(path string, currency money.Currency) int64 { return balances[account(path, currency)] }
		if at(ledger.FundingJIT, money.USD) != -c.Sent.Minor || at(ledger.TransitPayouts, money.BTC) != c.Received.Minor {
			t.Fatalf("%+v moved %v", c, balances)
		}
		if at(ledger.IncomeFees, money.USD)+at(ledger.IncomeRounding, money.USD)+at(ledger.FXPosition, money.USD) != c.Sent.Minor {
			t.Fatalf("%+v: the sending side does not add up: %v", c, balances)
		}
		if c.Fees < 0 || c.RoundingSent < 0 || c.RoundingReceived < 0 || c.Fees+c.RoundingSent >= c.Sent.Minor {
			t.Fatalf("%+v was taken", c)
		}
	})
}

func TestConverted_Invalid(t *testing.T) {
	t.Parallel()
	// Something for nothing, nothing for something, or the same currency is no exchange.
	for name, c := range map[string]ledger.Conversion{
		"fees eat it all": {Sent: usd(10), Fees: 10, Received: btc(1)},
		"fees above it":   {Sent: usd(10), Fees: 11, Received: btc(1)},
		"for nothing":     {Sent: usd(10), Received: btc(0)},
		"same currency":   {Sent: usd(10), Received: usd(9)},
	} {
		c.From, c.To = ledger.FundingJIT, ledger.TransitPayouts
		if err := ledger.Converted(header(1), c).Validate(); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
}
