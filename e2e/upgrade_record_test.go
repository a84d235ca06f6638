package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/e2e/kit"
)

// earlierEnv is a database on which the earlier release runs.
type earlierEnv struct {
	*scenarioEnv
	folder   string       // of the published checkpoints
	endpoint atomic.Int32 // the status with which the webhook endpoint responds
}

func newEarlierEnv(t *testing.T) *earlierEnv {
	t.Helper()
	s := &earlierEnv{scenarioEnv: &scenarioEnv{testEnv: &testEnv{t: t, databaseURL: pgtest.NewEmpty(t)}},
		folder: filepath.Join(t.TempDir(), "checkpoints")}
	s.db = openURL(t, s.databaseURL)
	if _, err := kit.MustSucceed(waitContext(t), kit.Command{Program: *earlierProgram, Args: []string{"migrate"},
		Env: []string{"DATABASE_URL=" + s.databaseURL}}); err != nil {
		t.Fatal(err)
	}
	created, err := kit.CreatePlatform(waitContext(t), *earlierProgram, s.databaseURL, "Earlier", "SANDBOX", "--regulated")
	if err != nil {
		t.Fatal(err)
	}
	s.tenant = &tenant{client: newClient(t, "", created.ClientID, created.ClientSecret), platformID: created.PlatformID}
	return s
}

// start replaces the server of the earlier release.
func (s *earlierEnv) start(options ...string) *process {
	s.t.Helper()
	if s.server != nil {
		s.server.terminate()
	}
	url, err := kit.CreateServiceLogin(waitContext(s.t), s.databaseURL)
	if err != nil {
		s.t.Fatal(err)
	}
	running, err := kit.Start(kit.Command{Program: *earlierProgram, Dir: s.t.TempDir(),
		Env: []string{"DATABASE_URL=" + url, "CAUSEWAY_MASTER_KEY=" + masterKey},
		Args: append([]string{"serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--connections", "8", "--seal-every", "1s",
			"--checkpoints", s.folder, "--allow-private-webhooks"}, options...)})
	if err != nil {
		s.t.Fatal(err)
	}
	s.server = &process{Process: running, t: s.t}
	s.t.Cleanup(running.Kill)
	line, err := running.AwaitLogField(waitContext(s.t), "address")
	if err != nil {
		s.t.Fatal(err)
	}
	s.server.baseURL, _ = line["address"].(string)
	s.client.BaseURL = s.server.baseURL
	s.server.awaitReady()
	return s.server
}

// recordEarlier runs the earlier release and writes the files of upgradeFolder: what it left, and how
// it continued.
func recordEarlier(t *testing.T) {
	t.Helper()
	s := newEarlierEnv(t)
	s.endpoint.Store(http.StatusOK)
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(s.endpoint.Load()))
	}))
	t.Cleanup(endpoint.Close)

	s.start("--sandbox-speed", "1000")
	s.patch("/config", object{"webhookEndpoint": endpoint.URL, "umaDomain": "uma.example.com"}).wantStatus(200)
	s.customerID = s.createCustomer(object{"umaAddress": "$ana@uma.example.com"})
	earlier := &earlierState{PlatformID: s.platformID, ClientID: s.ClientID, ClientSecret: s.ClientSecret, Checkpoints: map[string][]byte{},
		Responses: map[string]json.RawMessage{}}
	s.makeFinished(earlier)
	s.awaitIdle()
	eventually(t, "the postings are sealed and published", func() bool {
		log := s.get("/ledger/log").wantStatus(200)
		return log.int("postings") == log.int("sealed") && log.int("sealed") == log.int("published")
	})
	s.endpoint.Store(http.StatusInternalServerError)
	s.start("--sandbox-speed", "1")
	s.makeWaiting()
	s.start("--no-workers")
	s.makeUntouched(earlier)

	s.recordResponses(earlier)
	s.recordPublished(earlier)
	earlier.Balances = s.ledgerBalances(s.platformID)
	dump := s.dump()
	s.endpoint.Store(http.StatusOK)
	s.finishEarlier(earlier, func() *process { return s.start("--sandbox-speed", "1000") })
	earlier.FinalBalances, earlier.FinalStatuses = s.ledgerBalances(s.platformID), s.transactionStatuses()

	state, err := json.Marshal(earlier)
	if err != nil {
		t.Fatal(err)
	}
	writeGzip(t, "database.sql.gz", dump)
	writeGzip(t, "state.json.gz", state)
}

