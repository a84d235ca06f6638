package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/e2e/kit"
)

// breakAccount makes a stored external account unreadable, so that jobs that need it fail, and returns
// what repairs it.
func (h *testEnv) breakAccount(id string) (repair func()) {
	h.t.Helper()
	var fields string
	if err := h.db.QueryRow("SELECT fields::text FROM external_accounts WHERE id = $1", uuidOf(id)).Scan(&fields); err != nil {
		h.t.Fatal(err)
	}
	set := func(value string) {
		h.exec("UPDATE external_accounts SET fields = $2::text::jsonb WHERE id = $1", uuidOf(id), value)
	}
	set(`"AgAA"`)
	return func() { set(fields) }
}

// awaitDeadJob returns the id of the dead job of a step.
func (h *testEnv) awaitDeadJob(step string) (id string) {
	h.t.Helper()
	eventually(h.t, "the job "+step+" is dead", func() bool {
		return h.queryInt("SELECT count(*) FROM jobs WHERE step = $1 AND due_at = 'infinity'", step) == 1
	})
	if err := h.db.QueryRow("SELECT id FROM jobs WHERE step = $1 AND due_at = 'infinity'", step).Scan(&id); err != nil {
		h.t.Fatal(err)
	}
	return id
}

// awaitMetrics waits until the metrics have some lines. The service counts jobs only now and then.
func (h *testEnv) awaitMetrics(lines ...string) {
	h.t.Helper()
	eventually(h.t, strings.Join(lines, ", "), func() bool {
		time.Sleep(200 * time.Millisecond) // the metrics are many
		_, metrics := getText(h.t, h.server.adminURL()+"/metrics")
		return !slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(metrics, "\n"+line+"\n") })
	})
}

func TestJobs_DeadJobIsRetriedOrDiscarded(t *testing.T) {
	t.Parallel()
	// A job that fails too often is dead: its payment stays as it is, and the metrics, the list and the
	// webhooks say so. A payout cannot be discarded; when its cause is repaired, it is retried and the
	// payment completes. A payment that could not be forwarded is discarded and stays on the balance.
	h := newTestEnv(t, "--job-attempts", "2")
	hooks := h.startReceiver()
	env := []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}
	customer := h.createCustomer()
	wallet := h.createWallet(customer, "")
	quote := h.post("/quotes", kit.RampQuoteBody(customer, wallet, "SENDING", 10050)).wantStatus(201)
	payment := quote.text("transactionId")
	repair := h.breakAccount(wallet)
	other := h.createPlatform("Other", "SANDBOX", "--regulated")
	otherHooks := other.startReceiver()
	receiver := other.createCustomer()
	body := usAccountBody(receiver)
	body["defaultUmaDepositAccount"] = true
	restore := h.breakAccount(other.post("/customers/external-accounts", body).wantStatus(201).text("id"))

	h.payQuote(quote, 0).wantStatus(200).wantValues(map[string]any{"status": "PROCESSING"})
	received := other.post("/sandbox/uma/receive", umaPaymentBody(receiver)).wantStatus(200).text("id")
	otherHooks.awaitIncomingEvent(received, "COMPLETED")
	payout, forward := h.awaitDeadJob("deliver"), h.awaitDeadJob("forward")

	h.awaitMetrics(`causeway_jobs_dead{step="deliver"} 1`, `causeway_jobs_dead{step="forward"} 1`,
		`causeway_transactions_stuck{state="PROCESSING"} 1`)
	h.get("/transactions/" + payment).wantStatus(200).wantValues(map[string]any{"status": "PROCESSING"})
	hooks.checkEvents(payment, "PENDING", "PROCESSING")
	listed := mustRunCommand(t, env, "jobs", "list", "--state", "dead")
	if !strings.Contains(listed, payout+"  deliver  dead ") || !strings.Contains(listed, payment) ||
		!strings.Contains(listed, "cannot decrypt") ||
		!strings.Contains(listed, forward+"  forward  dead ") || strings.Count(listed, "\n") != 3 {
		t.Errorf("listed:\n%s", listed)
	}
	if _, errOut, status := runCommand(t, env, "jobs", "discard", payout, "--actor", "ana", "--reason", "Not needed"); status != 1 ||
		!strings.Contains(errOut, "money that has not arrived") {
		t.Errorf("discard the payout: status %d, %s", status, errOut)
	}
	if out := mustRunCommand(t, env, "jobs", "discard", forward, "--actor", "ben", "--reason",
		"The account was closed"); out != "1 jobs are discarded.\n" {
		t.Errorf("discard printed %s", out)
	}
	repair()
	if out := mustRunCommand(t, env, "jobs", "retry", "--all", "--actor", "ana", "--reason",
		"The account is restored"); out != "1 jobs are due now.\n" {
		t.Errorf("retry printed %s", out)
	}
	hooks.checkEvents(payment, "PENDING", "PROCESSING", "COMPLETED")
	h.checkConversion(h.platformID, quote, "rails/RTP USD", "chains/LAYER2 BTC")
	if got := other.usdBalance(receiver); got != 12_50 {
		t.Errorf("the balance is %d, want what was received", got)
	}
	if out := mustRunCommand(t, env, "jobs", "list", "--state", "dead"); out != "There are no such jobs.\n" {
		t.Errorf("listed after all:\n%s", out)
	}
	h.awaitMetrics(`causeway_jobs_dead{step="deliver"} 0`, `causeway_jobs_dead{step="forward"} 0`)
	if n := h.queryInt(`SELECT count(*) FROM job_actions WHERE (action, actor, reason, job_id) IN
		(('RETRY', 'ana', 'The account is restored', $1::uuid), ('DISCARD', 'ben', 'The account was closed', $2::uuid))`,
		payout, forward); n != 2 {
		t.Errorf("%d actions are recorded, want 2", n)
	}
	restore() // or the check of the ledger at the end names it
}
