package main

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"github.com/google/uuid"

	"causeway/adapters/rates/market"
	"causeway/adapters/uma"
	"causeway/app/internal/apptest"
	"causeway/app/internal/batch"
	"causeway/app/internal/prices"
	"causeway/app/payments"
	"causeway/app/receivers"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
	rules "causeway/core/uma"
	"causeway/ports"
)

// lightningNetwork is a Lightning network in memory, whose nodes belong to the providers of a test.
type lightningNetwork struct {
	mu       sync.Mutex
	invoices map[string]*networkInvoice // by their text
	never    map[uuid.UUID]bool         // the ids of those that were cancelled before they were made
}

type networkInvoice struct {
	ports.Invoice
	request ports.InvoiceRequest
	owner   *umaSide
	paidBy  uuid.UUID
	// cancelled: it cannot be paid any more.
	cancelled bool
}

// umaSide is one installation: a database, a production platform with a domain, and its use cases and UMA provider.
type umaSide struct {
	*apptest.Env
	t         *testing.T
	network   *lightningNetwork
	payments  *payments.Service
	receivers *receivers.Service
	provider  *uma.Provider
	handler   http.Handler
	// change, if set, changes the answers of this provider.
	change func(path string, body []byte) []byte
	// down: the provider does not answer.
	down bool
	// lost is a path at which its answers are lost.
	lost string
	// capture, if set, gets the next request, which fails.
	capture *string
	// beforeInvoice, if set, is called once, before the node makes an invoice.
	beforeInvoice func()
	// call, if set, makes each call of the node.
	call func(do func() error) error
	// respond is the response of the platform's endpoint to a request for approval.
	respond  int
	requests []transaction.Transaction
	// loses, if set, reports whether the next unit of work of payments fails, as if the process were killed.
	loses func() bool
	mu    sync.Mutex
	node  *secp256k1.PrivateKey
}

// newUMASides returns two installations that know each other: of bank.test, whose customer is ana, and of pay.test, whose
// customer is bo.
func newUMASides(t *testing.T, edits ...func(*platform.Platform)) (ana, bo *umaSide) {
	t.Helper()
	network, hosts := &lightningNetwork{invoices: map[string]*networkInvoice{}, never: map[uuid.UUID]bool{}}, testFlags{}
	sides := map[string]*umaSide{}
	domains := []string{"bank.test", "pay.test"}
	for _, domain := range domains {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { sides[domain].serve(w, r) }))
		t.Cleanup(server.Close)
		hosts.TestHosts = append(hosts.TestHosts, domain+"="+server.URL)
	}
	for _, domain := range domains {
		sides[domain] = newUMASide(t, network, domain, hosts, edits)
	}
	return sides["bank.test"], sides["pay.test"]
}

func newUMASide(t *testing.T, network *lightningNetwork, domain string, hosts testFlags, edits []func(*platform.Platform)) *umaSide {
	t.Helper()
	name, code := "ana", money.Currency("USD")
	if domain == "pay.test" {
		name, code = "bo", "EUR"
	}
	env := apptest.New(t, apptest.EditPlatform(func(p *platform.Platform) {
		p.Environment, p.UMADomain, p.WebhookEndpoint = platform.Production, domain, "https://example.com/hooks"
		p.Currencies = []platform.Currency{{Code: code, MinAmount: 100, MaxAmount: 1_000_000_00, Directions: []string{"OUTGOING", "INCOMING"},
			RequiredCounterpartyFields: []platform.CounterpartyField{{Name: "FULL_NAME", Mandatory: true}}}}
		for _, edit := range edits {
			edit(p)
		}
	}))
	side := &umaSide{Env: env, t: t, network: network, respond: 200, node: secp256k1.PrivKeyFromBytes([]byte("a node of the tests " + domain))}
	env.Customer = env.NewCustomer(name, func(c *customer.Customer) {
		c.UMAAddress, c.FullName, c.PlatformCustomerID = "$"+name+"@"+domain, strings.ToTitle(name), name+" of "+domain
	})
	env.Rail.OnSend = side.pay
	env.Rail.OnRefund = apptest.AllOutcomes[ports.Refund](ports.Outcome{Verdict: ports.Done})
	quotePrices := prices.New(env.Store, market.New("test"), env.Clock)
	side.provider = uma.New(uma.Config{Store: env.Store, Client: uma.NewClient(hosts.reachTestHosts), Clock: env.Clock, IDs: env.IDs,
		Log:    env.Log,
		Policy: rules.Policy{Blocked: []string{"blocked.test"}}, Settles: func(ident.Platform) error { return nil }})
	others := ports.CounterpartiesByEnvironment{platform.Production: side.provider}
	side.payments = payments.New(payments.Config{Timetable: env.Timetable(), Store: losingStore{env.Store, side}, Jobs: env.Store,
		Rails: env.Rail, Chains: env.Chain, Custody: env.Custody, Prices: quotePrices, Counterparties: others, Approvals: side, Lightning: side,
		Clock: env.Clock, IDs: env.IDs, Log: env.Log, Batches: batch.Options{Timeout: time.Minute}})
	side.receivers = receivers.New(receivers.Config{Store: env.Store, Counterparties: others, Invoices: side.provider, Prices: quotePrices,
		Clock: env.Clock, IDs: env.IDs, Jobs: env.Store, Log: env.Log})
	routes := http.NewServeMux()
	server := uma.Server{Provider: side.provider, Receivers: side.receivers, Payments: side.payments}
	server.Register(func(method, pattern string, h http.Handler) { routes.Handle(method+" "+pattern, h) },
		func(h http.Handler) http.Handler { return h }, func(h http.Handler) http.Handler { return h })
	side.handler = routes
	env.Run(side.payments.Run)
	env.Run(side.receivers.Run)
	return side
}

