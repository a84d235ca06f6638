package treasury_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/safeguarding"
	"causeway/core/treasury"
	"causeway/ledger"
)

var (
	noon     = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	purposes = safeguarding.Purposes{"rails/ACH": safeguarding.Own}
)

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }
func btc(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "BTC"} }

func newMovement(kind treasury.Kind, from, to string, edit ...func(*treasury.Movement)) treasury.Movement {
	m := treasury.Movement{Kind: kind, From: from, To: to, Amount: usd(100), Posting: uuid.MustParse("0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e12"),
		At: noon, Effective: noon}
	m.ID.SetUUID(m.Posting)
	m.Platform.SetUUID(m.Posting)
	for _, e := range edit {
		e(&m)
	}
	return m
}

func inTransit(m *treasury.Movement) { m.InTransit = true }
func bought(a money.Amount) func(*treasury.Movement) {
	return func(m *treasury.Movement) { m.Bought = a }
}

func TestMovement_Check(t *testing.T) {
	t.Parallel()
	// Each kind allows its accounts; what is wrong is named by its field.
	for name, c := range map[string]struct {
		movement treasury.Movement
		fields   string
	}{
		"sweep":                          {newMovement(treasury.Sweep, "rails/RTP", "own/OPERATING"), ""},
		"sweep to a rail of the company": {newMovement(treasury.Sweep, "rails/RTP", "rails/ACH"), ""},
		"sweep to customers":             {newMovement(treasury.Sweep, "rails/RTP", "rails/WIRE"), "to"},
		"sweep of own money":             {newMovement(treasury.Sweep, "own/OPERATING", "own/RESERVE"), "from"},
		"transfer":                       {newMovement(treasury.Transfer, "rails/RTP", "rails/WIRE"), ""},
		"transfer in transit":            {newMovement(treasury.Transfer, "own/OPERATING", "rails/WIRE", inTransit), ""},
		"transfer to itself":             {newMovement(treasury.Transfer, "rails/RTP", "rails/RTP"), "to"},
		"transfer from a customer": {newMovement(treasury.Transfer, "customers/"+newMovement("", "", "").ID.String(),
			"own/OPERATING"), "from"},
		"a partner pays":                 {newMovement(treasury.Transfer, "partner-receivables/RTP", "own/OPERATING"), ""},
		"a partner is paid":              {newMovement(treasury.Transfer, "own/OPERATING", "partner-payables/RTP"), ""},
		"a partner is paid in transit":   {newMovement(treasury.Transfer, "own/OPERATING", "partner-payables/RTP", inTransit), "to"},
		"what is owed does not come out": {newMovement(treasury.Transfer, "partner-payables/RTP", "own/OPERATING"), "from"},
		"settlement":                     {newMovement(treasury.Settlement, "rails/RTP", "chains/LAYER2", bought(btc(5))), ""},
		"settlement on account": {newMovement(treasury.Settlement, "partner-payables/LP", "partner-receivables/LP",
			bought(btc(5))), ""},
		"settlement of a currency for itself": {newMovement(treasury.Settlement, "rails/RTP", "chains/LAYER2", bought(usd(5))),
			"boughtCurrency"},
		"settlement of nothing": {newMovement(treasury.Settlement, "rails/RTP", "chains/LAYER2"), "boughtCurrency boughtAmount"},
		"in the future": {newMovement(treasury.Transfer, "rails/RTP", "rails/WIRE",
			func(m *treasury.Movement) { m.Effective = noon.Add(time.Second) }), "effectiveAt"},
		"nothing": {newMovement(treasury.Transfer, "rails/RTP", "rails/WIRE",
			func(m *treasury.Movement) { m.Amount.Minor = 0 }), "amount"},
		"overdraft without a reason": {newMovement(treasury.Transfer, "rails/RTP", "rails/WIRE",
			func(m *treasury.Movement) { m.AllowOverdraft = true }), "note"},
		"overdraft with a reason": {newMovement(treasury.Transfer, "rails/RTP", "rails/WIRE",
			func(m *treasury.Movement) { m.AllowOverdraft, m.Note = true, "Credit line" }), ""},
		"an account that is not in the chart":  {newMovement(treasury.Transfer, "rails/rtp", "own/x"), "from to"},
		"an account on its way is not reached": {newMovement(treasury.Transfer, "transit/treasury", "own/OPERATING"), "from"},
	} {
		var fields []string
		for _, f := range c.movement.Check(purposes, noon) {
			fields = append(fields, f.Field)
		}
		if got := strings.Join(fields, " "); got != c.fields {
			t.Errorf("%s: %q, want %q", name, got, c.fields)
		}
	}
}

