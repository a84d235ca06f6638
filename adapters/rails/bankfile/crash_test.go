package bankfile_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"causeway/adapters/postgres/storage"
	"causeway/adapters/rails/bankfile"
	"causeway/adapters/rails/bankfile/transport"
	"causeway/adapters/rails/bankfile/transport/sftptest"
	"causeway/core/corridor"
	"causeway/core/rail"
	"causeway/ports"
)

// ending is how a process ends at a step.
type ending string

const (
	before    ending = "before the step"
	halfway   ending = "in the middle of an upload"
	after     ending = "after the step"
	panics    ending = "with a panic"
	cancelled ending = "cancelled"
)

var endings = []ending{before, halfway, after, panics, cancelled}

var errKilled = errors.New("the process was killed")

// process counts the steps of a process on the outside: statements and calls of the transport. It ends at one of them,
// and then nothing that it does happens.
type process struct {
	endsAt int // -1 for never
	how    ending
	cancel context.CancelFunc
	// each is called after each step: what the world sees then.
	each func()

	mu     sync.Mutex
	steps  int
	copies []int // the steps that copy a file
	dead   bool
}

// reached reports whether the process ended, and how many steps there were.
func (p *process) reached() (bool, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead, p.steps
}

func (p *process) step(do func() error) error {
	p.mu.Lock()
	dead, now := p.dead, p.steps == p.endsAt
	p.steps++
	p.dead = p.dead || now
	p.mu.Unlock()
	if dead || now && p.how == before {
		return errKilled
	}
	if now && p.how == cancelled {
		p.cancel()
	}
	err := do()
	if p.each != nil {
		p.each()
	}
	switch {
	case now && p.how == panics:
		panic(errKilled)
	case now:
		return errKilled
	}
	return err
}

// copy is a step that copies a file. Another one that ends halfway is one that ends after it.
func (p *process) copy(do func() error) error {
	p.mu.Lock()
	p.copies = append(p.copies, p.steps)
	p.mu.Unlock()
	return p.step(do)
}

// steppedPool is the database as a process has it. A statement of its own is a step, and so is the commit of a transaction.
type steppedPool struct {
	storage.Pool
	p *process
}

func (s steppedPool) Query(ctx context.Context, sql string, args ...any) (rows pgx.Rows, err error) {
	err = s.p.step(func() error {
		rows, err = s.Pool.Query(ctx, sql, args...)
		if dead, _ := s.p.reached(); dead && err == nil {
			rows.Close()
		}
		return err
	})
	return rows, err
}

func (s steppedPool) Exec(ctx context.Context, sql string, args ...any) (done pgconn.CommandTag, err error) {
	err = s.p.step(func() error { done, err = s.Pool.Exec(ctx, sql, args...); return err })
	return done, err
}

func (s steppedPool) Begin(ctx context.Context) (pgx.Tx, error) {
	if dead, _ := s.p.reached(); dead {
		return nil, errKilled
	}
	tx, err := s.Pool.Begin(ctx)
	return steppedTx{tx, s.p}, err
}

type steppedTx struct {
	pgx.Tx
	p *process
}

func (s steppedTx) Commit(ctx context.Context) error {
	return s.p.step(func() error { return s.Tx.Commit(ctx) })
}

// stepped is the store as a process sees it.
func (d database) stepped(p *process) *bankfile.Store { return d.storeOn(steppedPool{d.db.Pool(), p}) }

// steppedTransport is the transport as a process sees it.
type steppedTransport struct {
	transport.Transport
	p *process
}

func (s steppedTransport) List(ctx context.Context, folder string, limit int) (files []transport.File, err error) {
	err = s.p.step(func() error { files, err = s.Transport.List(ctx, folder, limit); return err })
	return files, err
}

func (s steppedTransport) Stat(ctx context.Context, name string) (f transport.File, err error) {
	err = s.p.step(func() error { f, err = s.Transport.Stat(ctx, name); return err })
	return f, err
}

func (s steppedTransport) Create(ctx context.Context, name string, content io.Reader) (size int64, err error) {
	err = s.p.copy(func() error {
		if dead, _ := s.p.reached(); dead && s.p.how == halfway {
			content = io.LimitReader(content, 700)
		}
		size, err = s.Transport.Create(ctx, name, content)
		return err
	})
	return size, err
}

