package receivable_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/receivable"
	"causeway/core/transaction"
	"causeway/ledger"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func id(n byte) uuid.UUID {
	return uuid.UUID{0x01, 0x99, 0xf0, 0xa2, 0x7b, 0x1c, 0x7e, 0x55, 0x9d, 0x6b, 0x2f, 0x1f, 0x6a, 0x0c, 0x4e, n}
}

// collection returns a completed transfer in of some cents.
func collection(n byte, minor int64) transaction.Transaction {
	t := transaction.Transaction{Type: transaction.Incoming, SourceAccount: "rails/ACH", Reference: "REF", CreatedAt: noon.Add(-time.Hour),
		State:   transaction.State{Status: transaction.Completed, Stage: transaction.Delivered},
		Pricing: transaction.Pricing{Sent: usd(minor), Received: usd(minor)}}
	t.ID.SetUUID(id(n))
	t.Platform.SetUUID(id(255))
	t.Source.ExternalAccount.SetUUID(id(254))
	t.Destination.InternalAccount.SetUUID(id(253))
	return t
}

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }

func owner() account.Internal {
	a := account.Internal{Currency: "USD", Type: account.InternalFiat}
	a.Platform.SetUUID(id(255))
	a.ID.SetUUID(id(253))
	a.Customer.SetUUID(id(252))
	return a
}

func open(n byte, minor int64) (receivable.Receivable, receivable.Change) {
	var key ident.Receivable
	key.SetUUID(id(n + 100))
	return receivable.New(key, collection(n, minor), owner(), receivable.Return{ReasonCode: "R01", ReturnedAt: noon,
		Note: "Unpaid"}).Open(noon)
}

func TestReceivable_EveryChangeInEveryState(t *testing.T) {
	t.Parallel()
	// Only an open receivable is collected or written off; it is settled by the last cent, and never takes more.
	settle := func(r receivable.Receivable) receivable.Receivable { r, _, _ = r.Collect(100, 1, noon); return r }
	writeOff := func(r receivable.Receivable) receivable.Receivable {
		r, _, _ = r.WriteOff(platform.Author{}, "Gone", 1, noon)
		return r
	}
	for name, c := range map[string]struct {
		before           func(receivable.Receivable) receivable.Receivable
		balance          int64
		collected        int64
		afterCollect     receivable.State
		canBeWrittenOff  bool
		writtenOffAmount int64
	}{
		"open, no money":     {func(r receivable.Receivable) receivable.Receivable { return r }, 0, 0, receivable.Open, true, 100},
		"open, some money":   {func(r receivable.Receivable) receivable.Receivable { return r }, 30, 30, receivable.Open, true, 100},
		"open, enough money": {func(r receivable.Receivable) receivable.Receivable { return r }, 500, 100, receivable.Settled, true, 100},
		"settled":            {settle, 500, 0, receivable.Settled, false, 0},
		"written off":        {writeOff, 500, 0, receivable.WrittenOff, false, 0},
	} {
		r, _ := open(1, 100)
		r = c.before(r)
		after, change, ok := r.Collect(c.balance, 1, noon)
		if ok != (c.collected > 0) || change.Amount != c.collected || after.State != c.afterCollect {
			t.Errorf("%s: collected %+v, %t, %s", name, change, ok, after.State)
		}
		if _, change, ok := r.WriteOff(platform.Author{Actor: "Ana"}, "Gone", 1, noon); ok != c.canBeWrittenOff ||
			change.Amount != c.writtenOffAmount {
			t.Errorf("%s: written off %+v, %t", name, change, ok)
		}
	}
}