func TestMovement_PostingsEndAtTheirAccount(t *testing.T) {
	t.Parallel()
	// Whatever the accounts, the postings of a movement move its amount from one to the other and leave nothing in
	// transit; a transfer between accounts of customers is theirs all the way.
	accounts := []string{"rails/RTP", "rails/ACH", "rails/WIRE", "chains/LAYER2", "own/OPERATING"}
	rapid.Check(t, func(t *rapid.T) {
		m := newMovement(treasury.Transfer, rapid.SampledFrom(accounts).Draw(t, "from"), rapid.SampledFrom(accounts).Draw(t, "to"))
		m.InTransit = rapid.Bool().Draw(t, "in transit")
		m.Note = rapid.StringN(0, 500, -1).Draw(t, "note")
		if m.From == m.To {
			t.Skip("one account")
		}
		postings := []ledger.Posting{m.PostingFor(purposes)}
		if m.InTransit {
			arrival := treasury.Arrival{Posting: uuid.MustParse("0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e13"), Effective: noon.Add(time.Hour)}
			postings = append(postings, m.ArrivalPosting(arrival, postings[0]))
		}
		for _, p := range postings {
			if err := p.Validate(); err != nil || !strings.HasPrefix(p.Memo, m.ID.String()) {
				t.Fatalf("memo %q: %v", p.Memo, err)
			}
		}
		from, _ := purposes.Of(m.From)
		to, _ := purposes.Of(m.To)
		out := treasury.ClientMoneyOut(purposes, postings[0])
		if leaves := from == safeguarding.Client && to == safeguarding.Own; leaves != (len(out) == 1) || leaves && out[0] != m.Amount {
			t.Fatalf("from %s to %s takes %v of customers", m.From, m.To, out)
		}
		changes, err := ledger.NetChanges(postings...)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			want := map[string]int64{m.From: -100, m.To: 100}[c.Account.Path]
			if c.Amount != want {
				t.Fatalf("%s changes by %d, want %d", c.Account.Path, c.Amount, want)
			}
		}
	})
}

func TestMovement_SettlementReducesThePosition(t *testing.T) {
	t.Parallel()
	// What is sold leaves the position and the account, what is bought reaches both.
	m := newMovement(treasury.Settlement, "rails/RTP", "chains/LAYER2", bought(btc(5)))
	changes, err := ledger.NetChanges(m.PostingFor(purposes))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, c := range changes {
		got[c.Account.Path+" "+string(c.Account.Currency)] = c.Amount
	}
	for account, want := range map[string]int64{"rails/RTP USD": -100, "fx/position USD": -100, "chains/LAYER2 BTC": 5, "fx/position BTC": 5} {
		if got[account] != want {
			t.Errorf("%s changes by %d, want %d", account, got[account], want)
		}
	}
	if out := treasury.ClientMoneyOut(purposes, m.PostingFor(purposes)); len(out) != 1 || out[0] != usd(100) {
		t.Errorf("takes %v of customers", out)
	}
}