func (s steppedTransport) Rename(ctx context.Context, from, to string) error {
	return s.p.step(func() error { return s.Transport.Rename(ctx, from, to) })
}

func (s steppedTransport) Remove(ctx context.Context, name string) error {
	return s.p.step(func() error { return s.Transport.Remove(ctx, name) })
}

// run lets a process send payments and poll until it ends or there is no more to do.
func (d database) run(t testing.TB, c rail.Connection, p *process, tr transport.Transport, send func(context.Context, *adapter)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.cancel = cancel
	a := d.open(t, c, d.stepped(p), steppedTransport{tr, p})
	defer func() {
		if recovered := recover(); recovered != nil && recovered != any(errKilled) {
			panic(recovered)
		}
	}()
	send(ctx, a)
	d.clock.Advance(5 * time.Minute) // also past the lease of a process before
	cursor := ""
	for range 20 {
		report, err := a.Poll(ctx, cursor)
		if dead, _ := p.reached(); dead {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if cursor = report.Cursor; !report.More {
			return
		}
	}
}

var (
	isoIDs   = regexp.MustCompile(`<EndToEndId>([^<]*)</EndToEndId>`)
	nachaIDs = regexp.MustCompile(`(?m)^705([0-9A-F]{32}(?:-R)?) `)
)

// checkDelivered checks that the bank has taken each order of a connection once, and each file once and as it was recorded.
func (d database) checkDelivered(b *bank, connection rail.Connection, want []string) error {
	digests, err := d.recorded(connection.Name)
	if err := errors.Join(err, b.take()); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var ids []string
	for name, contents := range b.taken {
		if len(contents) != 1 {
			return fmt.Errorf("file %s was delivered %d times", name, len(contents))
		}
		sum := sha256.Sum256([]byte(contents[0]))
		if hex.EncodeToString(sum[:]) != digests[name] {
			return fmt.Errorf("file %s is not what was recorded:\n%s", name, contents[0])
		}
		found := isoIDs
		if strings.HasSuffix(name, ".ach") {
			found = nachaIDs
		}
		for _, match := range found.FindAllStringSubmatch(contents[0], -1) {
			ids = append(ids, match[1])
		}
	}
	slices.Sort(ids)
	slices.Sort(want)
	if len(b.taken) != len(digests) || !slices.Equal(ids, want) {
		return fmt.Errorf("%d files of %d were taken, with the orders %v, want %v", len(b.taken), len(digests), ids, want)
	}
	return nil
}

// recorded returns the digests of the files of a connection that were uploaded, by their names.
func (d database) recorded(connection string) (map[string]string, error) {
	rows, err := d.db.Pool().Query(context.Background(),
		`SELECT name, encode(sha256, 'hex') FROM bank_files WHERE connection = $1 AND state <> 'CREATED'`, connection)
	if err != nil {
		return nil, err
	}
	var name, digest string
	digests := map[string]string{}
	_, err = pgx.ForEachRow(rows, []any{&name, &digest}, func() error { digests[name] = digest; return nil })
	return digests, err
}

// sendAll sends payments of a series by the rail of a connection, and returns their ids.
func (d database) sendAll(c rail.Connection, series string, payments int) (send func(context.Context, *adapter), ids []string) {
	var payouts []ports.Payout
	var collections []ports.Collection
	for n := range payments {
		ids = append(ids, rail.EndToEndID(seriesID(series, n)))
		if c.Rails[0] == corridor.ACH && n%2 == 1 {
			collections = append(collections, d.collection(series, n))
			continue
		}
		payouts = append(payouts, d.payout(series, n, c.Rails[0]))
	}
	return func(ctx context.Context, a *adapter) {
		a.Send(ctx, payouts)
		if len(collections) > 0 {
			a.Collect(ctx, collections)
		}
	}, ids
}

func TestAdapter_DeliversOnceAfterACrashAtAnyStep(t *testing.T) {
	t.Parallel()
	// A process ends at each of its steps in every way, and another one continues: each order is in one file, and each
	// file is delivered once, whole and as it was recorded. The bank looks after every step.
	for name, c := range map[string]struct {
		open    openTransport
		connect func(name, folder string) rail.Connection
		endings []ending
	}{
		"folder, ISO 20022": {folderTransport, europe, endings},
		"folder, Nacha":     {folderTransport, america, endings},
		// Each connects anew, which takes long.
		"SFTP": {sftpTransport(sftptest.Start(t)), europe, []ending{halfway, after}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDatabase(t)
			crash := func(step int, how ending) *process {
				b := newBank(t)
				connection := c.connect(fmt.Sprintf("%s-%d", strings.ReplaceAll(string(how), " ", "-"), step), b.dir)
				return d.checkCrash(t, connection, b, step, how, c.open(t, b.dir))
			}
			whole := crash(-1, "never")
			if whole.steps < 12 || len(whole.copies) < 2 {
				t.Errorf("only %d steps, with the copies %v", whole.steps, whole.copies)
			}
			for _, how := range c.endings {
				for step := range whole.steps {
					if how == halfway && !slices.Contains(whole.copies, step) {
						continue
					}
					if ended, _ := crash(step, how).reached(); !ended {
						t.Errorf("%s: there was no step %d", how, step)
					}
				}
			}
		})
	}
}

