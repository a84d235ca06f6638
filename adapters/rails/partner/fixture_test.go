package partner_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/adapters/rails/partner"
	"causeway/adapters/rails/partner/partnertest"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/signedmessage"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
	"causeway/ports/railtest"
)

const (
	secret        = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	anotherSecret = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="
)

var now = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// newLog returns a logger and what it has logged.
func newLog() (*logrus.Logger, *safeBuffer) {
	log, buffer := logrus.New(), &safeBuffer{}
	log.SetOutput(buffer)
	return log, buffer
}

// safeBuffer is a text that is written to concurrently.
type safeBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// bankRail returns the connection to a sidecar.
func bankRail(url string) rail.Connection {
	return rail.Connection{Name: "bank", Adapter: rail.Partner, Rails: nil, Currencies: []money.Currency{"USD"}, Settings: map[string]string{
		"url": url, "secret": "file:/secret", "timeout": "1s", "accountHolder": "Causeway Client Money",
		"receive.USD": `{"accountType":"US_ACCOUNT","accountNumber":"4210000017","routingNumber":"021000021"}`,
	}}
}

// world is a sidecar, and processes of the service that are connected to it.
type world struct {
	clock   *worldClock
	sidecar *partnertest.Sidecar
	courses sync.Map // of payments, by id
	server  *httptest.Server
	proxies []*httptest.Server
	rails   []*partner.Rail
	// departures are those of all processes.
	departures portstest.RailDepartures
	*portstest.RailHandover
	store    *memoryEvents
	callback *httptest.Server
	sent     int // events that were sent
	cursor   string
	reports  railtest.Reports
}

var _ railtest.Fixture = (*world)(nil)

func newWorld(t testing.TB) *world {
	t.Helper()
	secrets, err := signedmessage.Parse(secret)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{clock: &worldClock{now: now}, store: &memoryEvents{}, reports: railtest.Once}
	w.RailHandover = &portstest.RailHandover{Records: &w.departures, Connection: "bank", Clock: w.clock}
	w.sidecar = partnertest.New(secrets, w.clock.Now)
	w.sidecar.Course = w.course
	w.server = httptest.NewServer(w.sidecar)
	log, _ := newLog()
	mux := http.NewServeMux()
	mux.Handle("POST "+partner.CallbackPath, &partner.Callback{Secrets: portstest.Secrets{"file:/secret": secret}, Events: w.store,
		Clock: w.clock, Log: log,
		Connection: func(context.Context, string) (rail.Connection, error) { return bankRail(w.server.URL), nil }})
	w.callback = httptest.NewServer(mux)
	return w
}

// course returns the course of a payment at the bank.
func (w *world) course(p partner.Payment) partnertest.Course {
	c, found := w.courses.Load(p.ID)
	if !found {
		return partnertest.TestValue(p)
	}
	return map[railtest.Course]partnertest.Course{
		railtest.Settles: partnertest.Settles, railtest.TakenBack: partnertest.Settles, railtest.Rejected: partnertest.Rejects,
		railtest.AnswerLost: partnertest.LosesAnswer, railtest.Silent: partnertest.Silent, railtest.RefusedForNow: partnertest.Busy,
	}[c.(railtest.Course)]
}

var allCourses = []railtest.Course{railtest.Settles, railtest.Rejected, railtest.RefusedForNow, railtest.AnswerLost, railtest.Silent,
	railtest.TakenBack}

func (w *world) Features() railtest.Features {
	return railtest.Features{Currencies: []money.Currency{"USD"}, Payouts: allCourses, Collections: allCourses, Refunds: allCourses[:5],
		CountsMoney: true, Crashes: true, Reports: true, PartnerIDs: true, Codes: true, NamesOriginal: true, Stops: true}
}

func (w *world) Open(context.Context) (ports.Rail, error) {
	opened, err := w.open(w.server.URL)
	if err != nil {
		return nil, err
	}
	return w.Rail(opened), nil
}

func (w *world) open(url string) (*partner.Rail, error) {
	log := logrus.New()
	log.SetOutput(io.Discard)
	opened, err := partner.Open(partner.Config{Connection: bankRail(url), Secrets: portstest.Secrets{"file:/secret": secret}, Events: w.store,
		Departures: &w.departures, Clock: w.clock, Log: log})
	if err == nil {
		w.rails = append(w.rails, opened)
	}
	return opened, err
}

// OpenCrashing connects through a proxy that passes on some requests.
func (w *world) OpenCrashing(_ context.Context, effects int) (ports.Rail, func() bool, error) {
	var mu sync.Mutex
	passed, crashed := 0, false
	proxy := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		mu.Lock()
		passed++
		stop := passed > effects
		crashed = crashed || stop
		mu.Unlock()
		if stop {
			panic(http.ErrAbortHandler)
		}
		w.sidecar.ServeHTTP(out, r)
	}))
	w.proxies = append(w.proxies, proxy)
	opened, err := w.open(proxy.URL)
	return w.Rail(opened), func() bool { mu.Lock(); defer mu.Unlock(); return crashed }, err
}

