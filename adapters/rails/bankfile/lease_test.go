package bankfile_test

import (
	"context"
	"io"
	"testing"
	"time"

	"causeway/adapters/rails/bankfile"
	"causeway/adapters/rails/bankfile/transport"
	"causeway/core/bankorder"
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

// pausedStore pauses before and after an upload is recorded.
type pausedStore struct {
	ports.BankFiles
	beforeUploaded, beforeDelivered func()
}

func (p pausedStore) BankFileUploaded(ctx context.Context, lease ports.BankLease, f bankorder.File) error {
	p.beforeUploaded()
	return p.BankFiles.BankFileUploaded(ctx, lease, f)
}

func (p pausedStore) BankFileDelivered(ctx context.Context, lease ports.BankLease, number int64, at, settlesAt time.Time) error {
	p.beforeDelivered()
	return p.BankFiles.BankFileDelivered(ctx, lease, number, at, settlesAt)
}

func TestAdapter_DeliversOnceByTwoProcesses(t *testing.T) {
	t.Parallel()
	// A process that pauses anywhere for longer than its lease, while another one takes over, changes nothing when it
	// continues: the file is delivered once, whether the bank has taken it in between or not.
	for _, pause := range []string{"before the upload", "after the upload", "before it is recorded", "before the rename", "before the delivery is recorded"} {
		for _, takes := range []bool{false, true} {
			d, b := openDatabase(t), newBank(t)
			connection := europe("two", b.dir)
			recorded := recording(d.BankFiles)
			d.BankFiles = recorded
			second := d.open(t, connection, d, folderTransport(t, b.dir))
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
			first := d.open(t, connection, pausedStore{d, at("before it is recorded"), at("before the delivery is recorded")},
				pausedTransport{folderTransport(t, b.dir), at("before the upload"), at("after the upload"), at("before the rename")})
			d.clock.Advance(5 * time.Minute)

			pollAll(t, first, "")

			if paused != 1 {
				t.Fatalf("paused %d times %s", paused, pause)
			}
			if err := b.checkDelivered(recorded.digests, ids); err != nil {
				t.Errorf("%s: %v", pause, err)
			}
			for _, a := range []*bankfile.Adapter{first, second} {
				if err := a.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func TestAdapter_CloseGivesTheLeaseBack(t *testing.T) {
	t.Parallel()
	// While a process has the lease another one delivers nothing; after its end the other one need not wait.
	d, b := openDatabase(t), newBank(t)
	connection := europe("closed", b.dir)
	first, second := d.open(t, connection, d, nil), d.open(t, connection, d, nil)
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
