package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"causeway/e2e/kit"
)

// prometheus is a Prometheus that scrapes one service, and raises its alerts without waiting for the time of a rule.
type prometheus struct {
	t       *testing.T
	address string
}

func startPrometheus(t *testing.T, admin string) *prometheus {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatal("prometheus is not installed; install it with make needs-prometheus")
	}
	rules, err := os.ReadFile("../deploy/prometheus-rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	config := fmt.Sprintf("global: { scrape_interval: 1s, evaluation_interval: 1s }\nrule_files: [rules.yml]\nscrape_configs:\n"+
		"  - { job_name: causeway, static_configs: [{ targets: [%q] }] }\n", strings.TrimPrefix(admin, "http://"))
	for name, text := range map[string][]byte{"prometheus.yml": []byte(config),
		"rules.yml": regexp.MustCompile(`for: \S+`).ReplaceAll(rules, []byte("for: 0s"))} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &prometheus{t: t}
	if p.address, err = kit.FreeAddress(); err != nil {
		t.Fatal(err)
	}
	process, err := kit.Start(kit.Command{Program: program, Dir: folder, Args: []string{"--config.file=prometheus.yml",
		"--storage.tsdb.path=data", "--web.listen-address=" + p.address}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	eventually(t, "Prometheus has scraped the service", func() bool {
		return strings.Contains(p.get("/api/v1/query?query=causeway_operations_read_timestamp_seconds"), `"value"`)
	})
	return p
}

func (p *prometheus) get(path string) string {
	response, err := http.Get("http://" + p.address + path) //nolint:noctx // a server on this machine
	if err != nil {
		return "" // not started yet
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(body)
}

// firing returns the alerts that are raised.
func (p *prometheus) firing() []string {
	p.t.Helper()
	var response struct {
		Data struct {
			Alerts []struct {
				State  string            `json:"state"`
				Labels map[string]string `json:"labels"`
			} `json:"alerts"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(p.get("/api/v1/alerts")), &response); err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, a := range response.Data.Alerts {
		if a.State == "firing" {
			names = append(names, a.Labels["alertname"])
		}
	}
	return names
}

func TestAlerts_RealFaultsRaiseThem(t *testing.T) {
	t.Parallel()
	// Prometheus raises the alerts for what happens to a service: a connection that is paused and a payment that waits for it, a
	// connection with less money than it paid out within a day, money without an owner, a job that is dead and its payment, and a
	// process that has gone. Each alert is raised by its fault, and not before.
	e := newPartnerEnv(t)
	quote := e.quoteDollars(50_00)
	e.pay(quote)
	e.awaitTransaction(quote.text("transactionId"), "status", "COMPLETED")
	e.changeBankBalance("+ 1000000")
	p := startPrometheus(t, e.server.adminURL())
	eventually(t, "the balance is known", func() bool {
		return strings.Contains(p.get("/api/v1/query?query=causeway_rail_available>900000"), `"value"`)
	})

	sandbox := e.createPlatform("Sandbox", "SANDBOX")
	for _, fault := range []struct {
		alert  string
		happen func()
	}{
		{"CausewayRailPaused", func() { e.operator("rails", "pause", "partner-usd", "--note", "Incident 12", "--actor", "ana") }},
		{"CausewayRailPaymentsWait", func() {
			e.awaitWaiting(40_00, "queue")
			e.exec(`UPDATE rail_payments SET recorded_at = recorded_at - interval '61 minutes' WHERE state = 'QUEUED'`)
		}},
		{"CausewayUnmatchedFunds", func() {
			sandbox.post("/sandbox/send", object{"reference": "UMA-NOBODY", "currencyCode": "USD", "currencyAmount": 100}).wantStatus(404)
		}},
		{"CausewayRailBalanceLow", func() { e.changeBankBalance("- 1000000") }},
		{"CausewayJobsDead", func() {
			e.exec(`INSERT INTO jobs (platform_id, id, step, due_at, subjects) VALUES ($1, gen_random_uuid(), 'forward', 'infinity', '{}')`,
				uuidOf(e.platformID))
		}},
		{"CausewayTransactionsStuck", func() {
			e.exec(`UPDATE jobs SET subjects = ARRAY[$1::uuid] WHERE step = 'forward'`, uuidOf(e.quoteDollars(30_00).text("transactionId")))
		}},
		{"CausewayProcessDown", func() { e.server.kill() }},
	} {
		if firing := p.firing(); slices.Contains(firing, fault.alert) {
			t.Errorf("before the fault of %s the alerts are %q", fault.alert, firing)
		}
		fault.happen()
		eventually(t, fault.alert+" is raised", func() bool { return slices.Contains(p.firing(), fault.alert) })
		if fault.alert == "CausewayRailPaymentsWait" { // it is over
			e.operator("rails", "resume", "partner-usd", "--note", "Incident 12 is over", "--actor", "ben")
			eventually(t, "both alerts end", func() bool {
				firing := p.firing()
				return !slices.Contains(firing, fault.alert) && !slices.Contains(firing, "CausewayRailPaused")
			})
		}
	}
}
