package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

// colleague is a person who works with the service, in a browser.
type colleague struct {
	*tab
	service         *service
	email, password string
	// key is that of the second factor, and recovery are the recovery codes.
	key      string
	recovery []string
}

// invite invites a person, and returns the link.
func (s *service) invite(email, name, roles string) string {
	s.t.Helper()
	said := s.causeway("people", "invite", email, "--name", name, "--roles", roles, "--public-url", s.root, "--actor", "Root")
	_, link, found := strings.Cut(said, "\n")
	if link = strings.TrimSpace(link); !found || !strings.HasPrefix(link, s.root+"/console/link/") {
		s.t.Fatalf("the invitation says %q", said)
	}
	return link
}

// newColleague invites a person, who opens the link and chooses a password and a second factor.
func (s *service) newColleague(email, name, roles string, v view) *colleague {
	s.t.Helper()
	c := &colleague{tab: newTab(s.t, v), service: s, email: email, password: "several plain words"}
	c.open(s.invite(email, name, roles))
	c.want("Welcome, " + name)
	c.press("form button.primary")
	c.setUp()
	return c
}

// setUp chooses a password and a second factor, on the page for it, and keeps the recovery codes.
func (c *colleague) setUp() {
	c.t.Helper()
	c.key = c.evaluate(`document.querySelector("main code").innerText`)
	c.fill(map[string]string{"password": c.password, "code": c.code(0)})
	c.press("main form button.primary")
	c.recovery = strings.Fields(c.evaluate(`[...document.querySelectorAll(".codes li")].map(e => e.innerText).join(" ")`))
	if len(c.recovery) != 10 {
		c.t.Fatalf("the recovery codes are %q", c.recovery)
	}
}

// code returns the code of the second factor, or that of a later step, of which the service accepts the next one.
func (c *colleague) code(steps int) string {
	c.t.Helper()
	code, err := totp.GenerateCode(c.key, time.Now().Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		c.t.Fatal(err)
	}
	return code
}

// visit opens a page of the console.
func (c *colleague) visit(path string) {
	c.t.Helper()
	c.open(c.service.root + path)
}

