package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"causeway/core/ident"
)

// fakeService is the part of the service that the load generator uses.
type fakeService struct {
	finalEvent            string // event at the end of a quote's payment
	refused               string // a path that is responded to with 500
	onPayment             func() // called on a payment; may be nil
	deliverBeforeResponse bool   // deliver all events before the response

	mu       sync.Mutex
	endpoint string
	quotes   map[string]string // transaction by reference
	payers   map[string]string // the account that pays, by transaction
	keys     map[string]bool   // idempotency keys that were received
	accounts []fakeAccount
	agents   []*fakeAgent
	paired   map[string]bool // addresses that redeemed a device code
	requests map[string]int  // by path, or what is after an id in it
	sending  sync.WaitGroup
}

// fakeAccount is an internal account.
type fakeAccount struct {
	ID, CustomerID, Currency string
	Balance                  struct{ Amount int64 }
}

// fakeAgent is an agent, whose number is in its id, its device code and its token.
type fakeAgent struct {
	customer     string
	limit, spent int64
}

// newFakeBench returns a bench with customers at a fake service.
func newFakeBench(t *testing.T, customers int, part string, change func(*fakeService)) (*bench, *fakeService) {
	t.Helper()
	f := &fakeService{finalEvent: "OUTGOING_PAYMENT.COMPLETED", quotes: map[string]string{}, payers: map[string]string{},
		keys: map[string]bool{}, paired: map[string]bool{}, requests: map[string]int{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	b := &bench{options: options{customerCount: customers, part: part}, receiver: startReceiver(), report: report{},
		done:     map[kind]int64{},
		platform: platform{newClient(server.Listener.Addr().String(), "id", "secret"), ident.Platform{}}}
	t.Cleanup(func() { f.sending.Wait(); _ = b.receiver.listener.Close() })
	if err := try(func() { b.createCustomers(t.Context()) }); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(f)
	}
	return b, f
}

func (f *fakeService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, basePath)
	status, response := http.StatusInternalServerError, `{"code":"INTERNAL_ERROR"}`
	agent, allowed := f.authenticate(path, r)
	if allowed && path != f.refused {
		f.requests[regexp.MustCompile(`^/.*[:0-9].*/`).ReplaceAllString(path, "")]++
		f.keys[r.Header.Get("Idempotency-Key")] = true
		status, response = f.respond(strings.TrimPrefix(path, "/agents/me"), r, agent)
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(response))
}

