package bankfile_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/adapters/rails/bankfile/transport"
	"causeway/core/corridor"
	"causeway/ports"
)

// pausedTransport pauses before or after uploads and renames until another process has done its work.
type pausedTransport struct {
	transport.Transport
	beforeCreate, afterCreate, beforeRename func()
}

func (p pausedTransport) Create(ctx context.Context, name string, content io.Reader) (int64, error) {
	p.beforeCreate()
	size, err := p.Transport.Create(ctx, name, content)
	p.afterCreate()
	return size, err
}

func (p pausedTransport) Rename(ctx context.Context, from, to string) error {
	p.beforeRename()
	return p.Transport.Rename(ctx, from, to)
}

// pausedPool pauses before transactions.
type pausedPool struct {
	storage.Pool
	beforeBegin func()
}

func (p pausedPool) Begin(ctx context.Context) (pgx.Tx, error) {
	p.beforeBegin()
	return p.Pool.Begin(ctx)
}

func TestAdapter_DeliversOnceByTwoProcesses(t *testing.T) {
	t.Parallel()
	// A process that pauses anywhere for longer than its lease, while another one takes over, changes nothing when it
	// continues: the file is delivered once, whether the bank has taken it in between or not.
	for _, pause := range []string{"before the upload", "after the upload", "before it is recorded", "before the rename",
		"before the delivery is recorded"} {
		for _, takes := range []bool{false, true} {
			d, b := openDatabase(t), newBank(t)
			connection := europe("two", b.dir)
			second := d.open(t, connection, d.Store, folderTransport(t, b.dir))
			send, ids := d.sendAll(connection, pause, 3)
			send(t.Context(), second)
			paused := 0
			at := func(place string) func() {
				return func() {
					if place != pause {
						return
					}
					paused++
					d.clock.Advance(5 * time.Minute)
					pollAll(t, second, "")
					if takes {
						if err := b.take(); err != nil {
							t.Error(err)
						}
					}
				}
			}
			// The next transaction after the upload records it, and the next one after the rename records the delivery.
			next := ""
			first := d.open(t, connection, d.storeOn(pausedPool{d.db.Pool(), func() {
				at(next)()
				next = ""
			}}), pausedTransport{folderTransport(t, b.dir), at("before the upload"),
				func() { at("after the upload")(); next = "before it is recorded" },
				func() { at("before the rename")(); next = "before the delivery is recorded" }})
			d.clock.Advance(5 * time.Minute)

			pollAll(t, first, "")

			if paused != 1 {
				t.Fatalf("paused %d times %s", paused, pause)
			}
			if err := d.checkDelivered(b, connection, ids); err != nil {
				t.Errorf("%s: %v", pause, err)
			}
			for _, a := range []*adapter{first, second} {
				if err := a.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// listedTransport does something before folders are listed.
type listedTransport struct {
	transport.Transport
	beforeList func()
}

func (l listedTransport) List(ctx context.Context, folder string, limit int) ([]transport.File, error) {
	l.beforeList()
	return l.Transport.List(ctx, folder, limit)
}

func TestAdapter_KeepsTheUploadOfALaterProcess(t *testing.T) {
	t.Parallel()
	// A process that removes uploads that were not finished, and has lost its lease meanwhile, leaves alone what the process
	// after it has uploaded and not yet renamed: otherwise that would be taken for renamed.
	d, b := openDatabase(t), newBank(t)
	connection := europe("later", b.dir)
	send, ids := d.sendAll(connection, "later", 1)
	creates := 9 // the step of an upload
	d.run(t, connection, &process{endsAt: creates, how: halfway}, folderTransport(t, b.dir), send)
	if left := b.leftovers(t); len(left) != 1 {
		t.Fatalf("the first upload left %v", left)
	}
	fails := true
	second := d.open(t, connection, d.Store, failingTransport{folderTransport(t, b.dir), &fails})
	listed := 0
	first := d.open(t, connection, d.Store, listedTransport{folderTransport(t, b.dir), func() {
		if listed++; listed > 1 {
			return
		}
		d.clock.Advance(5 * time.Minute)
		if report, err := second.Poll(t.Context(), ""); err != nil || report.Problem == nil {
			t.Error("the rename has not failed")
		}
	}})
	d.clock.Advance(5 * time.Minute)
	pollAll(t, first, "")
	fails = false

	pollAll(t, second, "")

	if err := d.checkDelivered(b, connection, ids); err != nil || listed == 0 {
		t.Errorf("%v, listed %d times", err, listed)
	}
}

// failingTransport cannot rename for a time.
type failingTransport struct {
	transport.Transport
	fails *bool
}

func (f failingTransport) Rename(ctx context.Context, from, to string) error {
	if *f.fails {
		return errors.New("the bank is closed")
	}
	return f.Transport.Rename(ctx, from, to)
}

func TestAdapter_CloseGivesTheLeaseBack(t *testing.T) {
	t.Parallel()
	// While a process has the lease another one delivers nothing; after its end the other one need not wait.
	d, b := openDatabase(t), newBank(t)
	connection := europe("closed", b.dir)
	first, second := d.open(t, connection, d.Store, nil), d.open(t, connection, d.Store, nil)
	pollAll(t, first, "")
	second.Send(t.Context(), []ports.Payout{d.payout("closed", 1, corridor.SEPA)})
	d.clock.Advance(90 * time.Second)

	pollAll(t, second, "")
	if err := b.take(); err != nil || len(b.taken) > 0 {
		t.Errorf("delivered without the lease: %v, %v", b.taken, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	pollAll(t, second, "")

	if err := b.take(); err != nil || len(b.taken) != 1 {
		t.Errorf("delivered %d files with the lease, %v", len(b.taken), err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}

func TestAdapter_CloseTakesNoLease(t *testing.T) {
	t.Parallel()
	// An adapter that has only checked settings takes no lease when it is closed, so that it ends that of nobody.
	d, b := openDatabase(t), newBank(t)
	connection := europe("checked", b.dir)
	before, _, err := d.Lease(t.Context(), connection.Name, 0)
	if err != nil {
		t.Fatal(err)
	}

	if err := d.open(t, connection, d.Store, nil).Close(); err != nil {
		t.Fatal(err)
	}

	if next, held, err := d.Lease(t.Context(), connection.Name, 0); err != nil || !held || next.Fence != before.Fence+1 {
		t.Errorf("lease %+v after %+v, %v", next, before, err)
	}
}