// wantNone checks that the page has no element.
func (c *colleague) wantNone(selector string) {
	c.t.Helper()
	if found := c.evaluate(fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.outerHTML).join("\n")`, selector)); found != "" {
		c.t.Errorf("%s is there: %s", selector, found)
	}
}

// consolePath is the path of the pages of a platform.
func (p *platform) consolePath() string {
	_, id, _ := strings.Cut(p.call("GET", "/config", nil).text("id"), ":")
	return "/console/platforms/" + id
}

// payment is a payment that a test has made.
type payment struct{ id, reference string }

// pay makes a payment in dollars, which the sandbox funds, and waits for its status.
func (p *platform) pay(customer, account, status string) payment {
	p.t.Helper()
	const amount = 100_50
	quote := p.call("POST", "/quotes", map[string]any{"source": map[string]any{"customerId": customer, "currency": "USD"},
		"destination":        map[string]any{"destinationType": "ACCOUNT", "accountId": account},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": amount, "description": "Rent of March"})
	made := payment{quote.text("transactionId"), quote.text("paymentInstructions.0.accountOrWalletInfo.reference")}
	if made.reference == "" {
		p.t.Fatalf("the quote has no reference: %s", quote.body)
	}
	p.call("POST", "/sandbox/send", map[string]any{"reference": made.reference, "currencyCode": "USD", "currencyAmount": amount})
	eventually(p.t, "the status "+status, func() bool { return p.call("GET", "/transactions/"+made.id, nil).text("status") == status })
	return made
}

// newWorkload makes a platform with a payment that is done and one that failed, and an endpoint that accepts no webhook.
func (s *service) newWorkload() (p *platform, done, failed payment) {
	s.t.Helper()
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "out of order", http.StatusInternalServerError)
	}))
	s.t.Cleanup(endpoint.Close)
	p = s.newPlatform("Acme Pay", "SANDBOX")
	p.call("PATCH", "/config", map[string]any{"webhookEndpoint": endpoint.URL})
	customer := p.call("POST", "/customers", map[string]any{"customerType": "INDIVIDUAL", "region": "US", "fullName": "Quetzalli Balam",
		"platformCustomerId": "customer-7", "birthDate": "1990-12-10", "nationality": "US", "email": "quetzalli@mail.example",
		"address": map[string]any{"line1": "12 Analytical Way", "city": "Austin", "state": "TX", "postalCode": "78701",
			"country": "US"}}).text("id")
	wallet := p.call("POST", "/customers/external-accounts", map[string]any{"customerId": customer, "currency": "BTC",
		"accountInfo": map[string]any{"accountType": "LAYER2_WALLET", "address": "spark1qexamplewallet"}}).text("id")
	bank := p.call("POST", "/customers/external-accounts", map[string]any{"customerId": customer, "currency": "USD",
		"accountInfo": map[string]any{"accountType": "US_ACCOUNT", "accountNumber": "12345678002", "routingNumber": "021000021",
			"beneficiary": map[string]any{"beneficiaryType": "INDIVIDUAL", "fullName": "Itzamna Cenote", "birthDate": "1990-12-10",
				"nationality": "US"}}}).text("id")
	for range 3 {
		done = p.pay(customer, wallet, "COMPLETED")
	}
	failed = p.pay(customer, bank, "FAILED")
	return p, done, failed
}

func TestConsole_FirstSignInByKeyboard(t *testing.T) {
	t.Parallel()
	// A person opens its link, is told what is wrong with the password and the code, chooses both, and keeps its recovery codes. It
	// signs out, and in again with a wrong password, a recovery code and a code of its application, and is back on the page that it
	// asked for. All of that without a mouse. A used link, a used recovery code and a used code count no more.
	s := startService(t)
	link := s.invite("ada@acme.example", "Ada Lovelace", "FINANCE")
	c := &colleague{tab: newTab(t, keyboard), service: s, email: "ada@acme.example", password: "several plain words"}
	c.open(link)
	c.want("Welcome, Ada Lovelace")
	c.checkEverywhere("link")
	c.press("form button.primary")
	c.want("Choose your password")
	c.checkEverywhere("setup")
	c.visit("/console/people")
	c.want("Choose your password")
	c.fill(map[string]string{"password": "ada lovelace 1815", "code": "000000"})
	c.pressTo("main form button.primary", http.StatusUnprocessableEntity)
	c.want("must not contain your name")
	c.want("must be the code that your application shows now")
	c.checkEverywhere("refused setup")
	c.setUp()
	c.checkEverywhere("recovery codes")
	c.press("main a.button")
	c.want("There is no platform that your roles let you see")
	c.press(".who button")
	c.want("Sign in")

	other := &colleague{tab: newTab(t, desktop), service: s}
	other.openStatus(link, http.StatusConflict)
	other.want("opened already")
	other.checkEverywhere("used link")

	c.visit("/console?all")
	c.want("Sign in")
	c.checkEverywhere("sign in")
	signIn := func(password, code string, status int64) {
		t.Helper()
		c.fill(map[string]string{"email": c.email, "password": password, "code": code})
		c.pressTo("form button.primary", status)
	}
	signIn("some other words", c.recovery[0], http.StatusUnauthorized)
	c.want("The e-mail address, the password or the code is wrong.")
	c.wantField("email", c.email)
	c.wantField("password", "")
	c.checkEverywhere("refused sign-in")
	signIn(c.password, strings.ToLower(c.recovery[0]), http.StatusOK)
	c.want("Platforms")
	c.press(".who button")
	signIn(c.password, c.recovery[0], http.StatusUnauthorized)
	code := c.code(1)
	signIn(c.password, code, http.StatusOK)
	c.press(".who button")
	signIn(c.password, code, http.StatusUnauthorized)
	c.want("A code counts once")
	for _, b := range []*tab{c.tab, other.tab} {
		b.wantNoComplaints(http.StatusUnauthorized, http.StatusUnprocessableEntity, http.StatusConflict)
	}
}

func TestConsole_SupportFindsFailedPayment(t *testing.T) {
	t.Parallel()
	// Support looks for a payment that failed, by its reference, and reads why: what the rail said, what was posted and which webhooks
	// were not accepted. Names are masked until it asks for them, which is recorded with its name. It does so with only a keyboard, and
	// without script.
	all := startServiceAt(t, "127.0.0.1:0", "--allow-private-webhooks")
	for name, v := range map[string]view{"keyboard": keyboard, "no script": desktop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := all.in(t)
			p, _, failed := s.newWorkload()
			base := p.consolePath()
			_, id, _ := strings.Cut(base[1:], "platforms/")
			email := "grace." + strings.ReplaceAll(name, " ", "-") + "@acme.example"
			c := s.newColleague(email, "Grace Hopper", "SUPPORT@PlatformConfig:"+id, v)
			c.press("main a.button") // she sees one platform, and is led to it
			c.want("Overview")
			c.want("sandbox: no money moves")
			c.checkEverywhere("overview")
			c.wantNone(`a[href$="/jobs"], a[href$="/people"]`)
			c.fill(map[string]string{"q": failed.reference})
			c.press(".search button") // which opens the only payment
			c.want("QUOTE_EXECUTION_FAILED")
			c.visit(base + "/payments?reference=" + failed.reference)
			c.want("1 payment, newest first")
			c.checkEverywhere("payments")
			c.press("tbody a")
			for _, want := range []string{"failed", "QUOTE_EXECUTION_FAILED", failed.reference, "Posting: reversal", "Rail: ",
				"webhook OUTGOING_PAYMENT.FAILED"} {
				c.want(want)
			}
			eventually(t, "an attempt to send a webhook", func() bool {
				c.visit(base + "/payments/" + failed.id[len("Transaction:"):])
				return strings.Contains(c.text(), "HTTP 500")
			})
			if text := c.text(); strings.Contains(text, "Itzamna") || strings.Contains(text, "Rent of March") {
				t.Errorf("personal data is not masked:\n%s", text)
			}
			c.checkEverywhere("payment")
			c.press(`main form button`)
			c.want("Personal data is shown in full. This was recorded.")
			c.want("Rent of March")
			c.checkEverywhere("payment with personal data")

			c.press(`.facts a[href*="/customers/"]`)
			c.want("Q•••")
			c.press(`main form button`)
			c.want("Quetzalli Balam")
			c.checkEverywhere("customer")
			c.press(`nav a[href$="/customers"]`)
			c.checkEverywhere("customers")
			c.press(`nav a[href$="/webhooks"]`)
			c.checkEverywhere("webhooks")
			c.press(`tbody a`)
			c.want("It is recorded that you did")
			c.press(`main form button`)
			c.want(`"platformCustomerId"`)
			c.checkEverywhere("webhook")

			var recorded int
			if err := s.openDatabase().QueryRowContext(t.Context(),
				`SELECT count(*) FROM operator_actions WHERE action = 'VIEW_PERSONAL_DATA' AND actor = $1`,
				email).Scan(&recorded); err != nil || recorded != 3 {
				t.Errorf("%d views are recorded, %v; want 3", recorded, err)
			}
			c.fill(map[string]string{"q": "nothing like it"})
			c.pressTo(".search button", http.StatusNotFound)
			c.want("Nothing found")
			c.wantField("q", "nothing like it")
			c.checkEverywhere("nothing found")
			c.wantNoComplaints(http.StatusNotFound)
		})
	}
}

func TestConsole_FinanceFollowsFigure(t *testing.T) {
	t.Parallel()
	// Finance follows a figure of the trial balance to the entries of its account, to a posting and to the payment, and has no button
	// or link that its role does not allow. What it asks for by hand is refused, and another platform does not exist for it.
	s := startServiceAt(t, "127.0.0.1:0", "--allow-private-webhooks")
	p, _, _ := s.newWorkload()
	other := s.newPlatform("Other Bank", "SANDBOX")
	base := p.consolePath()
	_, id, _ := strings.Cut(base, "platforms/")
	c := s.newColleague("fin@acme.example", "Fin Ance", "FINANCE@PlatformConfig:"+id, desktop)
	c.press("main a.button")
	c.press(`nav a[href$="/trial-balance"]`)
	c.want("Total")
	c.checkEverywhere("trial balance")
	c.press(`main .hint a`)
	c.checkEverywhere("trial balance of accounts")
	c.press(`td a[href*="fees"]`)
	c.want("with the balance after each entry")
	c.checkEverywhere("entries")
	c.press(`td a[href*="/postings/"]`)
	c.want("Posting ")
	c.checkEverywhere("posting")
	c.press(`.facts a[href*="/payments/"]`)
	c.want("What has happened")
	c.want("Your roles do not show it.")
	payment := c.evaluate("location.pathname")
	for _, path := range []string{"", "/payments", "/customers", "/trial-balance", "/webhooks", strings.TrimPrefix(payment, base)} {
		c.visit(base + path)
		c.wantNone(`main form[method=post], a[href$="/jobs"], a[href$="/people"]`)
	}
	// A figure of a statement has the entries of its months, or the accounts of its group, and the FX position the results of months.
	until := "&by=effective&from=&to=" + time.Now().UTC().Format("2006-01")
	for path, want := range map[string]string{"/entries?path=income/fees&currency=USD&part=earned" + until: "Sum of these entries",
		"/trial-balance?detail=account&group=customers/&currency=USD" + until: "Only the accounts of",
		"/fx-position": "No exchange result is posted yet."} {
		c.visit(base + path)
		c.want(want)
		c.checkEverywhere(path)
	}
	c.openStatus(s.root+base+"/jobs", http.StatusForbidden)
	c.want("Your roles (FINANCE")
	c.checkEverywhere("forbidden")
	c.openStatus(s.root+"/console/people", http.StatusForbidden)
	c.openStatus(s.root+other.consolePath(), http.StatusNotFound)
	c.visit(base + "/payments?status=FAILED&from=2026-01-01T00:00")
	c.want("1 payment, newest first")
	c.visit(base + "/payments?reference=none")
	c.want("No payment matches")
	c.checkEverywhere("no payments")
	c.openStatus(s.root+base+"/payments?min=x&from=y", http.StatusUnprocessableEntity)
	c.want("An amount needs its currency.")
	c.checkEverywhere("refused filter")
	c.wantNoComplaints(http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity)
}

func TestConsole_AdministratorSeesAll(t *testing.T) {
	t.Parallel()
	// An administrator chooses among platforms, and sees jobs and people. A person who was disabled is signed out with its next page.
	s := startServiceAt(t, "127.0.0.1:0", "--allow-private-webhooks")
	p, _, _ := s.newWorkload()
	base := p.consolePath()
	empty := s.newPlatform("Empty Bank", "PRODUCTION")
	c := s.newColleague("root@acme.example", "Root Admin", "ADMINISTRATOR", view{width: 1100, height: 900, script: true})
	leaving := s.newColleague("gone@acme.example", "Gone Soon", "VIEWER", desktop)
	c.press("main a.button")
	c.want("Empty Bank")
	c.checkEverywhere("platforms")
	c.press(`.who a[href$="/people"]`)
	c.want("gone@acme.example")
	c.checkEverywhere("people")
	c.press(`.who a[href$="/account"]`)
	c.want("this one")
	c.checkEverywhere("account of who has a password")
	for _, page := range []string{"/console/account/authenticator", "/console/account/sessions/others/end", base + "/webhook-endpoint",
		base + "/change-books-settings", base + "/import-statement", base + "/books-settings", base + "/chart-of-accounts",
		base + "/add-account"} {
		c.visit(page)
		c.checkEverywhere(page[strings.LastIndex(page, "/")+1:])
	}
	c.visit("/console/account/password")
	c.checkEverywhere("change the password")
	const next = "seven purple elephants"
	c.fill(map[string]string{"current": c.password, "password": next, "code": c.spendCode()})
	c.press("main form button.primary")
	c.wantPath("/console/account")
	c.want("9 recovery codes")
	c.password = next
	c.visit("/console/account/recovery-codes")
	c.fill(map[string]string{"code": c.spendCode()})
	c.press("main form button.primary")
	c.want("They are not shown again.")
	c.checkEverywhere("new recovery codes")
	c.press("main a.button")
	c.want("10 recovery codes")
	c.visit("/console/command-line")
	c.want("Sign in on the command line")
	c.checkEverywhere("command line")
	c.visit(base + "/jobs")
	c.checkEverywhere("jobs")
	for _, path := range []string{"", "/payments", "/customers", "/trial-balance", "/webhooks", "/jobs"} {
		c.visit(empty.consolePath() + path)
		c.wantNone(".sandbox")
		c.checkEverywhere("empty " + path)
	}
	s.causeway("people", "disable", "gone@acme.example", "--actor", "Root")
	leaving.visit(base)
	leaving.want("Sign in")
	c.wantNoComplaints()
	leaving.wantNoComplaints()

	c.visit(base)
	c.screenshotAs("console-home", "body", view{width: 900, height: 620})
	c.screenshotAs("console-phone", "body", view{width: 390, height: 800, dark: true})
	c.visit(base + "/trial-balance")
	c.screenshotAs("console-trial-balance", "body", view{width: 900, height: 620})
	c.visit(base + "/payments")
	c.screenshotAs("console-payments", "body", view{width: 900, height: 700, dark: true})
	c.press("tbody a") // the newest, which failed
	c.want("QUOTE_EXECUTION_FAILED")
	c.screenshotAs("console-payment", "h2", view{width: 900, height: 680})
}

func TestConsole_OperatorSearchesAndWatches(t *testing.T) {
	t.Parallel()
	// The search lists what an amount and a name find, events appear on their page as they happen, and the pages of operations are as
	// readable as the others. A note is kept with the customer.
	s := startServiceAt(t, "127.0.0.1:0", "--allow-private-webhooks")
	p, failed, _ := s.newWorkload()
	base := p.consolePath()
	c := s.newColleague("ops@acme.example", "Olga Ops", "ADMINISTRATOR", view{width: 1100, height: 900, script: true})
	database := s.openDatabase()
	eventually(t, "the first count of what waits", func() bool {
		var counted int
		err := database.QueryRowContext(t.Context(), `SELECT count(*) FROM sample_times`).Scan(&counted)
		return err == nil && counted > 0
	})
	if _, err := database.ExecContext(t.Context(), `INSERT INTO samples SELECT id, sampled_at, kind, s.name, counts FROM platforms, sample_times, (VALUES
		('JOBS', '', ARRAY[30, 5, 2]), ('RAIL_PAYMENTS', 'bank', ARRAY[4, 3, 1]), ('RAIL_CALLS', 'bank', ARRAY[9, 1, 2, 2400, 900])) AS s(kind, name, counts)
		ON CONFLICT (platform_id, sampled_at, kind, name) DO UPDATE SET counts = excluded.counts`); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{base + "/state": "Payments that wait at bank", base + "/state?last=7d": "Not counted",
		base + "/test-values": "sandbox-valid-signature",
		"/console/processes":  "running", base + "/payments/" + failed.id[len("Transaction:"):] + "/redeliver": "with the same ids"} {
		c.visit(path)
		c.want(text)
		c.checkEverywhere(path)
	}
	eventually(t, "the keys of the search", func() bool {
		var waiting int
		err := database.QueryRowContext(t.Context(), `SELECT count(*) FROM search_queue`).Scan(&waiting)
		return err == nil && waiting == 0
	})
	c.visit(base + "/search?q=balam+QUETZALLI") // which opens the only one
	c.press(`main a[href$="/note"]`)
	c.checkEverywhere("note")
	c.fill(map[string]string{"content": "Called, and all is well"})
	c.press("main form button.primary")
	c.want("C•••")
	c.press("main form button")
	c.want("Called, and all is well")
	c.checkEverywhere("customer with a note")
	c.visit(base + "/search?q=100.50+USD")
	c.checkEverywhere("found")

	c.visit(base + "/events")
	c.want("New ones appear by themselves.")
	p.call("POST", "/sandbox/webhooks/test", nil)
	c.want("TEST")
	c.checkEverywhere("events")
	c.wantNoComplaints(http.StatusNotFound)
}

// openStatus opens a page that is shown with a status.
func (c *colleague) openStatus(url string, status int) {
	c.t.Helper()
	c.open(url)
	if got := c.evaluate(`String(performance.getEntriesByType("navigation")[0].responseStatus)`); got != fmt.Sprint(status) {
		c.t.Errorf("%s: %s, want %d", url, got, status)
	}
}
