package treasury_test

import (
	"slices"
	"testing"
	"time"

	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/safeguarding"
	movements "causeway/core/treasury"
	"causeway/ledger"
	"causeway/ports"
)

func TestMove_SweepTakesAtMostTheExcess(t *testing.T) {
	t.Parallel()
	// The fee can be swept, to the last cent and once; one cent more is refused with both numbers.
	e := newEnv(t)

	f := e.wantRefused(e.movement(movements.Sweep, "rails/RTP", "own/OPERATING", usd(1_01)), "Exceeds the excess")
	if f.Details["excess"] != "100" || f.Details["requested"] != "101" {
		t.Errorf("details %v", f.Details)
	}
	done := e.mustMove(e.movement(movements.Sweep, "rails/RTP", "own/OPERATING", usd(1_00)))
	e.wantRefused(e.movement(movements.Sweep, "rails/RTP", "own/OPERATING", usd(1)), "Exceeds the excess")

	e.wantBalances(map[string]int64{"rails/RTP USD": 99_00, "own/OPERATING USD": 1_00})
	posting, found, err := e.Store.LedgerReader().Posting(t.Context(), e.Platform.ID, done.Posting)
	if err != nil || !found || posting.Kind != ledger.KindSweep || posting.Memo != done.ID.String() {
		t.Errorf("posting %+v, %t, %v", posting, found, err)
	}
	if difference := e.difference("USD"); difference != "0" {
		t.Errorf("after the sweep %s more is held than owed", difference)
	}
}

func TestMove_ConcurrentSweepsTakeTheExcessOnce(t *testing.T) {
	t.Parallel()
	// Of several sweeps at the same time one takes the excess.
	e := newEnv(t)
	results := make(chan error)
	for range 4 {
		go func() {
			_, err := e.Move(t.Context(), e.movement(movements.Sweep, "rails/RTP", "own/OPERATING", usd(1_00)), nil)
			results <- err
		}()
	}
	posted := 0
	for range 4 {
		if err := <-results; err == nil {
			posted++
		} else if f, ok := fault.As(err); !ok || f.Code != fault.Conflict {
			t.Error(err)
		}
	}
	if posted != 1 {
		t.Errorf("%d sweeps were posted", posted)
	}
}

func TestMove_TransferKeepsCustomersMoney(t *testing.T) {
	t.Parallel()
	// Customers' money moves freely between their accounts, also over days, and not to the company; money of the
	// company makes a shortfall good.
	e := newEnv(t)
	sent := e.movement(movements.Transfer, "rails/RTP", "rails/WIRE", usd(60_00))
	sent.InTransit, sent.Note = true, "Bank change"
	transfer := e.mustMove(sent)
	if difference := e.difference("USD"); difference != "100" {
		t.Errorf("in transit: difference of %s", difference)
	}
	e.wantRefused(e.movement(movements.Transfer, "rails/RTP", "own/OPERATING", usd(2_00)), "Exceeds the excess")
	open, err := e.Movements(t.Context(), e.Platform.ID, ports.MovementFilter{Paging: ports.Paging{Limit: 10}, Open: true})
	if err != nil || len(open.Items) != 1 || open.Items[0].ID != transfer.ID || !open.Items[0].IsOpen() {
		t.Errorf("open transfers %+v, %v", open, err)
	}

	e.Clock.Advance(48 * time.Hour)
	arrived, err := e.Arrive(t.Context(), e.Platform.ID, transfer.ID, e.by(), time.Time{}, nil)
	if err != nil || arrived.Done.IsOpen() {
		t.Fatalf("arrived %+v, %v", arrived, err)
	}
	e.wantCode(fault.Conflict, func() error {
		_, err := e.Arrive(t.Context(), e.Platform.ID, transfer.ID, e.by(), time.Time{}, nil)
		return err
	})

	e.wantBalances(map[string]int64{"rails/RTP USD": 40_00, "rails/WIRE USD": 60_00, "transit/client-money USD": 0})
	stored, err := e.Movement(t.Context(), e.Platform.ID, transfer.ID)
	if err != nil || stored.Arrival == nil || stored.Arrival.Posting != arrived.Done.Arrival.Posting || stored.By != e.by() ||
		stored.Note != "Bank change" || stored.Amount != usd(60_00) {
		t.Errorf("stored %+v, %v", stored, err)
	}
}