// losingStore loses units of work.
type losingStore struct {
	payments.Store
	side *umaSide
}

// DoUnit implements ports.UnitsOfWork.
func (l losingStore) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	l.side.mu.Lock()
	loses := l.side.loses
	l.side.mu.Unlock()
	if loses != nil && loses() {
		return fault.New(fault.ServiceUnavailable, "The process is killed.")
	}
	return l.Store.DoUnit(ctx, fn)
}

// serve answers as the provider does, unless the test changes that.
func (s *umaSide) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	down, lost, change, capture := s.down, s.lost, s.change, s.capture
	s.mu.Unlock()
	if down {
		panic(http.ErrAbortHandler)
	}
	if capture != nil {
		*capture = "http://" + s.Platform.UMADomain + r.URL.String()
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	recorder := httptest.NewRecorder()
	s.handler.ServeHTTP(recorder, r)
	if r.URL.Path == lost {
		panic(http.ErrAbortHandler)
	}
	body := recorder.Body.Bytes()
	if change != nil {
		body = change(r.URL.Path, body)
	}
	w.WriteHeader(recorder.Code)
	_, _ = w.Write(body)
}

// RequestApproval implements ports.Approvals.
func (s *umaSide) RequestApproval(_ context.Context, e event.Event) (ports.WebhookResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, e.Resource.(transaction.Transaction))
	return ports.WebhookResponse{Outcome: event.OutcomeOf(s.respond), StatusCode: s.respond}, nil
}

// LightningFor implements ports.LightningNodes.
func (s *umaSide) LightningFor(context.Context, ident.Platform) (ports.Lightning, error) {
	return s, nil
}

// CancelInvoice implements ports.Lightning.
func (s *umaSide) CancelInvoice(_ context.Context, id uuid.UUID) error {
	return s.callNode(func() error {
		s.network.mu.Lock()
		defer s.network.mu.Unlock()
		made := false
		for _, invoice := range s.network.invoices {
			if invoice.request.ID == id && invoice.paidBy != uuid.Nil {
				return fault.New(fault.Conflict, "The invoice was paid.")
			}
			invoice.cancelled = invoice.cancelled || invoice.request.ID == id
			made = made || invoice.request.ID == id
		}
		s.network.never[id] = !made
		return nil
	})
}

func (s *umaSide) callNode(do func() error) error {
	s.mu.Lock()
	call := s.call
	s.mu.Unlock()
	if call == nil {
		return do()
	}
	return call(do)
}

// PaidOver implements ports.LightningChannels.
func (s *umaSide) PaidOver(context.Context, [32]byte) ([]rules.ChannelUse, error) {
	return s.channels(), nil
}

// ReceivedOver implements ports.LightningChannels.
func (s *umaSide) ReceivedOver(context.Context, uuid.UUID) ([]rules.ChannelUse, error) {
	return s.channels(), nil
}

func (s *umaSide) channels() []rules.ChannelUse {
	return []rules.ChannelUse{{Outpoint: map[string]string{"bank.test": "ba:1", "pay.test": "fa:2"}[s.Platform.UMADomain], MilliSatoshis: 5}}
}

