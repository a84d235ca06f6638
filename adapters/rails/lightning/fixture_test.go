package lightning_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/postgres/storage"
	"causeway/adapters/rails/crashtest"
	"causeway/adapters/rails/lightning"
	"causeway/adapters/rails/lightning/lndtest"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/ident"
	core "causeway/core/lightning"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
	"causeway/ports/railtest"
)

// world is a node with a payee on its network, and a store.
type world struct {
	t        testing.TB
	node     *lndtest.Node
	payee    *lndtest.Payee
	db       *postgres.DB
	clock    *portstest.FakeClock
	platform ident.Platform
	// phoenixd: the node has the interface of phoenixd, and not of LND.
	phoenixd bool
	settings map[string]string
	macaroon string
	password string
	cursor   string
	seen     ports.RailReport // all that was reported
	poller   *lightning.Rail
	opened   []func() // that close them

	mu     sync.Mutex
	silent bool
	lose   bool // the next answer about a payment
}

var generator = ids.New()

// newWorld returns a world whose node holds a hundredth of a bitcoin.
func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOf(t, false)
}

// bothNodes runs a test with a world of each kind of node.
func bothNodes(t *testing.T, run func(t *testing.T, w *world)) {
	t.Helper()
	for name, phoenixd := range map[string]bool{"LND": false, "phoenixd": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, newWorldOf(t, phoenixd))
		})
	}
}

func newWorldOf(t testing.TB, phoenixd bool) *world {
	t.Helper()
	w := &world{t: t, node: lndtest.New(core.Regtest, 1_000_000), payee: lndtest.NewPayee(core.Regtest), phoenixd: phoenixd,
		macaroon: lndtest.Macaroon, password: lndtest.Password,
		clock: portstest.NewFakeClock(time.Now().UTC().Truncate(time.Second)), settings: map[string]string{}}
	w.node.Now = w.clock.Now
	w.node.AnswersWithin = 20 * time.Millisecond // only payments that have not ended: a refusal must arrive on a slow machine too
	db, err := postgres.Open(t.Context(), postgres.Options{URL: pgtest.SimulateClock(t, pgtest.New(t)), AllPlatforms: true, MaxConnections: 8,
		Clock: w.clock, IDs: generator})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	w.db, w.platform = db, newPlatform(t, db, w.clock.Now())
	w.poller = w.open(lndtest.Open)
	return w
}

func newPlatform(t testing.TB, db *postgres.DB, now time.Time) ident.Platform {
	t.Helper()
	p, err := platform.New(ident.NewPlatform(generator.New, now), "Here", platform.Production, false, now)
	if err != nil {
		t.Fatal(err)
	}
	portstest.MustDo(t, db, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePlatform(ctx, p) })
	return p.ID
}

// connection is the name of the connection to the node.
const connection = "lightning"

// open returns the adapter of one more process.
func (w *world) open(g lndtest.Gate) *lightning.Rail { return w.openOn(w.db.Pool(), g) }

func (w *world) openOn(pool storage.Pool, g lndtest.Gate) *lightning.Rail {
	w.t.Helper()
	serve, settings := w.node.Serve, map[string]string{"macaroon": "env:MACAROON", "network": "regtest"}
	if w.phoenixd {
		serve, settings = w.node.ServePhoenixd, map[string]string{"node": "PHOENIXD", "password": "env:PASSWORD", "network": "regtest"}
	}
	server := serve(w.t, func(call string) (fails, lost bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		fails, lost = g(call)
		if w.lose && pays(call) {
			w.lose, lost = false, true
		}
		return fails || w.silent, lost
	})
	settings["url"] = server.URL
	for name, value := range w.settings {
		settings[name] = value
	}
	r, err := lightning.New(lightning.Config{
		Connection: rail.Connection{Name: connection, Adapter: rail.Lightning, Rails: []corridor.Rail{corridor.Lightning},
			Currencies: []money.Currency{money.BTC}, Settings: settings},
		Store: lightning.NewStore(storage.New(pool, w.clock)), Clock: w.clock,
		Secrets: portstest.Secrets{"env:MACAROON": w.macaroon, "env:PASSWORD": w.password}})
	if err != nil {
		w.t.Fatal(err)
	}
	r.SetWaits(20*time.Millisecond, 300*time.Millisecond)
	w.t.Cleanup(func() { _ = r.Close() })
	w.opened = append(w.opened, func() {
		_ = r.Close()
		server.CloseClientConnections()
		server.Close()
	})
	return r
}

