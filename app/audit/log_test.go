package audit_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/checkpoints"
	"causeway/adapters/encryption"
	"causeway/adapters/postgres/ledgerdb"
	"causeway/app/audit"
	"causeway/app/audit/merkle"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// fakePublisher records the sizes of published checkpoints in their order, and the last note, or fails with err.
type fakePublisher struct {
	mu    sync.Mutex
	err   error
	sizes map[ident.Platform][]int64
	last  map[ident.Platform]string
}

func (f *fakePublisher) Newest(context.Context) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var notes []string
	for _, note := range f.last {
		notes = append(notes, note+"\n")
	}
	return notes, f.err
}

func (f *fakePublisher) Publish(_ context.Context, checkpoints []ports.SignedCheckpoint) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return f.err
	}
	for _, c := range checkpoints {
		f.sizes[c.Platform] = append(f.sizes[c.Platform], c.Size)
		f.last[c.Platform] = c.Note
	}
	return nil
}

// logEnv is the environment of a test that seals the log and publishes its checkpoints.
type logEnv struct {
	*env
	publisher *fakePublisher
	account   ident.InternalAccount
}

func newLogEnv(t testing.TB) *logEnv {
	t.Helper()
	return &logEnv{env: newEnv(t), account: newInternalAccountID(),
		publisher: &fakePublisher{sizes: map[ident.Platform][]int64{}, last: map[ident.Platform]string{}}}
}

// newLogService is the log service of one more process.
func (e *logEnv) newLogService() *audit.Log {
	e.t.Helper()
	key := sha256.Sum256([]byte("master"))
	box, err := encryption.New(key[:])
	if err != nil {
		e.t.Fatal(err)
	}
	return audit.NewLog(audit.LogConfig{Log: e.Store.LedgerLog(), Signer: checkpoints.NewKeyring(e.Store.LedgerLog(), box, e.Clock, e.IDs),
		Publisher: e.publisher, Lost: e.Store,
		Clock: e.Clock, Logger: e.Log, Interval: time.Hour})
}

// postDeposits posts n deposits to a platform.
func (e *logEnv) postDeposits(p ident.Platform, n int) error {
	var postings []ledger.Posting
	for range n {
		deposit := e.deposit(e.account, 100)
		deposit.Platform = p
		postings = append(postings, deposit)
	}
	return e.post(noon, postings...)
}

func (e *logEnv) mustPostDeposits(n int) {
	e.t.Helper()
	if err := e.postDeposits(e.platform, n); err != nil {
		e.t.Fatal(err)
	}
}

func (e *logEnv) checkpointSizes() (sizes []int64) {
	e.t.Helper()
	page, err := e.Store.LedgerLog().Checkpoints(context.Background(), e.platform, ports.CheckpointFilter{Ascending: true, Limit: 10_000})
	if err != nil {
		e.t.Fatal(err)
	}
	for _, c := range page.Checkpoints {
		sizes = append(sizes, c.Size)
	}
	return sizes
}

