package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"causeway/adapters/rails/lightning/lndtest"
	"causeway/core/lightning"
)

// umaEnv is an installation whose production platform is a UMA provider: a process, a database, a node, and what others reach it through.
type umaEnv struct {
	*lightningEnv
	proxy    *umaProxy
	address  string // of its customer
	currency string
	start    int64 // what the customer has in the currency
	hooks    *webhookReceiver
}

// umaProxy passes requests for a domain on, as the tests want.
type umaProxy struct {
	*httptest.Server
	mu sync.Mutex
	// target is where requests go; nil for nowhere. answered changes what is answered to a path, and asked sees each request before.
	target   *url.URL
	asked    func(*http.Request)
	answered func(path string, body []byte) []byte
}

func newUMAProxy(t testing.TB) *umaProxy {
	p := &umaProxy{}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(func() {
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

func (p *umaProxy) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	target, asked, answered := p.target, p.asked, p.answered
	p.mu.Unlock()
	if asked != nil {
		asked(r)
	}
	if target == nil {
		panic(http.ErrAbortHandler)
	}
	pass := httputil.ReverseProxy{
		Rewrite: func(out *httputil.ProxyRequest) {
			out.SetURL(target)
			out.Out.Host = out.In.Host
		},
		ModifyResponse: func(response *http.Response) error {
			if answered == nil {
				return nil
			}
			body, err := io.ReadAll(response.Body)
			if err != nil {
				return err
			}
			body = answered(r.URL.Path, body)
			response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			response.Header.Set("Content-Length", strconv.Itoa(len(body)))
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	pass.ServeHTTP(w, r)
}

// reach passes later requests on to the host of a URL.
func (p *umaProxy) reach(t testing.TB, to string) {
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	target.Path = ""
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// sees calls a function with each later request, before it is passed on.
func (p *umaProxy) sees(asked func(*http.Request)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = asked
}

// changes changes what is answered to later requests; nil for nothing.
func (p *umaProxy) changes(answered func(path string, body []byte) []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered = answered
}

// newUMAEnvs returns two installations that know each other: of bank.test, where ana has dollars, and of pay.test, where bo has euros.
func newUMAEnvs(t testing.TB) (ana, bo *umaEnv) {
	t.Helper()
	nodes, hosts := newUMANodes(), newUMAHosts(t, "bank.test", "hooks.bank.test", "pay.test", "hooks.pay.test")
	ana = newUMAEnv(t, nodes[0], hosts, "ana", "bank.test", "USD")
	bo = newUMAEnv(t, nodes[1], hosts, "bo", "pay.test", "EUR")
	return ana, bo
}

// umaHosts are the hosts of a test.
type umaHosts map[string]*umaProxy

func newUMAHosts(t testing.TB, names ...string) umaHosts {
	hosts := umaHosts{}
	for _, name := range names {
		hosts[name] = newUMAProxy(t)
	}
	return hosts
}

// newUMANodes returns two nodes that pay each other.
func newUMANodes() []*lndtest.Node {
	nodes := []*lndtest.Node{lndtest.New(lightning.Regtest, 1_000_000_000), lndtest.New(lightning.Regtest, 1_000_000_000)}
	lndtest.Connect(nodes...)
	return nodes
}

// options are those of a service that reaches the hosts.
func (h umaHosts) options() []string {
	var pairs []string
	for host, proxy := range h {
		pairs = append(pairs, host+"="+proxy.URL)
	}
	return []string{"--test-hosts", strings.Join(pairs, ",")}
}

func newUMAEnv(t testing.TB, node *lndtest.Node, hosts umaHosts, name, domain, currency string) *umaEnv {
	t.Helper()
	e := &umaEnv{lightningEnv: newLightningEnvOf(t, node, false, hosts.options()...), proxy: hosts[domain], address: "$" + name + "@" + domain,
		currency: currency}
	e.endpointFor = func(receiver string) string {
		hosts["hooks."+domain].reach(t, receiver)
		return "https://hooks." + domain + "/hooks"
	}
	currencyOf := func(code string) object {
		return object{"currencyCode": code, "minAmount": 100, "maxAmount": 1_000_000_00, "enabledTransactionTypes": []any{"OUTGOING", "INCOMING"},
			"requiredCounterpartyFields": []any{object{"name": "FULL_NAME", "mandatory": true}}}
	}
	e.patch("/config", object{"umaDomain": domain, "supportedCurrencies": []any{currencyOf(currency), currencyOf("BTC")}}).wantStatus(200)
	e.hooks = e.startReceiver()
	e.customer = e.createCustomer(object{"umaAddress": e.address, "fullName": "The Person " + name, "currencies": []any{currency, "BTC"}})
	e.account = e.accountIn(currency)
	e.topUp()
	e.start = e.held()
	e.reach()
	return e
}

func (e *umaEnv) accountIn(currency string) (id string) {
	eventually(e.t, "the customer has an account in "+currency, func() bool {
		list := e.get("/customers/internal-accounts?currency=" + currency + "&customerId=" + e.customer).wantStatus(200)
		if len(list.list("data")) > 0 {
			id = list.text("data.0.id")
		}
		return id != ""
	})
	return id
}

// topUp gives the customer bitcoin that the node receives, and converts it.
func (e *umaEnv) topUp() {
	invoice := e.node.AddInvoice("TOPUP", 2_000_000_000)
	eventually(e.t, "the feed is read", func() bool { return e.queryInt(`SELECT count(*) FROM lightning_nodes WHERE settle_index = 0`) == 1 })
	e.node.Pay(invoice, 0)
	eventually(e.t, "the bitcoin is received", func() bool { return e.queryInt(`SELECT count(*) FROM unmatched_funds`) == 1 })
	receipt := e.get("/ledger/unmatched?assigned=false&limit=1").wantStatus(200).text("data.0.receiptId")
	bitcoin := e.accountIn("BTC")
	e.post("/ledger/unmatched/"+receipt+"/assign", object{"to": bitcoin, "note": "For payments"}).wantStatus(200)
	conversion := e.post("/quotes", object{"source": object{"sourceType": "ACCOUNT", "accountId": bitcoin}, "immediatelyExecute": true,
		"destination":        object{"destinationType": "ACCOUNT", "accountId": e.account},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 2_000_000}).wantStatus(201)
	e.hooks.awaitOutgoingEvent(conversion.text("transactionId"), "COMPLETED")
}

// reach lets requests for the domain reach the process that runs now.
func (e *umaEnv) reach() {
	e.proxy.reach(e.t, e.server.rootURL())
}

// restart kills the process and starts another.
func (e *umaEnv) restart() {
	e.lightningEnv.restart()
	e.reach()
}

// lookUp looks the other customer up.
func (e *umaEnv) lookUp(to *umaEnv) apiResponse {
	return e.get("/receiver/uma/" + strings.ReplaceAll(to.address, "$", "%24") + "?customerId=" + e.customer)
}

// quote asks for a quote to the other customer, for an amount that is sent or received.
func (e *umaEnv) quote(to *umaEnv, side string, amount int64) apiResponse {
	return e.post("/quotes", e.quoteBody(e.lookUp(to).wantStatus(200).text("lookupId"), to, side, amount))
}

func (e *umaEnv) quoteBody(lookup string, to *umaEnv, side string, amount int64) object {
	return object{"source": object{"sourceType": "ACCOUNT", "accountId": e.account}, "lookupId": lookup,
		"destination":        object{"destinationType": "UMA_ADDRESS", "umaAddress": to.address, "currency": to.currency},
		"lockedCurrencySide": side, "lockedCurrencyAmount": amount}
}

// held is what the customer's account has.
func (e *umaEnv) held() int64 {
	return e.get("/customers/internal-accounts?currency=" + e.currency + "&customerId=" + e.customer).wantStatus(200).
		int("data.0.balance.amount")
}

// arrivedFrom counts the payments from the other customer by status.
func (e *umaEnv) arrivedFrom(sender *umaEnv) map[string]int64 {
	return e.count("type=INCOMING&senderAccountIdentifier=" + url.QueryEscape(sender.address))
}

// sentTo counts the payments to the other customer by status.
func (e *umaEnv) sentTo(receiver *umaEnv) map[string]int64 {
	return e.count("type=OUTGOING&receiverAccountIdentifier=" + url.QueryEscape(receiver.address))
}

func (e *umaEnv) count(filter string) map[string]int64 {
	counts := map[string]int64{}
	list := e.get("/transactions?limit=100&" + filter).wantStatus(200)
	for i := range list.list("data") {
		counts[list.text("data."+strconv.Itoa(i)+".status")]++
	}
	return counts
}

// expire ends what was not paid.
func (e *umaEnv) expire() {
	e.exec("UPDATE quotes SET expires_at = now() - interval '1 second' WHERE transaction_id IN " +
		"(SELECT id FROM transactions WHERE status = 'PENDING')")
	e.exec("UPDATE jobs SET due_at = now() WHERE step = 'expire'")
	eventually(e.t, "nothing is pending at "+e.address, func() bool {
		e.exec("UPDATE jobs SET due_at = now() WHERE step = 'expire' AND due_at > now()")
		return e.queryInt("SELECT count(*) FROM transactions WHERE status IN ('PENDING', 'PROCESSING')") == 0
	})
}

// payInvoice pays a UMA invoice.
func (e *umaEnv) payInvoice(text string, amount int64) {
	found := e.get("/receiver/uma/" + text + "?customerId=" + e.customer).wantStatus(200)
	found.wantValues(map[string]any{"umaInvoice.amount.amount": amount})
	quote := e.post("/quotes", object{"source": object{"sourceType": "ACCOUNT", "accountId": e.account}, "lookupId": found.text("lookupId"),
		"destination":        object{"destinationType": "UMA_ADDRESS", "umaAddress": found.text("receiverUmaAddress")},
		"lockedCurrencySide": "RECEIVING", "lockedCurrencyAmount": amount}).wantStatus(201)
	e.post("/quotes/"+quote.text("id")+"/execute", nil).wantStatus(200)
	e.hooks.awaitOutgoingEvent(quote.text("transactionId"), "COMPLETED")
}

// wantInvoice waits until a UMA invoice has a status.
func (e *umaEnv) wantInvoice(id, status string) {
	eventually(e.t, "the invoice is "+status, func() bool {
		return e.get("/uma-invoices/"+id).wantStatus(200).text("status") == status
	})
}
