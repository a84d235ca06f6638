package sandbox_test

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/sandbox"
	"causeway/core/account"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
	"causeway/ports/railtest"
)

// fixture is the simulated rail, which has no world behind it: accounts select what happens, and the clock when. It
// moves no money, keeps nothing, and so has nothing that a crash could interrupt.
type fixture struct{ clock *portstest.FakeClock }

func (*fixture) Features() railtest.Features {
	return railtest.Features{Currencies: []money.Currency{"USD", "USDC"},
		Payouts:     []railtest.Course{railtest.Settles, railtest.Rejected, railtest.TakenBack},
		Collections: []railtest.Course{railtest.Settles, railtest.Rejected, railtest.TakenBack},
		Refunds:     []railtest.Course{railtest.Settles, railtest.Rejected},
	}
}

func (f *fixture) Open(context.Context) (ports.Rail, error) { return sandbox.New(f.clock, 1), nil }

func (f *fixture) OpenCrashing(context.Context, int) (ports.Rail, func() bool, error) {
	return sandbox.New(f.clock, 1), func() bool { return false }, nil
}

func (f *fixture) Now() time.Time { return f.clock.Now() }

// digits are the last digits of an account that selects a course of quotes and of transfers.
var digits = map[railtest.Course]struct{ quote, transfer string }{
	railtest.Settles: {"001", "001"}, railtest.Rejected: {"004", "004"}, railtest.TakenBack: {"005", "006"},
}

func (*fixture) Payout(n int, c railtest.Course) ports.Payout {
	p := ports.Payout{Account: wallet("spark1" + digits[c].quote), Transaction: transaction.Transaction{Quote: quoteID,
		State: transaction.State{Status: transaction.Processing, Stage: transaction.Converted}, DestinationRail: "LAYER2",
		DestinationAccount: "chains/LAYER2",
		Pricing:            transaction.Pricing{Received: money.Amount{Minor: 100_000, Currency: "BTC"}}, UpdatedAt: noon}}
	p.Transaction.ID.SetUUID(uuid.UUID{14: 1, 15: byte(n)})
	return p
}

func (*fixture) Collection(n int, c railtest.Course) ports.Collection {
	from := account.External{Currency: "USD", Type: account.USAccount,
		Fields: map[string]string{"accountNumber": "421000" + digits[c].transfer}}
	p := ports.Collection{Account: from, Transaction: transaction.Transaction{Type: transaction.Incoming, State: transaction.Initial,
		SourceRail: "ACH", SourceAccount: "rails/ACH", Pricing: transaction.Pricing{Sent: money.Amount{Minor: 25_00, Currency: "USD"}},
		UpdatedAt: noon}}
	p.Transaction.ID.SetUUID(uuid.UUID{14: 2, 15: byte(n)})
	return p
}

func (f *fixture) Refund(n int, c railtest.Course) ports.Refund {
	refund := ports.Refund{ID: uuid.UUID{14: 3, 15: byte(n)}, Rail: "RTP", Reference: "REF-REFUND",
		Amount: money.Amount{Minor: 10050, Currency: "USD"}}
	if c == railtest.Rejected {
		failed := f.Payout(n, c)
		failed.Account = wallet("spark1007")
		refund.Payout = &failed
	}
	return refund
}

func (f *fixture) Run(context.Context) error {
	f.clock.Advance(time.Minute)
	return nil
}

func (*fixture) SetReports(railtest.Reports) {}

func (*fixture) Relent(context.Context) error { return nil }

func (f *fixture) TakeBack(context.Context, uuid.UUID) error { return nil } // time does it

func (*fixture) Moved(context.Context, uuid.UUID) ([]money.Amount, error) { return nil, nil }

func (*fixture) OriginalOf(context.Context, uuid.UUID) (string, error) { return "", nil }

// Pause, Withdraw and HandOverAgain implement railtest.Fixture. The sandbox pays as soon as it is asked.
func (*fixture) Pause(context.Context, bool) error { return nil }

func (*fixture) Withdraw(context.Context, ports.RailPaymentKey) (bool, error) { return false, nil }

func (*fixture) HandOverAgain(context.Context, ports.RailPaymentKey) error { return nil }

func (*fixture) Close() error { return nil }
