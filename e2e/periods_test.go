package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestPeriod_SoftCloseAdjustAndClose(t *testing.T) {
	t.Parallel()
	// Last month is soft-closed, adjusted and closed; what is late is then posted to this
	// month, with its date; and the command prints the same.
	h := newTestEnv(t)
	now := time.Now().UTC()
	last := time.Date(now.Year(), now.Month()-1, 1, 0, 0, 0, 0, time.UTC)
	day := last.AddDate(0, 0, 4).Add(15 * time.Hour)
	path := "/ledger/periods/" + last.Format("2006-01")
	fee := func(at time.Time, amount int) object {
		return object{"note": "The bank charged the wire twice.", "effectiveAt": formatTimestamp(at),
			"entries": []object{{"debit": "expense/rails", "credit": "rails/WIRE", "currency": "USD", "amount": amount}}}
	}
	if got := h.get("/ledger/periods").wantStatus(200); len(got.list("data")) != 1 || got.text("data.0.state") != "OPEN" {
		t.Errorf("at first: %s", got.body)
	}

	h.post(path+"/close", object{}).wantError(409, "CONFLICT")
	h.post("/ledger/periods/"+now.Format("2006-01")+"/soft-close", object{}).wantError(409, "CONFLICT")
	h.post(path+"/soft-close", nil).wantError(409, "CONFLICT").wantValues(map[string]any{"reason": "Confirmation required",
		"details.firstPeriod": last.Format("2006-01")})
	env := []string{"DATABASE_URL=" + h.databaseURL}
	if _, errOut, status := runCommand(t, env, "ledger", "soft-close", last.Format("2006-01"), "--platform", h.platformID); status != 1 ||
		!strings.Contains(errOut, "repeat with --confirm-opening-balances") {
		t.Errorf("the command ends with status %d, %s", status, errOut)
	}
	h.post(path+"/soft-close", object{"note": "Closing time", "confirmOpeningBalances": true}).wantStatus(200).wantValues(
		map[string]any{"state": "SOFT_CLOSED", "changes.0.note": "Closing time"})
	zoe := h.withHeader("Causeway-Actor", "Zo%C3%AB M.")
	adjusted := zoe.post("/ledger/adjustments", fee(day, 700)).wantStatus(201).wantValues(map[string]any{"effectiveAt": formatTimestamp(day),
		"requestedEffectiveAt": "", "actor": "Zoë M."})
	h.get("/ledger/postings/" + adjusted.text("postingId")).wantStatus(200).wantValues(map[string]any{"authorisation.actor": "Zoë M."})
	h.withHeader("Causeway-Actor", " ").post("/ledger/adjustments", fee(day, 700)).wantError(400,
		"INVALID_INPUT").wantValues(map[string]any{"details.errors.0.field": "Causeway-Actor"})
	again := zoe.withHeader("Idempotency-Key", "close")
	closed := again.post(path+"/close", object{}).wantStatus(200)
	closed.wantValues(map[string]any{"state": "CLOSED", "closing.posting": 1, "closing.actor": "Zoë M.", "changes.0.actor": "Zoë M."})
	h.withHeader("Idempotency-Key", "close").post(path+"/close", object{}).wantStatus(422).wantError(422, "IDEMPOTENCY_KEY_REUSED")
	if replay := again.post(path+"/close", object{}).wantStatus(200); string(replay.body) != string(closed.body) ||
		replay.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("closed again: %s", replay.body)
	}
	h.post(path+"/reopen", nil).wantError(409, "CONFLICT")

	this := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	h.post("/ledger/adjustments", fee(day, 30)).wantStatus(201).wantValues(map[string]any{
		"effectiveAt": formatTimestamp(this), "requestedEffectiveAt": formatTimestamp(day),
		"memo": "The bank charged the wire twice. (for " + day.Format(time.DateOnly) + ")"})
	h.get(path).wantStatus(200).wantValues(map[string]any{
		"closing.trialBalance.totals.0.debits":  700,
		"closing.trialBalance.lines.0.account":  "expense/rails",
		"closing.trialBalance.lines.0.opening":  0,
		"closing.trialBalance.lines.0.closing":  700,
		"closing.trialBalance.lines.1.closing":  -700,
		"closing.trialBalance.lines.1.currency": "USD",
		"closing.trialBalance.hasMore":          false,
	})
	out := mustRunCommand(t, env, "ledger", "periods", "--platform", h.platformID)
	if lines := strings.Split(out, "\n"); len(lines) != 4 || !strings.Contains(lines[2], last.Format("2006-01")+"  CLOSED") ||
		!strings.Contains(lines[2], "Zoë M. (service First token, Token:") {
		t.Errorf("on the command line:\n%s", out)
	}
}

func TestPeriod_PaymentDuringSoftClosePostsToNextMonth(t *testing.T) {
	t.Parallel()
	// A payment whose month is closed completes: its postings are effective at the start of
	// the next month, with the original date. (The current month cannot be soft-closed; the
	// test changes the row and restores it, which the ledger check finds.)
	h := newTestEnv(t)
	hooks := h.startReceiver()
	now := time.Now().UTC()
	next := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	first := h.createQuote("")
	h.payQuote(first, 0).wantStatus(200)
	hooks.awaitOutgoingEvent(first.text("transactionId"), "COMPLETED")
	h.exec("UPDATE ledger_clocks SET closed_before = $1, soft_closed_before = $2", next.AddDate(0, -1, 0), next)

	paid := h.createQuote("")
	h.payQuote(paid, 0).wantStatus(200)
	hooks.awaitOutgoingEvent(paid.text("transactionId"), "COMPLETED")

	const where = "FROM ledger_postings WHERE transaction_id = $1 AND effective_at = $2 AND memo LIKE $3"
	redatedMemo := fmt.Sprintf("%% (for %s-%%)", now.Format("2006-01"))
	if n := h.queryInt("SELECT count(*) "+where, uuidOf(paid.text("transactionId")), next, redatedMemo); n != 3 {
		t.Errorf("%d postings of the payment were posted to the next month, want 3", n)
	}
	if n := h.queryInt("SELECT count(*) FROM ledger_postings WHERE transaction_id = $1 AND effective_at < now() AND memo NOT LIKE $2",
		uuidOf(first.text("transactionId")), redatedMemo); n != 3 {
		t.Errorf("%d postings of the first payment are where they were, want 3", n)
	}
	h.exec("UPDATE ledger_clocks SET closed_before = '-infinity', soft_closed_before = '-infinity'")
}
