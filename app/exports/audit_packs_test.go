package exports_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"causeway/app/exports"
	"causeway/app/internal/apptest"
	"causeway/core/export"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/ports"
)

// fakePacks writes a pack of 2025 alone.
type fakePacks struct {
	err      error
	findings string
	refusals int // how often no connection can be opened
	writing  func(ctx context.Context)
}

func (f *fakePacks) Check(_ context.Context, _ ident.Platform, year int) error {
	if year != 2025 {
		return fault.New(fault.Conflict, "close all months of the year first")
	}
	return nil
}

func (f *fakePacks) Write(ctx context.Context, _ ident.Platform, year int, out io.Writer, written func(int64)) (string, error) {
	if f.refusals > 0 {
		f.refusals--
		return "", fmt.Errorf("%w: too many connections", ports.ErrStoreUnavailable)
	}
	written(7)
	if _, err := io.WriteString(out, strings.Repeat("pack ", 50)); err != nil {
		return "", err
	}
	if f.writing != nil {
		f.writing(ctx)
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return f.findings, f.err
}

func packOf(year int) exports.Request {
	from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	return exports.Request{Format: exports.AuditPack, LedgerFilter: ports.LedgerFilter{Interval: period.Interval{From: from,
		To: from.AddDate(1, 0, 0)}}}
}

func TestFiles_AuditPack(t *testing.T) {
	t.Parallel()
	// The pack of a year is written as other files are, by a step of its own, so that processes without it leave it alone. Who does not see
	// the audit neither asks for one nor opens it, and a year that can still change has none. What the verification found
	// stays with the whole file; after a failure it is begun again, without a byte of before.
	e := newFileEnv(t)
	packs := &fakePacks{findings: "1 of 40 rules failed", err: errors.New("connection lost")}
	e.Packs = packs
	viewer := e.NewPerson(person.Viewer)
	_, err := e.Request(t.Context(), e.platform, viewer, packOf(2025))
	apptest.WantFault(t, "a pack for a viewer", err, fault.Forbidden)
	_, err = e.Request(t.Context(), e.platform, e.ana, packOf(2026))
	apptest.WantFault(t, "a year with open months", err, fault.Conflict)

	pack := e.request(packOf(2025))
	if n := e.CountJobs(ports.StepWriteAuditPack); n != 1 {
		t.Errorf("%d jobs", n)
	}
	e.writeDue(e.Files)
	if got := e.listed(pack.ID); got.State != export.Running || got.Run != 1 {
		t.Errorf("after a failure: %+v", got)
	}
	packs.err = nil
	e.Clock.Advance(time.Hour)
	e.writeDue(e.newProcessWith(packs))

	got := e.listed(pack.ID)
	if got.State != export.Completed || got.Problem != "1 of 40 rules failed" || got.Done != 7 || got.FileName != "audit-pack-2025.zip" {
		t.Errorf("%+v", got)
	}
	_, err = e.Open(t.Context(), e.platform, viewer, pack.ID)
	apptest.WantFault(t, "the pack for a viewer", err, fault.Forbidden)
	document, err := e.Open(t.Context(), e.platform, e.ana, pack.ID)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := document.Write(t.Context(), &out); err != nil || out.String() != strings.Repeat("pack ", 50) {
		t.Errorf("%q, %v", &out, err)
	}
}

func TestFiles_AuditPackWithoutConnections(t *testing.T) {
	t.Parallel()
	// While no connection can be opened nothing is read, so that no run is counted, however often it is tried.
	e := newFileEnv(t)
	packs := &fakePacks{refusals: 12}
	e.Packs = packs
	pack := e.request(packOf(2025))
	for packs.refusals > 0 {
		e.writeDue(e.Files)
		if got := e.listed(pack.ID); got.State != export.Waiting || got.Run != 0 {
			t.Fatalf("with %d refusals left: %+v", packs.refusals, got)
		}
		e.Clock.Advance(time.Minute)
	}

	e.writeDue(e.Files)

	if got := e.listed(pack.ID); got.State != export.Completed || got.Run != 1 {
		t.Errorf("%+v", got)
	}
}

func TestFiles_AuditPackBesideAnotherFile(t *testing.T) {
	t.Parallel()
	// A file of seconds does not wait for a pack of hours; another pack does.
	e := newFileEnv(t)
	packs := &fakePacks{}
	e.Packs = packs
	pack, next := e.request(packOf(2025)), e.request(packOf(2025))
	packs.writing = func(context.Context) {
		packs.writing = nil
		file := e.request(exports.Request{Format: exports.CSV})
		e.writeDue(e.newProcessWith(packs))
		if got := e.listed(file.ID); got.State != export.Completed {
			t.Errorf("the file: %+v", got)
		}
		written, waits := e.listed(pack.ID), e.listed(next.ID)
		if written.State == export.Waiting {
			written, waits = waits, written
		}
		if written.State != export.Running || waits.State != export.Waiting {
			t.Errorf("the packs are %s and %s", written.State, waits.State)
		}
	}

	e.writeDue(e.Files)
	e.Clock.Advance(time.Minute)
	e.writeDue(e.Files)

	if a, b := e.listed(pack.ID), e.listed(next.ID); a.State != export.Completed || b.State != export.Completed {
		t.Errorf("%+v, %+v", a, b)
	}
}

func TestFiles_AuditPackCancelled(t *testing.T) {
	t.Parallel()
	// A pack that is cancelled while it is written stops, and leaves no file.
	e := newFileEnv(t)
	packs := &fakePacks{}
	e.Packs = packs
	pack := e.request(packOf(2025))
	packs.writing = func(ctx context.Context) {
		if err := e.Cancel(context.WithoutCancel(ctx), e.platform, e.ana, pack.ID); err != nil {
			t.Error(err)
		}
		<-ctx.Done()
	}

	e.writeDue(e.Files)

	if got := e.listed(pack.ID); got.State != export.Cancelled || e.storedParts() > 0 {
		t.Errorf("%+v with %d parts", got, e.storedParts())
	}
}

func TestFiles_AuditPackOnAFullDisk(t *testing.T) {
	t.Parallel()
	// A pack for which no space is left fails at once with the reason, is not tried again, and leaves no file, though a part was written.
	e := newFileEnv(t)
	packs := &fakePacks{err: fault.New(fault.Conflict, "No space is left for the files of the pack")}
	e.Packs = packs
	pack := e.request(packOf(2025))

	e.writeDue(e.Files)

	got := e.listed(pack.ID)
	if got.State != export.Failed || got.Problem != "No space is left for the files of the pack" || e.storedParts() > 0 {
		t.Errorf("%+v with %d parts", got, e.storedParts())
	}
	packs.err = nil
	e.Clock.Advance(24 * time.Hour)
	e.writeDue(e.Files)
	if got := e.listed(pack.ID); got.State != export.Failed {
		t.Errorf("later: %+v", got)
	}
}