// authenticate returns the agent that makes a request, nil for the platform, and whether it may.
func (f *fakeService) authenticate(path string, r *http.Request) (agent *fakeAgent, allowed bool) {
	if code, redeemed := strings.CutPrefix(path, "/agents/device-codes/"); redeemed {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		allowed = strings.HasSuffix(code, "/redeem") && r.Header.Get("Authorization") == "" && !f.paired[host]
		f.paired[host] = true
		return nil, allowed
	}
	if !strings.HasPrefix(path, "/agents/me/") {
		id, secret, _ := r.BasicAuth()
		return nil, id == "id" && secret == "secret"
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer agt_")
	i, err := strconv.Atoi(token)
	if err != nil || i >= len(f.agents) {
		return nil, false
	}
	return f.agents[i], true
}

// respond returns the response to a request. The caller holds the lock.
func (f *fakeService) respond(path string, r *http.Request, agent *fakeAgent) (status int, response string) {
	var in struct {
		WebhookEndpoint, Reference, CurrencyCode, CustomerID string
		Source, Destination                                  struct{ AccountID string }
		Amount, CurrencyAmount                               int64
		SpendingLimits                                       struct{ DailyLimit int64 }
		Policy                                               struct{ SpendingLimits struct{ DailyLimit int64 } }
	}
	if r.ContentLength > 0 && json.NewDecoder(r.Body).Decode(&in) != nil {
		return http.StatusBadRequest, `{}`
	}
	transaction := uuid.NewString()
	created := `{"id":"Transaction:` + transaction + `"}`
	account, funding := strings.CutPrefix(path, "/sandbox/internal-accounts/")
	executed, executing := strings.CutPrefix(path, "/quotes/Quote:")
	executed = strings.TrimSuffix(executed, "/execute")
	agentID, ofAgent := strings.CutPrefix(path, "/agents/Agent:")
	if agent != nil {
		if i := slices.IndexFunc(f.accounts, func(a fakeAccount) bool { return a.CustomerID == agent.customer }); f.accounts[i].ID != cmp.Or(
			in.Source.AccountID, f.payers[strings.TrimSuffix(executed, "/execute")]) {
			return http.StatusNotFound, `{}`
		}
		if path == "/transfer-out" {
			if agent.spent+in.Amount > agent.limit {
				return http.StatusForbidden, `{"code":"FORBIDDEN","reason":"DAILY_LIMIT","details":{"reasons":[{"code":"DAILY_LIMIT"}]}}`
			}
			agent.spent += in.Amount
			created = fmt.Sprintf(`{"id":"AgentAction:%[1]s","transaction":{"id":"Transaction:%[1]s"}}`, transaction)
		}
	}
	switch {
	case path == "/agents":
		f.agents = append(f.agents, &fakeAgent{customer: in.CustomerID, limit: in.Policy.SpendingLimits.DailyLimit})
		return http.StatusCreated, fmt.Sprintf(`{"agent":{"id":"Agent:%[1]d"},"deviceCode":{"code":"AGENT-%[1]d"}}`, len(f.agents)-1)
	case strings.HasSuffix(path, "/redeem"):
		code := strings.TrimPrefix(path, "/agents/device-codes/AGENT-")
		return http.StatusOK, `{"accessToken":"agt_` + strings.TrimSuffix(code, "/redeem") + `"}`
	case ofAgent:
		i, _ := strconv.Atoi(strings.TrimSuffix(agentID, "/policy"))
		if r.Method == http.MethodPatch {
			f.agents[i].limit = in.SpendingLimits.DailyLimit
		}
		return http.StatusOK, fmt.Sprintf(`{"usage":{"dailySpend":%d,"dailyResetDate":"2026-03-14"}}`, f.agents[i].spent)
	case path == "/config":
		f.endpoint = in.WebhookEndpoint
		return http.StatusOK, `{}`
	case path == "/webhook-secrets":
		return http.StatusCreated, `{"secret":"whsec_c2VjcmV0"}`
	case path == "/customers":
		for _, currency := range []string{"USD", "USDB"} {
			f.accounts = append(f.accounts, fakeAccount{ID: "InternalAccount:" + currency + transaction, CustomerID: "Transaction:" + transaction,
				Currency: currency})
		}
		return http.StatusCreated, created
	case path == "/customers/external-accounts":
		return http.StatusCreated, created
	case path == "/customers/internal-accounts":
		query := r.URL.Query()
		i := slices.IndexFunc(f.accounts, func(a fakeAccount) bool {
			return a.CustomerID == query.Get("customerId") && a.Currency == query.Get("currency")
		})
		text, _ := json.Marshal(map[string]any{"data": f.accounts[i : i+1]})
		return http.StatusOK, string(text)
	case funding:
		f.send("INCOMING_PAYMENT.COMPLETED", transaction)
		return f.changeBalance(strings.TrimSuffix(account, "/fund"), in.Amount, http.StatusOK), `{}`
	case path == "/quotes":
		reference := fmt.Sprintf("REF%09d", len(f.quotes))
		f.quotes[reference], f.payers[transaction] = transaction, in.Source.AccountID
		f.send("OUTGOING_PAYMENT.PENDING", transaction)
		return http.StatusCreated, fmt.Sprintf(`{"id":"Quote:%[1]s","paymentInstructions":[{"accountOrWalletInfo":{"reference":%[2]q}}],`+
			`"transactionId":"Transaction:%[1]s"}`, transaction, reference)
	case path == "/sandbox/send" && in.CurrencyCode == "USD" && in.CurrencyAmount == rampAmount && f.quotes[in.Reference] != "":
		f.send("OUTGOING_PAYMENT.PROCESSING", f.quotes[in.Reference])
		f.send(f.finalEvent, f.quotes[in.Reference])
		if f.onPayment != nil {
			f.onPayment()
		}
		return http.StatusOK, `{}`
	case executing:
		f.send("OUTGOING_PAYMENT.PROCESSING", executed)
		f.send(f.finalEvent, executed)
		if r.Header.Get("Service-Wallet-Signature") != "" {
			return f.changeBalance(f.payers[executed], -walletAmount, http.StatusOK), `{}`
		}
		return f.changeBalance(f.payers[executed], -rampAmount, http.StatusOK), `{}`
	case path == "/transfer-out":
		f.send("OUTGOING_PAYMENT.COMPLETED", transaction)
		return f.changeBalance(in.Source.AccountID, -in.Amount, http.StatusCreated), created
	case path == "/transfer-in":
		f.send("INCOMING_PAYMENT.COMPLETED", transaction)
		return f.changeBalance(in.Destination.AccountID, in.Amount, http.StatusCreated), created
	}
	return http.StatusNotFound, `{}`
}

// changeBalance changes a balance, and returns the status for success if there is the account.
func (f *fakeService) changeBalance(account string, by int64, success int) int {
	i := slices.IndexFunc(f.accounts, func(a fakeAccount) bool { return a.ID == account })
	if i < 0 {
		return http.StatusNotFound
	}
	f.accounts[i].Balance.Amount += by
	f.send("INTERNAL_ACCOUNT.BALANCE_UPDATED", "")
	if f.deliverBeforeResponse {
		f.sending.Wait()
	}
	return success
}

// send delivers an event, as the service does. The caller holds the lock.
func (f *fakeService) send(event, transaction string) {
	body := fmt.Sprintf(`{"webhookId":"Webhook:1","event":%q,"transaction":{"id":"Transaction:%s"}}`, event, transaction)
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, f.endpoint, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	f.sending.Go(func() {
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
		}
	})
}
