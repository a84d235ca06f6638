package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"causeway/e2e/kit"
)

// setLimit sets the connection with a limit for each payout in cents.
func (e *partnerEnv) setLimit(perPayout string) {
	e.t.Helper()
	path := filepath.Join(e.folder, "connection.json")
	file, err := os.ReadFile(path)
	if err != nil {
		e.t.Fatal(err)
	}
	limited := strings.Replace(string(file), `"settings"`, `"limits": [{"currency": "USD", "perPayout": `+perPayout+`}], "settings"`, 1)
	if err := os.WriteFile(path, []byte(limited), 0o600); err != nil {
		e.t.Fatal(err)
	}
	e.operator("rails", "set", "partner-usd", path, "--note", "Limits", "--actor", "ana")
}

// restart kills the service and starts it again.
func (e *partnerEnv) restart() {
	e.t.Helper()
	e.server.kill()
	e.server = startServerAs(e.t, e.login, e.flags...)
}

// awaitWaiting pays a quote, and waits until its payout is listed by a command.
func (e *partnerEnv) awaitWaiting(received int64, command string) (transaction string) {
	e.t.Helper()
	quote := e.quoteDollars(received)
	e.pay(quote)
	eventually(e.t, "the payout is listed by payouts "+command, func() bool {
		return strings.Contains(e.operator("payouts", command), quote.text("transactionId"))
	})
	return quote.text("transactionId")
}

func (e *partnerEnv) wantPayouts(want int) {
	e.t.Helper()
	if n := e.bankPayouts(); n != want {
		e.t.Errorf("the bank has %d payouts, want %d", n, want)
	}
}

func TestPartner_OperatorsReviewAndPause(t *testing.T) {
	t.Parallel()
	// A payout above a limit waits for a review, and one while the connection is paused for the resumption, also after the service
	// was killed. Released and resumed while it is down or running, each is sent once.
	e := newPartnerEnv(t)
	e.setLimit("6000")
	e.restart()

	reviewed := e.awaitWaiting(70_00, "review")
	e.server.kill()
	e.wantPayouts(0)
	e.operator("payouts", "release", reviewed, "--note", "Confirmed by phone", "--actor", "ana")
	e.server = startServerAs(t, e.login, e.flags...)
	e.awaitTransaction(reviewed, "status", "COMPLETED")
	if shown := e.operator("payouts", "show", reviewed); !strings.Contains(shown, "by ana: Confirmed by phone") ||
		!strings.Contains(shown, "DONE") {
		t.Errorf("the payout is shown as\n%s", shown)
	}

	e.operator("rails", "pause", "partner-usd", "--note", "Incident 12", "--actor", "ana")
	paused := e.awaitWaiting(50_00, "queue")
	e.restart()
	if queue := e.operator("payouts", "queue"); !strings.Contains(queue, paused) || !strings.Contains(queue, "partner-usd is paused") {
		t.Errorf("after the restart the queue is\n%s", queue)
	}
	e.wantPayouts(1)
	e.operator("rails", "resume", "partner-usd", "--note", "Incident 12 is over", "--actor", "ben")
	e.awaitTransaction(paused, "status", "COMPLETED")

	e.wantPayouts(2)
	if left := e.operator("payouts", "list") + e.operator("payouts", "unsettled") + e.operator("rails", "inbox", "list"); left !=
		"No payment waits.\nEvery payment that was handed over is settled.\nEverything that partners reported was taken.\n" {
		t.Errorf("what is left:\n%s", left)
	}
	history := e.operator("rails", "history", "partner-usd")
	for _, want := range []string{"limits", "Incident 12", "Incident 12 is over", "ben"} {
		if !strings.Contains(history, want) {
			t.Errorf("the history lacks %q:\n%s", want, history)
		}
	}
	e.awaitProof()
}

func TestPartner_ProofFindsADifference(t *testing.T) {
	t.Parallel()
	// The bank holds 7.00 more than the ledger. The proof finds it and exits 1, the metric of the alert shows it, and it ends when
	// the bank has corrected it.
	e := newPartnerEnv(t)
	quote := e.quoteDollars(50_00)
	e.pay(quote)
	e.awaitTransaction(quote.text("transactionId"), "status", "COMPLETED")
	e.awaitProof()
	metric := func(value string) func() bool {
		return func() bool {
			_, metrics := getText(t, e.server.adminURL()+"/metrics")
			return strings.Contains(metrics, `causeway_rail_proof_difference{connections="partner-usd",currency="USD"} `+value+"\n")
		}
	}
	eventually(t, "the metric shows no difference", metric("0"))

	e.changeBankBalance("+ 700")
	eventually(t, "the proof finds the difference", func() bool {
		out, _, status := runCommand(t, e.operatorEnv(), "rails", "prove")
		return status == 1 && strings.Contains(out, " 7.00 ")
	})
	eventually(t, "the metric shows the difference", metric("700"))

	e.changeBankBalance("- 700")
	e.awaitProof()
	eventually(t, "the metric shows no difference again", metric("0"))
}

// changeBankBalance changes what the bank holds, in cents, and has it reported.
func (e *partnerEnv) changeBankBalance(change string) {
	e.t.Helper()
	result, err := kit.Run(waitContext(e.t), kit.Command{Program: "python3", Dir: e.folder, Args: []string{"-c", `import sqlite3
db = sqlite3.connect("sidecar.db", timeout=30)
db.execute("UPDATE balances SET minor = CAST(CAST(minor AS INTEGER) ` + change + ` AS TEXT) WHERE currency = 'USD'")
db.commit()`}})
	if err != nil || result.ExitCode != 0 {
		e.t.Fatalf("%v: %s", err, result.ErrorOutput)
	}
	e.simulate(object{"reportsBalances": true})
}
