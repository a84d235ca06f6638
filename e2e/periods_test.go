package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestAMonthIsClosed(t *testing.T) {
	t.Parallel()
	// Finance holds last month, adjusts it, and closes it; what is late then counts in this
	// month and says so; and the program tells the same on the command line.
	h := newHouse(t)
	now := time.Now().UTC()
	last := time.Date(now.Year(), now.Month()-1, 1, 0, 0, 0, 0, time.UTC)
	day := last.AddDate(0, 0, 4).Add(15 * time.Hour)
	path := "/ledger/periods/" + last.Format("2006-01")
	fee := func(at time.Time, amount int) object {
		return object{"note": "The bank charged the wire twice.", "effectiveAt": stamp(at),
			"entries": []object{{"debit": "expense/rails", "credit": "rails/WIRE", "currency": "USD", "amount": amount}}}
	}
	if got := h.get("/ledger/periods").want(200); len(got.list("data")) != 1 || got.str("data.0.state") != "OPEN" {
		t.Errorf("at first: %s", got.text)
	}

	h.post(path+"/close", object{}).refused(409, "CONFLICT")
	h.post("/ledger/periods/"+now.Format("2006-01")+"/hold", object{}).refused(409, "CONFLICT")
	h.post(path+"/hold", object{"note": "Closing time"}).want(200).each(map[string]any{"state": "HELD", "changes.0.note": "Closing time"})
	h.post("/ledger/adjustments", fee(day, 700)).want(201).each(map[string]any{"effectiveAt": stamp(day), "askedFor": ""})
	again := h.with("Idempotency-Key", "close")
	closed := again.post(path+"/close", object{}).want(200)
	closed.each(map[string]any{"state": "CLOSED", "closing.posting": 1})
	if replay := again.post(path+"/close", object{}).want(200); string(replay.text) != string(closed.text) || replay.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("closed again: %s", replay.text)
	}
	h.post(path+"/reopen", nil).refused(409, "CONFLICT")

	this := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	h.post("/ledger/adjustments", fee(day, 30)).want(201).each(map[string]any{
		"effectiveAt": stamp(this), "askedFor": stamp(day),
		"memo": "The bank charged the wire twice. (for " + day.Format(time.DateOnly) + ")"})
	h.get(path).want(200).each(map[string]any{
		"closing.trialBalance.totals.0.debits":  700,
		"closing.trialBalance.lines.0.account":  "expense/rails",
		"closing.trialBalance.lines.0.opening":  0,
		"closing.trialBalance.lines.0.closing":  700,
		"closing.trialBalance.lines.1.closing":  -700,
		"closing.trialBalance.lines.1.currency": "USD",
		"closing.trialBalance.hasMore":          false,
	})
	out := must(t, []string{"DATABASE_URL=" + h.database}, "ledger", "periods", "--platform", h.platform)
	if lines := strings.Split(out, "\n"); len(lines) != 4 || !strings.Contains(lines[2], last.Format("2006-01")+"  CLOSED") {
		t.Errorf("on the command line:\n%s", out)
	}
}

func TestPaymentsWhileAMonthIsHeld(t *testing.T) {
	t.Parallel()
	// A payment whose month takes no more is completed all the same: what it posts counts
	// from the first moment of the next, and names the day. (The present month cannot be
	// held; the database is told that it is, and then the truth, which the books' check finds
	// out.)
	h := newHouse(t)
	hooks := h.listen()
	now := time.Now().UTC()
	next := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	first := h.quote("")
	h.pay(first, 0).want(200)
	hooks.end(first.str("transactionId"), "COMPLETED")
	h.exec("UPDATE ledger_clock SET closed_before = $1, open_from = $2", next.AddDate(0, -1, 0), next)

	paid := h.quote("")
	h.pay(paid, 0).want(200)
	hooks.end(paid.str("transactionId"), "COMPLETED")

	const where = "FROM ledger_postings WHERE transaction_id = $1 AND effective_at = $2 AND memo LIKE $3"
	moved := fmt.Sprintf("%% (for %s-%%)", now.Format("2006-01"))
	if n := h.count("SELECT count(*) "+where, bare(paid.str("transactionId")), next, moved); n != 3 {
		t.Errorf("%d postings of the payment are moved, want 3", n)
	}
	if n := h.count("SELECT count(*) FROM ledger_postings WHERE transaction_id = $1 AND effective_at < now() AND memo NOT LIKE $2", bare(first.str("transactionId")), moved); n != 3 {
		t.Errorf("%d postings of the first payment are where they were, want 3", n)
	}
	h.exec("UPDATE ledger_clock SET closed_before = '-infinity', open_from = '-infinity'")
}