func TestMovement_CheckArrival(t *testing.T) {
	t.Parallel()
	// Only what is on its way arrives, once, and not before it was sent.
	sent := newMovement(treasury.Transfer, "rails/RTP", "rails/WIRE", inTransit)
	arrived := sent
	arrived.Arrival = &treasury.Arrival{Effective: noon}
	for name, c := range map[string]struct {
		movement  treasury.Movement
		effective time.Time
		want      fault.Code
	}{
		"arrives":        {sent, noon, ""},
		"too early":      {sent, noon.Add(-time.Second), fault.InvalidInput},
		"too late":       {sent, noon.Add(2 * time.Hour), fault.InvalidInput},
		"twice":          {arrived, noon, fault.Conflict},
		"not on its way": {newMovement(treasury.Transfer, "rails/RTP", "rails/WIRE"), noon, fault.Conflict},
	} {
		err := c.movement.CheckArrival(c.effective, noon.Add(time.Hour))
		if f, _ := fault.As(err); (f == nil) != (c.want == "") || f != nil && f.Code != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !sent.IsOpen() || arrived.IsOpen() {
		t.Error("a transfer is open until it arrives")
	}
}

func TestCheckExcess(t *testing.T) {
	t.Parallel()
	// The excess can be moved to the last unit, and no more; a shortfall leaves nothing to move.
	for excess, ok := range map[int64]bool{101: true, 100: true, 99: false, 0: false, -5: false} {
		err := treasury.CheckExcess(usd(100), money.TotalOf(excess), time.Time{})
		f, _ := fault.As(err)
		if (err == nil) != ok || f != nil && (f.Code != fault.Conflict || f.Details["excess"] != money.TotalOf(excess).String() ||
			f.Details["requested"] != "100") {
			t.Errorf("excess of %d: %v", excess, err)
		}
	}
}

func TestCheckOverdraft(t *testing.T) {
	t.Parallel()
	// An asset does not go below zero, nor further below, unless that is allowed; a movement that raises it does not matter.
	account := ledger.Account{Path: "rails/RTP", Currency: "USD"}
	for name, c := range map[string]struct {
		before, after int64
		allowed, ok   bool
	}{
		"to zero": {100, 0, false, true}, "below": {100, -1, false, false}, "further below": {-5, -6, false, false},
		"allowed": {100, -1, true, true}, "less below": {-5, -4, false, true},
	} {
		if err := treasury.CheckOverdraft(account, c.before, c.after, c.allowed); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOverdraft_AnnouncedOncePerCrossingAndHour(t *testing.T) {
	t.Parallel()
	// However a balance moves, announcements of one account alternate, are an hour apart, and say what is true then.
	rapid.Check(t, func(t *rapid.T) {
		var o treasury.Overdraft
		now := noon
		for range rapid.IntRange(1, 100).Draw(t, "readings") {
			now = now.Add(time.Duration(rapid.IntRange(1, 40).Draw(t, "minutes")) * time.Minute)
			balance := money.TotalOf(rapid.Int64Range(-2, 2).Draw(t, "balance"))
			next, announce := o.Next(balance, now)
			if !announce {
				if next != o {
					t.Fatal("changed without an announcement")
				}
				if overdrawn := balance.Sign() < 0; overdrawn != o.Overdrawn && (o.NotifiedAt.IsZero() || now.Sub(o.NotifiedAt) >= time.Hour) {
					t.Fatalf("%s is not announced", balance)
				}
				continue
			}
			if next.Overdrawn == o.Overdrawn || next.Overdrawn != (balance.Sign() < 0) || !o.NotifiedAt.IsZero() &&
				now.Sub(o.NotifiedAt) < time.Hour {
				t.Fatalf("announced %t after %t, %s later", next.Overdrawn, o.Overdrawn, now.Sub(o.NotifiedAt))
			}
			o = next
		}
	})
}

func TestCheckConfirmed(t *testing.T) {
	t.Parallel()
	// What is confirmed of an excess can leave, and nothing if an account is not confirmed at all. The refusal names the accounts, or
	// how much is possible.
	held := func(path string, confirmed bool, added int64) safeguarding.Held {
		return safeguarding.Held{Path: path, Confirmed: confirmed, Added: money.TotalOf(added)}
	}
	for name, c := range map[string]struct {
		out      int64
		accounts []safeguarding.Held
		message  string // part of it; empty if it is not refused
	}{
		"all confirmed":          {100, []safeguarding.Held{held("rails/RTP", true, 0), held("rails/WIRE", true, 0)}, ""},
		"all that is confirmed":  {40, []safeguarding.Held{held("rails/RTP", true, 50), held("rails/WIRE", true, 10)}, ""},
		"more than is confirmed": {41, []safeguarding.Held{held("rails/RTP", true, 50), held("rails/WIRE", true, 10)}, "Move at most 0.40 USD"},
		"more was added than is": {1, []safeguarding.Held{held("rails/RTP", true, 101)}, "Move at most 0.00 USD"},
		"an account is missing": {1, []safeguarding.Held{held("rails/RTP", true, 0), held("rails/WIRE", false, 0)},
			"rails/WIRE holds what the ledger says in USD"},
		"several are missing": {1, []safeguarding.Held{held("rails/WIRE", false, 0), held("rails/RTP", false, 0)},
			"rails/RTP, rails/WIRE hold what"},
		"what was taken out only": {100, []safeguarding.Held{held("rails/RTP", true, -5)}, ""},
	} {
		err := treasury.CheckConfirmed(money.Amount{Minor: c.out, Currency: "USD"}, money.TotalOf(100), c.accounts, "2026-03-16")
		f, refused := fault.As(err)
		if refused != (c.message != "") || refused && (f.Code != fault.Conflict || !strings.Contains(f.Message, c.message)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
