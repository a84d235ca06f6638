package e2e

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"
)

// onUs is an environment in which Ana pays Bo, a customer of the same platform.
type onUs struct {
	*testEnv
	hooks   *webhookReceiver
	ana, bo string
	account string // of Ana
}

func newOnUs(t *testing.T, options ...string) *onUs {
	t.Helper()
	o := &onUs{testEnv: newTestEnv(t, options...)}
	o.ana, o.bo = o.createCustomer(object{"umaAddress": "$ana@uma.sandbox.test"}),
		o.createCustomer(object{"umaAddress": "$bo@uma.sandbox.test"})
	o.hooks = o.startReceiver()
	o.account = o.get("/customers/internal-accounts?currency=USD&customerId=" + o.ana).text("data.0.id")
	o.post("/sandbox/internal-accounts/"+o.account+"/fund", object{"amount": 1000_00}).wantStatus(200)
	return o
}

// pay sends an amount of Ana's dollars to Bo, and returns the transaction.
func (o *onUs) pay(amount int64, currency string) string {
	o.t.Helper()
	lookup := o.get("/receiver/uma/%24bo@uma.sandbox.test?customerId=" + o.ana).wantStatus(200).text("lookupId")
	return o.post("/quotes", object{"source": object{"sourceType": "ACCOUNT", "accountId": o.account}, "lookupId": lookup,
		"destination":        object{"destinationType": "UMA_ADDRESS", "umaAddress": "$bo@uma.sandbox.test", "currency": currency},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": amount, "immediatelyExecute": true}).wantStatus(201).text("transactionId")
}

// checkSettled checks that no account at a partner has a part in payments between the two, that nothing is on its way,
// and that each payment that was received in a currency was sent.
func (o *onUs) checkSettled() {
	o.t.Helper()
	if n := o.queryInt("SELECT count(*) FROM ledger_accounts WHERE path = 'rails/UMA' OR path LIKE 'chains/%'"); n != 0 {
		o.t.Errorf("%d accounts at partners have entries", n)
	}
	for account, balance := range o.ledgerBalances(o.platformID) {
		if strings.HasPrefix(account, "transit/") {
			o.t.Errorf("%s has %d", account, balance)
		}
	}
	if n := o.queryInt(`SELECT count(*) FROM (SELECT p.xmin::text FROM ledger_postings p JOIN ledger_entries e USING (platform_id, seq)
			JOIN ledger_accounts a ON a.platform_id = p.platform_id AND a.id IN (e.debit_account_id, e.credit_account_id)
		WHERE a.path = 'transit/internal' GROUP BY p.xmin::text HAVING sum(CASE WHEN a.id = e.credit_account_id THEN amount ELSE -amount END) <> 0) AS halves`); n != 0 {
		o.t.Errorf("%d commits have settled one side", n)
	}
}

func TestInternalPayment_BothSidesAtOnce(t *testing.T) {
	t.Parallel()
	// A payment between two customers is settled on both sides by the decision of the platform, whether its endpoint
	// decides at once, it approves or rejects later at any server, or is silent. No account at a partner has an entry.
	o := newOnUs(t)
	second := startServer(t, o.databaseURL)
	var received int64
	seen := map[string]bool{}
	for _, test := range []struct {
		what   string
		status int
		decide func(id string)
		event  string
	}{
		{"approved at once", 200, nil, "COMPLETED"},
		{"rejected at once", 403, nil, "FAILED"},
		{"approved at another server", 202, func(id string) {
			o.withServer(second).post("/transactions/"+id+"/approve", nil).wantStatus(200).wantValues(map[string]any{"status": "COMPLETED"})
		}, "COMPLETED"},
		{"rejected later", 202, func(id string) {
			o.post("/transactions/"+id+"/reject", object{"reason": "not today"}).wantStatus(200).wantValues(map[string]any{"status": "FAILED"})
		}, "FAILED"},
		{"silent", 202, nil, "FAILED"},
	} {
		o.hooks.setApprovalResponse(test.status, "")
		sent := o.pay(20_00, "USD")
		id := o.hooks.awaitDelivery("the request for approval", func(d delivery) bool {
			return d.event == "INCOMING_PAYMENT.PENDING" &&
				!seen[d.transactionID]
		}).transactionID
		seen[id] = true
		if test.decide != nil {
			test.decide(id)
			status := o.get("/transactions/" + sent).wantStatus(200).text("status")
			if status != test.event {
				t.Errorf("%s: the sender's payment is %s after the decision", test.what, status)
			}
		}
		o.hooks.awaitIncomingEvent(id, test.event)
		if test.event == "COMPLETED" {
			received += 20_00
			o.hooks.checkEvents(sent, "PENDING", "PROCESSING", "COMPLETED")
			if timeline := o.get("/transactions/" + sent + "/timeline").wantStatus(200); strings.Contains(string(timeline.body),
				`"verdict":"DONE"`) {
				t.Errorf("%s: a rail has delivered it: %s", test.what, timeline.body)
			}
		} else {
			o.hooks.checkEvents(sent, "PENDING", "PROCESSING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED")
		}
		if a, b := o.usdBalance(o.ana), o.usdBalance(o.bo); a != 1000_00-received || b != received {
			t.Errorf("%s: Ana has %d and Bo %d", test.what, a, b)
		}
		o.checkSettled()
	}
}

func TestInternalPayment_KilledServer(t *testing.T) {
	t.Parallel()
	// However often the server is killed during payments between two customers, each is settled on both sides or on
	// neither, and ends.
	o := newOnUs(t)
	o.hooks.respondWith(func(d delivery) int {
		if d.event == "INCOMING_PAYMENT.PENDING" && d.int("transaction.receivedAmount.amount")%2 == 1 {
			return http.StatusForbidden
		}
		return http.StatusOK
	})
	sum := int64(0)
	want := map[string]string{}
	for range intFromEnv(t, killsEnv, 8) {
		for range 3 {
			amount := 1_00 + rand.Int64N(500)
			status := "FAILED"
			if amount%2 == 0 {
				status, sum = "COMPLETED", sum+amount
			}
			want[o.pay(amount, "USD")] = status
		}
		time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
		o.server.kill()
		o.server = startServer(t, o.databaseURL)
		o.BaseURL = o.server.baseURL
	}

	for id, status := range want {
		eventually(t, "the end of "+id, func() bool {
			got := o.get("/transactions/" + id).wantStatus(200)
			return got.text("status") == "COMPLETED" || got.text("refund.status") == "COMPLETED"
		})
		o.get("/transactions/" + id).wantStatus(200).wantValues(map[string]any{"status": status})
	}
	if a, b := o.usdBalance(o.ana), o.usdBalance(o.bo); a != 1000_00-sum || b != sum {
		t.Errorf("Ana has %d and Bo %d, who was paid %d", a, b, sum)
	}
	o.checkSettled()
}
