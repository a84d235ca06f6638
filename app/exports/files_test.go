package exports_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/exports"
	"causeway/app/internal/apptest"
	"causeway/core/export"
	"causeway/core/fault"
	"causeway/core/person"
	"causeway/ports"
	"causeway/ports/portstest"
)

// fileEnv is an environment with files, each of whose parts has a few bytes.
type fileEnv struct {
	*env
	*exports.Files
	stored    *storedFiles
	ana, root person.Person
}

// storedFiles calls beforePut before it stores a file.
type storedFiles struct {
	portstest.Files
	beforePut func()
}

// Put implements ports.Files.
func (s *storedFiles) Put(ctx context.Context, name string, content io.Reader, size int64) ([]byte, error) {
	if s.beforePut != nil {
		s.beforePut()
	}
	return s.Files.Put(ctx, name, content, size)
}

func newFileEnv(t *testing.T) *fileEnv {
	t.Helper()
	e := &fileEnv{env: newSmallEnv(t), stored: &storedFiles{}}
	e.ana, e.root = e.NewPerson(person.Finance), e.NewPerson(person.Administrator)
	e.Files = e.newProcess()
	return e
}

// newProcess returns the files as another process has them.
func (e *fileEnv) newProcess() *exports.Files {
	return exports.NewFiles(e.newService(), exports.FilesConfig{Store: e.Env.Store, Files: e.stored, IDs: e.Env.IDs,
		Jobs: e.Env.Store, Log: e.Env.Log, PartSize: 100, Timeout: time.Minute})
}

// newProcessWith returns the same with packs.
func (e *fileEnv) newProcessWith(packs exports.AuditPacks) *exports.Files {
	f := e.newProcess()
	f.Packs = packs
	return f
}

func (e *fileEnv) request(r exports.Request) export.Export {
	e.t.Helper()
	found, err := e.Request(e.t.Context(), e.platform, e.ana, r)
	if err != nil {
		e.t.Fatal(err)
	}
	return found
}

