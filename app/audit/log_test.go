package audit_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"

	"causeway/adapters/checkpoints"
	"causeway/adapters/encryption"
	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/postgres/ledgerdb"
	"causeway/app/audit"
	"causeway/app/audit/merkle"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

var startTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// fakeClock is a clock that a test moves.
type fakeClock struct{ elapsed atomic.Int64 }

func (c *fakeClock) Now() time.Time { return startTime.Add(time.Duration(c.elapsed.Load())) }

func (c *fakeClock) advance(d time.Duration) { c.elapsed.Add(int64(d)) }

// fakePublisher keeps the sizes of heads in the order in which they came, unless it is away.
type fakePublisher struct {
	mu    sync.Mutex
	err   error
	sizes map[ident.Platform][]int64
}

func (o *fakePublisher) Publish(_ context.Context, heads []ports.SignedCheckpoint) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	for _, h := range heads {
		o.sizes[h.Platform] = append(o.sizes[h.Platform], h.Size)
	}
	return nil
}

type logEnv struct {
	t         testing.TB
	url       string
	db        *postgres.DB
	ledgerDB  *ledgerdb.Store
	clock     *fakeClock
	publisher *fakePublisher
	platform  ident.Platform
	account   ident.InternalAccount
}

var idGenerator = ids.New()

func newLogEnv(t testing.TB) *logEnv {
	t.Helper()
	h := &logEnv{t: t, url: pgtest.New(t), clock: &fakeClock{}, ledgerDB: ledgerdb.New(), publisher: &fakePublisher{sizes: map[ident.Platform][]int64{}}}
	ident.SetUUID(&h.platform, idGenerator.New(startTime))
	ident.SetUUID(&h.account, idGenerator.New(startTime))
	var err error
	if h.db, err = postgres.Open(context.Background(), postgres.Options{URL: h.url, MaxConnections: 12, Clock: h.clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.db.Close)
	return h
}

// newLogService is the sealing of one more process.
func (h *logEnv) newLogService() *audit.Log {
	h.t.Helper()
	key := sha256.Sum256([]byte("master"))
	box, err := encryption.New(key[:])
	if err != nil {
		h.t.Fatal(err)
	}
	quiet, _ := test.NewNullLogger()
	return audit.NewLog(audit.LogConfig{Log: h.db.LedgerLog(), Signer: checkpoints.NewKeyring(h.db.LedgerLog(), box, h.clock, idGenerator), Publisher: h.publisher,
		Clock: h.clock, Logger: logrus.NewEntry(quiet), Interval: time.Hour})
}

func (h *logEnv) post(on ident.Platform, n int) error {
	var postings []ledger.Posting
	for range n {
		postings = append(postings, ledger.Deposit(ledger.Header{ID: idGenerator.New(startTime), Platform: on, Effective: startTime},
			ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: ledger.CustomerAccount(h.account), Amount: money.Amount{Minor: 100, Currency: money.USD}}))
	}
	return pgx.BeginFunc(context.Background(), h.db.Pool(), func(tx pgx.Tx) error { return h.ledgerDB.Post(context.Background(), tx, startTime, postings) })
}

func (h *logEnv) mustPost(n int) {
	h.t.Helper()
	if err := h.post(h.platform, n); err != nil {
		h.t.Fatal(err)
	}
}

func (h *logEnv) checkpointSizes() (sizes []int64) {
	h.t.Helper()
	page, err := h.db.LedgerLog().Checkpoints(context.Background(), h.platform, ports.CheckpointFilter{Ascending: true, Limit: 10_000})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, head := range page.Checkpoints {
		sizes = append(sizes, head.Size)
	}
	return sizes
}

// execAsSuperuser runs statements as somebody whom no trigger stops.
func (h *logEnv) execAsSuperuser(statement string) {
	h.t.Helper()
	pgtest.ExecAsSuperuser(h.t, h.url, statement)
}