func TestReceivable_MoneyIsConserved(t *testing.T) {
	t.Parallel()
	// Whatever the order of deposits, returns, payments, collections and write-offs: what is at the partner plus what is
	// owed plus what was written off plus what was spent equals what was deposited; no balance is ever negative,
	// and nothing is collected twice.
	rapid.Check(t, func(t *rapid.T) {
		path := ledger.CustomerAccount(owner().ID)
		owed := ledger.CustomerReceivable(owner().ID)
		balances := map[string]int64{}
		posted := map[uuid.UUID]bool{}
		post := func(p ledger.Posting) {
			if posted[p.ID] {
				t.Fatalf("%s was posted twice", p.Kind)
			}
			posted[p.ID] = true
			for _, e := range p.Entries {
				balances[e.Debit] += e.Amount
				balances[e.Credit] -= e.Amount
			}
			if -balances[path] < 0 || balances[owed] < 0 {
				t.Fatalf("after %s the customer has %d and owes %d", p.Kind, -balances[path], balances[owed])
			}
		}
		header := func() ledger.Header {
			return ledger.Header{ID: uuid.New(), Platform: owner().Platform, Effective: noon}
		}
		var receivables []receivable.Receivable
		changes := map[ident.Receivable][]receivable.Change{}
		apply := func(i int, r receivable.Receivable, c receivable.Change) {
			receivables[i] = r
			changes[r.ID] = append(changes[r.ID], c)
			post(r.PostingFor(c))
		}
		for n := range rapid.IntRange(1, 40).Draw(t, "steps") {
			minor := rapid.Int64Range(1, 200).Draw(t, "amount")
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				post(ledger.Deposit(header(), ledger.IncomingFunds{Partner: "rails/ACH", To: path, Amount: usd(minor)}))
			case 1: // spend
				if spent := min(minor, -balances[path]); spent > 0 {
					post(ledger.FeeCharged(header(), path, usd(spent)))
				}
			case 2:
				post(ledger.TransferIn(header(), ledger.IncomingFunds{Partner: "rails/ACH", To: path, Amount: usd(minor)}))
				r, c := open(byte(n), minor)
				receivables = append(receivables, r)
				apply(len(receivables)-1, r, c)
			case 3:
				for i, r := range receivables {
					if r, c, ok := r.Collect(-balances[path], len(changes[r.ID]), noon); ok {
						apply(i, r, c)
					}
				}
			case 4:
				for i, r := range receivables {
					if r, c, ok := r.WriteOff(platform.Author{}, "Gone", len(changes[r.ID]), noon); ok && minor%2 == 0 {
						apply(i, r, c)
					}
				}
			}
			var sum int64
			for _, r := range receivables {
				sum += r.Owed()
				if err := r.CheckChanges(changes[r.ID]); err != nil {
					t.Fatal(err)
				}
			}
			if sum != balances[owed] {
				t.Fatalf("receivables owe %d and their account has %d", sum, balances[owed])
			}
			if total := balances["rails/ACH"] + balances[owed] +
				balances[ledger.ExpenseWriteOffs]; total != -balances[path]-balances[ledger.IncomeFees] {
				t.Fatalf("assets and expenses are %d, the customer and income have %d", total, -balances[path]-balances[ledger.IncomeFees])
			}
		}
	})
}