func TestArrive_KeepsMoneyOfCustomers(t *testing.T) {
	t.Parallel()
	// Money of customers that is on its way does not arrive in an account that has become the company's own meanwhile.
	e := newEnv(t)
	sent := e.movement(movements.Transfer, "rails/RTP", "rails/WIRE", usd(60_00))
	sent.InTransit = true
	transfer := e.mustMove(sent)
	if err := e.setPurpose("rails/WIRE", safeguarding.Own); err != nil {
		t.Fatal(err)
	}
	_, err := e.Arrive(t.Context(), e.Platform.ID, transfer.ID, e.by(), time.Time{}, nil)
	if f, ok := fault.As(err); !ok || f.Code != fault.Conflict || f.Reason != "Exceeds the excess" {
		t.Errorf("%v", err)
	}
	if difference := e.difference("USD"); difference != "100" {
		t.Errorf("difference of %s", difference)
	}
}

func TestMove_BackdatedSweepTakesAtMostTheExcessOfItsTime(t *testing.T) {
	t.Parallel()
	// A sweep that is effective before the fee was earned would have taken money of customers on that day.
	e := newEnv(t)
	m := e.movement(movements.Sweep, "rails/RTP", "own/OPERATING", usd(1_00))
	m.Effective = e.Clock.Now().AddDate(0, 0, -3)
	if f := e.wantRefused(m, "Exceeds the excess"); f.Details["excess"] != "0" ||
		f.Details["effectiveAt"] != m.Effective.Format(time.RFC3339) {
		t.Errorf("details %v", f.Details)
	}
	e.Clock.Advance(24 * time.Hour)
	m.Effective = e.Clock.Now().Add(-time.Hour)
	e.mustMove(m)
	if difference := e.difference("USD"); difference != "0" {
		t.Errorf("after the sweep %s more is held than owed", difference)
	}
}

func TestMove_NoAssetGoesBelowZero(t *testing.T) {
	t.Parallel()
	// An account does not pay what it does not hold, unless that is allowed with a reason.
	e := newEnv(t)
	m := e.movement(movements.Transfer, "own/OPERATING", "rails/RTP", usd(5_00))
	e.wantRefused(m, "Account would be overdrawn")
	m.AllowOverdraft = true
	e.wantCode(fault.InvalidInput, func() error {
		_, err := e.Move(t.Context(), m, nil)
		return err
	})
	m.Note = "The bank lends it until Monday"
	e.mustMove(m)
	if names := e.eventNames(); len(names) != 1 || names[0] != event.LedgerAssetOverdrawn {
		t.Errorf("events %v", names)
	}

	page, err := e.Store.Finance().LedgerAccounts(t.Context(), e.Platform.ID, ports.LedgerAccountFilter{Overdrawn: true, Limit: 10})
	if overdrawn := page.Accounts; err != nil || len(overdrawn) != 1 || overdrawn[0].Account.Path != "own/OPERATING" ||
		overdrawn[0].Balance.String() != "-500" {
		t.Errorf("overdrawn %+v, %v", page.Accounts, err)
	}
}

func TestMove_SettlementCoversWhatWasConverted(t *testing.T) {
	t.Parallel()
	// A customer's dollars were converted to bitcoin that the service does not have: bitcoin is short and dollars
	// are in excess, until both are settled with a provider, here with payment later.
	e := newEnv(t)
	account := e.NewInternalAccount(e.Customer.ID, "BTC", 0).ID
	e.Post(ledger.Converted(e.header(), ledger.Conversion{From: ledger.CustomerAccount(e.account), To: ledger.CustomerAccount(account),
		Sent: usd(60_00), Received: btc(100_000)}))
	if short, more := e.difference("BTC"), e.difference("USD"); short != "-100000" || more != "6100" {
		t.Fatalf("bitcoin %s, dollars %s", short, more)
	}
	settlement := e.movement(movements.Settlement, "partner-payables/PROVIDER", "chains/LAYER2", usd(60_00))
	settlement.Bought = btc(100_000)
	e.mustMove(settlement)
	e.mustMove(e.movement(movements.Transfer, "rails/RTP", "partner-payables/PROVIDER", usd(60_00)))

	e.wantBalances(map[string]int64{"fx/position USD": 0, "fx/position BTC": 0, "partner-payables/PROVIDER USD": 0,
		"chains/LAYER2 BTC": 100_000, "rails/RTP USD": 40_00})
	if bitcoin, dollars := e.difference("BTC"), e.difference("USD"); bitcoin != "0" || dollars != "100" {
		t.Errorf("after the settlement: bitcoin %s, dollars %s", bitcoin, dollars)
	}
}