func (w *world) Now() time.Time { return w.clock.Now() }

// paymentID returns the id of a payment.
func (w *world) paymentID(kind byte, n int, c railtest.Course) uuid.UUID {
	id := uuid.UUID{6: 0x70, 8: 0x80, 12: kind, 13: byte(slices.Index(allCourses, c)), 14: byte(n >> 8), 15: byte(n)}
	w.courses.Store(id.String(), c)
	return id
}

var platformID = func() (p ident.Platform) {
	p.SetUUID(uuid.MustParse("0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"))
	return p
}()

// usAccount is the account of a person.
func usAccount() account.External {
	return account.External{Type: account.USAccount, Currency: "USD", Fields: map[string]string{"accountNumber": "123456789",
		"routingNumber": "021000021"},
		Beneficiary: &account.Beneficiary{Type: account.Individual, FullName: "Ana Silva", CountryOfResidence: "US"}}
}

func (w *world) Payout(n int, c railtest.Course) ports.Payout {
	p := ports.Payout{Account: usAccount(), Transaction: transaction.Transaction{Platform: platformID,
		State:           transaction.State{Status: transaction.Processing, Stage: transaction.Converted},
		DestinationRail: "RTP", DestinationAccount: "rails/RTP", Reference: "REF",
		Pricing: transaction.Pricing{Received: money.Amount{Minor: 10_00 + int64(n)*100, Currency: "USD"}}, UpdatedAt: now}}
	p.Transaction.ID.SetUUID(w.paymentID(1, n, c))
	return p
}

func (w *world) Collection(n int, c railtest.Course) ports.Collection {
	out := ports.Collection{Account: usAccount(), Transaction: transaction.Transaction{Platform: platformID, Type: transaction.Incoming,
		State:      transaction.Initial,
		SourceRail: "ACH", SourceAccount: "rails/ACH",
		Pricing: transaction.Pricing{Sent: money.Amount{Minor: 20_00 + int64(n)*100, Currency: "USD"}}, UpdatedAt: now}}
	out.Transaction.ID.SetUUID(w.paymentID(2, n, c))
	return out
}

func (w *world) Refund(n int, c railtest.Course) ports.Refund {
	payer := usAccount()
	return ports.Refund{ID: w.paymentID(3, n, c), Platform: platformID, Rail: "RTP", Reference: "REF",
		Amount:   money.Amount{Minor: 30_00 + int64(n)*100, Currency: "USD"},
		Original: ports.Original{PartnerID: fmt.Sprintf("R-%d", n), Payer: &payer}}
}

// Run lets the bank work for a minute, and its events arrive by both ways.
func (w *world) Run(ctx context.Context) error {
	w.clock.add(time.Minute)
	w.sidecar.Step()
	events := w.sidecar.Events(w.sent)
	w.sent += len(events)
	if w.reports == railtest.Reversed {
		slices.Reverse(events)
	}
	times := 1
	if w.reports == railtest.Twice {
		times = 2
	}
	for range times {
		for _, e := range events {
			if status := w.sidecar.Send(ctx, w.callback.URL+strings.Replace(partner.CallbackPath, "{connection}", "bank", 1),
				e); status != http.StatusNoContent {
				return fmt.Errorf("event %s was answered with %d", e.ID, status)
			}
		}
	}
	if len(w.rails) == 0 {
		return nil
	}
	if report, err := w.rails[len(w.rails)-1].Poll(ctx, w.cursor); err == nil { // the last process may be one that has crashed
		w.cursor = report.Cursor
	}
	return nil
}

func (w *world) SetReports(r railtest.Reports) { w.reports = r }

func (w *world) Relent(context.Context) error {
	w.sidecar.Relent()
	return nil
}

func (w *world) TakeBack(_ context.Context, id uuid.UUID) error {
	return w.sidecar.TakeBack(id.String())
}

func (w *world) Moved(_ context.Context, id uuid.UUID) (amounts []money.Amount, err error) {
	for _, a := range w.sidecar.Moved(id.String()) {
		amounts = append(amounts, money.Amount{Minor: int64(a.Minor), Currency: money.Currency(a.Currency)})
	}
	return amounts, nil
}

func (w *world) OriginalOf(_ context.Context, id uuid.UUID) (string, error) {
	p, found := w.sidecar.Payment(id.String())
	if !found || p.Original == nil {
		return "", fmt.Errorf("refund %s was not received", id)
	}
	return p.Original.PartnerID, nil
}

func (w *world) Close() error {
	for _, r := range w.rails {
		_ = r.Close()
	}
	for _, server := range append(w.proxies, w.callback, w.server) {
		server.Close()
	}
	return nil
}

func TestRail_Port(t *testing.T) {
	t.Parallel()
	// The adapter passes the suite of all rails, against a bank behind the contract.
	portstest.Rail(t, func(t *testing.T) railtest.Fixture { return newWorld(t) })
}
