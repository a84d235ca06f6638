package bitcoin_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/postgres/storage"
	"causeway/adapters/rails/bitcoin"
	"causeway/adapters/rails/bitcoin/devnet"
	"causeway/adapters/rails/crashtest"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
	"causeway/ports/railtest"
)

// references are those that have been shown.
type references struct {
	mu   sync.Mutex
	list []ports.DepositReference
}

func (r *references) DepositReferences(_ context.Context, _ []ident.Platform, _ []money.Currency, after uuid.UUID,
	limit int) ([]ports.DepositReference, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []ports.DepositReference
	for _, reference := range r.list {
		if reference.ID.String() > after.String() && len(found) < limit {
			found = append(found, reference)
		}
	}
	return found, nil
}

// world is a chain with a hot wallet, the wallet of somebody who pays, and a store.
type world struct {
	t          testing.TB
	node       *devnet.Node
	hot, payer *devnet.Wallet
	db         *postgres.DB
	store      *bitcoin.Store
	clock      *portstest.FakeClock
	platform   ident.Platform
	references *references
	settings   map[string]string
	passphrase string // that the service knows
	cursor     string
	seen       ports.RailReport // all that was reported
	poller     *recorded
	requested  map[uuid.UUID]string // addresses of payments

	mu     sync.Mutex
	silent bool
	lose   bool // the next answer to a transaction
}

// newWorld returns a world whose hot wallet has so many coins of 0.1 bitcoin.
func newWorld(t testing.TB, coins int) *world {
	t.Helper()
	w := &world{t: t, hot: devnet.NewWallet(t, "hot "+t.Name()), payer: devnet.NewWallet(t, "payer"),
		clock:      portstest.NewFakeClock(time.Now().UTC().Truncate(time.Second)),
		references: &references{}, settings: map[string]string{}, requested: map[uuid.UUID]string{}}
	w.node = devnet.StartNode(t, w.payer.NewKey())
	w.hot.Node, w.payer.Node = w.node, w.node
	w.openStore()
	if coins > 0 {
		amounts := map[string]int64{}
		for range coins {
			amounts[w.hot.Address()] = 10_000_000
		}
		w.payer.Pay(t, "10", amounts)
		w.node.Mine(t, 3)
	}
	w.poller = w.open(devnet.Open)
	return w
}

func (w *world) openStore() {
	w.t.Helper()
	w.db = openDatabase(w.t, w.clock)
	w.store, w.platform = bitcoin.NewStore(w.db.Storage()), newPlatform(w.t, w.db, w.clock.Now())
}

// openDatabase opens a new database whose clock is simulated.
func openDatabase(t testing.TB, clock ports.Clock) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Options{URL: pgtest.SimulateClock(t, pgtest.New(t)), AllPlatforms: true, MaxConnections: 8,
		Clock: clock, IDs: generator})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

var generator = ids.New()

func newPlatform(t testing.TB, db *postgres.DB, now time.Time) ident.Platform {
	t.Helper()
	p, err := platform.New(ident.NewPlatform(generator.New, now), "Here", platform.Production, false, now)
	if err != nil {
		t.Fatal(err)
	}
	portstest.MustDo(t, db, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePlatform(ctx, p) })
	return p.ID
}

// open returns the adapter of one more process.
func (w *world) open(g devnet.Gate) *recorded { return w.openOn(w.db.Pool(), g) }

func (w *world) openOn(pool storage.Pool, g devnet.Gate) *recorded {
	w.t.Helper()
	url := w.hot.Serve(w.t, func(method string) (fails, lost bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		fails, lost = g(method)
		if lose := w.lose && method == "sendrawtransaction"; lose {
			w.lose, lost = false, true
		}
		return fails || w.silent, lost
	})
	settings := map[string]string{"url": url, "wallet": "hot", "user": "causeway", "password": "env:RPC", "network": "regtest",
		"depositXpub": devnet.DepositXpub, "depositKey": "env:KEY"}
	for name, value := range w.settings {
		settings[name] = value
	}
	r, err := bitcoin.New(bitcoin.Config{Connection: rail.Connection{Name: "bitcoin-hot", Adapter: rail.Bitcoin, Settings: settings},
		Store: bitcoin.NewStore(storage.New(pool, w.clock)), References: w.references, Clock: w.clock,
		Secrets: portstest.Secrets{"env:RPC": "hunter2\n", "env:WALLET": w.passphrase + "\n", "env:KEY": devnet.DepositXprv + "\n"}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = r.Close() })
	return &recorded{opened{r}, portstest.HandingOver{To: r, Handover: w.handover()}}
}

