package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// screenedPlatform is a regulated production platform, whose customers are approved when they are created.
type screenedPlatform struct{ *testEnv }

func newScreenedPlatform(t *testing.T) *screenedPlatform {
	t.Helper()
	h := newTestEnv(t)
	h.tenant = h.createPlatform("Live", "PRODUCTION", "--regulated")
	return &screenedPlatform{h}
}

// run runs a command of the operator, which has to succeed, and returns its output.
func (p *screenedPlatform) run(args ...string) string {
	p.t.Helper()
	out, errOut, status := runCommand(p.t, []string{"DATABASE_URL=" + p.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}, args...)
	if status != 0 {
		p.t.Fatalf("%q: %d\n%s%s", args, status, out, errOut)
	}
	return out
}

// load loads a list with persons of these names, the first with the number 1.
func (p *screenedPlatform) load(names ...string) {
	p.t.Helper()
	var xml strings.Builder
	xml.WriteString(`<export generationDate="2026-03-04T10:00:00Z">`)
	for i, name := range names {
		fmt.Fprintf(
			&xml, `<sanctionEntity logicalId="%d"><subjectType classificationCode="P"/><nameAlias wholeName="%s" strong="true"/></sanctionEntity>`,
			i+1, name)
	}
	xml.WriteString(`</export>`)
	file := filepath.Join(p.t.TempDir(), "eu.xml")
	if err := os.WriteFile(file, []byte(xml.String()), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.run("screening", "load", "--list=eu", file, "--actor=ana", "--allow-fewer")
}

// awaitScreened waits until all customers are screened.
func (p *screenedPlatform) awaitScreened() {
	p.t.Helper()
	eventually(p.t, "all customers are screened", func() bool {
		return p.queryInt("SELECT count(*) FROM screening_runs WHERE status = 'RUNNING'") == 0 && p.queryInt("SELECT count(*) FROM jobs WHERE "+
			"step LIKE 'screen-%'") == 0
	})
}

func (p *screenedPlatform) newPerson(name string) string {
	p.t.Helper()
	return p.post("/customers", object{"customerType": "INDIVIDUAL", "fullName": name}).wantStatus(201).wantValues(
		map[string]any{"kycStatus": "APPROVED"}).text("id")
}

// wantMayPay checks whether the customer may pay: then only the missing rail of the platform prevents it.
func (p *screenedPlatform) wantMayPay(customer string, may bool) {
	p.t.Helper()
	status, code := 403, "USER_NOT_READY"
	if may {
		status, code = http.StatusNotImplemented, "NOT_IMPLEMENTED"
	}
	wallet := p.createWallet(customer, "")
	p.post("/quotes", object{"source": object{"customerId": customer, "currency": "USD"}, "destination": object{"destinationType": "ACCOUNT",
		"accountId": wallet},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 10050}).wantError(status, code)
}

func TestScreening_RenewedListStopsPayments(t *testing.T) {
	t.Parallel()
	// Approved customers whom a renewed list names, with a typing error and in another order, may not pay
	// until the operator has cleared the entry; it stays cleared with the next list. Another is confirmed and
	// rejected. What operators did and saw is recorded.
	p := newScreenedPlatform(t)
	cleared, confirmed, other := p.newPerson("Testow Ivan"), p.newPerson("Sokolov Maksim"), p.newPerson("Rosa Diaz")
	p.wantMayPay(cleared, true)
	list := []string{"Ivan Testov", "Maxim Sokolov"}
	p.load(list...)
	p.awaitScreened()

	p.wantMayPay(cleared, false)
	p.wantMayPay(confirmed, false)
	p.wantMayPay(other, true)
	p.get("/customers/" + cleared).wantValues(map[string]any{"kycStatus": "HOLD"})
	waiting := p.run("reviews", "list")
	for _, id := range []string{cleared, confirmed} {
		if !regexp.MustCompile(id + `  resembles eu:[12] \(\d+\) `).MatchString(waiting) {
			t.Errorf("list has no %s:\n%s", id, waiting)
		}
	}
	if shown := p.run("reviews", "show", cleared, "--platform", p.platformID, "--actor=ben"); !strings.Contains(shown, `"Testow Ivan"`) ||
		!strings.Contains(shown, "eu:1  OPEN") || !strings.Contains(shown, "held since") {
		t.Errorf("show:\n%s", shown)
	}
	decide := []string{"--platform", p.platformID, "--actor=ana", "--reason=Ticket 17"}
	if out := p.run(append([]string{"reviews", "clear", cleared, "--entry=eu:1"}, decide...)...); !strings.Contains(out,
		cleared+" is APPROVED") {
		t.Errorf("clear: %s", out)
	}
	if out := p.run(append([]string{"reviews", "confirm", confirmed, "--entry=eu:2"}, decide...)...); !strings.Contains(out,
		confirmed+" is REJECTED") {
		t.Errorf("confirm: %s", out)
	}

	p.wantMayPay(cleared, true)
	p.get("/customers/" + cleared).wantValues(map[string]any{"kycStatus": "APPROVED"})
	p.wantMayPay(confirmed, false)
	p.get("/customers/" + confirmed).wantValues(map[string]any{"kycStatus": "REJECTED"})
	p.load(list...)
	p.awaitScreened()
	p.wantMayPay(cleared, true)
	for id, want := range map[string]string{cleared: "CUSTOMER.KYC_PENDING,CUSTOMER.KYC_APPROVED",
		confirmed: "CUSTOMER.KYC_PENDING,CUSTOMER.KYC_REJECTED", other: ""} {
		var events string
		if err := p.db.QueryRow(`SELECT coalesce(string_agg(name, ',' ORDER BY id), '') FROM webhook_events WHERE subject_id = $1`,
			uuidOf(id)).Scan(&events); err != nil || events != want {
			t.Errorf("events of %s: %q, %v; want %q", id, events, err, want)
		}
	}
	var actions string
	if err := p.db.QueryRow(
		`SELECT string_agg(action || ' ' || actor, ',' ORDER BY action) FROM operator_actions WHERE subject_id = ANY (ARRAY[$1, $2]::uuid[])`,
		uuidOf(cleared), uuidOf(confirmed)).Scan(&actions); err != nil ||
		actions != "CLEAR_SCREENING_HIT ana,CONFIRM_SCREENING_HIT ana,OPEN_REVIEW ben" {
		t.Errorf("recorded: %q, %v", actions, err)
	}
	if out := p.run("reviews", "list"); strings.Contains(out, "resembles") {
		t.Errorf("list after the decisions:\n%s", out)
	}
}

func TestScreening_KilledServerScreensEachCustomerOnce(t *testing.T) {
	t.Parallel()
	// A server that is killed again and again while it screens all customers leaves none out, and records
	// and counts none twice.
	p := newScreenedPlatform(t)
	listed := p.newPerson("Testow Ivan")
	p.awaitScreened() // or the list would be found in the screening of the new customer, too
	const customers = 1001
	p.execAsService(
		`INSERT INTO customers (platform_id, id, platform_customer_id, customer_type, region, currencies, email, uma_address, status, details, created_at, updated_at)
		SELECT platform_id, gen_random_uuid(), 'c' || n, customer_type, region, currencies, '', 'c' || n || '@test', status,
			jsonb_build_object('fullName', CASE WHEN n % 50 = 0 THEN 'Ivan Testoff' ELSE 'Rosa Diaz' END), created_at, updated_at
		FROM customers, generate_series(1, $2) AS n WHERE id = $1`, uuidOf(listed), customers-1)
	screened := func() int64 { return p.queryInt("SELECT max(customers) FROM screening_runs") }
	p.load("Ivan Testov")

	for before := int64(-1); screened() < customers; {
		eventually(t, "further customers are screened", func() bool { return screened() > before })
		before = screened()
		p.server.kill()
		p.server = startServer(t, p.databaseURL)
		p.client = p.withServer(p.server)
		// Nobody holds the leases of the killed process.
		p.exec("UPDATE jobs SET due_at = now() WHERE step = 'screen-platform'")
	}
	p.awaitScreened()

	if run := p.queryInt("SELECT count(*) FROM screening_runs WHERE status = 'COMPLETED' AND customers = $1 AND total = $1 AND hits = $2",
		customers, customers/50+1); run != 1 {
		t.Errorf("%d runs with %d customers and %d hits; want 1", run, customers, customers/50+1)
	}
	if hits, held := p.queryInt("SELECT count(*) FROM screening_hits WHERE status = 'OPEN'"), p.queryInt("SELECT count(*) FROM customers "+
		"WHERE held_at IS NOT NULL AND status = 'PENDING'"); hits != customers/50+1 || held != hits {
		t.Errorf("%d hits, %d customers are held; want %d", hits, held, customers/50+1)
	}
	if events := p.queryInt("SELECT count(*) FROM webhook_events WHERE name = 'CUSTOMER.KYC_PENDING'"); events != customers/50+1 {
		t.Errorf("%d events, want %d", events, customers/50+1)
	}
}
