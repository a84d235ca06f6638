package bankfile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/bankfile/transport"
	"causeway/core/corridor"
	"causeway/ports"
)

// queued returns an adapter with a payment that waits for the next file, through a transport.
func (d database) queued(t testing.TB, b *bank, name string, tr transport.Transport, settings ...string) *adapter {
	t.Helper()
	connection := europe(name, b.dir)
	for i := 0; i < len(settings); i += 2 {
		connection.Settings[settings[i]] = settings[i+1]
	}
	a := d.open(t, connection, d.Store, tr)
	if outcomes := a.Send(t.Context(), []ports.Payout{d.payout(name, 1, corridor.SEPA)}); !waiting(outcomes) {
		t.Fatalf("%+v", outcomes)
	}
	d.clock.Advance(time.Minute)
	return a
}

// pollFails polls once, and checks the error.
func pollFails(t testing.TB, a *adapter, want string) {
	t.Helper()
	report, err := a.Poll(t.Context(), "")
	if problem := errors.Join(err, report.Problem); problem == nil || !strings.Contains(problem.Error(), want) {
		t.Errorf("poll: %v, want a problem with %q", problem, want)
	}
}

// linkingTransport renames in two steps, and is interrupted between them once.
type linkingTransport struct {
	transport.Transport
	dir         string
	interrupted *bool
}

func (l linkingTransport) Rename(ctx context.Context, from, to string) error {
	if !*l.interrupted {
		*l.interrupted = true
		return errors.Join(errors.New("interrupted"), os.Link(filepath.Join(l.dir, from), filepath.Join(l.dir, to)))
	}
	return l.Transport.Rename(ctx, from, to)
}

func TestAdapter_EndsAnInterruptedRename(t *testing.T) {
	t.Parallel()
	// A server that renames in two steps can leave both names: the file is delivered then, and the temporary name removed.
	d, b := openDatabase(t), newBank(t)
	a := d.queued(t, b, "linked", linkingTransport{folderTransport(t, b.dir), b.dir, new(bool)})
	pollFails(t, a, "interrupted")

	pollAll(t, a, "")

	if left := b.leftovers(t); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	if b.only(t, "linked") == "" {
		t.Error("the file is empty")
	}
	pollAll(t, a, "")
	b.only(t, "linked")
}

func TestAdapter_ReplacesNoOtherFile(t *testing.T) {
	t.Parallel()
	// Another file with the final name stays as it is until an operator has moved it away; then ours is delivered.
	d, b := openDatabase(t), newBank(t)
	a := d.queued(t, b, "taken", nil)
	other := filepath.Join(b.dir, "out", "taken-000001.xml")
	if err := os.WriteFile(other, []byte("<other/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	pollFails(t, a, "another file has the name out/taken-000001.xml")
	if content, err := os.ReadFile(other); err != nil || string(content) != "<other/>" {
		t.Fatalf("%s, %v", content, err)
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}

	pollAll(t, a, "")

	validate(t, b.only(t, "taken"))
}

func TestAdapter_WithoutItsFoldersNothingIsDelivered(t *testing.T) {
	t.Parallel()
	// A file that cannot be found is taken for delivered only if its folders are there: a file system that is not mounted
	// has delivered nothing.
	d, b := openDatabase(t), newBank(t)
	for _, folder := range []string{"tmp", "away"} {
		if err := os.Mkdir(filepath.Join(b.dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	move := func(from, to string) {
		if err := os.Rename(filepath.Join(b.dir, from), filepath.Join(b.dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	a := d.queued(t, b, "mounted", nil, "temporaryFolder", "tmp", "temporarySuffix", "none")
	move("out", "away/out")
	pollFails(t, a, "correct the setting outgoing")
	move("tmp", "away/tmp")
	pollFails(t, a, "folder tmp")
	move("away/out", "out")
	pollFails(t, a, "folder tmp")
	move("away/tmp", "tmp")

	pollAll(t, a, "")

	validate(t, b.only(t, "mounted"))
}

func TestAdapter_PutsAMarkerDown(t *testing.T) {
	t.Parallel()
	// A bank that takes a file when its marker is there gets one after the file, also when the process ends in between. One
	// that has taken the file already gets none.
	d := openDatabase(t)
	for name, takes := range map[string]bool{"slow": false, "fast": true} {
		b := newBank(t)
		fails := true
		a := d.queued(t, b, name, markerTransport{folderTransport(t, b.dir), &fails}, "markerSuffix", ".ready")
		pollFails(t, a, "no marker")
		fails = false
		if takes {
			b.only(t, name)
		}

		pollAll(t, a, "")

		if _, err := os.Stat(filepath.Join(b.dir, "out", name+"-000001.xml.ready")); errors.Is(err, os.ErrNotExist) != takes {
			t.Errorf("%s: marker: %v", name, err)
		}
	}
}

// markerTransport creates no markers for a time.
type markerTransport struct {
	transport.Transport
	fails *bool
}

func (m markerTransport) Stat(ctx context.Context, name string) (transport.File, error) {
	if *m.fails && strings.HasSuffix(name, ".xml") {
		return transport.File{}, errors.New("no marker")
	}
	return m.Transport.Stat(ctx, name)
}

func TestAdapter_UploadsStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	// The settings get another folder while an upload waits for its name. That it is missing there does not mean that the
	// bank has it: it waits until the folder is set again, and is delivered from there.
	d, first, second := openDatabase(t), newBank(t), newBank(t)
	a := d.queued(t, first, "moved", linkingTransport{folderTransport(t, first.dir), t.TempDir(), new(bool)})
	pollFails(t, a, "interrupted")
	if len(first.leftovers(t)) != 1 {
		t.Fatal("nothing is uploaded")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	other := d.open(t, europe("moved", second.dir), d.Store, nil)
	pollFails(t, other, "to "+filepath.Join(first.dir, "out")+", which the settings no longer name: set that again")
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	pollAll(t, d.open(t, europe("moved", first.dir), d.Store, nil), "")
	if first.only(t, "moved") == "" {
		t.Error("the file is empty")
	}
}
