package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/apiclient"
)

// kind is a kind of work, as the report and checkTransactions name it.
type kind string

const (
	ramps        kind = "Ramps"
	unpaidQuotes kind = "Unpaid quotes"
	payouts      kind = "Payouts"
	transfersOut kind = "Transfers out"
	transfersIn  kind = "Transfers in"
	deposits     kind = "Deposits" // that fund the accounts

	agentPayouts      kind = "Payouts by agents"
	agentTransfersOut kind = "Transfers out by agents"
	walletPayouts     kind = "Payouts from embedded wallets"
)

// rampAmount is what each ramp, payout and transfer sends, in cents.
const rampAmount = 10050

// walletAmount is what each payout from an embedded wallet sends, in millionths of a USDB.
const walletAmount = rampAmount * 1000

// work is how each kind is done: a quote if it has a source, and a request that moves the money.
var work = map[kind]struct {
	source   func(*customer) string // of the quote
	request  string                 // as the report names it
	amount   int64                  // that the quote sends; rampAmount if it is 0
	netMoved int64                  // cents, into the customer's account
	byAgent  bool                   // the agent of the customer makes the requests
	pay      payment
}{
	ramps: {source: fundsOf, request: "`POST /sandbox/send`", pay: func(w *worker, _ *customer, quote []byte) []byte {
		return w.post("/sandbox/send", 200, `{"reference":%q,"currencyCode":"USD","currencyAmount":%d}`,
			member(quote, `"reference":"`), rampAmount)
	}},
	unpaidQuotes: {source: fundsOf},
	payouts:      {source: accountOf, request: "`POST /quotes/{id}/execute`", netMoved: -rampAmount, pay: execute},
	transfersOut: {request: "`POST /transfer-out`", netMoved: -rampAmount, pay: transferOut},
	transfersIn: {request: "`POST /transfer-in`", netMoved: rampAmount, pay: func(w *worker, c *customer, _ []byte) []byte {
		return w.post("/transfer-in", 201, transferBody, c.bankID, c.accountID, rampAmount)
	}},
	agentPayouts: {source: accountOf, request: "`POST /agents/me/quotes/{id}/execute`", netMoved: -rampAmount,
		byAgent: true, pay: execute},
	walletPayouts:     {source: walletOf, request: "`POST /quotes/{id}/execute`", amount: walletAmount, pay: executeSigned},
	agentTransfersOut: {request: "`POST /agents/me/transfer-out`", netMoved: -rampAmount, byAgent: true, pay: transferOut},
}

// payment makes the request that moves the money, and returns its response; nil if the policy of the agent refuses it.
type payment func(w *worker, c *customer, quote []byte) []byte

func execute(w *worker, _ *customer, quote []byte) []byte {
	return w.post("/quotes/Quote:"+member(quote, `"id":"Quote:`)+"/execute", 200, "")
}

// executeSigned executes a quote from an embedded wallet, with the signature of its owner that sandboxes take.
func executeSigned(w *worker, c *customer, quote []byte) []byte {
	w.walletSignature = "sandbox-valid-signature"
	defer func() { w.walletSignature = "" }()
	response := execute(w, c, quote)
	c.walletPaid.Add(walletAmount)
	return response
}

const transferBody = `{"source":{"accountId":%q},"destination":{"accountId":%q},"amount":%d}`

// transferOut transfers, or is refused because the agent has reached its daily limit.
func transferOut(w *worker, c *customer, _ []byte) []byte {
	const path = "/transfer-out"
	status, response := w.send(path, transferBody, c.accountID, c.bankID, rampAmount)
	if status == http.StatusForbidden && bytes.Contains(response, []byte(`"code":"DAILY_LIMIT"`)) {
		return nil
	}
	w.checkStatus(path, status, http.StatusCreated, response)
	return response
}

func fundsOf(c *customer) string { return fmt.Sprintf(`{"customerId":%q,"currency":"USD"}`, c.id) }

func accountOf(c *customer) string {
	return fmt.Sprintf(`{"accountId":%q,"customerId":%q}`, c.accountID, c.id)
}

func walletOf(c *customer) string {
	return fmt.Sprintf(`{"accountId":%q,"customerId":%q}`, c.embeddedID, c.id)
}

// worker does one piece of work after the other on one connection.
type worker struct {
	*connection
	receiver  *receiver
	customers []*customer
}

// stepTimes is when the steps of one piece of work were done.
type stepTimes struct {
	due       time.Time // when it was to begin
	quoted    time.Time // POST /quotes had its response; zero for a transfer
	paid      time.Time // the request that moves the money had its response; zero for a quote that is not paid
	completed time.Time // the COMPLETED webhook was accepted, or the quote that is not paid was made, or the payment was refused
	refused   bool      // by the policy of the agent
}

