package finance_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/app/finance"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// unmatched reads all of it, the oldest first, in pages of two.
func (h *house) unmatched(t *testing.T, assigned *bool) []transaction.Unmatched {
	t.Helper()
	var all []transaction.Unmatched
	f := ports.UnmatchedFilter{Assigned: assigned, Limit: 2, Ascending: true}
	for {
		page, err := h.Unmatched(t.Context(), h.who.Platform, f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Items...)
		if !page.More {
			return all
		}
		f.After = page.Items[len(page.Items)-1].Posting
	}
}

func (h *house) wantBalances(t *testing.T, want map[string]string) {
	t.Helper()
	got := h.balances(t)
	for key, w := range want {
		if got[key] != w {
			t.Errorf("%s: %q, want %s", key, got[key], w)
		}
		delete(got, key)
	}
	if len(got) > 0 {
		t.Errorf("and %v", got)
	}
}

func TestUnmatchedFundsAreListed(t *testing.T) {
	t.Parallel()
	// Every payment without an owner is listed, many of one millisecond too, with what
	// was decided about it; the payments that have owners are not.
	h := newHouse(t)
	var want []ident.Receipt
	for range 5 {
		want = append(want, h.paid(t, "nobody's", 100))
	}
	h.paid(t, h.quoted(t, "spark1good", 10050).Reference, 10050)
	account := h.opened(t, "USD")

	if _, err := h.AssignUnmatched(t.Context(), h.who, finance.Assign{Receipt: want[2], Account: account.ID, Note: "rent"}, nil); err != nil {
		t.Fatal(err)
	}

	yes, no := true, false
	for name, c := range map[string]struct {
		assigned *bool
		want     []ident.Receipt
	}{
		"all": {nil, want}, "assigned": {&yes, want[2:3]}, "not yet": {&no, []ident.Receipt{want[0], want[1], want[3], want[4]}},
	} {
		got := h.unmatched(t, c.assigned)
		if len(got) != len(c.want) {
			t.Fatalf("%s: %+v, want %v", name, got, c.want)
		}
		for i, u := range got {
			if u.Receipt.ID != c.want[i] || u.Receipt.Amount.Minor != 100 || u.Receipt.Reference != "nobody's" || u.Kind != ledger.KindUnmatchedReceived {
				t.Errorf("%s: at %d %+v, want %s", name, i, u, c.want[i])
			}
			if a := u.Assignment; (a != nil) != (u.Receipt.ID == want[2]) || a != nil && (a.Note != "rent" || a.By != h.who.Token || a.Account != account.ID) {
				t.Errorf("%s: at %d assigned %+v", name, i, a)
			}
		}
	}
	if others, err := h.Unmatched(t.Context(), otherPlatform(), ports.UnmatchedFilter{Limit: 5}); err != nil || len(others.Items) > 0 {
		t.Errorf("another platform sees %v, %v", others, err)
	}
}

func TestUnmatchedMoneyPaysAQuote(t *testing.T) {
	t.Parallel()
	// A quote that waits for exactly this money runs with it, and its story tells of it.
	h := newHouse(t)
	receipt, q := h.paid(t, "", 10050), h.quoted(t, "spark1good", 10050)
	h.clock.Advance(time.Second)

	if _, err := h.AssignUnmatched(t.Context(), h.who, finance.Assign{Receipt: receipt, Transaction: q.Transaction, Note: "the payer called"}, nil); err != nil {
		t.Fatal(err)
	}

	h.until(t, q.Transaction, "COMPLETED")
	got := h.balances(t)
	if got["rails/RTP USD"] != "10050" || got["funding/unmatched USD"] != "" || got["funding/jit USD"] != "" {
		t.Errorf("%v", got)
	}
	h.prove(t)
	// The clock stands still, so both events follow the last of what is of their moment.
	h.wantStory(t, q.Transaction, "REQUESTED QUOTED EVENT ASSIGNED POSTED POSTED RAIL_ANSWERED POSTED EVENT EVENT")
}

func TestUnmatchedMoneyForAnAccount(t *testing.T) {
	t.Parallel()
	// It is deposited, told of, and can be spent.
	h := newHouse(t)
	receipt, account := h.paid(t, "rent of March", 700), h.opened(t, "USD")

	done, err := h.AssignUnmatched(t.Context(), h.who, finance.Assign{Receipt: receipt, Account: account.ID, Note: "Ana's"}, nil)

	if err != nil || done.Assignment == nil || done.Assignment.Transaction.IsZero() {
		t.Fatalf("%+v, %v", done, err)
	}
	deposit := h.until(t, done.Assignment.Transaction, "COMPLETED")
	if deposit.Type != transaction.Incoming || deposit.Pricing.Received.Minor != 700 || deposit.Customer != h.customer.ID || deposit.PlatformCustomerID != "ana" {
		t.Errorf("%+v", deposit)
	}
	h.wantBalances(t, map[string]string{"rails/RTP USD": "700", quote.AccountPath(account) + " USD": "700"})
	h.prove(t)
}

