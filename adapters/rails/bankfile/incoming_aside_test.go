package bankfile_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/bankfile/transport"
	"causeway/core/corridor"
	"causeway/ports"
)

func TestPoll_SendingAndReadingDelayNeitherOfThem(t *testing.T) {
	t.Parallel()
	// While files cannot be put down at the bank, its own are read, and the other way round. Each says what is wrong.
	d := openDatabase(t)
	i := d.inbox(t, "bank-eur", nil)
	away := func(folder string) func() {
		from, to := filepath.Join(i.dir, folder), filepath.Join(i.dir, folder+"-away")
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := os.Rename(to, from); err != nil {
				t.Fatal(err)
			}
		}
	}
	pollOnce := func(want string) {
		t.Helper()
		report, err := i.a.Poll(t.Context(), i.cursor)
		if err != nil || report.Problem == nil || !strings.Contains(report.Problem.Error(), want) {
			t.Errorf("%v, %v, want a problem with %q", report.Problem, err, want)
		}
		i.add(report)
		i.cursor = report.Cursor
	}

	i.a.Send(t.Context(), []ports.Payout{d.payout("bank-eur", 1, corridor.SEPA)})
	d.clock.Advance(time.Hour)
	back := away("out")
	i.put("one.xml", notification(entry("CRDT", "1.00", "B1", "")))
	pollOnce("deliver file")
	if len(i.got.Receipts) != 1 {
		t.Errorf("read %+v while nothing can be sent", i.got.Receipts)
	}
	back()

	back = away("in")
	pollOnce("folder in")
	if left := i.left("out"); left == "" {
		t.Error("nothing is sent while nothing can be read")
	}
	back()
	i.put("two.xml", notification(entry("CRDT", "2.00", "B2", "")))
	i.poll()
	if len(i.got.Receipts) != 2 {
		t.Errorf("read %+v", i.got.Receipts)
	}
}

func TestReadRaw_FilesThatWereKeptAside(t *testing.T) {
	t.Parallel()
	// A file that was kept aside is refused again by the process that refused it, and read after a setting was changed. One
	// that is gone stays aside with what is known of it.
	d := openDatabase(t)
	i := d.inbox(t, "bank-eur", with("maxFileBytes", "4096"))
	i.put("binary.xml", "\x00\xff\x01PNG")
	i.put("large.xml", notification(entry("CRDT", "1.00", "B1", ""))+strings.Repeat(" ", 4096))
	i.put("good.xml", notification(entry("CRDT", "2.00", "B2", "")))
	i.poll()
	if aside := i.aside(); aside != "in/binary.xml, in/large.xml" || len(i.got.Receipts) != 1 {
		t.Fatalf("aside %s, received %+v", aside, i.got.Receipts)
	}
	kept := map[string]ports.RawReport{}
	for _, raw := range i.got.Raw {
		kept[raw.Place] = raw
		if _, err := i.a.ReadRaw(t.Context(), raw); err == nil || err.Error() != raw.Problem {
			t.Errorf("%s again: %v, want %s", raw.Place, err, raw.Problem)
		}
	}

	if err := i.a.Close(); err != nil {
		t.Fatal(err)
	}
	i.connection.Settings["maxFileBytes"] = "8192"
	i.a = d.open(t, i.connection, d.Store, folderTransport(t, i.dir))
	if err := os.Remove(filepath.Join(i.dir, "in", "binary.xml")); err != nil {
		t.Fatal(err)
	}
	i.poll()
	if _, err := i.a.ReadRaw(t.Context(), kept["in/large.xml"]); err != nil {
		t.Errorf("a file that can be read now: %v", err)
	}
	if _, err := i.a.ReadRaw(t.Context(), kept["in/binary.xml"]); err == nil || !strings.Contains(err.Error(), "no longer in the folder") {
		t.Errorf("a file that is gone: %v", err)
	}
	i.poll()
	if got := received(i.got.Receipts); !strings.Contains(got, "B1 1.00 EUR") || len(i.got.Receipts) != 2 {
		t.Errorf("received %s", got)
	}
	if _, err := i.a.ReadRaw(t.Context(), kept["in/binary.xml"]); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("again: %v", err)
	}
}

// noPermission is the reason for a file that the service may not open.
const noPermission = "permission denied: let the service open the file"

// oddFolder is a folder from which the bank removes some files just before they are opened, and has others that only it may open.
type oddFolder struct {
	transport.Transport
	dir            string
	vanishes, shut map[string]bool // paths
}

func (o *oddFolder) open(name string) error {
	if o.vanishes[name] {
		delete(o.vanishes, name)
		return os.Remove(filepath.Join(o.dir, name))
	}
	if o.shut[name] {
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return nil
}

func (o *oddFolder) Read(ctx context.Context, name string, to io.Writer, maxBytes int64) error {
	if err := o.open(name); err != nil {
		return err
	}
	return o.Transport.Read(ctx, name, to, maxBytes)
}

func (o *oddFolder) ReadFrom(ctx context.Context, name string, offset int64, to io.Writer, maxBytes int64) error {
	if err := o.open(name); err != nil {
		return err
	}
	return o.Transport.ReadFrom(ctx, name, offset, to, maxBytes)
}

func TestIncoming_FileThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	// A file that the service may not open is kept aside with its place and the reason, and others are read. It is read when
	// it can be opened.
	d := openDatabase(t)
	i := d.inbox(t, "bank-eur", nil)
	odd := &oddFolder{Transport: folderTransport(t, i.dir), dir: i.dir, shut: map[string]bool{"in/shut.xml": true}}
	i.a = d.open(t, i.connection, d.Store, odd)
	content := notification(entry("CRDT", "1.00", "B1", ""))
	i.put("shut.xml", content)
	i.put("good.xml", notification(entry("CRDT", "2.00", "B2", "")))
	i.poll()
	if got := received(i.got.Receipts); got != "B2 2.00 EUR " || len(i.got.Raw) != 1 {
		t.Fatalf("received %s, aside %+v", got, i.got.Raw)
	}
	raw := i.got.Raw[0]
	if raw.Place != "in/shut.xml" || !strings.Contains(raw.Problem, noPermission) || raw.Size != int64(len(content)) {
		t.Errorf("kept aside %+v", raw)
	}
	if _, err := i.a.ReadRaw(t.Context(), raw); err == nil || err.Error() != raw.Problem {
		t.Errorf("again: %v", err)
	}

	clear(odd.shut)
	if _, err := i.a.ReadRaw(t.Context(), raw); err != nil {
		t.Error(err)
	}
	i.poll()
	if got := received(i.got.Receipts); got != "B2 2.00 EUR , B1 1.00 EUR " || i.left("in") != "" {
		t.Errorf("received %s, left %s", got, i.left("in"))
	}
}