// checkCrash ends a process at a step and lets another one continue. It returns the first.
func (d database) checkCrash(t *testing.T, connection rail.Connection, b *bank, step int, how ending, tr transport.Transport) *process {
	t.Helper()
	connection.Settings["maxPayments"] = "2"
	send, ids := d.sendAll(connection, connection.Name, 3)
	look := func() {
		if err := b.take(); err != nil {
			t.Error(err)
		}
	}
	first := &process{endsAt: step, how: how, each: look}

	d.run(t, connection, first, tr, send)
	d.run(t, connection, &process{endsAt: -1, each: look}, tr, send)

	if err := d.checkDelivered(b, connection, ids); err != nil {
		t.Fatalf("%s, step %d: %v", how, step, err)
	}
	if left := b.leftovers(t); len(left) > 0 {
		t.Errorf("%s, step %d: left %v", how, step, left)
	}
	return first
}

func TestAdapter_DeliversOnceForAnyScheduleOfCrashes(t *testing.T) {
	t.Parallel()
	// Whatever processes end at whatever steps, while new payments arrive, each order is in one file that is delivered once.
	d, n := openDatabase(t), 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		b := newBank(t)
		connect := rapid.SampledFrom([]func(name, folder string) rail.Connection{europe, america}).Draw(r, "bank")
		connection := connect(fmt.Sprintf("any-%d", n), b.dir)
		connection.Settings["maxPayments"] = fmt.Sprint(rapid.IntRange(1, 4).Draw(r, "max"))
		var ids []string
		look := func() {
			if err := b.take(); err != nil {
				r.Fatal(err)
			}
		}
		for round := range rapid.IntRange(0, 6).Draw(r, "rounds") {
			send, sent := d.sendAll(connection, fmt.Sprintf("%s %d", connection.Name, round), rapid.IntRange(0, 4).Draw(r, "payments"))
			p := &process{endsAt: rapid.IntRange(0, 40).Draw(r, "step"), how: rapid.SampledFrom(endings).Draw(r, "ending")}
			if rapid.Bool().Draw(r, "looks") {
				p.each = look
			}
			d.run(t, connection, p, folderTransport(t, b.dir), send)
			d.run(t, connection, &process{endsAt: rapid.IntRange(0, 40).Draw(r, "next"), how: before}, folderTransport(t, b.dir), send)
			send(t.Context(), d.open(t, connection, d.Store, folderTransport(t, b.dir))) // a call is repeated until it is answered
			ids = append(ids, sent...)
		}
		d.run(t, connection, &process{endsAt: -1}, folderTransport(t, b.dir), func(context.Context, *adapter) {})
		if err := d.checkDelivered(b, connection, ids); err != nil {
			r.Fatal(err)
		}
		if left := b.leftovers(t); len(left) > 0 {
			r.Fatalf("left %v", left)
		}
	})
}