func TestUnmatchedMoneyGoesBack(t *testing.T) {
	t.Parallel()
	// The rail sends it to its payer; where it will not, the money is unmatched once more
	// and only an account can have it.
	for name, refuses := range map[string]bool{"sent": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, func(outside ports.Rail) ports.Rails { return &rail{outside, refuses} })
			receipt := h.paid(t, "", 700)
			back := finance.Assign{Receipt: receipt, Note: "nobody knows them"}

			if _, err := h.AssignUnmatched(t.Context(), h.who, back, nil); err != nil {
				t.Fatal(err)
			}

			settled := map[string]string{}
			if refuses {
				settled["rails/RTP USD"], settled["funding/unmatched USD"] = "700", "700"
			}
			h.settles(t, settled)
			h.prove(t)
			if !refuses {
				return
			}
			if got := h.unmatched(t, nil); len(got) != 2 || got[0].Assignment == nil || got[1].Assignment != nil || !got[1].IsFailedRefund() {
				t.Fatalf("%+v", got)
			}
			if _, err := h.AssignUnmatched(t.Context(), h.who, back, nil); !fault.Is(err, fault.Conflict) {
				t.Errorf("sent back once more: %v", err)
			}
			account := h.opened(t, "USD")
			if _, err := h.AssignUnmatched(t.Context(), h.who, finance.Assign{Receipt: receipt, Account: account.ID, Note: "found"}, nil); err != nil {
				t.Fatal(err)
			}
			h.wantBalances(t, map[string]string{"rails/RTP USD": "700", quote.AccountPath(account) + " USD": "700"})
			h.prove(t)
			answers, err := h.store.RailReplies(t.Context(), h.who.Platform, receipt.UUID(), 10)
			if err != nil || len(answers) != 1 || answers[0].Verdict != ports.Refused || answers[0].Call != ports.CallSendBack {
				t.Errorf("%+v, %v", answers, err)
			}
		})
	}
}

func TestLostRefundsAreAssigned(t *testing.T) {
	t.Parallel()
	// Money that a transaction could not give back lies among the unmatched funds: a
	// deposit is made of it once, and nothing else.
	h := newHouse(t)
	account := h.opened(t, "USD")
	q := h.quoted(t, "spark1nobody007", 10050)
	h.paid(t, q.Reference, 10050)
	lost := h.until(t, q.Transaction, "FAILED (refund FAILED)")

	listed := h.unmatched(t, nil)
	if len(listed) != 1 {
		t.Fatalf("%+v", listed)
	}
	u := listed[0]
	if u.RefundOf != lost.ID || u.Receipt.Amount != lost.Pricing.Sent || u.Receipt.PartnerAccount != "rails/RTP" || u.Receipt.Reference != q.Reference || u.Receipt.At.IsZero() || !u.IsFailedRefund() {
		t.Errorf("%+v", u)
	}
	for name, to := range map[string]finance.Assign{"to its payer": {}, "to a quote": {Transaction: h.quoted(t, "spark1good", 10050).Transaction}} {
		to.Receipt, to.Note = u.Receipt.ID, "x"
		if _, err := h.AssignUnmatched(t.Context(), h.who, to, nil); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, again := range []bool{false, true} {
		_, err := h.AssignUnmatched(t.Context(), h.who, finance.Assign{Receipt: u.Receipt.ID, Account: account.ID, Note: "they have one here"}, nil)
		if again != fault.Is(err, fault.Conflict) || again != (err != nil) {
			t.Errorf("again %t: %v", again, err)
		}
	}

	listed = h.unmatched(t, nil)
	if len(listed) != 1 || listed[0].Assignment == nil || listed[0].Assignment.Account != account.ID {
		t.Fatalf("%+v", listed)
	}
	h.until(t, listed[0].Assignment.Transaction, "COMPLETED")
	h.wantStory(t, listed[0].Assignment.Transaction, "REQUESTED ASSIGNED POSTED EVENT")
	h.wantBalances(t, map[string]string{"rails/RTP USD": "10050", quote.AccountPath(account) + " USD": "10050"})
	h.prove(t)
}

// settles waits for the books to stand like this.
func (h *house) settles(t *testing.T, want map[string]string) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		got := h.balances(t)
		same := len(got) == len(want)
		for key, w := range want {
			same = same && got[key] == w
		}
		if same {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			t.Fatalf("the books stand at %v, want %v", got, want)
		}
	}
}

