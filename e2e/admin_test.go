package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// adminURL returns the address of the operators' endpoints of a server.
func (p *process) adminURL() string {
	p.t.Helper()
	line, err := p.AwaitLogField(waitContext(p.t), "admin")
	if err != nil {
		p.t.Fatal(err)
	}
	return line["admin"].(string)
}

func getText(t testing.TB, url string) (status int, body string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestAdmin_MetricsReadinessAndProfiles(t *testing.T) {
	t.Parallel()
	// Metrics, the details of readiness and profiles are on the operators' address only, and the
	// metrics show no ids of platforms.
	h := newTestEnv(t)
	h.get("/config").wantStatus(200)
	admin := h.server.adminURL()
	var ready struct {
		Ready  bool
		Checks map[string]struct{ OK bool }
	}

	if status, _ := getText(t, admin+"/healthz"); status != 204 {
		t.Errorf("healthz: %d", status)
	}
	status, body := getText(t, admin+"/readyz")
	if err := json.Unmarshal([]byte(body), &ready); err != nil || status != 200 || !ready.Ready || !ready.Checks["database"].OK ||
		!ready.Checks["clock"].OK {
		t.Errorf("readyz: %d %s", status, body)
	}
	eventually(t, "the queues are counted", func() bool {
		_, body = getText(t, admin+"/metrics")
		return strings.Contains(body, "causeway_operations_read_timestamp_seconds ") && strings.Contains(body, `causeway_jobs_dead{`)
	})
	for _, want := range []string{
		`causeway_jobs_due{step="deliver"} `, `causeway_jobs_dead{step="deliver"} `, `causeway_transactions_stuck{state="PROCESSING"} 0`,
		`causeway_webhooks_waiting{queue="first"} `,
		`causeway_ledger_unsealed_postings `, `causeway_database_connections_max{pool="work"} 8`, `causeway_build_info{`,
		`causeway_clock_offset_seconds `,
		`causeway_http_request_duration_seconds_count{class="2xx",method="GET",route="/readyz"}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(body, uuidOf(h.platformID)) {
		t.Error("the metrics name a platform")
	}
	if status, _ := getText(t, admin+"/debug/pprof/goroutine?debug=1"); status != 200 {
		t.Errorf("pprof: %d", status)
	}
	for _, path := range []string{"/metrics", "/debug/pprof/"} {
		if status, _ := getText(t, h.server.rootURL()+path); status != 404 {
			t.Errorf("%s on the public address: %d", path, status)
		}
	}
	if status, body := getText(t, h.server.rootURL()+"/readyz"); status != 200 || body != `{"status":"ready"}` {
		t.Errorf("the public readyz: %d %s", status, body)
	}
}

func TestServe_OutageIsLoggedOnce(t *testing.T) {
	t.Parallel()
	// While the database says nothing requests get 503, and the log has one line when it is lost and
	// one when it is back.
	h := newDatabaseEnv(t)
	proxy := startDatabaseProxy(t, h.databaseURL)
	h.server = startServer(t, proxy.URL(), "--request-timeout", "5s")
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	h.get("/config").wantStatus(200)

	proxy.Silence()
	h.server.awaitLine("the database is not available")
	linesBefore := strings.Count(h.server.Output(), "\n")
	var requests sync.WaitGroup
	for range 4 {
		requests.Go(func() {
			if got, err := h.do(t.Context(), http.MethodGet, "/config", nil); err != nil || got.status != http.StatusServiceUnavailable {
				t.Errorf("in the outage: %d %s, %v", got.status, got.body, err)
			}
		})
	}
	requests.Wait()
	proxy.Resume()
	h.server.awaitLine("the database is available again")

	if lines := strings.Split(h.server.Output(), "\n")[linesBefore+1:]; len(lines) != 1 || !strings.Contains(lines[0], "available again") {
		t.Errorf("logged since the beginning of the outage:\n%s", strings.Join(lines, "\n"))
	}
	eventually(t, "200", func() bool { return h.get("/config").status == 200 })
}