func TestSealDue_ConcurrentWithPosting(t *testing.T) {
	t.Parallel()
	// With concurrent postings and sealing on two platforms, every posting becomes the leaf of its
	// number: the last checkpoint is that of a tree built from all postings at once.
	env := newLogEnv(t)
	var other ident.Platform
	other.SetUUID(newID())
	var posters, sealers sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		posters.Go(func() {
			for n := range 25 {
				for _, p := range []ident.Platform{env.platform, other} {
					if err := env.postDeposits(p, 1+n%9); err != nil {
						t.Error(err)
					}
				}
			}
		})
		sealers.Go(func() {
			for worker := env.newLogService(); ; {
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
	if err := env.newLogService().SealDue(t.Context()); err != nil {
		t.Fatal(err)
	}

	for _, p := range []ident.Platform{env.platform, other} {
		tree := merkle.NewTree()
		err := ledgerdb.NewAudit(env.ledgerDB, env.Store.Pool()).Snapshot(t.Context(), func(ctx context.Context, view ports.AuditView) error {
			return view.Postings(ctx, p, func(a ports.AuditPosting) error {
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
		status, err := env.Store.LedgerLog().LogStatus(t.Context(), p)
		if err != nil || status.Checkpoint.Size != tree.Size() || status.Checkpoint.Root != root || status.Postings != 3*118 {
			t.Errorf("the log of %s is at %d of %d postings, %v", p, status.Checkpoint.Size, status.Postings, err)
		}
	}
}

func TestSealDue_OneProcessAtATime(t *testing.T) {
	t.Parallel()
	// While one process seals the log of a platform, another skips it. A sealing that fails leaves
	// nothing behind.
	env := newLogEnv(t)
	env.mustPostDeposits(300)
	log, failure := env.Store.LedgerLog(), errors.New("the process stopped")

	sealed, err := log.Seal(t.Context(), env.platform, func(ctx context.Context, w ports.LogWriter) error {
		other, err := log.Seal(ctx, env.platform, func(context.Context, ports.LogWriter) error {
			t.Error("two processes seal the log")
			return nil
		})
		if other || err != nil {
			t.Errorf("the second process: %t, %v", other, err)
		}
		full := ports.LogTile{Hashes: make([]byte, 8192)}
		return errors.Join(w.Add(ctx, []ports.LogTile{full}), failure)
	})

	if !sealed || !errors.Is(err, failure) {
		t.Errorf("sealed %t, %v", sealed, err)
	}
	if err := env.newLogService().SealDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sizes := env.checkpointSizes(); !slices.Equal(sizes, []int64{300}) {
		t.Errorf("checkpoints at %v", sizes)
	}
}

func TestSealDue_RefusesChangedPosting(t *testing.T) {
	t.Parallel()
	// A posting that is changed or deleted before it is sealed stops the log of its platform, and of
	// no other, with an error that names the posting.
	for name, c := range map[string]struct{ damage, message string }{
		"a memo":        {"UPDATE ledger_postings SET memo = 'x' WHERE seq = 3", "number 3, has been changed"},
		"an amount":     {"UPDATE ledger_entries SET amount = 7 WHERE seq = 3", "number 3, has been changed"},
		"entries":       {"DELETE FROM ledger_entries WHERE seq = 3", "number 3, has been changed"},
		"a posting":     {"DELETE FROM ledger_postings WHERE seq = 3", "number 3 is missing"},
		"the whole row": {"DELETE FROM ledger_postings WHERE seq = 3; DELETE FROM ledger_entries WHERE seq = 3", "number 3 is missing"},
		"the last ones": {"DELETE FROM ledger_postings WHERE seq > 3; DELETE FROM ledger_entries WHERE seq > 3",
			"2 postings are missing after number 3"},
		"an entry number": {"UPDATE ledger_entries SET entry_no = 2 WHERE seq = 3", "number 3, has been changed"},
		"the log state": {"INSERT INTO ledger_log_state (platform_id, size, partial_tiles) SELECT platform_id, 2, '\\x00' FROM ledger_clocks",
			"truncated"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newLogEnv(t)
			env.mustPostDeposits(5)
			env.execAsSuperuser(c.damage)
			var other ident.Platform
			other.SetUUID(uuid.MustParse("ffffffff-0000-7000-8000-000000000001")) // sorts after the first
			if err := env.postDeposits(other, 1); err != nil {
				t.Fatal(err)
			}

			err := env.newLogService().SealDue(t.Context())

			if err == nil || !strings.Contains(err.Error(), c.message) {
				t.Errorf("want an error with %q, got %v", c.message, err)
			}
			if sizes := env.checkpointSizes(); len(sizes) > 0 {
				t.Errorf("checkpoints at %v", sizes)
			}
			if status, err := env.Store.LedgerLog().LogStatus(t.Context(), other); err != nil || status.Checkpoint.Size != 1 {
				t.Errorf("the other platform's log is at %d, %v", status.Checkpoint.Size, err)
			}
		})
	}
}

func TestPublishDue_RetriesWithoutLoss(t *testing.T) {
	t.Parallel()
	// While publishing fails, checkpoints wait; then each is published once, in order. Checkpoints
	// that one process has leased are left to it until the lease ends.
	env := newLogEnv(t)
	worker := env.newLogService()
	env.publisher.err = errors.New("no route to host")
	for range 3 {
		env.mustPostDeposits(2)
		if err := worker.SealDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := worker.PublishDue(t.Context()); err == nil || !strings.Contains(err.Error(), "no route to host") {
			t.Errorf("publishing while it fails: %v", err)
		}
		env.Clock.Advance(time.Minute)
	}
	env.publisher.err = nil

	taken, err := env.Store.LedgerLog().TakeUnpublished(t.Context(), env.Clock.Now(), time.Minute, 100)
	if err != nil || len(taken) != 1 || len(taken[0].Checkpoints) != 3 {
		t.Fatalf("taken %v, %v", taken, err)
	}
	if err := worker.PublishDue(t.Context()); err != nil || len(env.publisher.sizes) > 0 {
		t.Errorf("published despite the lease of another process: %v, %v", env.publisher.sizes, err)
	}
	env.Clock.Advance(time.Minute)
	for range 2 {
		if err := worker.PublishDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}

	if got := env.publisher.sizes[env.platform]; !slices.Equal(got, []int64{2, 4, 6}) {
		t.Errorf("published %v", got)
	}
	if status, err := env.Store.LedgerLog().LogStatus(t.Context(), env.platform); err != nil || status.PublishedSize != 6 {
		t.Errorf("published up to %d, %v", status.PublishedSize, err)
	}
}

func TestPublishDue_ManyCheckpoints(t *testing.T) {
	t.Parallel()
	// All waiting checkpoints are published in order, however many there are.
	env := newLogEnv(t)
	worker := env.newLogService()
	var want []int64
	for n := range int64(230) {
		env.mustPostDeposits(1)
		if err := worker.SealDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		want = append(want, n+1)
	}
	if err := worker.PublishDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := env.publisher.sizes[env.platform]; !slices.Equal(got, want) {
		t.Errorf("published %v", got)
	}
}

func TestRun_SealsAndPublishes(t *testing.T) {
	t.Parallel()
	// A worker seals and publishes when it starts, and stops when its context is cancelled.
	env := newLogEnv(t)
	env.mustPostDeposits(5)
	published := make(chan struct{})
	worker := env.newLogService()
	worker.Publisher = publisherFunc(func([]ports.SignedCheckpoint) error { close(published); return nil })
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { worker.Run(ctx) })
	<-published
	stop()
	running.Wait()
}

type publisherFunc func([]ports.SignedCheckpoint) error

func (publisherFunc) Newest(context.Context) ([]string, error) { return nil, nil }

func (f publisherFunc) Publish(_ context.Context, checkpoints []ports.SignedCheckpoint) error {
	return f(checkpoints)
}

func TestLog_AppendOnly(t *testing.T) {
	t.Parallel()
	// Neither the role of the service nor the owner of the tables can change tiles, checkpoints or
	// keys.
	env := newLogEnv(t)
	env.mustPostDeposits(300)
	if err := env.newLogService().SealDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"ledger_log_tiles", "ledger_log_checkpoints", "ledger_log_keys"} {
		for _, statement := range []string{"DELETE FROM %s", "TRUNCATE %s", "UPDATE %s SET platform_id = platform_id"} {
			if table == "ledger_log_keys" && strings.HasPrefix(statement, "UPDATE") {
				statement = "UPDATE %s SET public_key = public_key"
			}
			statement = fmt.Sprintf(statement, table)
			if _, err := env.Store.Pool().Exec(t.Context(), statement); err == nil || !strings.Contains(err.Error(), "permission denied") {
				t.Errorf("the service can %s: %v", statement, err)
			}
			if strings.Contains(statement, "public_key") {
				continue // the owner may revoke a key
			}
			if err := env.Exec(statement); err == nil || !strings.Contains(err.Error(), "append-only") {
				t.Errorf("the owner can %s: %v", statement, err)
			}
		}
	}
}

// panickingSigner panics when it signs for one platform.
type panickingSigner struct {
	ports.CheckpointSigner
	platform ident.Platform
}

func (s panickingSigner) Sign(ctx context.Context, c ledger.Checkpoint) (string, error) {
	if c.Platform == s.platform {
		panic("cannot sign this")
	}
	return s.CheckpointSigner.Sign(ctx, c)
}

func TestSealDue_PanicOfOnePlatformDelaysNoOther(t *testing.T) {
	t.Parallel()
	// A panic while one platform is sealed is an error, and the other platform is sealed.
	env := newLogEnv(t)
	var other ident.Platform
	other.SetUUID(newID())
	env.mustPostDeposits(3)
	if err := env.postDeposits(other, 3); err != nil {
		t.Fatal(err)
	}
	service := env.newLogService()
	service.Signer = panickingSigner{service.Signer, other}

	err := service.SealDue(t.Context())

	if err == nil || !strings.Contains(err.Error(), "cannot sign this") {
		t.Errorf("error %v", err)
	}
	if sizes := env.checkpointSizes(); !slices.Equal(sizes, []int64{3}) {
		t.Errorf("sealed %v", sizes)
	}
}