func TestSealDue_ConcurrentWithPosting(t *testing.T) {
	t.Parallel()
	// While several post and several seal, on two platforms, every posting becomes the
	// leaf of its number: the last head is that of a tree made of all postings at once.
	h := newLogEnv(t)
	var other ident.Platform
	ident.SetUUID(&other, idGenerator.New(startTime))
	var posters, sealers sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		posters.Go(func() {
			for n := range 25 {
				for _, on := range []ident.Platform{h.platform, other} {
					if err := h.post(on, 1+n%9); err != nil {
						t.Error(err)
					}
				}
			}
		})
		sealers.Go(func() {
			for worker := h.newLogService(); ; {
				if err := worker.SealDue(context.Background()); err != nil {
					t.Error(err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	posters.Wait()
	close(done)
	sealers.Wait()
	if err := h.newLogService().SealDue(t.Context()); err != nil {
		t.Fatal(err)
	}

	for _, on := range []ident.Platform{h.platform, other} {
		tree := merkle.NewTree()
		err := ledgerdb.NewAudit(h.ledgerDB, h.db.Pool()).Snapshot(t.Context(), func(ctx context.Context, view ports.AuditView) error {
			return view.Postings(ctx, on, func(a ports.AuditPosting) error {
				return tree.Add(merkle.LeafHash(ledger.Leaf{Posting: a.WithEntries(), Seq: a.Seq, Recorded: a.Recorded}))
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		root, err := tree.Root()
		if err != nil {
			t.Fatal(err)
		}
		at, err := h.db.LedgerLog().LogStatus(t.Context(), on)
		if err != nil || at.Checkpoint.Size != tree.Size() || at.Checkpoint.Root != root || at.Postings != 3*118 {
			t.Errorf("the log of %s stands at %d of %d postings, %v", on, at.Checkpoint.Size, at.Postings, err)
		}
	}
}

func TestSealDue_OneProcessAtATime(t *testing.T) {
	t.Parallel()
	// While one has a platform's log another passes it by, and what is not finished is
	// as if it had not been begun.
	h := newLogEnv(t)
	h.mustPost(300)
	log, fails := h.db.LedgerLog(), errors.New("the process dies")

	held, err := log.Seal(t.Context(), h.platform, func(ctx context.Context, w ports.LogWriter) error {
		again, err := log.Seal(ctx, h.platform, func(context.Context, ports.LogWriter) error {
			t.Error("two have the log")
			return nil
		})
		if again || err != nil {
			t.Errorf("the second one: %t, %v", again, err)
		}
		full := ports.LogTile{Hashes: make([]byte, 8192)}
		return errors.Join(w.Add(ctx, []ports.LogTile{full}), fails)
	})

	if !held || !errors.Is(err, fails) {
		t.Errorf("held %t, %v", held, err)
	}
	if err := h.newLogService().SealDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sizes := h.checkpointSizes(); !slices.Equal(sizes, []int64{300}) {
		t.Errorf("heads of %v", sizes)
	}
}

func TestSealDue_RefusesChangedPosting(t *testing.T) {
	t.Parallel()
	// A posting that was changed or is missing before it is sealed stops the log of its
	// platform, and of no other, with an error that names it.
	for name, c := range map[string]struct{ damage, says string }{
		"a memo":         {"UPDATE ledger_postings SET memo = 'x' WHERE seq = 3", "number 3, has been changed"},
		"an amount":      {"UPDATE ledger_entries SET amount = 7 WHERE seq = 3", "number 3, has been changed"},
		"entries":        {"DELETE FROM ledger_entries WHERE seq = 3", "number 3, has been changed"},
		"a posting":      {"DELETE FROM ledger_postings WHERE seq = 3", "number 3 is missing"},
		"all of it":      {"DELETE FROM ledger_postings WHERE seq = 3; DELETE FROM ledger_entries WHERE seq = 3", "number 3 is missing"},
		"the last ones":  {"DELETE FROM ledger_postings WHERE seq > 3; DELETE FROM ledger_entries WHERE seq > 3", "2 postings are missing after number 3"},
		"an entry's n":   {"UPDATE ledger_entries SET entry_no = 2 WHERE seq = 3", "number 3, has been changed"},
		"the log's edge": {"INSERT INTO ledger_log_state (platform_id, size, partial_tiles) SELECT platform_id, 2, '\\x00' FROM ledger_clocks", "truncated"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newLogEnv(t)
			h.mustPost(5)
			h.execAsSuperuser(c.damage)
			var other ident.Platform
			ident.SetUUID(&other, uuid.MustParse("ffffffff-0000-7000-8000-000000000001")) // comes after the first
			if err := h.post(other, 1); err != nil {
				t.Fatal(err)
			}

			err := h.newLogService().SealDue(t.Context())

			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("want an error that says %q, got %v", c.says, err)
			}
			if sizes := h.checkpointSizes(); len(sizes) > 0 {
				t.Errorf("heads of %v", sizes)
			}
			if at, err := h.db.LedgerLog().LogStatus(t.Context(), other); err != nil || at.Checkpoint.Size != 1 {
				t.Errorf("the other platform's log stands at %d, %v", at.Checkpoint.Size, err)
			}
		})
	}
}

func TestPublishDue_RetriesWithoutLoss(t *testing.T) {
	t.Parallel()
	// While there is nobody outside, heads wait; then they come out in their order, each
	// once. Heads in the hands of one process are left to it until its lease ends.
	h := newLogEnv(t)
	worker := h.newLogService()
	h.publisher.err = errors.New("no route to host")
	for range 3 {
		h.mustPost(2)
		if err := worker.SealDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := worker.PublishDue(t.Context()); err == nil || !strings.Contains(err.Error(), "no route to host") {
			t.Errorf("publishing to nobody: %v", err)
		}
		h.clock.advance(time.Minute)
	}
	h.publisher.err = nil

	taken, err := h.db.LedgerLog().TakeUnpublished(t.Context(), h.clock.Now(), time.Minute, 100)
	if err != nil || len(taken) != 1 || len(taken[0].Checkpoints) != 3 {
		t.Fatalf("taken %v, %v", taken, err)
	}
	if err := worker.PublishDue(t.Context()); err != nil || len(h.publisher.sizes) > 0 {
		t.Errorf("what another has in hand is published: %v, %v", h.publisher.sizes, err)
	}
	h.clock.advance(time.Minute)
	for range 2 {
		if err := worker.PublishDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}

	if got := h.publisher.sizes[h.platform]; !slices.Equal(got, []int64{2, 4, 6}) {
		t.Errorf("what came outside is %v", got)
	}
	if at, err := h.db.LedgerLog().LogStatus(t.Context(), h.platform); err != nil || at.PublishedSize != 6 {
		t.Errorf("published up to %d, %v", at.PublishedSize, err)
	}
}

func TestPublishDue_ManyCheckpoints(t *testing.T) {
	t.Parallel()
	// However many heads wait, all come out, in their order.
	h := newLogEnv(t)
	worker := h.newLogService()
	var want []int64
	for n := range int64(230) {
		h.mustPost(1)
		if err := worker.SealDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		want = append(want, n+1)
	}
	if err := worker.PublishDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := h.publisher.sizes[h.platform]; !slices.Equal(got, want) {
		t.Errorf("what came outside is %v", got)
	}
}

func TestRun_SealsAndPublishes(t *testing.T) {
	t.Parallel()
	// A worker seals what is there when it starts, and stops when it is told to.
	h := newLogEnv(t)
	h.mustPost(5)
	came := make(chan struct{})
	worker := h.newLogService()
	worker.Publisher = publisherFunc(func([]ports.SignedCheckpoint) error { close(came); return nil })
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { worker.Run(ctx) })
	<-came
	stop()
	all.Wait()
}

type publisherFunc func([]ports.SignedCheckpoint) error

func (f publisherFunc) Publish(_ context.Context, heads []ports.SignedCheckpoint) error {
	return f(heads)
}

func TestLog_AppendOnly(t *testing.T) {
	t.Parallel()
	// Neither the service's role nor the owner of the tables changes tiles, heads or keys.
	h := newLogEnv(t)
	h.mustPost(300)
	if err := h.newLogService().SealDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	owner, err := pgxpool.New(t.Context(), h.url)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	for _, table := range []string{"ledger_log_tiles", "ledger_log_checkpoints", "ledger_log_keys"} {
		for _, statement := range []string{"DELETE FROM %s", "TRUNCATE %s", "UPDATE %s SET platform_id = platform_id"} {
			if table == "ledger_log_keys" && strings.HasPrefix(statement, "UPDATE") {
				statement = "UPDATE %s SET public_key = public_key"
			}
			statement = fmt.Sprintf(statement, table)
			if _, err := h.db.Pool().Exec(t.Context(), statement); err == nil || !strings.Contains(err.Error(), "permission denied") {
				t.Errorf("the service may %s: %v", statement, err)
			}
			if strings.Contains(statement, "public_key") {
				continue // the owner may end a key, and cannot be kept from more
			}
			if _, err := owner.Exec(t.Context(), statement); err == nil || !strings.Contains(err.Error(), "append-only") {
				t.Errorf("the owner may %s: %v", statement, err)
			}
		}
	}
}