// pays reports whether a call of a node pays.
func pays(call string) bool { return call == "/v2/router/send" || call == "/payinvoice" }

// handover records the payments of the connection.
func (w *world) handover() *portstest.RailHandover {
	return portstest.NewRailHandover(w.db, connection, w.clock)
}

// rail returns the adapter of a process that records payments before it sends them.
func (w *world) rail() ports.Rail { return w.handover().Rail(w.open(lndtest.Open)) }

// poll reads the feed until there is nothing more, and returns what is new.
func (w *world) poll(ctx context.Context) (all ports.RailReport, err error) {
	for more := true; more; {
		piece, err := w.poller.Poll(ctx, w.cursor)
		if err != nil {
			return all, err
		}
		w.cursor, more = piece.Cursor, piece.More
		all.Receipts, all.Changed, all.Fees = append(all.Receipts, piece.Receipts...), append(all.Changed, piece.Changed...),
			append(all.Fees, piece.Fees...)
		all.Contradictions = append(all.Contradictions, piece.Contradictions...)
	}
	w.seen.Receipts, w.seen.Changed, w.seen.Fees = append(w.seen.Receipts, all.Receipts...), append(w.seen.Changed, all.Changed...),
		append(w.seen.Fees, all.Fees...)
	w.seen.Contradictions = append(w.seen.Contradictions, all.Contradictions...)
	return all, nil
}