// Invoice implements ports.Lightning.
func (s *umaSide) Invoice(_ context.Context, request ports.InvoiceRequest) (ports.Invoice, error) {
	s.mu.Lock()
	before := s.beforeInvoice
	s.beforeInvoice = nil
	s.mu.Unlock()
	if before != nil {
		before()
	}
	hash := sha256.Sum256(request.ID[:])
	invoice := ports.Invoice{Request: s.invoiceText(request, hash), PaymentHash: hash, ExpiresAt: request.ExpiresAt}
	return invoice, s.callNode(func() error {
		s.network.mu.Lock()
		defer s.network.mu.Unlock()
		if s.network.never[request.ID] {
			return fault.New(fault.Conflict, "The invoice was cancelled before it was made.")
		}
		if s.network.invoices[invoice.Request] == nil {
			s.network.invoices[invoice.Request] = &networkInvoice{Invoice: invoice, request: request, owner: s}
		}
		return nil
	})
}

// invoiceText is a BOLT 11 invoice that the node has signed.
func (s *umaSide) invoiceText(request ports.InvoiceRequest, hash [32]byte) string {
	now := s.Clock.Now()
	words := func(n int64, groups int) []byte {
		out := make([]byte, groups)
		for i := groups - 1; i >= 0; i, n = i-1, n>>5 {
			out[i] = byte(n & 31)
		}
		return out
	}
	field := func(tag byte, content []byte) []byte {
		return append([]byte{tag, byte(len(content) >> 5), byte(len(content) & 31)}, content...)
	}
	fiveBits := func(data []byte) []byte {
		groups, err := bech32.ConvertBits(data, 8, 5, true)
		if err != nil {
			s.t.Fatal(err)
		}
		return groups
	}
	secret := sha256.Sum256(hash[:])
	data := words(now.Unix(), 7)
	data = append(data, field(1, fiveBits(hash[:]))...)
	data = append(data, field(16, fiveBits(secret[:]))...)
	data = append(data, field(23, fiveBits(request.DescriptionHash[:]))...)
	data = append(data, field(6, words(int64(request.ExpiresAt.Sub(now)/time.Second), 4))...)
	data = append(data, field(5, []byte{16, 8, 0})...)
	prefix := "lnbcrt" + money.TotalOf((request.Amount.Minor*1000+request.Fraction)*10).String() + "p"
	signed, err := bech32.ConvertBits(data, 5, 8, true)
	if err != nil {
		s.t.Fatal(err)
	}
	digest := sha256.Sum256(append([]byte(prefix), signed...))
	compact := ecdsa.SignCompact(s.node, digest[:], true)
	signature := append(compact[1:], (compact[0]-27)&3)
	text, err := bech32.Encode(prefix, append(data, fiveBits(signature)...))
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// pay pays the invoices of payouts, each once, and reports them to their owners.
func (s *umaSide) pay(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(payouts))
	for i, p := range payouts {
		outcomes[i] = s.payOne(ctx, p)
	}
	return outcomes
}

func (s *umaSide) payOne(ctx context.Context, p ports.Payout) ports.Outcome {
	refused := ports.Outcome{Verdict: ports.Refused, Reason: transaction.LightningFailed, Accepted: true}
	s.network.mu.Lock()
	invoice := s.network.invoices[p.Account.Fields["invoice"]]
	payable := invoice != nil && !invoice.cancelled && p.Transaction.DestinationRail == corridor.Lightning &&
		p.Transaction.Pricing.Received == invoice.request.Amount && s.Clock.Now().Before(invoice.ExpiresAt) &&
		(invoice.paidBy == uuid.Nil || invoice.paidBy == p.Transaction.ID.UUID())
	if payable {
		invoice.paidBy = p.Transaction.ID.UUID()
	}
	s.network.mu.Unlock()
	if !payable {
		return refused
	}
	now := invoice.owner.Clock.Now()
	_, err := invoice.owner.payments.Receive(ctx, transaction.Receipt{ID: ident.NewReceipt(invoice.owner.IDs.New, now),
		PartnerID: invoice.request.ID.String(), Platform: invoice.owner.Platform.ID, Rail: corridor.Lightning,
		Reference: invoice.request.Reference, Amount: invoice.request.Amount, At: now}, nil)
	if err != nil {
		return ports.Outcome{Verdict: ports.Unknown, Text: err.Error()}
	}
	return ports.Outcome{Verdict: ports.Done, Accepted: true}
}

// paid returns how many invoices were paid.
func (n *lightningNetwork) paid() (count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, invoice := range n.invoices {
		if invoice.paidBy != uuid.Nil {
			count++
		}
	}
	return count
}