func TestAssignmentsThatCannotBe(t *testing.T) {
	t.Parallel()
	// What cannot be done is refused with its reason, and the money stays where it is.
	h := newHouse(t)
	receipt, euros := h.paid(t, "", 700), h.opened(t, "EUR")
	owned := h.paid(t, h.quoted(t, "spark1good", 10050).Reference, 10050)
	other := h.quoted(t, "spark1fine", 10050)
	stranger := h.who
	stranger.Platform = otherPlatform()
	for name, c := range map[string]struct {
		a    finance.Assign
		code fault.Code
	}{
		"no note":                      {finance.Assign{Receipt: receipt}, fault.InvalidInput},
		"a long note":                  {finance.Assign{Receipt: receipt, Note: strings.Repeat("é", 101)}, fault.InvalidInput},
		"a receipt that is not there":  {finance.Assign{Receipt: newReceiptID(), Note: "x"}, fault.NotFound},
		"a receipt that has its owner": {finance.Assign{Receipt: owned, Note: "x"}, fault.NotFound},
		"no such transaction":          {finance.Assign{Receipt: receipt, Transaction: ident.NewTransaction(h.ids.New, noon), Note: "x"}, fault.TransactionNotFound},
		"another amount":               {finance.Assign{Receipt: receipt, Transaction: other.Transaction, Note: "x"}, fault.Conflict},
		"no such account":              {finance.Assign{Receipt: receipt, Account: ident.NewInternalAccount(h.ids.New, noon), Note: "x"}, fault.InternalAccountNotFound},
		"an account in euros":          {finance.Assign{Receipt: receipt, Account: euros.ID, Note: "x"}, fault.InvalidCurrency},
	} {
		if _, err := h.AssignUnmatched(t.Context(), h.who, c.a, nil); !fault.Is(err, c.code) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if _, err := h.AssignUnmatched(t.Context(), stranger, finance.Assign{Receipt: receipt, Note: "x"}, nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("another platform: %v", err)
	}
	if got := h.balances(t)["funding/unmatched USD"]; got != "700" {
		t.Errorf("%s is unmatched, want 700", got)
	}
}

func TestFullAccountIsAssignedNothing(t *testing.T) {
	t.Parallel()
	// An account that is full takes no unmatched money, and the money stays where it is.
	h := newHouse(t)
	full := h.opened(t, "USD")
	for _, minor := range []int64{account.MaxBalance, 700} {
		_, err := h.AssignUnmatched(t.Context(), h.who, finance.Assign{Receipt: h.paid(t, "", minor), Account: full.ID, Note: "Ana's"}, nil)
		if refused := minor == 700; fault.Is(err, fault.AmountOutOfRange) != refused || err != nil != refused {
			t.Errorf("%d: %v", minor, err)
		}
	}
	if got := h.balances(t)["funding/unmatched USD"]; got != "700" {
		t.Errorf("%s is unmatched, want 700", got)
	}
	h.prove(t)
}

func TestManyAssignAtOnce(t *testing.T) {
	t.Parallel()
	// Of many who decide about the same money at the same moment one succeeds, and the
	// others are told so.
	h := newHouse(t)
	receipt, account := h.paid(t, "", 700), h.opened(t, "USD")
	refusals := make([]error, 8)
	var all sync.WaitGroup
	for i := range refusals {
		all.Go(func() {
			_, refusals[i] = h.AssignUnmatched(context.WithoutCancel(t.Context()), h.who, finance.Assign{Receipt: receipt, Account: account.ID, Note: "mine"}, nil)
		})
	}
	all.Wait()

	done := 0
	for _, err := range refusals {
		if err == nil {
			done++
		} else if !fault.Is(err, fault.Conflict) {
			t.Error(err)
		}
	}
	if done != 1 {
		t.Errorf("%d succeeded", done)
	}
	h.wantBalances(t, map[string]string{"rails/RTP USD": "700", quote.AccountPath(account) + " USD": "700"})
	h.prove(t)
}

func otherPlatform() (p ident.Platform) {
	ident.SetUUID(&p, newReceiptID().UUID())
	return p
}