// makeFinished makes payments that end, and a closed month, an adjustment and a reconciliation.
func (s *earlierEnv) makeFinished(earlier *earlierState) {
	s.post("/tokens", object{"name": "Second", "permissions": []string{"VIEW"}}).wantStatus(201)
	for _, suffix := range []string{"000", "004", "005", "007"} { // delivered, refused, returned, and a refund that fails
		s.payQuote(s.newRamp(suffix), 0).wantStatus(200)
	}
	s.payQuote(s.newRamp("000"), 10049) // the wrong amount
	account := s.fundUSDAccount(100_000)
	s.payFromAccount(account, s.createEURAccount("000"))
	s.post("/transfer-out", object{"source": object{"accountId": account}, "destination": object{"accountId": s.createUSDAccount("008")},
		"amount": 5000}).wantStatus(201)
	s.post("/sandbox/uma/receive", umaPaymentBody(s.customerID)).wantStatus(200)

	earlier.Repeatable.Key, earlier.Repeatable.Path = "0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b", "/transfer-in"
	earlier.Repeatable.Body = object{"source": object{"accountId": s.createUSDAccount("008")}, "destination": object{"accountId": account},
		"amount": 2500}
	earlier.Repeatable.Response = s.withHeader("Idempotency-Key", earlier.Repeatable.Key).post(earlier.Repeatable.Path,
		earlier.Repeatable.Body).wantStatus(201).body

	now := time.Now().UTC()
	last := time.Date(now.Year(), now.Month()-1, 1, 0, 0, 0, 0, time.UTC)
	month := "/ledger/periods/" + last.Format("2006-01")
	s.post(month+"/soft-close", object{"note": "End of the month", "confirmOpeningBalances": true}).wantStatus(200)
	s.post("/ledger/adjustments", object{"note": "The bank charged the wire twice.", "effectiveAt": formatTimestamp(last.AddDate(0, 0, 4)),
		"entries": []object{{"debit": "expense/rails", "credit": "rails/WIRE", "currency": "USD", "amount": 700}}}).wantStatus(201)
	s.post(month+"/close", object{}).wantStatus(200)

	s.withHeader("Content-Type", "application/xml").post("/ledger/reconciliations?account=rails%2FRTP&currency=USD",
		camt053Statement(camt053Entry("F1", "3.00", "DBIT", "MONTHLY FEE"))).wantStatus(201)
}

// makeWaiting makes payments that wait for a rail, while every webhook is refused.
func (s *earlierEnv) makeWaiting() {
	account := s.internalAccounts("USD").text("data.0.id")
	s.payQuote(s.newRamp("003"), 0).wantStatus(200)
	s.payFromAccount(account, s.createEURAccount("003"))
	s.post("/transfer-in", object{"source": object{"accountId": s.createUSDAccount("005")}, "destination": object{"accountId": account},
		"amount": 3000}).wantStatus(201)
	s.post("/transfer-out", object{"source": object{"accountId": account}, "destination": object{"accountId": s.createUSDAccount("005")},
		"amount": 3100}).wantStatus(201)
	eventually(s.t, "the rails were asked, and a webhook was refused", func() bool {
		return s.queryInt("SELECT count(*) FROM jobs WHERE step <> 'expire' AND due_at < now() + interval '1 second'") == 0 &&
			s.queryInt("SELECT count(*) FROM webhook_backlog") > 0
	})
}