func TestReceivable_CheckChanges(t *testing.T) {
	t.Parallel()
	// Changes that are missing, added or do not come to the amounts of the receivable are found.
	r, first := open(1, 100)
	r, second, _ := r.Collect(20, 1, noon)
	r, third, _ := r.WriteOff(platform.Author{}, "Gone", 2, noon)
	for name, c := range map[string]struct {
		edit func(*receivable.Receivable, []receivable.Change) []receivable.Change
		want string
	}{
		"whole":      {func(_ *receivable.Receivable, c []receivable.Change) []receivable.Change { return c }, ""},
		"no changes": {func(*receivable.Receivable, []receivable.Change) []receivable.Change { return nil }, "come to"},
		"one removed": {func(_ *receivable.Receivable, c []receivable.Change) []receivable.Change {
			return append(c[:1:1], c[2])
		}, "number 2 is missing"},
		"last removed": {func(_ *receivable.Receivable, c []receivable.Change) []receivable.Change { return c[:2] }, "come to"},
		"other amount": {func(_ *receivable.Receivable, c []receivable.Change) []receivable.Change { c[1].Amount++; return c }, "come to"},
		"other return": {func(_ *receivable.Receivable, c []receivable.Change) []receivable.Change { c[0].Amount++; return c },
			"cannot follow"},
		"collected of row": {func(r *receivable.Receivable, c []receivable.Change) []receivable.Change { r.Collected = 30; return c }, "come to"},
		"state of row": {func(r *receivable.Receivable, c []receivable.Change) []receivable.Change {
			r.State = receivable.Open
			return c
		}, "come to"},
	} {
		damaged := r
		changes := c.edit(&damaged, []receivable.Change{first, second, third})
		err := damaged.CheckChanges(changes)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestCheckReturnable(t *testing.T) {
	t.Parallel()
	// Only money that was collected makes a receivable, and only when the transaction has ended.
	for name, c := range map[string]struct {
		edit func(*transaction.Transaction)
		at   time.Time
		want fault.Code
	}{
		"a transfer in": {func(*transaction.Transaction) {}, noon, ""},
		"a quote": {func(t *transaction.Transaction) {
			t.Type, t.Destination.InternalAccount = transaction.Outgoing, ident.InternalAccount{}
		}, noon, ""},
		"a deposit": {func(t *transaction.Transaction) { t.Source.ExternalAccount = ident.ExternalAccount{} }, noon, fault.Conflict},
		"pending":   {func(t *transaction.Transaction) { t.State = transaction.State{Status: transaction.Pending} }, noon, fault.Conflict},
		"failed": {func(t *transaction.Transaction) { t.State = transaction.State{Status: transaction.Failed, Reason: "X"} },
			noon, fault.Conflict},
		"refunded": {func(t *transaction.Transaction) {
			t.Type, t.State = transaction.Outgoing, transaction.State{Status: transaction.Failed, Stage: transaction.Converted,
				Refund: transaction.RefundCompleted}
		}, noon, ""},
		"to be refunded": {func(t *transaction.Transaction) {
			t.Type, t.State = transaction.Outgoing, transaction.State{Status: transaction.Failed, Stage: transaction.Converted,
				Refund: transaction.RefundPending}
		}, noon, ""},
		"returned before that": {func(*transaction.Transaction) {}, noon.AddDate(0, 0, -1), fault.InvalidInput},
	} {
		edited := collection(1, 100)
		c.edit(&edited)
		err := receivable.CheckReturnable(edited, c.at)
		if f, ok := fault.As(err); ok != (c.want != "") || ok && f.Code != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestCheckEnded(t *testing.T) {
	t.Parallel()
	// A person records a return when the transaction has ended, also with a refund, and not before.
	ended := collection(1, 100)
	if err := receivable.CheckEnded(ended); err != nil {
		t.Error(err)
	}
	for _, state := range []transaction.State{{Status: transaction.Processing, Stage: transaction.Converted},
		{Status: transaction.Failed, Stage: transaction.Converted, Refund: transaction.RefundPending}} {
		open := ended
		open.Type, open.State = transaction.Outgoing, state
		if err := receivable.CheckEnded(open); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", state, err)
		}
	}
}

func TestNew_AmountIsWhatWasCollected(t *testing.T) {
	t.Parallel()
	// Of a transfer in that is what was credited, and of a quote what was sent, in the currency of the collection.
	quoted := collection(1, 100)
	quoted.Type, quoted.Pricing.Received = transaction.Outgoing, money.Amount{Minor: 7, Currency: "BTC"}
	for _, c := range []struct {
		t    transaction.Transaction
		want money.Amount
	}{{collection(1, 90), usd(90)}, {quoted, usd(100)}} {
		if r := receivable.New(ident.Receivable{}, c.t, owner(), receivable.Return{}); r.Amount != c.want || r.Partner != "rails/ACH" ||
			r.Customer != owner().Customer {
			t.Errorf("%+v, want %s", r, c.want)
		}
	}
}

func TestReturn_Check(t *testing.T) {
	t.Parallel()
	// Everything that is wrong is named by its field.
	whole := receivable.Return{ReasonCode: "R01", ReturnedAt: noon}
	for field, edit := range map[string]func(*receivable.Return){
		"":           func(*receivable.Return) {},
		"reasonCode": func(r *receivable.Return) { r.ReasonCode = "" },
		"partnerId":  func(r *receivable.Return) { r.PartnerID = "a\nb" },
		"returnedAt": func(r *receivable.Return) { r.ReturnedAt = noon.Add(time.Second) },
		"note":       func(r *receivable.Return) { r.Note = strings.Repeat("x", 501) },
	} {
		edited := whole
		edit(&edited)
		bad := edited.Check(noon)
		if field == "" && len(bad) > 0 || field != "" && (len(bad) != 1 || bad[0].Field != field) {
			t.Errorf("%q: %+v", field, bad)
		}
	}
}

func TestReceivable_CheckRepeated(t *testing.T) {
	t.Parallel()
	// A repeat has the same code, id and time; another author or note is no other return.
	r, _ := open(1, 100)
	again := r.Return
	again.Note, again.By.Actor = "Again", "Bob"
	if err := r.CheckRepeated(again); err != nil {
		t.Error(err)
	}
	again.PartnerID, again.ReasonCode = "RET1", "R02"
	if err := r.CheckRepeated(again); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "reasonCode and partnerId") {
		t.Errorf("another return: %v", err)
	}
}

func TestBandOf(t *testing.T) {
	t.Parallel()
	// Ages are whole days since the return.
	for days, want := range map[int]receivable.Band{0: receivable.UpTo30, 30: receivable.UpTo30, 31: receivable.UpTo60, 60: receivable.UpTo60,
		61: receivable.UpTo90, 90: receivable.UpTo90, 91: receivable.Over90, 4000: receivable.Over90} {
		if got := receivable.BandOf(noon.AddDate(0, 0, -days), noon.Add(time.Hour)); got != want {
			t.Errorf("%d days: %s, want %s", days, got, want)
		}
	}
}

func TestReported_IsAlwaysAccepted(t *testing.T) {
	t.Parallel()
	// Whatever a partner reports, the return can be recorded, with as much of it as there is.
	collected := collection(1, 100)
	collected.CreatedAt = noon
	for name, c := range map[string]struct {
		code, id, text string
		at             time.Time
		want           receivable.Return
	}{
		"as it should be": {"R01", "RET1", "Insufficient Funds", noon.Add(time.Hour), receivable.Return{ReasonCode: "R01", PartnerID: "RET1",
			Note: "Insufficient Funds", ReturnedAt: noon.Add(time.Hour)}},
		"nothing":       {"", "", "", time.Time{}, receivable.Return{ReasonCode: "NONE", ReturnedAt: noon.Add(2 * time.Hour)}},
		"in the future": {"R01", "", "", noon.Add(3 * time.Hour), receivable.Return{ReasonCode: "R01", ReturnedAt: noon.Add(2 * time.Hour)}},
		"too early":     {"R01", "", "", noon.AddDate(0, 0, -1), receivable.Return{ReasonCode: "R01", ReturnedAt: noon.Add(2 * time.Hour)}},
		"not plain": {" R01\n", "a\x00b\xff", strings.Repeat("ä", 300), noon, receivable.Return{ReasonCode: "R01", PartnerID: "a b\uFFFD",
			Note: strings.Repeat("ä", 250), ReturnedAt: noon}},
		"too long": {strings.Repeat("R", 50), strings.Repeat("x", 200), "", noon, receivable.Return{ReasonCode: strings.Repeat("R", 40),
			PartnerID: strings.Repeat("x", 140), ReturnedAt: noon}},
	} {
		c.want.By = platform.Service
		got := receivable.Reported(c.code, c.id, c.text, c.at, collected, noon.Add(2*time.Hour))
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if bad := got.Check(noon.Add(2 * time.Hour)); len(bad) > 0 {
			t.Errorf("%s: %v", name, bad)
		}
		if err := receivable.CheckReturnable(collected, got.ReturnedAt); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