// do does a piece of work for any of the customers, until the webhook that ends its payment.
func (w *worker) do(ctx context.Context, k kind, due time.Time) stepTimes {
	s, how, c := stepTimes{due: due}, work[k], w.customers[rand.IntN(len(w.customers))]
	w.caller = c.platform
	if how.byAgent {
		w.caller = c.agent
	}
	var quote []byte
	var transaction string
	if how.source != nil {
		quote = w.post("/quotes", 201, `{"source":%s,"destination":{"destinationType":"ACCOUNT","accountId":%q},`+
			`"lockedCurrencySide":"SENDING","lockedCurrencyAmount":%d}`, how.source(c), c.walletID, cmp.Or(how.amount, rampAmount))
		s.quoted = time.Now()
		transaction = member(quote, `"transactionId":"Transaction:`)
	}
	if how.pay == nil {
		s.completed = s.quoted
		return s
	}
	response := how.pay(w, c, quote)
	if s.refused = response == nil; s.refused {
		s.completed = time.Now()
		return s
	}
	s.paid = time.Now()
	c.netMoved.Add(how.netMoved)
	if how.source == nil {
		transaction = member(response, `"id":"Transaction:`)
	}
	s.completed = w.receiver.awaitCompleted(ctx, transaction)
	return s
}

// member returns the text after the opening of a member that a response must have.
func member(response []byte, opening string) string {
	text, found := textAfter(response, opening)
	if !found {
		failf("a response has no %s: %.300s", opening, response)
	}
	return text
}

// newClient returns a client for everything but the load.
func newClient(address, id, secret string) *apiclient.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = maxSetupConnections
	return &apiclient.Client{BaseURL: "http://" + address + basePath, ClientID: id, ClientSecret: secret,
		HTTP: &http.Client{Transport: transport}}
}

// connection is one keep-alive connection to the service, for one request at a time. It takes
// half the processor time of net/http's client, because it starts no goroutines.
type connection struct {
	net.Conn
	responses       messages
	header          string // of every request
	caller          caller // of the next requests
	idempotencyKeys bool
	walletSignature string // of the next request; empty for none
	request, body   []byte
}

// caller is who makes requests.
type caller struct{ prefix, authorization string } // prefix is that of the paths

// callerOf is who makes the requests of a platform's client.
func callerOf(c *apiclient.Client) caller {
	return caller{authorization: "Basic " + base64.StdEncoding.EncodeToString([]byte(c.ClientID+":"+c.ClientSecret))}
}

// connect connects as a client does. The connection is closed when ctx ends.
func connect(ctx context.Context, c *apiclient.Client, idempotencyKeys bool) *connection {
	host := must(url.Parse(c.BaseURL)).Host
	conn := must((&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", host))
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	return &connection{Conn: conn, responses: messages{Reader: bufio.NewReader(conn)}, caller: callerOf(c), idempotencyKeys: idempotencyKeys,
		header: " HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: application/json\r\nAuthorization: "}
}

// post makes a request that must have this status, and returns the body of its response. That
// is valid until the next call.
func (c *connection) post(path string, want int, format string, values ...any) []byte {
	status, response := c.send(path, format, values...)
	c.checkStatus(path, status, want, response)
	return response
}

// send makes a request, and returns the status and the body of its response, which is valid until the next call.
func (c *connection) send(path, format string, values ...any) (status int, response []byte) {
	c.body = fmt.Appendf(c.body[:0], format, values...)
	c.request = append(c.request[:0], "POST "+basePath...)
	for _, text := range []string{c.caller.prefix, path, c.header, c.caller.authorization, "\r\n"} {
		c.request = append(c.request, text...)
	}
	if c.idempotencyKeys {
		c.request = append(c.request, "Idempotency-Key: "+uuid.NewString()+"\r\n"...)
	}
	if c.walletSignature != "" {
		c.request = append(c.request, "Service-Wallet-Signature: "+c.walletSignature+"\r\n"...)
	}
	c.request = strconv.AppendInt(append(c.request, "Content-Length: "...), int64(len(c.body)), 10)
	c.request = append(append(c.request, "\r\n\r\n"...), c.body...)
	must(c.Write(c.request))
	c.responses.read()
	return c.responses.status(), c.responses.body
}

func (c *connection) checkStatus(path string, status, want int, response []byte) {
	if status != want {
		path = c.caller.prefix + path
		check((&apiclient.Response{Status: status, Body: response}).Err("POST", path))
		failf("POST %s: unexpected status %d", path, status)
	}
}