// makeUntouched makes payments whose next step nobody has tried, and quotes that nobody has paid.
func (s *earlierEnv) makeUntouched(earlier *earlierState) {
	account := s.internalAccounts("USD").text("data.0.id")
	for _, suffix := range []string{"000", "004", "005", "007"} {
		s.payQuote(s.newRamp(suffix), 0).wantStatus(200)
	}
	s.payFromAccount(account, s.createBRLAccount("000"))
	s.payFromAccount(account, s.createBRLAccount("004"))
	s.post("/transfer-in", object{"source": object{"accountId": s.createUSDAccount("008")}, "destination": object{"accountId": account},
		"amount": 4000}).wantStatus(201)
	s.post("/transfer-out", object{"source": object{"accountId": account}, "destination": object{"accountId": s.createUSDAccount("008")},
		"amount": 4100}).wantStatus(201)
	s.post("/sandbox/uma/receive", umaPaymentBody(s.customerID)).wantStatus(200)
	earlier.UnpaidQuote = s.newRamp("000").text("id")
	s.newRamp("000") // expires
}

func (s *earlierEnv) newRamp(suffix string) apiResponse {
	s.t.Helper()
	return s.post("/quotes", kit.RampQuoteBody(s.customerID, s.createBTCWallet(suffix), "SENDING", 10050)).wantStatus(201)
}

// payFromAccount pays a bank account from the customer's account.
func (s *earlierEnv) payFromAccount(account, to string) {
	s.t.Helper()
	quote := s.createQuoteTo(object{"accountId": to}, object{"sourceType": "ACCOUNT", "accountId": account}, 2050)
	s.post("/quotes/"+quote.text("id")+"/execute", nil).wantStatus(200)
}

// recordResponses reads everything that the platform has, except reports at current rates.
func (s *earlierEnv) recordResponses(earlier *earlierState) {
	read := func(path string) apiResponse {
		response := s.get(path).wantStatus(200)
		earlier.Responses[path] = response.body
		return response
	}
	for _, path := range []string{"/config", "/webhook-keys", "/ledger/trial-balance", "/ledger/log/keys", "/ledger/unmatched",
		"/customers/internal-accounts?limit=100", "/platform/internal-accounts", "/ledger/accounts?limit=100"} {
		read(path)
	}
	for list, item := range map[string]string{
		"/customers": "/customers/%s", "/customers/external-accounts": "/customers/external-accounts/%s", "/tokens": "/tokens/%s",
		"/transactions": "/transactions/%s", "/webhook-deliveries": "/webhook-deliveries/%s", "/ledger/postings": "/ledger/postings/%s",
		"/ledger/reconciliations": "/ledger/reconciliations/%s", "/ledger/periods": "/ledger/periods/%s",
	} {
		all := s.get(list + "?limit=100").wantStatus(200)
		if len(all.list("data")) == 0 || all.text("hasMore") == "true" {
			s.t.Fatalf("%s: %s", list, all.body)
		}
		for i := range all.list("data") {
			at := fmt.Sprintf("data.%d.", i)
			id := all.text(at+"id") + all.text(at+"month") + all.text(at+"webhookId")
			read(fmt.Sprintf(item, id))
			switch list {
			case "/transactions":
				read("/transactions/" + id + "/timeline")
				if quote := all.text(at + "quoteId"); quote != "" {
					read("/quotes/" + quote)
				}
			case "/ledger/reconciliations":
				read("/ledger/reconciliations/" + id + "/lines")
				read("/ledger/reconciliations/" + id + "/breaks")
			case "/webhook-deliveries":
				if all.text(at+"status") == "PENDING" {
					earlier.Waiting = append(earlier.Waiting, id)
				}
			}
		}
	}
}

// recordPublished reads the published checkpoints.
func (s *earlierEnv) recordPublished(earlier *earlierState) {
	files, err := os.ReadDir(s.folder)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, file := range files {
		if earlier.Checkpoints[file.Name()], err = os.ReadFile(filepath.Join(s.folder, file.Name())); err != nil {
			s.t.Fatal(err)
		}
	}
}

// dump returns the database as SQL, without the lines that older versions of psql do not know.
func (s *earlierEnv) dump() []byte {
	file := filepath.Join(s.t.TempDir(), "database.sql")
	mustRunProgram(s.t, "pg_dump", "--no-owner", "--no-comments", "--file="+file, s.databaseURL)
	text, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^(\\(un)?restrict .*|--.*|)\n`).ReplaceAll(text, nil)
}

func writeGzip(t *testing.T, name string, text []byte) {
	t.Helper()
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(upgradeFolder, name), packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
