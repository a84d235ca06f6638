package bankfile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/rails/bankfile/transport"
	"causeway/core/bankorder"
	"causeway/core/formats/textfile"
)

// FuzzReading_ChecksWhatItGives checks that a file is recognised and checked without a panic, that the same content is always
// read in the same way, and that what was checked can be read to its end from any place.
func FuzzReading_ChecksWhatItGives(f *testing.F) {
	for _, pattern := range []string{"../../../core/formats/iso20022/testdata/*.xml", "../../../core/formats/nacha/testdata/*.ach"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal(pattern, err)
		}
		for _, name := range files {
			content, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(content, 1)
		}
	}
	f.Add([]byte("101"), 0)
	f.Add([]byte("<a/>"), 0)
	f.Fuzz(func(t *testing.T, content []byte, from int) {
		r := &reading{copied: int64(len(content)), duplicates: map[string]bool{}}
		spool, err := newSpool()
		if err != nil {
			t.Fatal(err)
		}
		r.copy = spool
		defer r.close()
		if _, err := spool.Write(content); err != nil {
			t.Fatal(err)
		}
		never := time.Now().Add(time.Hour)
		complete, err := r.check(never)
		if err != nil {
			if problem := problemOf(err); problem == "" || strings.Contains(problem, "error of this program") {
				t.Fatalf("%v", err)
			}
			if r.checked {
				t.Fatal("a file with an error was checked")
			}
			return
		}
		if !complete || !r.checked {
			t.Fatal("not complete")
		}
		count := drain(t, r)
		r.rewind(r.format.items)
		for range min(max(from, 0), count) {
			it, some, err := r.take()
			if err != nil || !some {
				t.Fatalf("%v, %v", some, err)
			}
			r.takeBack(it)
			if again, _, _ := r.take(); again != it {
				t.Fatal("another item after it was taken back")
			}
		}
		if rest := drain(t, r); r.given != count {
			t.Fatalf("%d of %d items, %d after %d", r.given, count, rest, from)
		}
	})
}

// drain takes all items that are left.
func drain(t *testing.T, r *reading) int {
	t.Helper()
	for n := 0; ; n++ {
		_, some, err := r.take()
		if err != nil {
			t.Fatalf("after the check: %v", err)
		}
		if !some {
			return n
		}
	}
}

func TestReading_ChecksInPieces(t *testing.T) {
	t.Parallel()
	// A check that has no more time goes on where it was, and one that finds an error never lets the file pass, however
	// often it is repeated.
	entry := `<Ntry><Amt Ccy="EUR">1.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts></Ntry>`
	begin := `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.08"><BkToCstmrDbtCdtNtfctn><Ntfctn>`
	for _, c := range []struct {
		end string
		bad bool
	}{{"</Ntfctn></BkToCstmrDbtCdtNtfctn></Document>", false}, {"</Ntfctn>", true}} {
		content := []byte(begin + strings.Repeat(entry, 1000) + c.end)
		spool, err := newSpool()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := spool.Write(content); err != nil {
			t.Fatal(err)
		}
		r := &reading{copy: spool, copied: int64(len(content)), duplicates: map[string]bool{}}
		calls := 0
		var failed *textfile.Error
		for calls < 100 {
			calls++
			complete, err := r.check(time.Now().Add(-time.Second))
			if errors.As(err, &failed) {
				r.forget()
				break
			}
			if complete || err != nil {
				break
			}
		}
		if calls < 10 || r.checked == c.bad || (failed != nil) != c.bad {
			t.Errorf("bad %v: %d calls, checked %v, %v", c.bad, calls, r.checked, failed)
		}
		if complete, err := r.check(time.Now().Add(time.Hour)); c.bad && (complete || err == nil) {
			t.Errorf("checked again: %v, %v", complete, err)
		}
		r.close()
	}
}

// slowTransport gives a piece of a file and then waits until it is stopped.
type slowTransport struct {
	transport.Transport
	piece int64
	reads int
}

func (s *slowTransport) ReadFrom(ctx context.Context, name string, offset int64, to io.Writer, maxBytes int64) error {
	s.reads++
	var piece bytes.Buffer
	if err := s.Transport.ReadFrom(ctx, name, offset, &piece, maxBytes); err != nil {
		return err
	}
	if _, err := to.Write(piece.Next(int(s.piece))); err != nil || int64(piece.Len()) == 0 {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

func TestReading_CopiesInPieces(t *testing.T) {
	t.Parallel()
	// A file that cannot be copied in the time of one poll is continued in the next ones, and one of which nothing comes is
	// left for later with an error.
	dir := t.TempDir()
	content := bytes.Repeat([]byte("0123456789"), 100)
	if err := os.WriteFile(filepath.Join(dir, "a"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := transport.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	listed, err := folder.Stat(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	for piece, want := range map[int64]int{300: 4, 1000: 1, 0: 1} {
		slow := &slowTransport{Transport: folder, piece: piece}
		log := logrus.New()
		log.SetOutput(io.Discard)
		a := &Adapter{transport: slow, settings: settings{incoming: "."}, seen: map[string]sighting{}, clock: fixedClock{}, log: log}
		r, err := a.newReading(listed, bankorder.Received{Name: "a"})
		if err != nil {
			t.Fatal(err)
		}
		a.reading = r
		var complete bool
		for polls := 0; polls < 10 && !complete && err == nil; polls++ {
			complete, err = a.copyFile(t.Context(), r, time.Now().Add(time.Second))
		}
		if (err != nil) != (piece == 0) || complete == (piece == 0) || slow.reads != want {
			t.Errorf("%d bytes at a time: complete %v after %d reads, %v", piece, complete, slow.reads, err)
		}
		if sum := sha256.Sum256(content); complete && !bytes.Equal(r.digest.Sum(nil), sum[:]) {
			t.Errorf("%d bytes at a time: another content", piece)
		}
		a.closeReading()
	}
}

type fixedClock struct{}

func (fixedClock) Now() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) }