// handover records the payments of the wallet.
func (w *world) handover() *portstest.RailHandover {
	return portstest.NewRailHandover(w.db, "bitcoin-hot", w.clock)
}

// recorded is the adapter of a process. Payments are recorded as handed over before they are sent.
type recorded struct {
	opened
	portstest.HandingOver
}

type opened struct{ *bitcoin.Rail }

// show returns the address of a reference that is shown to a payer.
func (w *world) show(reference string) string {
	w.t.Helper()
	instructions, err := w.poller.Funding(w.platform, "Ana Silva", reference, money.BTC)
	if err != nil || len(instructions) != 1 {
		w.t.Fatalf("%v, %v", instructions, err)
	}
	id := uuid.Must(uuid.NewV7())
	w.references.mu.Lock()
	w.references.list = append(w.references.list, ports.DepositReference{Platform: w.platform, ID: id, Reference: reference,
		Currency: money.BTC, CreatedAt: w.clock.Now()})
	w.references.mu.Unlock()
	address, _ := instructions[0].Info["address"].(string)
	return address
}

// poll reads the feed until there is nothing more, and returns what is new.
func (w *world) poll() (all ports.RailReport) {
	w.t.Helper()
	all, err := w.pollOnce(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

func (w *world) pollOnce(ctx context.Context) (all ports.RailReport, err error) {
	for more := true; more; {
		piece, err := w.poller.Poll(ctx, w.cursor)
		if err != nil {
			return all, err
		}
		w.cursor, more = piece.Cursor, piece.More
		all.Receipts, all.Reversals = append(all.Receipts, piece.Receipts...), append(all.Reversals, piece.Reversals...)
		all.Changed, all.Fees = append(all.Changed, piece.Changed...), append(all.Fees, piece.Fees...)
		all.Contradictions = append(all.Contradictions, piece.Contradictions...)
	}
	w.seen.Receipts, w.seen.Reversals = append(w.seen.Receipts, all.Receipts...), append(w.seen.Reversals, all.Reversals...)
	w.seen.Changed, w.seen.Fees = append(w.seen.Changed, all.Changed...), append(w.seen.Fees, all.Fees...)
	return all, nil
}

// addressFor returns an address of somebody else, another one for each id.
func (w *world) addressFor(id uuid.UUID) string {
	key := sha256.Sum256(id[:])
	return w.payer.Network.WitnessAddress(append([]byte{2}, key[:]...))
}

func external(address string) account.External {
	return account.External{Currency: money.BTC, Type: account.BitcoinAddress, Fields: map[string]string{"address": address}}
}

func (w *world) payout(n int, satoshis int64, address string) ports.Payout {
	id := uuid.UUID(devnet.LittleID(1, n))
	if address == "" {
		address = w.addressFor(id)
	}
	w.requested[id] = address
	p := ports.Payout{Account: external(address), Transaction: transaction.Transaction{Platform: w.platform, DestinationRail: "BITCOIN",
		DestinationAccount: "chains/BITCOIN",
		State:              transaction.State{Status: transaction.Processing, Stage: transaction.Converted},
		Pricing:            transaction.Pricing{Received: money.Amount{Minor: satoshis, Currency: money.BTC}}}}
	p.Transaction.ID.SetUUID(id)
	return p
}

// paid returns the amounts that the chain has paid to an address, the smallest first.
func (w *world) paid(ctx context.Context, address string) (amounts []int64, err error) {
	script, err := w.payer.Network.Script(address)
	if err != nil {
		return nil, nil //nolint:nilerr // nobody can pay to an address of another network
	}
	var tip int64
	if err := w.node.Call(ctx, &tip, "getblockcount"); err != nil {
		return nil, err
	}
	for height := int64(devnet.SegWitHeight); height <= tip; height++ {
		hash, err := w.node.HashAt(ctx, height)
		if err != nil {
			return nil, err
		}
		b, err := w.node.Block(ctx, hash)
		if err != nil {
			return nil, err
		}
		for _, tx := range b.Txs {
			for _, o := range devnet.OutputsOf(tx.Hex) {
				if string(o.Script) == string(script) {
					amounts = append(amounts, o.Satoshis)
				}
			}
		}
	}
	slices.Sort(amounts)
	return amounts, nil
}

// fixture is the world of the checks that every rail passes.
type fixture struct {
	*world
	*portstest.RailHandover
	reports railtest.Reports
}

func (f *fixture) Features() railtest.Features {
	courses := []railtest.Course{railtest.Settles, railtest.Rejected, railtest.RefusedForNow, railtest.AnswerLost, railtest.Silent}
	return railtest.Features{Currencies: []money.Currency{money.BTC}, Payouts: courses, Refunds: courses,
		Collections: []railtest.Course{railtest.Rejected},
		CountsMoney: true, Crashes: true, Reports: true, PartnerIDs: true, Stops: true}
}

func (f *fixture) Open(context.Context) (ports.Rail, error) { return f.open(devnet.Open), nil }

func isEffect(method string) bool {
	return slices.Contains([]string{"lockunspent", "sendrawtransaction", "importdescriptors", "rescanblockchain"}, method)
}

func (f *fixture) OpenCrashing(_ context.Context, effects int) (ports.Rail, func() bool, error) {
	c := crashtest.New(effects)
	return f.openOn(c.Pool(f.db.Pool()), c.Gate(isEffect)), c.Crashed, nil
}

func (f *fixture) Now() time.Time { return f.clock.Now() }

// set sets the world up for a course.
func (f *fixture) set(c railtest.Course) {
	f.mu.Lock()
	f.silent, f.lose = c == railtest.Silent, c == railtest.AnswerLost
	f.mu.Unlock()
	f.hot.Mu.Lock()
	f.hot.Poor = c == railtest.RefusedForNow
	f.hot.Mu.Unlock()
}

func (f *fixture) Payout(n int, c railtest.Course) ports.Payout {
	if c != railtest.Settles && c != railtest.Rejected {
		f.set(c)
	}
	if c == railtest.Rejected {
		return f.payout(n, 100_000, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4") // of another network
	}
	return f.payout(n, 100_000+int64(n), "")
}

func (f *fixture) Collection(n int, _ railtest.Course) ports.Collection {
	c := ports.Collection{Account: external(f.addressFor(devnet.LittleID(2, n))), Transaction: transaction.Transaction{Platform: f.platform,
		Pricing: transaction.Pricing{Sent: money.Amount{Minor: 100_000, Currency: money.BTC}}}}
	c.Transaction.ID.SetUUID(devnet.LittleID(2, n))
	return c
}

func (f *fixture) Refund(n int, c railtest.Course) ports.Refund {
	if c != railtest.Settles && c != railtest.Rejected {
		f.set(c)
	}
	refund := ports.Refund{ID: devnet.LittleID(3, n), Platform: f.platform, Rail: "BITCOIN", Reference: "REF",
		Amount: money.Amount{Minor: 50_000 + int64(n), Currency: money.BTC}}
	if c != railtest.Rejected {
		payer := external(f.addressFor(refund.ID))
		refund.Original.Payer = &payer
		f.requested[refund.ID] = payer.Identifier()
	}
	return refund
}

func (f *fixture) Run(ctx context.Context) error {
	f.clock.Advance(time.Minute)
	f.node.Mine(f.t, 1)
	f.mu.Lock()
	silent := f.silent
	f.mu.Unlock()
	if f.reports == railtest.Twice || f.reports == railtest.Reversed { // as if no cursor had been stored
		f.cursor = ""
	}
	// The feed waits for a process that vanished, and a node that is silent fails it.
	if _, err := f.pollOnce(ctx); err != nil && !silent && !f.hot.Poor {
		return err
	}
	return nil
}

func (f *fixture) SetReports(r railtest.Reports) { f.reports = r }

func (f *fixture) Relent(context.Context) error {
	f.set(railtest.Settles)
	return nil
}

func (f *fixture) TakeBack(context.Context, uuid.UUID) error {
	return errors.New("nobody returns bitcoin")
}

func (f *fixture) Moved(ctx context.Context, id uuid.UUID) (moved []money.Amount, err error) {
	address, ok := f.requested[id]
	if !ok {
		return nil, nil
	}
	amounts, err := f.paid(ctx, address)
	for _, satoshis := range amounts {
		moved = append(moved, money.Amount{Minor: satoshis, Currency: money.BTC})
	}
	return moved, err
}

func (f *fixture) OriginalOf(context.Context, uuid.UUID) (string, error) { return "", nil }

func (f *fixture) Close() error { return nil }

func TestRailPort(t *testing.T) {
	t.Parallel()
	// The checks of every rail, with a crash after each effect, on a real chain. Each has a world of its own, so they run
	// beside each other.
	portstest.Rail(t, func(t *testing.T) railtest.Fixture {
		t.Parallel()
		w := newWorld(t, 40)
		return &fixture{world: w, RailHandover: w.handover()}
	})
}
