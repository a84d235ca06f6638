package e2e

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/google/uuid"

	"causeway/e2e/kit"
)

func TestCommit_LostConnectionDoesNotDuplicatePayment(t *testing.T) {
	t.Parallel()
	// The database commits a payment and the connection ends before the result is sent: the
	// response is not final, the same request with the same key is repeated, and there is
	// exactly one payment. The same holds if the connection ends before the commit.
	for name, cut := range map[string]kit.CommitFault{"after the commit": kit.CutAfterCommit, "before the commit": kit.CutBeforeCommit} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newDatabaseEnv(t)
			worker := startServer(t, h.databaseURL)
			between := startDatabaseProxy(t, h.databaseURL)
			h.server = startServer(t, between.URL(), "--no-workers")
			h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
			hooks := (&tenant{client: h.client.withServer(worker), platformID: h.platformID}).startReceiver()

			var paid []apiResponse
			for _, path := range []string{"/quotes", "/sandbox/send"} {
				for range 4 {
					customer := h.createCustomer()
					wallet := h.createWallet(customer, "")
					keyed := h.withHeader("Idempotency-Key", uuid.NewString())
					body := kit.RampQuoteBody(customer, wallet, "SENDING", 10050)
					quote := apiResponse{}
					if path == "/sandbox/send" {
						quote = h.post("/quotes", body).wantStatus(201)
						body = object{"reference": paymentReference(quote), "currencyCode": "USD"}
					}

					cuts := between.CommitFaults()
					between.FailNextCommit(cut)
					first, err := keyed.do(t.Context(), http.MethodPost, path, body)
					if between.CommitFaults() != cuts+1 {
						t.Fatalf("POST %s: no commit was cut: %d %s %v", path, first.status, first.body, err)
					}
					if err == nil && first.status < 500 && first.status >= 300 {
						t.Errorf("POST %s: a final response: %d %s", path, first.status, first.body)
					}
					again := keyed.post(path, body)

					if again.status >= 300 {
						t.Fatalf("POST %s again: %d %s", path, again.status, again.body)
					}
					if err == nil && first.status < 300 && !bytes.Equal(first.body, again.body) {
						t.Errorf("POST %s: two responses:\n%s\n%s", path, first.body, again.body)
					}
					if path == "/quotes" {
						quote = again
						if n := h.queryInt("SELECT count(*) FROM quotes q JOIN transactions t USING (platform_id) WHERE t.id = q.transaction_id AND "+
							"t.customer_id = $1", uuidOf(customer)); n != 1 {
							t.Errorf("%d quotes with one key", n)
						}
						h.payQuote(quote, 0).wantStatus(200)
					}
					if n := h.queryInt("SELECT count(*) FROM receipts WHERE reference = $1", paymentReference(quote)); n != 1 {
						t.Errorf("%d payments with one key", n)
					}
					paid = append(paid, quote)
				}
			}

			for _, quote := range paid {
				hooks.checkEvents(quote.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
			}
			if n := h.queryInt("SELECT count(*) FROM ledger_postings WHERE kind = 'delivered'"); n != int64(len(paid)) {
				t.Errorf("%d deliveries of %d payments", n, len(paid))
			}
			if n := h.queryInt("SELECT count(*) FROM ledger_postings WHERE kind LIKE 'refund%'"); n != 0 {
				t.Errorf("%d refunds", n)
			}
		})
	}
}

// startDatabaseProxy starts a proxy in front of a database that ends with the test.
func startDatabaseProxy(t *testing.T, database string) *kit.DatabaseProxy {
	t.Helper()
	proxy, err := kit.NewDatabaseProxy(database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	return proxy
}