func (w *world) mustPoll() ports.RailReport {
	w.t.Helper()
	all, err := w.poll(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// run lets time pass, payments arrive, and the feed be read.
func (w *world) run() {
	w.t.Helper()
	w.clock.Advance(time.Minute)
	w.node.Step()
	w.mustPoll()
}

func invoiceAccount(text string) account.External {
	return account.External{Currency: money.BTC, Type: account.LightningType, Fields: map[string]string{"invoice": text}}
}

func addressAccount(address string) account.External {
	return account.External{Currency: money.BTC, Type: account.LightningType, Fields: map[string]string{"lightningAddress": address}}
}

// offerAccount is that of an offer (BOLT 12).
var offerAccount = account.External{Currency: money.BTC, Type: account.LightningType,
	Fields: map[string]string{"bolt12": "lno1pqps7sjqpgtyzm"}}

func littleID(kind byte, n int) uuid.UUID {
	return uuid.UUID{0: kind, 6: 0x70, 8: 0x80, 14: byte(n >> 8), 15: byte(n)}
}

// payoutTo returns a payout to an account.
func (w *world) payoutTo(n int, satoshis int64, to account.External) ports.Payout {
	p := ports.Payout{Account: to, Transaction: transaction.Transaction{Platform: w.platform, DestinationRail: corridor.Lightning,
		DestinationAccount: "chains/LIGHTNING",
		State:              transaction.State{Status: transaction.Processing, Stage: transaction.Converted},
		Pricing:            transaction.Pricing{Received: money.Amount{Minor: satoshis, Currency: money.BTC}}}}
	p.Transaction.ID.SetUUID(littleID(1, n))
	return p
}

// invoice returns an invoice of the payee for a payout.
func (w *world) invoice(n int, satoshis int64) string {
	return w.payee.Invoice(fmt.Sprint("payout ", n), satoshis, w.clock.Now(), 24*time.Hour)
}

func (w *world) payout(n int, satoshis int64) ports.Payout {
	return w.payoutTo(n, satoshis, invoiceAccount(w.invoice(n, satoshis)))
}

func hashOf(t interface{ Fatal(args ...any) }, text string) [32]byte {
	i, err := core.ParseInvoice(text)
	if err != nil {
		t.Fatal(err)
	}
	return i.PaymentHash
}

// fixture is the world of the checks that every rail passes.
type fixture struct {
	*world
	*portstest.RailHandover
	reports railtest.Reports
	texts   map[uuid.UUID]string
}

func newFixture(phoenixd bool) func(t *testing.T) railtest.Fixture {
	return func(t *testing.T) railtest.Fixture {
		t.Parallel()
		w := newWorldOf(t, phoenixd)
		return &fixture{world: w, RailHandover: w.handover(), texts: map[uuid.UUID]string{}}
	}
}

func (f *fixture) Features() railtest.Features {
	return railtest.Features{Payouts: []railtest.Course{railtest.Settles, railtest.Rejected, railtest.RefusedForNow, railtest.AnswerLost,
		railtest.Silent},
		Refunds: []railtest.Course{railtest.Rejected}, Collections: []railtest.Course{railtest.Rejected},
		CountsMoney: true, Crashes: true, Reports: true, PartnerIDs: true, Codes: true, Stops: true}
}

func (f *fixture) Open(context.Context) (ports.Rail, error) { return f.rail(), nil }

func (f *fixture) OpenCrashing(_ context.Context, effects int) (ports.Rail, func() bool, error) {
	c := crashtest.New(effects)
	return f.handover().Rail(f.openOn(c.Pool(f.db.Pool()), c.Gate(pays))), c.Crashed, nil
}

func (f *fixture) Now() time.Time { return f.clock.Now() }

func (f *fixture) Payout(n int, c railtest.Course) ports.Payout {
	p := f.payout(n, 1_000+int64(n))
	text := p.Account.Fields["invoice"]
	if known := f.texts[p.Transaction.ID.UUID()]; known != "" {
		p.Account, text = invoiceAccount(known), known
	}
	f.texts[p.Transaction.ID.UUID()] = text
	f.mu.Lock()
	f.silent, f.lose = f.silent || c == railtest.Silent, f.lose || c == railtest.AnswerLost
	f.mu.Unlock()
	switch c {
	case railtest.Rejected:
		f.node.SetFate(text, lndtest.NoRoute)
	case railtest.RefusedForNow:
		f.node.SetBalance(10)
	case railtest.Settles, railtest.AnswerLost, railtest.Silent, railtest.TakenBack:
	}
	return p
}

func (f *fixture) Collection(n int, _ railtest.Course) ports.Collection {
	c := ports.Collection{Account: invoiceAccount(f.invoice(n, 5)), Transaction: transaction.Transaction{Platform: f.platform,
		Pricing: transaction.Pricing{Sent: money.Amount{Minor: 5, Currency: money.BTC}}}}
	c.Transaction.ID.SetUUID(littleID(2, n))
	return c
}

func (f *fixture) Refund(n int, _ railtest.Course) ports.Refund {
	return ports.Refund{ID: littleID(3, n), Platform: f.platform, Rail: corridor.Lightning, Reference: "REF",
		Amount: money.Amount{Minor: 50, Currency: money.BTC}}
}

func (f *fixture) Run(ctx context.Context) error {
	f.clock.Advance(time.Minute)
	f.node.Step()
	if f.reports == railtest.Twice || f.reports == railtest.Reversed { // as if no cursor had been stored
		f.cursor = ""
	}
	_, err := f.poll(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.silent {
		return nil
	}
	return err
}

func (f *fixture) SetReports(r railtest.Reports) { f.reports = r }

func (f *fixture) Relent(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.silent = false
	f.node.SetBalance(1_000_000)
	return nil
}

func (f *fixture) TakeBack(context.Context, uuid.UUID) error {
	return errors.New("nobody returns a payment")
}

func (f *fixture) Moved(_ context.Context, id uuid.UUID) (moved []money.Amount, err error) {
	text, known := f.texts[id]
	if !known {
		return nil, nil
	}
	satoshis, _ := f.node.Paid(hashOf(f.t, text))
	for _, n := range satoshis {
		moved = append(moved, money.Amount{Minor: n, Currency: money.BTC})
	}
	return moved, nil
}

func (f *fixture) OriginalOf(context.Context, uuid.UUID) (string, error) { return "", nil }

func (f *fixture) Close() error { return nil }

func TestRailPort(t *testing.T) {
	t.Parallel()
	// The checks of every rail, with a crash after each effect. Each has a world of its own, so they run beside each other.
	for name, phoenixd := range map[string]bool{"LND": false, "phoenixd": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			portstest.Rail(t, newFixture(phoenixd))
		})
	}
}
