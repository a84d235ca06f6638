package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"causeway/core/ident"
	"causeway/e2e/bench/history"
)

// heldBucket is a bucket that stores a file when it is let.
type heldBucket struct {
	location string
	// began has the path of each file whose storing has begun, and let lets one go on.
	began chan string
	let   chan struct{}
}

func startHeldBucket(t *testing.T) *heldBucket {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("files"); err != nil {
		t.Fatal(err)
	}
	b := &heldBucket{began: make(chan string, 100), let: make(chan struct{}, 100)}
	store := gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			b.began <- r.URL.Path
			<-b.let
		}
		store.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(b.let) })
	b.location = "s3://files?region=eu-central-1&endpoint=" + server.URL
	return b
}

// awaitPut returns when the storing of a file has begun.
func (b *heldBucket) awaitPut(t *testing.T) {
	t.Helper()
	select {
	case <-b.began:
	case <-time.After(waitTimeout):
		t.Fatal("no file is stored")
	}
}

var exportPattern = regexp.MustCompile(`/exports/([0-9a-f-]{36})/(cancel|file)"`)

// askForExport asks for a file of the ledger, and returns the page that lists it.
func (p *person) askForExport(base string) string {
	p.t.Helper()
	form := url.Values{"csrf": {p.find(tokenPattern, p.page(http.MethodGet, base+"/make-export", nil))}, "format": {"csv"}}
	return p.page(http.MethodPost, base+"/make-export", form)
}

func TestExportFiles_OfSeveralProcesses(t *testing.T) {
	t.Parallel()
	// A person asks one process for a file that another one writes, and cancels it there. The process that writes the next file is killed in
	// the midst; nobody can download half of it, and another process writes it again. It is then what the command exports.
	bucket := startHeldBucket(t)
	flags := []string{"--blobs", bucket.location, "--blobs-access-key", "key", "--blobs-secret-key", "secret"}
	h := newTestEnv(t, append(flags, "--no-workers")...)
	platform, err := ident.ParsePlatform(h.platformID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := history.Write(t.Context(), history.Options{URL: h.databaseURL, Platform: platform, Entries: 2_000, Months: 1,
		Seed: 4}); err != nil {
		t.Fatal(err)
	}
	ana, base := h.invite("Ana", "FINANCE"), "/console/platforms/"+uuidOf(h.platformID)
	countJobs := func() int64 { return h.queryInt("SELECT count(*) FROM jobs WHERE step = 'write-export'") }

	if page := ana.askForExport(base); !strings.Contains(page, "waiting") {
		t.Errorf("a file that waits is listed as\n%s", page)
	}
	writer := startServer(t, h.databaseURL, flags...)
	bucket.awaitPut(t)
	running := ana.page(http.MethodGet, base+"/exports", nil)
	if !strings.Contains(running, "running") {
		t.Errorf("a file that is written is listed as\n%s", running)
	}
	cancel := base + "/exports/" + exportPattern.FindStringSubmatch(running)[1] + "/cancel"
	form := url.Values{"csrf": {ana.find(tokenPattern, ana.page(http.MethodGet, cancel, nil))}}
	if page := ana.page(http.MethodPost, cancel, form); !strings.Contains(page, "cancelled") {
		t.Errorf("a cancelled file is listed as\n%s", page)
	}
	bucket.let <- struct{}{}
	eventually(t, "the end of the job of a cancelled file", func() bool { return countJobs() == 0 })
	if n := h.queryInt("SELECT count(*) FROM export_parts"); n != 0 {
		t.Errorf("%d parts of a cancelled file", n)
	}

	ana.askForExport(base)
	bucket.awaitPut(t)
	writer.kill()
	bucket.let <- struct{}{}
	if page := ana.page(http.MethodGet, base+"/exports", nil); strings.Contains(page, `/file"`) {
		t.Errorf("half a file can be downloaded:\n%s", page)
	}
	h.exec("UPDATE jobs SET due_at = now() WHERE step = 'write-export'")
	startServer(t, h.databaseURL, flags...)
	bucket.awaitPut(t)
	bucket.let <- struct{}{}
	eventually(t, "the file", func() bool { return countJobs() == 0 })
	done := ana.page(http.MethodGet, base+"/exports", nil)
	link := exportPattern.FindStringSubmatch(done)
	if link == nil || link[2] != "file" {
		t.Fatalf("no file can be downloaded:\n%s", done)
	}
	want := mustRunCommand(t, []string{"DATABASE_URL=" + h.databaseURL}, "ledger", "export", "--platform", h.platformID, "--format", "csv")
	if got := ana.page(http.MethodGet, base+"/exports/"+link[1]+"/file", nil); got != want {
		t.Errorf("the file has %d bytes, and that of the command %d", len(got), len(want))
	}
	recorded := h.queryInt("SELECT count(*) FROM operator_actions WHERE subject_id = $1 AND action IN ('REQUEST_EXPORT', 'DOWNLOAD_EXPORT')",
		link[1])
	if run := h.queryInt("SELECT run FROM exports WHERE id = $1", link[1]); run != 2 || recorded != 2 {
		t.Errorf("written by run %d, %d actions are recorded", run, recorded)
	}
}