func (e *fileEnv) writeDue(f *exports.Files) {
	e.t.Helper()
	if err := f.WriteDue(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
}

// listed returns an export as it is listed.
func (e *fileEnv) listed(id uuid.UUID) export.Export {
	e.t.Helper()
	all, err := e.List(e.t.Context(), e.platform)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, found := range all {
		if found.ID == id {
			return found
		}
	}
	return export.Export{}
}

// storedParts returns how many parts exports have.
func (e *fileEnv) storedParts() int { return len(e.QueryStrings(`SELECT id::text FROM export_parts`)) }

// unused returns how many stored files nothing has.
func (e *fileEnv) unused() int {
	e.t.Helper()
	return len(e.stored.Names()) - e.storedParts()
}

func TestFiles_ListsOfATime(t *testing.T) {
	t.Parallel()
	// The audit and the payments of a time are written as the lines that their pages download, of any number. Only who sees the audit asks
	// for that of it, and opens it; neither is of one account.
	e := newFileEnv(t)
	viewer := e.NewPerson(person.Viewer)
	_, err := e.Request(t.Context(), e.platform, viewer, exports.Request{Format: exports.AuditList})
	apptest.WantFault(t, "the audit for a viewer", err, fault.Forbidden)
	_, err = e.Request(t.Context(), e.platform, e.ana, exports.Request{Format: exports.PaymentList,
		LedgerFilter: ports.LedgerFilter{Path: "rails/ACH", Currency: "USD"}})
	apptest.WantFault(t, "payments of an account", err, fault.InvalidInput, "account", "currency")

	audit, payments := e.request(exports.Request{Format: exports.AuditList}), e.request(exports.Request{Format: exports.PaymentList})
	if n := e.CountJobs(ports.StepWriteList); n != 2 {
		t.Errorf("%d jobs are left alone by processes without lists", n)
	}
	for range 3 { // one of a platform at a time
		e.writeDue(e.Files)
		e.Clock.Advance(time.Minute)
	}

	_, err = e.Open(t.Context(), e.platform, viewer, audit.ID)
	apptest.WantFault(t, "the file of the audit for a viewer", err, fault.Forbidden)
	for name, c := range map[string]struct {
		asked export.Export
		by    person.Person
		first string
		lines int
		has   string
	}{
		"audit": {audit, e.ana, strings.Join(exports.ActivityColumns, ","), 3, "REQUEST_EXPORT"},
		"payments": {payments, viewer, strings.Join(exports.PaymentColumns, ","),
			1 + len(e.QueryStrings(`SELECT id::text FROM transactions WHERE platform_id = $1`, e.platform.UUID())), "created_at_utc"},
	} {
		document, err := e.Open(t.Context(), e.platform, c.by, c.asked.ID)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := document.Write(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if lines[0] != c.first || len(lines) != c.lines || !strings.Contains(out.String(), c.has) || document.Name != name+".csv" {
			t.Errorf("%s: %s: %q", name, document.Name, lines)
		}
	}
}

func TestFiles_SameBytesAsTheExport(t *testing.T) {
	t.Parallel()
	// A file is written in parts by a job, and is then what the command exports. Who asks for it, and who downloads it, is recorded.
	e := newFileEnv(t)
	for _, format := range exports.Formats() {
		r := exports.Request{Format: exports.Format(format)}
		asked := e.request(r)
		if asked.State != export.Waiting {
			t.Errorf("asked: %+v", asked)
		}
		if _, err := e.Open(t.Context(), e.platform, e.ana, asked.ID); !fault.Is(err, fault.Conflict) {
			t.Errorf("opened before it is written: %v", err)
		}
		e.writeDue(e.Files)
		want := e.mustExport(r)
		done := e.listed(asked.ID)
		if done.State != export.Completed || done.Size != int64(len(want)) || done.Total > 0 && done.Done != done.Total {
			t.Errorf("%s: %+v", format, done)
		}
		document, err := e.newProcess().Open(t.Context(), e.platform, e.root, asked.ID)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := document.Write(t.Context(), &out); err != nil || out.String() != want || document.Name != done.FileName {
			t.Errorf("%s: %v, %q instead of %q", format, err, out.String(), want)
		}
	}
	actions := e.QueryStrings(`SELECT action || ' ' || actor || ' ' || subject FROM operator_actions ORDER BY id LIMIT 2`)
	if strings.Join(actions, ", ") != "REQUEST_EXPORT "+e.ana.Email+" ledger-export.csv, DOWNLOAD_EXPORT "+e.root.Email+
		" ledger-export.csv" {
		t.Errorf("recorded %q", actions)
	}
	if e.unused() != 0 {
		t.Errorf("%d files are of no export", e.unused())
	}
}

func TestFiles_CancelledByAnotherProcess(t *testing.T) {
	t.Parallel()
	// While one process writes the third part, an export is cancelled in another one. It stops there, and what was written is deleted.
	e := newFileEnv(t)
	asked := e.request(exports.Request{Format: exports.CSV})
	parts := 0
	e.stored.beforePut = func() {
		if parts++; parts == 3 {
			other := e.NewPerson(person.Viewer)
			if err := e.newProcess().Cancel(t.Context(), e.platform, other, asked.ID); !fault.Is(err, fault.Forbidden) {
				t.Errorf("cancelled by another person: %v", err)
			}
			if err := e.newProcess().Cancel(t.Context(), platformID(2), e.root, asked.ID); !fault.Is(err, fault.NotFound) {
				t.Errorf("cancelled on another platform: %v", err)
			}
			if err := e.newProcess().Cancel(t.Context(), e.platform, e.root, asked.ID); err != nil {
				t.Error(err)
			}
		}
	}
	e.writeDue(e.Files)
	if got := e.listed(asked.ID); parts != 3 || got.State != export.Cancelled || got.EndedAt.IsZero() {
		t.Errorf("after %d parts: %+v", parts, got)
	}
	if n := e.CountJobs(ports.StepWriteExport); n != 0 || e.storedParts() != 0 {
		t.Errorf("%d jobs and %d parts are left", n, e.storedParts())
	}
	// Each of the two stored parts has a job that deletes it now, and each of the three one that does it later.
	if n := e.CountJobs(ports.StepDeleteBlob); n != 5 {
		t.Errorf("%d jobs delete files", n)
	}
	if err := e.Cancel(t.Context(), e.platform, e.ana, asked.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("cancelled again: %v", err)
	}
	// One that waits is not begun.
	waiting := e.request(exports.Request{Format: exports.CSV})
	if err := e.Cancel(t.Context(), e.platform, e.ana, waiting.ID); err != nil {
		t.Fatal(err)
	}
	e.writeDue(e.Files)
	if parts != 3 || e.CountJobs(ports.StepWriteExport) != 0 {
		t.Error("a cancelled export is written")
	}
}

func TestFiles_ProcessVanishes(t *testing.T) {
	t.Parallel()
	// A process stops within a part, and another one takes the job over and begins at the first byte. Meanwhile no half file can be opened.
	// When the first process goes on, it changes nothing.
	e := newFileEnv(t)
	asked := e.request(exports.Request{Format: exports.CSV})
	parts := 0
	e.stored.beforePut = func() {
		if parts++; parts != 3 {
			return
		}
		if _, err := e.Open(t.Context(), e.platform, e.ana, asked.ID); !fault.Is(err, fault.Conflict) {
			t.Errorf("a half file is opened: %v", err)
		}
		e.Env.Clock.Advance(time.Hour) // the lease ends
		e.writeDue(e.newProcess())
	}
	e.writeDue(e.Files)
	want := e.mustExport(exports.Request{Format: exports.CSV})
	if got := e.listed(asked.ID); got.State != export.Completed || got.Run != 2 || got.Size != int64(len(want)) {
		t.Errorf("%+v", got)
	}
	document, err := e.Open(t.Context(), e.platform, e.ana, asked.ID)
	var out bytes.Buffer
	if err == nil {
		err = document.Write(t.Context(), &out)
	}
	if err != nil || out.String() != want {
		t.Errorf("%v, %q instead of %q", err, out.String(), want)
	}
}

func TestFiles_EveryProcessVanishes(t *testing.T) {
	t.Parallel()
	// An export whose every process vanishes within its first part has failed after five of them, and leaves no part and no job.
	e := newFileEnv(t)
	asked := e.request(exports.Request{Format: exports.CSV})
	runs := 0
	e.stored.beforePut = func() {
		runs++
		e.Env.Clock.Advance(time.Hour) // the lease ends
		e.writeDue(e.newProcess())
	}
	e.writeDue(e.Files)
	if got := e.listed(asked.ID); got.State != export.Failed || runs != 5 || e.storedParts() != 0 || e.CountJobs(ports.StepWriteExport) != 0 {
		t.Errorf("after %d runs: %+v", runs, got)
	}
}

func TestFiles_OneOfAPlatformAtATime(t *testing.T) {
	t.Parallel()
	// While an export is written, another process lets a second one wait, and writes it afterwards. No more than some wait.
	e := newFileEnv(t)
	first := e.request(exports.Request{Format: exports.CSV})
	var second export.Export
	e.stored.beforePut = func() {
		e.stored.beforePut = nil
		second = e.request(exports.Request{Format: exports.HLedger})
		e.Env.Clock.Advance(time.Second)
		e.writeDue(e.newProcess())
		if got := e.listed(second.ID); got.State != export.Waiting {
			t.Errorf("both are written: %+v", got)
		}
	}
	e.writeDue(e.Files)
	if got := e.listed(first.ID); got.State != export.Completed {
		t.Errorf("the first: %+v", got)
	}
	e.Env.Clock.Advance(time.Minute)
	e.writeDue(e.Files)
	if got := e.listed(second.ID); got.State != export.Completed {
		t.Errorf("the second: %+v", got)
	}
	for range export.MaxUnfinished {
		e.request(exports.Request{Format: exports.CSV})
	}
	if _, err := e.Request(t.Context(), e.platform, e.ana, exports.Request{Format: exports.CSV}); !fault.Is(err, fault.RateLimited) {
		t.Errorf("one more waits: %v", err)
	}
}

func TestFiles_Failures(t *testing.T) {
	t.Parallel()
	// What is wrong with a request is its answer, or the problem of the export. Files that cannot be stored are tried again some times.
	e := newFileEnv(t)
	if _, err := e.Request(t.Context(), e.platform, e.ana, exports.Request{Format: "xlsx"}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("unknown format: %v", err)
	}
	if _, err := e.Request(t.Context(), e.platform, person.Person{}, exports.Request{Format: exports.CSV}); !fault.Is(err, fault.Forbidden) {
		t.Errorf("somebody without a role: %v", err)
	}
	unused := e.request(exports.Request{Format: exports.CSV, LedgerFilter: ports.LedgerFilter{Path: "rails/WIRE"}})
	e.writeDue(e.Files)
	if got := e.listed(unused.ID); got.State != export.Failed || !strings.Contains(got.Problem, "account") {
		t.Errorf("an account without postings: %+v", got)
	}

	e.stored.Fail(errors.New("the disk is full"))
	broken := e.request(exports.Request{Format: exports.CSV})
	for range 5 {
		if got := e.listed(broken.ID); got.HasEnded() {
			t.Errorf("ended early: %+v", got)
		}
		e.Env.Clock.Advance(time.Hour)
		e.writeDue(e.Files)
	}
	if got := e.listed(broken.ID); got.State != export.Failed || got.Problem == "" || strings.Contains(got.Problem, "disk") {
		t.Errorf("no place: %+v", got)
	}
	if n := e.CountJobs(ports.StepWriteExport); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
	e.stored.Fail(nil)

	e.FilesConfig.Files = nil
	if _, err := e.Request(t.Context(), e.platform, e.ana, exports.Request{Format: exports.CSV}); !fault.Is(err, fault.NotImplemented) {
		t.Errorf("no place is configured: %v", err)
	}
}

func TestFiles_DeletedAfterSomeDays(t *testing.T) {
	t.Parallel()
	// After some days an export is gone, with its parts, whose files get a job that deletes them.
	e := newFileEnv(t)
	old := e.request(exports.Request{Format: exports.CSV})
	e.writeDue(e.Files)
	parts, later := e.storedParts(), e.CountJobs(ports.StepDeleteBlob)
	e.Env.Clock.Advance(exports.FilesRetention + time.Second)
	recent := e.request(exports.Request{Format: exports.CSV})
	for range 2 {
		if err := e.DeleteOld(ports.ForAllPlatforms(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if e.listed(old.ID).ID != uuid.Nil || e.listed(recent.ID).ID != recent.ID || e.storedParts() != 0 ||
		e.CountJobs(ports.StepDeleteBlob)-later != parts || parts == 0 {
		t.Errorf("%d parts, %d jobs", parts, e.CountJobs(ports.StepDeleteBlob)-later)
	}
	if _, err := e.Open(t.Context(), e.platform, e.ana, old.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("opened: %v", err)
	}
	if _, err := e.Open(t.Context(), platformID(2), e.ana, recent.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("opened on another platform: %v", err)
	}
}