func TestMove_ClosedMonthIsNotChanged(t *testing.T) {
	t.Parallel()
	// A movement for a closed month takes effect at the start of the next one, and its memo says so.
	e := newEnv(t)
	if err := e.Exec(`INSERT INTO ledger_clocks (platform_id) VALUES ('`+e.Platform.ID.UUID().String()+`') ON CONFLICT DO NOTHING`,
		`UPDATE ledger_clocks SET soft_closed_before = '2026-03-01', closed_before = '2026-02-01' WHERE platform_id = '`+
			e.Platform.ID.UUID().String()+`'`); err != nil {
		t.Fatal(err)
	}
	m := e.movement(movements.Transfer, "rails/RTP", "rails/WIRE", usd(1))
	m.Effective = time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)
	done := e.mustMove(m)
	posting, _, err := e.Store.LedgerReader().Posting(t.Context(), e.Platform.ID, done.Posting)
	if err != nil || !posting.Effective.Equal(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)) || posting.Memo != done.ID.String()+
		" (for 2026-02-28)" {
		t.Errorf("posting %+v, %v", posting, err)
	}
}

func TestSetPurpose_VersionsAndMoneyOfCustomers(t *testing.T) {
	t.Parallel()
	// An account becomes the company's own only if customers' money is not needed in it; every change is kept.
	e := newEnv(t)
	e.wantCode(fault.Conflict, func() error { return e.setPurpose("rails/RTP", safeguarding.Own) })
	e.wantCode(fault.InvalidInput, func() error { return e.setPurpose("own/OPERATING", safeguarding.Client) })
	if err := e.setPurpose("rails/ACH", safeguarding.Own); err != nil {
		t.Fatal(err)
	}
	e.mustMove(e.movement(movements.Sweep, "rails/RTP", "rails/ACH", usd(1_00)))
	if err := e.setPurpose("rails/ACH", safeguarding.Client); err != nil {
		t.Fatal(err)
	}

	accounts, err := e.Accounts(t.Context(), e.Platform.ID)
	if err != nil || len(accounts) != 2 {
		t.Fatalf("accounts %+v, %v", accounts, err)
	}
	ach := accounts[0]
	if ach.Path != "rails/ACH" || ach.Purpose != safeguarding.Client || len(ach.Changes) != 2 || ach.Changes[1].Version != 2 ||
		ach.Changes[0].By != e.by() || ach.Balances[0].Balance.String() != "100" {
		t.Errorf("account %+v", ach)
	}
	if difference := e.difference("USD"); difference != "100" {
		t.Errorf("difference of %s", difference)
	}
}

func TestAnnounceOverdrafts_OncePerCrossing(t *testing.T) {
	t.Parallel()
	// An asset below zero is announced once, and again when it is back, an hour later at the earliest.
	e := newEnv(t)
	announce := func(want ...string) {
		t.Helper()
		if err := e.AnnounceOverdrafts(t.Context(), e.Platform.Environment); err != nil {
			t.Fatal(err)
		}
		if got := e.eventNames(); !slices.Equal(got, want) {
			t.Fatalf("events %v, want %v", got, want)
		}
	}
	announce()
	e.Post(ledger.FeePaid(e.header(), "rails/WIRE", usd(5)))
	announce(event.LedgerAssetOverdrawn)
	announce(event.LedgerAssetOverdrawn)
	e.Post(ledger.FeeReturned(e.header(), "rails/WIRE", usd(5)))
	announce(event.LedgerAssetOverdrawn)
	e.Clock.Advance(time.Hour)
	announce(event.LedgerAssetOverdrawn, event.LedgerAssetCovered)
	e.Post(ledger.FeePaid(e.header(), "rails/WIRE", money.Amount{Minor: 1, Currency: "USD"}))
	e.Clock.Advance(time.Hour)
	announce(event.LedgerAssetOverdrawn, event.LedgerAssetCovered, event.LedgerAssetOverdrawn)
}
